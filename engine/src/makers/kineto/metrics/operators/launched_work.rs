//! Work of devices that calls launched, summed up by the name of what was open then.

use rustc_hash::FxHashMap;

use super::super::{count, seconds};
use crate::base::Result;
use crate::metrics::{MetricDefinition, MetricRow};
use crate::model::{NameId, OwnedValue, Unit};
use crate::segment::{Bytes, Segment};

/// Work of a launch. The time is in picoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct LaunchedWork {
    pub(super) count: u64,
    pub(super) time_ps: i64,
    /// Number of the name of the first kernel.
    pub(super) kernel: u32,
}

/// The work of a name: its own, and all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct NameWork {
    own: WorkTotal,
    all: WorkTotal,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct WorkTotal {
    count: u64,
    time_ps: i64,
}

impl WorkTotal {
    fn add(&mut self, count: u64, time_ps: i64) {
        self.count += count;
        self.time_ps = self.time_ps.saturating_add(time_ps);
    }
}

/// Work by the number of a name.
#[derive(Debug, Default)]
pub(super) struct WorkByName(FxHashMap<u32, NameWork>);

/// Columns of a row: time and number of a name's own work, and of all.
pub(super) const fn columns(own: [&'static str; 2], all: [&'static str; 2]) -> [MetricDefinition; 4] {
    [
        MetricDefinition::new("own_device_time", Unit::Seconds, own[0]),
        MetricDefinition::new("own_kernel_count", Unit::Count, own[1]),
        MetricDefinition::new("device_time", Unit::Seconds, all[0]),
        MetricDefinition::new("kernel_count", Unit::Count, all[1]),
    ]
}

impl WorkByName {
    /// Gives the work of a launch to all that are open, from the outermost one on.
    pub(super) fn add(&mut self, work: &LaunchedWork, open: impl ExactSizeIterator<Item = u32> + Clone) {
        let Some(innermost) = open.len().checked_sub(1) else { return };
        for (at, name) in open.clone().enumerate() {
            // A name that is open twice counts once.
            if !open.clone().take(at).any(|known| known == name) {
                self.0.entry(name).or_default().all.add(work.count, work.time_ps);
            }
            if at == innermost {
                self.0.entry(name).or_default().own.add(work.count, work.time_ps);
            }
        }
    }

    pub(super) fn merge(&mut self, other: Self) {
        for (name, NameWork { own, all }) in other.0 {
            let known = self.0.entry(name).or_default();
            known.own.add(own.count, own.time_ps);
            known.all.add(all.count, all.time_ps);
        }
    }

    /// A row for each name, those with the most own time first, with more values at its end.
    pub(super) fn rows<B: Bytes>(
        &self,
        segment: &Segment<B>,
        shown: impl Fn(&str) -> &str,
        more: impl Fn(u32) -> Vec<Option<OwnedValue>>,
    ) -> Result<Vec<MetricRow>> {
        let mut names: Vec<(u32, NameWork)> = self.0.iter().map(|(name, of)| (*name, *of)).collect();
        let order = |of: &NameWork| std::cmp::Reverse((of.own.time_ps, of.all.time_ps));
        names.sort_unstable_by_key(|(name, of)| (order(of), *name));
        let row = |(name, NameWork { own, all }): &(u32, NameWork)| {
            let values = [seconds(own.time_ps), count(own.count), seconds(all.time_ps), count(all.count)];
            let mut values = values.map(Some).to_vec();
            values.extend(more(*name));
            Ok(MetricRow { name: shown(segment.text(NameId(*name))?).to_owned(), values })
        };
        names.iter().map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_that_of_the_innermost_one_and_of_all_around_it() {
        let mut by_name = WorkByName::default();
        let work = |time_ps: i64| LaunchedWork { count: 1, time_ps, kernel: 0 };
        by_name.add(&work(1), [].into_iter());
        by_name.add(&work(10), [7, 8, 7].into_iter());
        by_name.add(&work(200), [7, 8].into_iter());
        by_name.add(&work(3_000), [7].into_iter());
        let of = |name: u32| (by_name.0[&name].own.time_ps, by_name.0[&name].all.time_ps);
        assert_eq!((by_name.0.len(), of(7), of(8)), (2, (3_010, 3_210), (200, 210)));
        assert_eq!(by_name.0[&7].all.count, 3);
    }
}
