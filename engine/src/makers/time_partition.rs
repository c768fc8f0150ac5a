//! The time of a rank as a partition: what its devices did at each moment, each moment once.
//!
//! Computation counts before transfers, transfers before waits: what is left is idle. A program
//! without a device is divided in the same way by the slices of its threads.

use rustc_hash::FxHashMap;

use super::call_columns::slice_tracks;
use super::device_time::{Union, length};
use super::kineto::{KinetoClass, class_on_device};
use crate::base::{Interval, Result};
use crate::exec::Work;
use crate::metrics::trace::seconds;
use crate::metrics::{MetricDefinition, MetricFamily, MetricGroup, MetricScope};
use crate::model::{MachineSide, NameId, Role, TableId, TrackId, Unit};
use crate::query::{active_span, extent};
use crate::segment::{BlockReader, Bytes, ColumnRole, Segment};

/// Rows of a piece of the time, about: its intervals stay in memory.
const ROWS_OF_PIECE: u64 = 1 << 18;
/// Most pieces.
const MOST_PIECES: u64 = 256;

/// The family.
pub(super) const FAMILY: MetricFamily = MetricFamily {
    key: "time",
    title: "Time",
    row: None,
    metrics: &[
        MetricDefinition::new(
            "time_starting_up",
            Unit::Seconds,
            "Time before the active stretch of the devices. Work in it counts here. The six times sum up to the \
             total time.",
        ),
        MetricDefinition::new(
            "time_computing",
            Unit::Seconds,
            "Time of the active stretch in which at least one engine or kernel computes. Of a program without a \
             device: in which at least one thread works.",
        ),
        MetricDefinition::new(
            "time_transferring",
            Unit::Seconds,
            "Time of the active stretch in which queues, copies or collective operations run and nothing \
             computes.",
        ),
        MetricDefinition::new(
            "time_waiting",
            Unit::Seconds,
            "Time of the active stretch in which recorded waits run, and no work.",
        ),
        MetricDefinition::new(
            "time_idle",
            Unit::Seconds,
            "Time of the active stretch in which nothing is recorded.",
        ),
        MetricDefinition::new(
            "time_tearing_down",
            Unit::Seconds,
            "Time after the active stretch of the devices. Work in it counts here.",
        ),
    ],
    source: "nprof",
    needs: "no slice takes time",
};

/// Times in picoseconds, in the order of the family. They sum up to the extent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct TimeParts {
    before: i64,
    compute: i64,
    transfer: i64,
    wait: i64,
    idle: i64,
    after: i64,
}

/// The activity that a slice records. An earlier one hides the later ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TimeActivity {
    Compute,
    Transfer,
    Wait,
}

impl TimeActivity {
    const ALL: [Self; 3] = [Self::Compute, Self::Transfer, Self::Wait];
}

/// The group of a rank, or of the window of the scope. `None` if no slice takes time.
pub(super) fn group<B: Bytes>(
    segment: &Segment<B>,
    scope: &MetricScope,
    work: Work<'_>,
) -> Result<Option<MetricGroup>> {
    let Some(parts) = parts(segment, scope, work)? else { return Ok(None) };
    let TimeParts { before, compute, transfer, wait, idle, after } = parts;
    let values = [before, compute, transfer, wait, idle, after];
    let metric = |(of, ps): (&MetricDefinition, i64)| of.metric(seconds(ps.unsigned_abs()));
    let metrics = FAMILY.metrics.iter().zip(values).map(metric).collect();
    Ok(Some(MetricGroup { key: FAMILY.key, title: FAMILY.title, has_names_of_trace: false, metrics }))
}

fn parts<B: Bytes>(segment: &Segment<B>, scope: &MetricScope, work: Work<'_>) -> Result<Option<TimeParts>> {
    let of_device = slice_tracks(segment, is_of_device).next().is_some();
    let is_wanted = |role: Role| if of_device { is_of_device(role) } else { is_of_program(role) };
    let tracks: Vec<(TrackId, TableId)> = slice_tracks(segment, is_wanted).collect();
    let whole = match scope.window {
        Some(window) => Some(window),
        None => extent(segment, |role| !role.is_state(), work.cancel)?,
    };
    let Some(whole) = whole else { return Ok(None) };
    // The stretch of a part is that of the whole: a window before it is start-up.
    // It can reach beyond the devices, to the work of hosts.
    let worked = extent(segment, is_wanted, work.cancel)?.unwrap_or(Interval::new(whole.end.0, whole.end.0));
    let active = active_span(segment, work.cancel)?.map(|active| active.intersection(worked));
    let stretch = active.filter(|active| active.duration_ps() > 0).unwrap_or(worked);
    let start = stretch.start.clamp(whole.start, whole.end);
    let end = stretch.end.clamp(start, whole.end);
    let rows = tracks
        .iter()
        .map(|(track, _)| u64::from(segment.footer().tracks[track.0 as usize].rows))
        .sum::<u64>();
    let pieces = pieces(Interval { start, end }, rows);
    let of_pieces = work.gather(pieces.len(), |at| of_piece(segment, &tracks, pieces[at], work))?;
    let mut all =
        TimeParts { before: start.0 - whole.start.0, after: whole.end.0 - end.0, ..TimeParts::default() };
    for [compute, transfer, wait, idle] in of_pieces {
        all.compute += compute;
        all.transfer += transfer;
        all.wait += wait;
        all.idle += idle;
    }
    Ok(Some(all))
}

/// Whether tracks of this role show what a device does.
fn is_of_device(role: Role) -> bool {
    role.is_work() && role != Role::Semaphore && role.side() == Some(MachineSide::Device)
}

/// Whether tracks of this role show what a program without a device does.
fn is_of_program(role: Role) -> bool {
    role.is_work() && role != Role::Semaphore
}

/// The stretch in pieces of equal length, so that the intervals of each fit into memory.
fn pieces(stretch: Interval, rows: u64) -> Vec<Interval> {
    let count = i64::try_from((rows / ROWS_OF_PIECE).clamp(1, MOST_PIECES)).unwrap_or(1);
    let length = stretch.duration_ps() / count + 1;
    let start = |at: i64| stretch.start.0.saturating_add(at.saturating_mul(length)).min(stretch.end.0);
    (0..count).map(|at| Interval::new(start(at), start(at + 1))).collect()
}

/// The computing, transferring, waiting and idle time of a piece.
fn of_piece<B: Bytes>(
    segment: &Segment<B>,
    tracks: &[(TrackId, TableId)],
    piece: Interval,
    work: Work<'_>,
) -> Result<[i64; 4]> {
    let mut unions: [Union; 3] = Default::default();
    for &(track, table) in tracks {
        let mut activities =
            TrackActivities { segment, role: role(segment, track), known: FxHashMap::default() };
        let list = segment.blocks(table)?;
        for block in list.overlapping(segment.blocks_of(track)?, piece) {
            work.cancel.check()?;
            let mut reader = BlockReader::new(segment, table, block)?;
            let starts = reader.core_ints(ColumnRole::Start)?;
            let durations = reader.core_ints(ColumnRole::Duration)?;
            let names = reader.core_ints(ColumnRole::Name)?;
            for at in piece.runs_of(&starts, &durations).into_iter().flatten() {
                let inside = piece.intersection(Interval::lasting(starts[at], durations[at]));
                if inside.duration_ps() > 0 {
                    let activity = activities.of(names[at])?;
                    unions[activity as usize].add(inside.start.0, inside.end.0);
                }
            }
        }
        unions.iter_mut().for_each(Union::compact);
    }
    let mut covered = Vec::new();
    let mut times = [0; 4];
    let mut before = 0;
    for activity in TimeActivity::ALL {
        // Each union takes in what hides it, so the growth is the time in sight.
        let mut union = std::mem::take(&mut unions[activity as usize]);
        union.take_in(covered);
        covered = union.settled();
        let so_far = length(&covered);
        times[activity as usize] = so_far - before;
        before = so_far;
    }
    times[3] = piece.duration_ps() - before;
    Ok(times)
}

fn role<B: Bytes>(segment: &Segment<B>, track: TrackId) -> Role {
    segment.footer().tracks[track.0 as usize].spec.identity.role
}

/// The activities of a track, by the names of its slices.
struct TrackActivities<'s, B> {
    segment: &'s Segment<B>,
    role: Role,
    known: FxHashMap<i64, TimeActivity>,
}

impl<B: Bytes> TrackActivities<'_, B> {
    fn of(&mut self, name: i64) -> Result<TimeActivity> {
        if let Some(known) = self.known.get(&name) {
            return Ok(*known);
        }
        let found = match self.role {
            _ if self.segment.footer().waits.contains_stored(name) => TimeActivity::Wait,
            Role::Queue | Role::Collectives | Role::CollectiveCore => TimeActivity::Transfer,
            Role::Kernels => {
                let name = NameId(u32::try_from(name).unwrap_or_default());
                match class_on_device(self.segment.text(name)?, "") {
                    KinetoClass::Collective | KinetoClass::Copy => TimeActivity::Transfer,
                    KinetoClass::Compute | KinetoClass::Neither => TimeActivity::Compute,
                }
            }
            _ => TimeActivity::Compute,
        };
        self.known.insert(name, found);
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    //! Small ranks against times counted by hand, and the law that nothing is lost.

    use proptest::prelude::*;

    use super::*;
    use crate::fixture::{RankTrack, rank_of};
    use crate::model::EngineKind;

    fn parts_of(tracks: &[RankTrack<'_>], window: Option<(i64, i64)>) -> TimeParts {
        let segment = rank_of("trace_event", tracks);
        let window = window.map(|(start, end)| Interval::new(start, end));
        parts(&segment, &MetricScope::within(window), Work::IN_PLACE).unwrap().unwrap_or_default()
    }

    #[track_caller]
    fn check(tracks: &[RankTrack<'_>], window: Option<(i64, i64)>, expected: [i64; 6]) {
        let [before, compute, transfer, wait, idle, after] = expected;
        assert_eq!(parts_of(tracks, window), TimeParts { before, compute, transfer, wait, idle, after });
    }

    #[test]
    fn each_moment_counts_once_and_work_hides_waits() {
        let tensor = Role::Engine(EngineKind::Tensor);
        let tracks = [
            RankTrack::of(tensor, &[("MATMUL", 0, 40), ("EVENT_SEMAPHORE", 40, 70), ("MATMUL", 90, 100)]),
            RankTrack::of(Role::Queue, &[("load", 30, 60)]),
            RankTrack::of(Role::Throttling, &[("unthrottled", 0, 100)]),
        ];
        check(&tracks, None, [0, 50, 20, 10, 20, 0]);
        check(&tracks, Some((50, 95)), [0, 5, 10, 10, 20, 0]);
    }

    #[test]
    fn kernels_of_communication_and_copies_transfer() {
        let stream = [("gemm", 200, 300), ("ncclKernel_AllReduce", 250, 400), ("Memcpy HtoD", 420, 430)];
        let tracks =
            [RankTrack::of(Role::HostThread, &[("step", 0, 600)]), RankTrack::of(Role::Kernels, &stream)];
        check(&tracks, None, [200, 100, 110, 0, 20, 170]);
        check(&tracks, Some((0, 250)), [200, 50, 0, 0, 0, 0]);
    }

    #[test]
    fn a_program_without_a_device_is_divided_by_its_threads() {
        let slices = [("work", 0, 10), ("event_wait", 20, 50), ("work", 50, 60)];
        check(&[RankTrack::of(Role::HostThread, &slices)], None, [0, 20, 0, 30, 10, 0]);
        check(&[RankTrack::of(Role::Unknown, &slices)], None, [0, 20, 0, 30, 10, 0]);
        check(&[RankTrack::of(Role::Unknown, &[("mark", 5, 5)])], None, [0; 6]);
    }

    proptest! {
        #[test]
        fn parts_sum_up_to_the_time(
            slices in prop::collection::vec((0..3_usize, 0..3_usize, 0..2_000_i64, 0..60_i64), 1..40),
            window in prop::option::of((0..1_500_i64, 1..800_i64)),
        ) {
            let roles = [Role::Kernels, Role::Queue, Role::HostThread];
            let names = ["gemm", "event_wait", "ncclKernel_AllReduce"];
            let track = |role: usize| {
                let of_role = slices.iter().filter(|slice| slice.0 == role);
                let drawn: Vec<_> =
                    of_role.map(|&(_, name, start, length)| (names[name], start, start + length)).collect();
                RankTrack::of(roles[role], &drawn)
            };
            let window = window.map(|(start, length)| (start, start + length));
            let TimeParts { before, compute, transfer, wait, idle, after } = parts_of(&[0, 1, 2].map(track), window);
            let all = [before, compute, transfer, wait, idle, after];
            prop_assert!(all.iter().all(|part| *part >= 0), "{all:?}");
            let timed = || slices.iter().filter(|slice| slice.3 > 0);
            let extent = timed().map(|slice| slice.2 + slice.3).max().unwrap_or(0) - timed().map(|slice| slice.2).min().unwrap_or(0);
            let expected = window.map_or(extent, |(start, end)| end - start);
            prop_assert_eq!(all.iter().sum::<i64>(), expected);
        }

        #[test]
        fn pieces_join_without_gaps(start in -1_000_i64..1_000, length in 0..5_000_i64, rows in 0..100_000_000_u64) {
            let stretch = Interval::new(start, start + length);
            let pieces = pieces(stretch, rows);
            let mut at = stretch.start;
            for piece in &pieces {
                prop_assert_eq!(piece.start, at);
                at = piece.end;
            }
            prop_assert_eq!(at, stretch.end);
        }
    }
}
