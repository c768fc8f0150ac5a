//! Moves times and answers from the time of a rank to the time that all ranks share.
//!
//! The page has shared times alone. Tiles keep the rank's time, so that caches keep them; they are
//! moved when they are drawn or hit.

use nprof_engine::base::{ClockFit, Interval, Time};
use nprof_engine::query::HitPlace;
use nprof_engine::wire::counter::CounterDetail;
use nprof_engine::wire::detail::{SliceDetail, SliceEntry};
use nprof_engine::wire::rows::{ColumnValues, RowColumnRole, TableRows};
use nprof_engine::wire::search::SearchResult;
use nprof_engine::wire::selection::SelectionSummary;

/// The axis of a rank's times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Axis(pub ClockFit);

impl Axis {
    /// The shared time of a rank's time.
    #[must_use]
    pub fn shared(self, local_ps: i64) -> i64 {
        self.0.to_shared(Time(local_ps)).0
    }

    /// The rank's time of a shared time.
    #[must_use]
    pub fn local(self, shared_ps: i64) -> i64 {
        self.0.to_local(Time(shared_ps)).0
    }

    /// Shared picoseconds in a picosecond of the rank.
    #[must_use]
    pub fn rate(self) -> f64 {
        1.0 + f64::from(self.0.drift_ppb()) / 1e9
    }

    /// The shared span of a rank's span.
    #[must_use]
    pub fn shared_span(self, local: Interval) -> Interval {
        Interval::new(self.shared(local.start.0), self.shared(local.end.0))
    }

    /// The rank's span of a shared span.
    #[must_use]
    pub fn local_span(self, shared: Interval) -> Interval {
        self.0.to_local_span(shared)
    }

    /// A place between hits in the rank's time: after all times that have this shared time.
    #[must_use]
    pub fn local_place(self, place: HitPlace) -> HitPlace {
        let next_ps = self.local(place.start_ps.saturating_add(1));
        HitPlace { start_ps: next_ps.saturating_sub(1), ..place }
    }

    /// Moves a slice.
    pub fn move_slice(self, slice: &mut SliceEntry) {
        let end_ps = self.shared(slice.start_ps.saturating_add(slice.duration_ps));
        slice.start_ps = self.shared(slice.start_ps);
        slice.duration_ps = end_ps.saturating_sub(slice.start_ps);
    }

    /// Moves a slice with its neighbours.
    #[must_use]
    pub fn moved_detail(self, mut detail: SliceDetail) -> SliceDetail {
        self.move_slice(&mut detail.slice);
        for neighbour in detail.predecessors.iter_mut().chain(&mut detail.successors) {
            self.move_slice(&mut neighbour.slice);
        }
        for member in &mut detail.members {
            (member.start_ps, member.end_ps) = (self.shared(member.start_ps), self.shared(member.end_ps));
        }
        for transfer in &mut detail.transfers {
            transfer.sent_ps = self.shared(transfer.sent_ps);
            transfer.received_ps = self.shared(transfer.received_ps);
        }
        detail
    }

    /// Moves the hits of a search.
    #[must_use]
    pub fn moved_hits(self, mut result: SearchResult) -> SearchResult {
        result.hits.iter_mut().for_each(|hit| self.move_slice(&mut hit.slice));
        result
    }

    /// Moves the samples of a counter.
    #[must_use]
    pub fn moved_counter(self, mut counter: CounterDetail) -> CounterDetail {
        for sample in counter.sample.iter_mut().chain(&mut counter.before) {
            sample.time_ps = self.shared(sample.time_ps);
        }
        counter
    }

    /// Moves the times of the rows of a table. Durations stay in the rank's time.
    #[must_use]
    pub fn moved_rows(self, mut rows: TableRows) -> TableRows {
        for column in rows.columns.iter_mut().filter(|column| column.role == RowColumnRole::Start) {
            if let ColumnValues::Ints(times) = &mut column.values {
                times.iter_mut().for_each(|time| *time = self.shared(*time));
            }
        }
        rows
    }

    /// Statistics of a span, which was asked for in the rank's time. Sums stay in the rank's time.
    #[must_use]
    pub fn moved_selection(self, summary: SelectionSummary, asked: Interval) -> SelectionSummary {
        SelectionSummary { start_ps: asked.start.0, end_ps: asked.end.0, ..summary }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::fixture::slice;

    fn axis(offset_ps: i64, drift_ppb: i32) -> Axis {
        Axis(ClockFit::new(0, offset_ps, drift_ppb, None).expect("a small drift"))
    }

    #[test]
    fn slices_that_touch_still_touch() {
        let axis = axis(1_000, -100_000_000);
        let (mut first, mut second) = (slice(7, 13), slice(20, 5));
        axis.move_slice(&mut first);
        axis.move_slice(&mut second);
        assert_eq!((first.start_ps, first.duration_ps), (1_006, 12));
        assert_eq!(first.start_ps + first.duration_ps, second.start_ps);
    }

    #[test]
    fn a_walk_through_hits_goes_on() {
        // Several times of the rank have the same shared time if its clock is fast.
        let axis = axis(0, -100_000_000);
        for local_ps in -50..50 {
            let place = HitPlace { start_ps: axis.shared(local_ps), row: 3 };
            assert!(axis.local_place(place).start_ps >= local_ps, "{local_ps}");
        }
        let place = HitPlace { start_ps: 5, row: 3 };
        assert_eq!(Axis::default().local_place(place), place);
    }
}
