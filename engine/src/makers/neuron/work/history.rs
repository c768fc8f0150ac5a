//! The values of semaphores over time: the rows of `semaphore_update`.

use rustc_hash::FxHashMap;

use super::operand::SemaphoreTest;
use crate::base::Result;
use crate::makers::call_columns::{FieldColumns, slice_tracks};
use crate::model::{NameId, Role};
use crate::segment::{BlockReader, Bytes, ColumnRole, Segment};

/// A semaphore of a physical core.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct SemaphoreKey {
    pub(super) core: u32,
    pub(super) number: u32,
}

/// A change of a semaphore.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SemaphoreValue {
    pub(super) time_ps: i64,
    pub(super) value: i64,
    /// Number of the name of the engine that made it, if the trace states it.
    pub(super) author: Option<u32>,
}

/// The changes of one semaphore, in the order of time.
#[derive(Debug, Default)]
pub(super) struct SemaphoreHistory {
    /// Name of its track, e.g. `S[8] (qSyncIO0)`.
    pub(super) name: String,
    changes: Vec<SemaphoreValue>,
    /// For each change the first one of its run: within a run no value is lower than the one
    /// before.
    runs: Vec<usize>,
}

impl SemaphoreHistory {
    fn push(&mut self, change: SemaphoreValue) {
        let grows = self.changes.last().is_some_and(|last| last.value <= change.value);
        let run = self.runs.last().copied().filter(|_| grows).unwrap_or(self.changes.len());
        self.changes.push(change);
        self.runs.push(run);
    }

    /// The change that made a test hold, of those up to a time. The engine that waits can have
    /// changed the semaphore itself right before this time, so the run before counts as well.
    pub(super) fn fulfilling(&self, test: SemaphoreTest, until_ps: i64) -> Option<SemaphoreValue> {
        let mut end = self.changes.partition_point(|change| change.time_ps <= until_ps);
        for _ in 0..2 {
            let first = self.runs[end.checked_sub(1)?];
            let run = &self.changes[first..end];
            let (SemaphoreTest::AtLeast(least) | SemaphoreTest::Equal(least)) = test;
            let found = run.get(run.partition_point(|change| change.value < least));
            if let Some(found) = found.filter(|change| test.holds(change.value)) {
                return Some(*found);
            }
            end = first;
        }
        None
    }
}

/// All semaphores of a rank.
pub(super) type SemaphoreHistories = FxHashMap<SemaphoreKey, SemaphoreHistory>;

/// Reads the changes of all semaphores.
pub(super) fn read<B: Bytes>(segment: &Segment<B>) -> Result<SemaphoreHistories> {
    let mut histories = SemaphoreHistories::default();
    for (track, table) in slice_tracks(segment, |role| role == Role::Semaphore) {
        let spec = &segment.footer().tracks[track.0 as usize].spec;
        let Some(number) = spec.identity.number else { continue };
        let key = SemaphoreKey { core: spec.identity.core.unwrap_or(0), number };
        let history = histories.entry(key).or_default();
        history.name.clone_from(&spec.name);
        let columns = FieldColumns::of(segment, table, ["value", "update_source"]);
        for block in segment.blocks_of(track)? {
            let times = BlockReader::new(segment, table, block)?.core_ints(ColumnRole::Start)?;
            let fields = columns.block(segment, block)?;
            for (at, time_ps) in times.into_iter().enumerate() {
                let Some(value) = fields.int(0, at) else { continue };
                let author = fields
                    .code(1, at)
                    .map(|code| Ok::<_, crate::base::Error>((code, segment.text(NameId(code))?)));
                let author = author.transpose()?.filter(|(_, name)| !name.is_empty()).map(|(code, _)| code);
                history.push(SemaphoreValue { time_ps, value, author });
            }
        }
    }
    Ok(histories)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(values: &[i64], test: SemaphoreTest, until: i64, expected: Option<i64>) {
        let mut history = SemaphoreHistory::default();
        for (time_ps, &value) in (1..).zip(values) {
            history.push(SemaphoreValue { time_ps, value, author: None });
        }
        let found = history.fulfilling(test, until).map(|change| change.time_ps);
        assert_eq!(found, expected, "{values:?} {test:?} {until}");
    }

    #[test]
    fn the_first_change_of_a_run_that_fulfils_counts() {
        use SemaphoreTest::{AtLeast, Equal};
        check(&[1, 2, 3, 4], AtLeast(2), 4, Some(2));
        check(&[1, 2, 3, 4], AtLeast(2), 1, None);
        check(&[16, 0, 16], AtLeast(16), 3, Some(3));
        // The waiting engine has set it back.
        check(&[7, 8, 0], Equal(8), 3, Some(2));
        check(&[1, 2, 0, 1], Equal(2), 4, Some(2));
        check(&[1, 3], Equal(2), 2, None);
        check(&[], Equal(0), 9, None);
        check(&[5, 0, 1, 0, 1], Equal(5), 5, None);
    }
}
