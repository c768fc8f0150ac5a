//! The work of a rank without a device: the operators and calls of its threads.
//!
//! A thread is one queue. Its work is the outermost slices that are no spans of the program and no
//! frames of Python. A slice around calls of operations is not one piece of work: the calls are,
//! and what else it contains.

use rustc_hash::FxHashSet;

use super::category_words::{AROUND, CategoryWords};
use super::{ARGUMENTS, CATEGORY};
use crate::base::Result;
use crate::exec::{CallerThread, Cancel};
use crate::makers::call_columns::{FieldColumns, slice_tracks};
use crate::makers::work_reader::{EndedSlice, WorkReader};
use crate::model::{MachineSide, RankWork, Role, TableId, TrackId};
use crate::segment::{Bytes, Segment};

/// Reads the work of a rank. `calls` are the rows of its calls in operations.
pub(in crate::makers) fn read<B: Bytes>(
    segment: &Segment<B>,
    calls: &[u32],
    cancel: Cancel<'_>,
) -> Result<RankWork> {
    let mut reader = ThreadReader {
        of: WorkReader::new(segment, cancel),
        calls: calls.iter().copied().collect(),
        around: CategoryWords::new(&AROUND),
    };
    for (track, table) in slice_tracks(segment, |role| role == Role::HostThread) {
        reader.thread(track, table)?;
    }
    reader.of.finish(&CallerThread)
}

struct ThreadReader<'s, B> {
    of: WorkReader<'s, B>,
    calls: FxHashSet<u32>,
    /// Categories of slices that are drawn around work.
    around: CategoryWords,
}

/// A slice of a thread.
#[derive(Debug, Clone, Copy)]
struct ThreadSlice {
    of: EndedSlice,
    is_call: bool,
    /// Whether it contains a call.
    has_calls: bool,
}

impl<B: Bytes> ThreadReader<'_, B> {
    fn thread(&mut self, track: TrackId, table: TableId) -> Result<()> {
        let slices = self.slices(track, table)?;
        let mut until_ps = i64::MIN;
        for ThreadSlice { of, is_call, has_calls } in slices {
            if of.start_ps >= until_ps && (is_call || !has_calls) {
                // The host is what works where there is no device.
                self.of.add(EndedSlice { lane: 0, ..of }, track, MachineSide::Device);
                until_ps = of.end_ps;
            }
        }
        Ok(())
    }

    /// The slices of a thread that can be work, in the order of starts.
    fn slices(&mut self, track: TrackId, table: TableId) -> Result<Vec<ThreadSlice>> {
        let columns = FieldColumns::of(self.of.segment, table, [ARGUMENTS[CATEGORY]]);
        let mut slices: Vec<ThreadSlice> = Vec::new();
        // Positions of the slices around the current one.
        let mut open: Vec<usize> = Vec::new();
        for block in self.of.segment.blocks_of(track)? {
            let fields = columns.block(self.of.segment, block)?;
            for of in self.of.slices(table, block)? {
                let is_call = self.calls.contains(&of.row);
                if !is_call && self.around.are_in(self.of.segment, fields.code(0, of.at))? {
                    continue;
                }
                while open.last().is_some_and(|last| slices[*last].of.end_ps <= of.start_ps) {
                    open.pop();
                }
                if is_call {
                    open.iter().for_each(|around| slices[*around].has_calls = true);
                }
                open.push(slices.len());
                slices.push(ThreadSlice { of, is_call, has_calls: false });
            }
        }
        Ok(slices)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{RankTrack, rank_of};

    /// Names of the work of a thread with these slices, whose calls are the slices named `sync`.
    fn work_of(slices: &[(&str, i64, i64)]) -> Vec<String> {
        let segment = rank_of("trace_event", &[RankTrack::of(Role::HostThread, slices).with_calls()]);
        let mut all: Vec<(&str, i64, i64)> = slices.to_vec();
        all.sort_by_key(|(_, start, end)| (*start, -end));
        let rows = (0..).zip(&all).filter(|(_, slice)| slice.0 == "sync").map(|(row, _)| row);
        let work = read(&segment, &rows.collect::<Vec<u32>>(), Cancel::NEVER).unwrap();
        work.nodes
            .iter()
            .map(|node| work.name(work.classes[node.class as usize].name).unwrap().to_owned())
            .collect()
    }

    #[test]
    fn the_outermost_slices_are_work() {
        assert_eq!(work_of(&[("linear", 0, 10), ("addmm", 2, 9), ("relu", 10, 12)]), ["linear", "relu"]);
    }

    #[test]
    fn a_slice_around_calls_is_taken_apart() {
        let slices = [("step", 0, 20), ("copy", 1, 4), ("sync", 5, 15), ("wait", 6, 14), ("add", 16, 19)];
        assert_eq!(work_of(&slices), ["copy", "sync", "add"]);
    }
}
