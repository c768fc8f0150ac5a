//! Time by name within a cell. A cell takes slices one by one, or two finer cells whole. A sorted
//! list is merged with another in one pass. The few names that came since wait beside the list.

/// Most names that wait before they are sorted into the list.
const WAITING: usize = 16;

/// Time by name within one cell, in picoseconds.
#[derive(Debug, Clone, Default)]
pub struct NameTimes {
    /// In order of names, each once.
    sorted: Vec<(u32, u64)>,
    /// Names that are not in `sorted`, in order of arrival.
    waiting: Vec<(u32, u64)>,
}

impl NameTimes {
    /// Adds time to a name.
    pub fn add(&mut self, name: u32, time_ps: u64) {
        if let Some((_, time)) = self.waiting.iter_mut().find(|(of, _)| *of == name) {
            *time += time_ps;
            return;
        }
        if let Ok(at) = self.sorted.binary_search_by_key(&name, |&(of, _)| of) {
            self.sorted[at].1 += time_ps;
            return;
        }
        self.waiting.push((name, time_ps));
        if self.waiting.len() == WAITING {
            self.sort_in();
        }
    }

    /// Adds all times of another cell.
    pub fn merge(&mut self, other: &Self) {
        self.sort_in();
        if self.sorted.is_empty() {
            self.sorted.clone_from(&other.sorted);
        } else if !other.sorted.is_empty() {
            self.sorted = joined(&self.sorted, &other.sorted);
        }
        other.waiting.iter().for_each(|&(name, time)| self.add(name, time));
    }

    fn sort_in(&mut self) {
        if self.waiting.is_empty() {
            return;
        }
        self.waiting.sort_unstable_by_key(|&(name, _)| name);
        if self.sorted.is_empty() {
            std::mem::swap(&mut self.sorted, &mut self.waiting);
        } else {
            self.sorted = joined(&self.sorted, &self.waiting);
            self.waiting.clear();
        }
    }

    /// Bytes of memory.
    pub fn bytes(&self) -> usize {
        (self.sorted.capacity() + self.waiting.capacity()) * size_of::<(u32, u64)>()
    }

    /// Forgets all but the `most` names with the most time.
    pub fn keep_largest(&mut self, most: usize) {
        self.sort_in();
        if most > 0 && self.sorted.len() > most {
            self.sorted.select_nth_unstable_by_key(most - 1, |&(name, time)| (std::cmp::Reverse(time), name));
            self.sorted.truncate(most);
            self.sorted.sort_unstable_by_key(|&(name, _)| name);
            self.sorted.shrink_to_fit();
        }
    }

    /// All names with their times, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        self.sorted.iter().chain(&self.waiting).copied()
    }

    /// The name with the most time; of equal names the one with the smallest number.
    pub fn dominant(&self) -> Option<(u32, u64)> {
        self.iter().reduce(|best, one| {
            let more = one.1 > best.1 || (one.1 == best.1 && one.0 < best.0);
            if more { one } else { best }
        })
    }
}

/// Merges two lists in order of names.
fn joined(a: &[(u32, u64)], b: &[(u32, u64)]) -> Vec<(u32, u64)> {
    let mut joined = Vec::with_capacity(a.len() + b.len());
    let (mut a, mut b) = (a, b);
    while let (Some(&(name, time)), Some(&(other, more))) = (a.first(), b.first()) {
        joined.push(if name <= other { (name, time) } else { (other, more) });
        if name == other {
            let last = joined.len() - 1;
            joined[last].1 += more;
        }
        a = &a[usize::from(name <= other)..];
        b = &b[usize::from(other <= name)..];
    }
    joined.extend_from_slice(a);
    joined.extend_from_slice(b);
    joined
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
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn cells_join_as_their_slices_add_up(
            slices in prop::collection::vec((0_u32..60, 0_u64..9), 0..200),
            split in 0_usize..200,
        ) {
            let split = split.min(slices.len());
            let of = |slices: &[(u32, u64)]| {
                let mut times = NameTimes::default();
                slices.iter().for_each(|&(name, time)| times.add(name, time));
                times
            };
            let mut joined = of(&slices[..split]);
            joined.merge(&of(&slices[split..]));
            let mut expected = BTreeMap::new();
            slices.iter().for_each(|&(name, time)| *expected.entry(name).or_insert(0) += time);
            prop_assert_eq!(joined.iter().collect::<BTreeMap<_, _>>(), expected);
            prop_assert_eq!(&joined, &of(&slices));
            prop_assert_eq!(joined.dominant(), of(&slices).dominant());
        }
    }

    #[test]
    fn the_names_with_the_most_time_stay() {
        let mut times = NameTimes::default();
        (0..1000).for_each(|name| times.add(name, u64::from(name % 100)));
        let before = times.bytes();
        times.keep_largest(20);
        assert!(times.bytes() < before / 10);
        assert_eq!(times.iter().map(|(_, time)| time).min(), Some(98));
        assert_eq!(times.dominant(), Some((99, 99)));
        times.add(5, 200);
        assert_eq!(times.dominant(), Some((5, 200)));
    }

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
