//! The time of a rank as a partition: what its devices did at each moment, each moment once.
//!
//! Computation counts before transfers, transfers before waits: what is left is idle. A program
//! without a device is divided in the same way by the slices of its threads.

use std::collections::hash_map::Entry;

use super::call_columns::slice_tracks;
use super::class_times::{
    BlockClasses, Class, ClassUnion, ClassifiedTrack, KnownClasses, SweptBlock, of_pieces, pieces,
};
use super::columns::NamedColumns;
use super::kineto::{CATEGORY_FIELD, KinetoClass, class_on_device, is_around_work};
use super::marked_field::MarkedField;
use crate::base::{Interval, Result};
use crate::exec::Work;
use crate::metrics::trace::seconds;
use crate::metrics::{MetricDefinition, MetricFamily, MetricGroup, MetricScope};
use crate::model::{MachineSide, NameId, Role, TableId, TrackId, Unit};
use crate::query::{active_span, extent};
use crate::segment::{Bytes, Segment};

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
             device: in which at least one thread works. Steps, phases and frames of Python around the work of a \
             thread are none.",
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
pub(super) enum TimeActivity {
    Compute,
    Transfer,
    Wait,
}

impl TimeActivity {
    const ALL: [Self; 3] = [Self::Compute, Self::Transfer, Self::Wait];
}

/// The span that is divided, and the active stretch in it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stretch {
    whole: Interval,
    pub(super) active: Interval,
}

/// The group of a rank, or of the window of the scope. `None` if no slice takes time.
pub(super) fn group<B: Bytes>(
    segment: &Segment<B>,
    scope: &MetricScope,
    work: Work<'_>,
) -> Result<Option<MetricGroup>> {
    Ok(parts(segment, scope, work)?.map(group_of))
}

fn group_of(parts: TimeParts) -> MetricGroup {
    let TimeParts { before, compute, transfer, wait, idle, after } = parts;
    let values = [before, compute, transfer, wait, idle, after];
    let metric = |(of, ps): (&MetricDefinition, i64)| of.metric(seconds(ps.unsigned_abs()));
    let metrics = FAMILY.metrics.iter().zip(values).map(metric).collect();
    MetricGroup { key: FAMILY.key, title: FAMILY.title, has_names_of_trace: false, metrics }
}

fn parts<B: Bytes>(segment: &Segment<B>, scope: &MetricScope, work: Work<'_>) -> Result<Option<TimeParts>> {
    let of_device = slice_tracks(segment, is_of_device).next().is_some();
    // Beside threads, tracks of no known part have spans of a profiler, which are no work.
    let has_threads = slice_tracks(segment, |role| role == Role::HostThread).next().is_some();
    let is_wanted = |role: Role| match (of_device, has_threads) {
        (true, _) => is_of_device(role),
        (false, true) => role == Role::HostThread,
        (false, false) => is_of_program(role),
    };
    let tracks: Vec<(TrackId, TableId)> = slice_tracks(segment, is_wanted).collect();
    let Some(stretch) = Stretch::of(segment, scope, is_wanted, work)? else { return Ok(None) };
    let classifiers: Vec<_> = tracks
        .iter()
        .map(|(track, table)| {
            let role = role(segment, *track);
            let around = (role == Role::HostThread).then(|| spans_around_work(segment, *table, work));
            classes_of(segment, role, around)
        })
        .collect();
    let classified = tracks.iter().zip(&classifiers);
    let classified: Vec<_> =
        classified.map(|(&(track, table), classify)| ClassifiedTrack { track, table, classify }).collect();
    let pieces = pieces(segment, &classified, stretch.active)?;
    let times = of_pieces(segment, &classified, &HIDING, &pieces, work)?;
    Ok(Some(stretch.parts(times.iter().map(|of| [0, 1, 2].map(|union| of.covered_ps[union])))))
}

/// Computing time, that with transfers, and that with waits.
const HIDING: [ClassUnion; 3] = [
    ClassUnion { classes: 1 << TimeActivity::Compute as Class, unions: 0 },
    ClassUnion { classes: 1 << TimeActivity::Transfer as Class, unions: 1 },
    ClassUnion { classes: 1 << TimeActivity::Wait as Class, unions: 2 },
];

impl Stretch {
    /// The stretch of a rank with a device. `None` if it has none, or if no slice takes time.
    pub(super) fn of_device<B: Bytes>(
        segment: &Segment<B>,
        scope: &MetricScope,
        work: Work<'_>,
    ) -> Result<Option<Self>> {
        let has_device = slice_tracks(segment, is_of_device).next().is_some();
        if has_device { Self::of(segment, scope, is_of_device, work) } else { Ok(None) }
    }

    /// The group of the times, from the covered times of the pieces of the active stretch: those of
    /// computation, those with transfers, and those with waits.
    pub(super) fn group(self, of_pieces: impl Iterator<Item = [i64; HIDING.len()]>) -> MetricGroup {
        group_of(self.parts(of_pieces))
    }

    /// The stretch of a rank or of a window. `None` if no slice takes time.
    fn of<B: Bytes>(
        segment: &Segment<B>,
        scope: &MetricScope,
        is_wanted: impl Fn(Role) -> bool,
        work: Work<'_>,
    ) -> Result<Option<Self>> {
        let whole = match scope.window {
            Some(window) => Some(window),
            None => extent(segment, |role| !role.is_state(), work.cancel)?,
        };
        let Some(whole) = whole else { return Ok(None) };
        // The stretch of a part is that of the whole: a window before it is start-up.
        // It can reach beyond the devices, to the work of hosts.
        let worked =
            extent(segment, is_wanted, work.cancel)?.unwrap_or(Interval::new(whole.end.0, whole.end.0));
        let active = active_span(segment, work.cancel)?.map(|active| active.intersection(worked));
        let stretch = active.filter(|active| active.duration_ps() > 0).unwrap_or(worked);
        let start = stretch.start.clamp(whole.start, whole.end);
        let end = stretch.end.clamp(start, whole.end);
        Ok(Some(Self { whole, active: Interval { start, end } }))
    }

    /// The parts of the time, from the covered times of pieces in the order of [`HIDING`].
    fn parts(self, of_pieces: impl Iterator<Item = [i64; HIDING.len()]>) -> TimeParts {
        let mut covered = [0; HIDING.len()];
        for of_piece in of_pieces {
            covered.iter_mut().zip(of_piece).for_each(|(sum, ps)| *sum += ps);
        }
        let [compute, with_transfer, with_wait] = covered;
        TimeParts {
            before: self.active.start.0 - self.whole.start.0,
            compute,
            transfer: with_transfer - compute,
            wait: with_wait - with_transfer,
            idle: self.active.duration_ps() - with_wait,
            after: self.whole.end.0 - self.active.end.0,
        }
    }
}

/// Whether tracks of this role show what a device does.
pub(super) fn is_of_device(role: Role) -> bool {
    role.is_work() && role != Role::Semaphore && role.side() == Some(MachineSide::Device)
}

/// Whether tracks of this role show what a program without a device does.
fn is_of_program(role: Role) -> bool {
    role.is_work() && role != Role::Semaphore
}

fn role<B: Bytes>(segment: &Segment<B>, track: TrackId) -> Role {
    segment.footer().tracks[track.0 as usize].spec.identity.role
}

/// The class of slices that are drawn around work. It is in no union.
const AROUND: Class = TimeActivity::ALL.len() as Class;

/// The mark of the slices of a table that are drawn around the work of a thread: its steps, its
/// phases, the frames of Python.
fn spans_around_work<B: Bytes>(segment: &Segment<B>, table: TableId, work: Work<'_>) -> MarkedField {
    let columns = NamedColumns::of_table(segment, table, work.cancel);
    MarkedField::of(&columns, CATEGORY_FIELD, 0, |category| u8::from(is_around_work(category)))
}

/// Tells the activities of the rows of a track with this role.
fn classes_of<'s, B: Bytes>(
    segment: &'s Segment<B>,
    role: Role,
    around: Option<MarkedField>,
) -> impl Fn(&mut SweptBlock<'_, '_, B>) -> Result<BlockClasses> + Sync + 's {
    move |block| {
        let classes = block.by_name(|name, known| Ok(activity_of(segment, role, name, known)? as Class))?;
        let Some(around) = &around else { return Ok(classes) };
        Ok(match around.marks(segment, &mut block.reader)? {
            BlockClasses::One(0) => classes,
            marks => {
                let class = |row| if marks.of_row(row) == 0 { classes.of_row(row) } else { AROUND };
                BlockClasses::of((0..block.reader.rows()).map(class).collect())
            }
        })
    }
}

/// The activity of the slices of a name on a track with this role.
pub(super) fn activity_of<B: Bytes>(
    segment: &Segment<B>,
    role: Role,
    name: i64,
    known: &mut KnownClasses,
) -> Result<TimeActivity> {
    Ok(match role {
        _ if segment.footer().waits.contains_stored(name) => TimeActivity::Wait,
        Role::Queue | Role::Collectives | Role::CollectiveCore => TimeActivity::Transfer,
        Role::Kernels => {
            let activity = |class: Class| TimeActivity::ALL[usize::from(class) % TimeActivity::ALL.len()];
            match known.entry(name) {
                Entry::Occupied(known) => activity(*known.get()),
                Entry::Vacant(place) => activity(*place.insert(class_of_kernel(segment, name)? as Class)),
            }
        }
        _ => TimeActivity::Compute,
    })
}

fn class_of_kernel<B: Bytes>(segment: &Segment<B>, name: i64) -> Result<TimeActivity> {
    let name = NameId(u32::try_from(name).unwrap_or_default());
    Ok(match class_on_device(segment.text(name)?, "") {
        KinetoClass::Collective | KinetoClass::Copy => TimeActivity::Transfer,
        KinetoClass::Compute | KinetoClass::Neither => TimeActivity::Compute,
    })
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
        let step = RankTrack::of(Role::HostThread, &[("step", 0, 70)]).in_category("user_annotation");
        check(&[RankTrack::of(Role::HostThread, &slices), step], None, [0, 20, 0, 30, 20, 0]);
        let profiler = RankTrack::of(Role::Unknown, &[("PyTorch Profiler (0)", 0, 80)]);
        check(&[RankTrack::of(Role::HostThread, &slices), profiler], None, [0, 20, 0, 30, 10, 20]);
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
    }
}
