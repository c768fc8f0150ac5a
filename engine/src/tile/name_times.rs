//! Time by name within a cell: a short list for the few names that most cells have, a map for those that have many.

use rustc_hash::FxHashMap;

/// Names that a list is quicker for than a map.
const FEW: usize = 16;

/// Time by name.
#[derive(Debug, Clone, Default)]
pub struct NameTimes {
    few: Vec<(u32, u64)>,
    /// Once there are more, all of them.
    many: FxHashMap<u32, u64>,
}

impl NameTimes {
    /// Adds time to a name.
    pub fn add(&mut self, name: u32, time_ps: u64) {
        if self.many.is_empty() {
            if let Some((_, time)) = self.few.iter_mut().find(|(of, _)| *of == name) {
                *time += time_ps;
                return;
            }
            if self.few.len() < FEW {
                self.few.push((name, time_ps));
                return;
            }
            self.many.extend(self.few.drain(..));
        }
        *self.many.entry(name).or_insert(0) += time_ps;
    }

    /// All names with their times, in no order that means anything.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        self.few.iter().copied().chain(self.many.iter().map(|(&name, &time)| (name, time)))
    }

    /// The name with the most time, of equals the smallest.
    pub fn dominant(&self) -> Option<(u32, u64)> {
        self.iter().max_by_key(|&(name, time)| (time, std::cmp::Reverse(name)))
    }
}

impl PartialEq for NameTimes {
    fn eq(&self, other: &Self) -> bool {
        let sorted = |times: &Self| {
            let mut all: Vec<(u32, u64)> = times.iter().collect();
            all.sort_unstable();
            all
        };
        sorted(self) == sorted(other)
    }
}

impl Eq for NameTimes {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_and_many_names_add_up_alike() {
        let mut times = NameTimes::default();
        for round in 0..3 {
            for name in 0..40 {
                times.add(name, u64::from(name * 10 + round));
            }
        }
        assert_eq!(times.iter().count(), 40);
        assert_eq!(times.dominant(), Some((39, 39 * 30 + 3)));
        times.add(7, 10_000);
        assert_eq!(times.dominant().map(|(name, _)| name), Some(7));
    }
}
