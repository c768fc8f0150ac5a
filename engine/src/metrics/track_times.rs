//! The time of each track as a partition: it works, it only waits, or it has nothing. The three
//! times sum up to the extent of the trace, or to the window, to the picosecond.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use super::measured_span::{Denominators, OWN, seconds, select_all, track_path};
use super::{AbsentMetrics, MetricDefinition, MetricFamily, MetricRow, MetricScope, MetricTable};
use crate::base::{Interval, Result};
use crate::exec::Work;
use crate::model::{Role, TrackId, Unit};
use crate::query::{self, Selection, TrackStats};
use crate::segment::{Bytes, Segment};

/// The family.
pub const FAMILY: MetricFamily = MetricFamily {
    key: "track_times",
    title: "Time by track",
    row: Some("track"),
    metrics: &[
        MetricDefinition::new(
            "busy",
            Unit::Seconds,
            "Time in which at least one slice of the track runs that is no wait. Busy, waiting and idle time of a \
             track sum up to the time from the first to the last slice, or to the window.",
        ),
        MetricDefinition::new(
            "wait",
            Unit::Seconds,
            "Time in which the track has waits and no work. Not there if no slice of the trace is a wait.",
        ),
        MetricDefinition::new("idle", Unit::Seconds, "Time in which the track has neither work nor waits."),
    ],
    source: OWN,
    needs: "no track has work",
};

/// Waits that the trace lacks.
const WAITS: AbsentMetrics = AbsentMetrics {
    key: "track_waits",
    title: "Waits of tracks",
    reason: Cow::Borrowed("no slice of the trace is a wait, so its tracks are busy or idle"),
};

/// The times of all tracks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrackTimes {
    /// The busiest track first.
    tracks: Vec<TrackTime>,
    has_waits: bool,
}

/// The times of a track in picoseconds. They sum up to the extent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct TrackTime {
    track: TrackId,
    busy: u64,
    wait: u64,
    idle: u64,
}

impl TrackTimes {
    /// The times of the tracks of work in a span, from the selection of all of them.
    pub(super) fn of<B: Bytes>(
        segment: &Segment<B>,
        tracks: &[TrackId],
        selection: &Selection,
        span: Interval,
    ) -> Self {
        let known: FxHashMap<TrackId, &TrackStats> =
            selection.by_track.iter().map(|stats| (stats.track, stats)).collect();
        let role = |track: TrackId| segment.footer().tracks[track.0 as usize].spec.identity.role;
        // Changes of semaphores take no time.
        let is_work = |track: &&TrackId| role(**track).is_work() && role(**track) != Role::Semaphore;
        let length = span.duration_ps().unsigned_abs();
        let time = |&track: &TrackId| {
            let (busy, covered) = known.get(&track).map_or((0, 0), |stats| (stats.busy_ps, stats.covered_ps));
            let wait = covered.saturating_sub(busy);
            TrackTime { track, busy, wait, idle: length.saturating_sub(covered) }
        };
        let mut tracks: Vec<TrackTime> = tracks.iter().filter(is_work).map(time).collect();
        tracks.sort_by_key(|of| std::cmp::Reverse((of.busy, of.wait)));
        Self { tracks, has_waits: !segment.footer().waits.numbers().is_empty() }
    }

    /// The times of a rank or of a window.
    pub fn read<B: Bytes>(segment: &Segment<B>, scope: &MetricScope, work: Work<'_>) -> Result<Self> {
        let tracks = query::slice::tracks(segment, None);
        let selection = select_all(segment, scope, &tracks, work)?;
        let span = Denominators::of(segment, scope, work)?.total;
        Ok(Self::of(segment, &tracks, &selection, span))
    }

    /// The times as a table, a row for each track. `None` without tracks.
    #[must_use]
    pub fn table<B: Bytes>(&self, segment: &Segment<B>) -> Option<MetricTable> {
        let row = |of: &TrackTime| MetricRow {
            name: track_path(segment, of.track),
            values: vec![
                Some(seconds(of.busy)),
                self.has_waits.then(|| seconds(of.wait)),
                Some(seconds(of.idle)),
            ],
        };
        let rows: Vec<MetricRow> = self.tracks.iter().map(row).collect();
        (!rows.is_empty()).then_some(MetricTable { family: &FAMILY, rows })
    }

    /// Why no track waits, if the trace has no waits.
    #[must_use]
    pub fn absent(&self) -> Option<AbsentMetrics> {
        (!self.has_waits && !self.tracks.is_empty()).then_some(WAITS)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fixture::{RankTrack, rank_of};
    use crate::model::OwnedValue;

    fn times(tracks: &[RankTrack<'_>], window: Option<(i64, i64)>) -> (TrackTimes, MetricTable) {
        let segment = rank_of("trace_event", tracks);
        let window = window.map(|(start, end)| Interval::new(start, end));
        let of = TrackTimes::read(&segment, &MetricScope::within(window), Work::IN_PLACE).unwrap();
        let table = of.table(&segment).unwrap();
        (of, table)
    }

    #[test]
    fn a_track_without_anything_in_the_window_is_idle() {
        let tracks = [
            RankTrack::of(Role::Kernels, &[("gemm", 0, 40), ("event_wait", 30, 60)]),
            RankTrack::of(Role::Queue, &[("load", 80, 100)]),
            RankTrack::of(Role::Annotations, &[("step", 0, 100)]),
        ];
        let parts = |window| -> Vec<(u64, u64, u64)> {
            times(&tracks, window).0.tracks.iter().map(|of| (of.busy, of.wait, of.idle)).collect()
        };
        assert_eq!(parts(None), [(40, 20, 40), (20, 0, 80)]);
        assert_eq!(parts(Some((20, 70))), [(20, 20, 10), (0, 0, 50)]);
    }

    #[test]
    fn a_trace_without_waits_says_so() {
        let (of, table) = times(&[RankTrack::of(Role::Kernels, &[("gemm", 0, 40)])], None);
        assert_eq!((of.absent(), table.rows[0].values[1].clone()), (Some(WAITS), None));
        let (of, _) = times(&[RankTrack::of(Role::Kernels, &[("event_wait", 0, 40)])], None);
        assert_eq!(of.absent(), None);
    }

    proptest! {
        #[test]
        fn times_of_each_track_sum_up_to_the_extent(
            slices in prop::collection::vec((0..3_usize, 0..2_usize, 0..2_000_i64, 1..60_i64), 1..40),
            window in prop::option::of((0..1_500_i64, 1..800_i64)),
        ) {
            let roles = [Role::Kernels, Role::Queue, Role::HostThread];
            let names = ["gemm", "event_wait"];
            let of_track = |track: usize| slices.iter().filter(move |slice| slice.0 == track);
            let tracks = [0, 1, 2].map(|track| {
                let drawn: Vec<_> = of_track(track)
                    .map(|&(_, name, start, length)| (names[name], start, start + length))
                    .collect();
                RankTrack::of(roles[track], &drawn)
            });
            let ends = || slices.iter().map(|slice| slice.2 + slice.3).max().unwrap();
            let first = slices.iter().map(|slice| slice.2).min().unwrap();
            let (from, to) = window.map_or((first, ends()), |(start, length)| (start, start + length));
            let (of, table) = times(&tracks, window.map(|(start, length)| (start, start + length)));
            let runs = |track: usize, name: usize, at: i64| {
                of_track(track).any(|of| of.1 == name && (of.2..of.2 + of.3).contains(&at))
            };
            let mut expected: Vec<(u64, u64)> = (0..3)
                .filter(|track| of_track(*track).next().is_some())
                .map(|track| {
                    let busy = (from..to).filter(|at| runs(track, 0, *at)).count() as u64;
                    let waits = |at: &i64| runs(track, 1, *at) && !runs(track, 0, *at);
                    (busy, (from..to).filter(waits).count() as u64)
                })
                .collect();
            expected.sort_unstable_by(|a, b| b.cmp(a));
            let found: Vec<(u64, u64)> = of.tracks.iter().map(|of| (of.busy, of.wait)).collect();
            prop_assert_eq!(found, expected);
            for (one, row) in of.tracks.iter().zip(&table.rows) {
                prop_assert_eq!(one.busy + one.wait + one.idle, (to - from).unsigned_abs());
                let seconds = |value: &Option<OwnedValue>| value.as_ref().and_then(OwnedValue::float);
                let sum: f64 = row.values.iter().filter_map(seconds).sum();
                prop_assert_eq!((sum * 1e12).round() as i64, to - from);
            }
        }
    }
}
