//! The split of the operations that the Tensor engine could do, as in Neuron Explorer's summary.
//!
//! The parts sum up to the peak times the total time. A limit takes its share of the peak from the
//! time in which the engine is active, and from the rest. The strictest record counts if several
//! limit the core at once.

use std::borrow::Cow;

use super::engines::instruction_tracks;
use super::run::RunFacts;
use super::throttle::ThrottleRecord;
use super::{GroupedMetric, NamedColumns};
use crate::base::time::PS_PER_S;
use crate::base::{Interval, Result};
use crate::makers::class_times::equal_pieces;
use crate::makers::device_time::{IntervalList, Union, both, length, without};
use crate::makers::neuron::Engine;
use crate::makers::neuron::group::NeuronGroup;
use crate::makers::neuron::schema::INSTRUCTION;
use crate::metrics::{AbsentMetrics, MetricDefinition, MetricFamily};
use crate::model::{EngineKind, OwnedValue, Role, TableId, TrackId, Unit};
use crate::segment::{BlockReader, Bytes, ColumnRole, Segment};

/// The family, in the words of Neuron Explorer's summary where it has some.
pub(in crate::makers) const FAMILY: MetricFamily = MetricFamily {
    key: "neuron_flops_split",
    title: "Split of the operations of the Tensor engine",
    row: None,
    metrics: &[
        MetricDefinition::new(
            "tensor_engine_peak_rate",
            Unit::FlopsPerSecond,
            "Operations a second of the Tensor engine at its peak: 2 · multipliers · clock.",
        ),
        MetricDefinition::new(
            "tensor_engine_peak_flops",
            Unit::Flops,
            "Operations that the Tensor engine can do in the total time: the peak times this time.",
        ),
        MetricDefinition::new(
            "tensor_engine_active_flops",
            Unit::Flops,
            "Operations that the Tensor engine can do in its active time.",
        ),
        MetricDefinition::new(
            "tensor_engine_other_flops",
            Unit::Flops,
            "Operations that ran and are neither known as those of the model nor as transposes.",
        ),
        MetricDefinition::new(
            "tensor_engine_unused_flops",
            Unit::Flops,
            "Operations that the Tensor engine could have done beside those that ran, in its active time and \
             within the limits of throttling.",
        ),
        MetricDefinition::new(
            "tensor_engine_active_throttled_flops",
            Unit::Flops,
            "Operations that throttling took in the active time of the Tensor engine: the peak times Σ (1 − k / n) \
             of this time.",
        ),
        MetricDefinition::new(
            "tensor_engine_inactive_throttled_flops",
            Unit::Flops,
            "Operations that throttling took in the time in which the Tensor engine was not active.",
        ),
        MetricDefinition::new(
            "tensor_engine_idle_flops",
            Unit::Flops,
            "Operations that the Tensor engine could have done in the time in which it was not active, within \
             the limits of throttling.",
        ),
    ],
    source: "Neuron Explorer",
    needs: "more operations begin in this time than the engine can do while it is active at the known peak",
};

/// Times of the Tensor engine in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct TensorTimes {
    total_s: f64,
    active_s: f64,
    /// Time at the peak that throttling took while the engine was active, and while it was not.
    active_throttled_s: f64,
    inactive_throttled_s: f64,
}

/// Operations that ran.
#[derive(Debug, Clone, Copy, PartialEq)]
struct DoneFlops {
    hardware: f64,
    model: Option<f64>,
    transposes: Option<f64>,
}

/// Adds the split to the metrics that are computed before it. Returns the reason if there is none
/// although the peak is known.
pub(super) fn metrics<B: Bytes>(
    segment: &Segment<B>,
    run: &RunFacts<'_>,
    throttling: &[ThrottleRecord],
    out: &mut Vec<GroupedMetric>,
) -> Result<Option<AbsentMetrics>> {
    let value = |name: &str| out.iter().find(|(_, metric)| metric.name == name)?.1.value.float();
    let Some((chip, hardware)) = run.chip.zip(value("hardware_flops")) else { return Ok(None) };
    let Some(tensor) = TensorTracks::of(segment, run) else {
        let reason = Cow::Borrowed("several cores have a Tensor engine, and only one peak is known");
        return Ok(Some(AbsentMetrics { reason, ..AbsentMetrics::from(&FAMILY) }));
    };
    let active_time = "tensor_engine_active_time";
    let mut times = TensorTimes {
        total_s: run.total_s,
        // The trace states it with more digits than the times of its instructions have.
        active_s: run.stated_number(active_time).or_else(|| value(active_time)).unwrap_or(0.0),
        ..TensorTimes::default()
    };
    tensor.add_throttled(segment, run, throttling, &mut times)?;
    let done = DoneFlops { hardware, model: value("model_flops"), transposes: value("transpose_flops") };
    Ok(match parts(chip.peak_flops(), &times, &done) {
        Some(parts) => {
            out.extend(parts);
            None
        }
        None => Some(AbsentMetrics::from(&FAMILY)),
    })
}

/// The metrics of the family. `None` if a part would be below zero.
fn parts(peak: f64, times: &TensorTimes, done: &DoneFlops) -> Option<Vec<GroupedMetric>> {
    let other = done.hardware - done.model.unwrap_or(0.0) - done.transposes.unwrap_or(0.0);
    let (whole, active) = (peak * times.total_s, peak * times.active_s);
    let active_throttled = peak * times.active_throttled_s;
    let inactive_throttled = peak * times.inactive_throttled_s;
    let unused = active - active_throttled - done.hardware;
    let idle = whole - active - inactive_throttled;
    if other < 0.0 || unused < 0.0 || idle < 0.0 {
        return None;
    }
    let values = [peak, whole, active, other, unused, active_throttled, inactive_throttled, idle];
    let metric = |(definition, value): (&MetricDefinition, f64)| {
        (NeuronGroup::Engine(Engine::Tensor), definition.metric(OwnedValue::Float(value)))
    };
    Some(FAMILY.metrics.iter().zip(values).map(metric).collect())
}

/// The tracks of one Tensor engine.
struct TensorTracks {
    core: i64,
    tracks: Vec<(TrackId, TableId)>,
}

/// Periods in which a core was allowed the same share of its peak.
struct LimitedTime {
    lost_share: f64,
    periods: IntervalList,
}

impl TensorTracks {
    /// `None` if there are several Tensor engines.
    fn of<B: Bytes>(segment: &Segment<B>, run: &RunFacts<'_>) -> Option<Self> {
        let instruction = NamedColumns::of(segment, INSTRUCTION.name, run.work.cancel)?;
        let identity = |track: TrackId| segment.footer().tracks[track.0 as usize].spec.identity;
        let mut tracks = instruction_tracks(segment, &instruction);
        tracks.retain(|track| identity(*track).role == Role::Engine(EngineKind::Tensor));
        let mut cores = tracks.iter().map(|track| identity(*track).core);
        let core = cores.next().flatten();
        let is_one = cores.all(|other| other == core);
        let tracks = tracks.iter().map(|track| (*track, instruction.table())).collect();
        is_one.then_some(Self { core: core.unwrap_or(0).into(), tracks })
    }

    /// Adds the times at the peak that throttling took.
    fn add_throttled<B: Bytes>(
        &self,
        segment: &Segment<B>,
        run: &RunFacts<'_>,
        throttling: &[ThrottleRecord],
        times: &mut TensorTimes,
    ) -> Result<()> {
        let limited = limited_times(throttling.iter().filter(|record| record.core == self.core));
        let periods = || limited.iter().flat_map(|of| of.periods.iter());
        let (Some(start), Some(end)) = (periods().map(|of| of.0).min(), periods().map(|of| of.1).max())
        else {
            return Ok(());
        };
        let pieces = self.pieces(segment, Interval::new(start, end))?;
        let lost_of_piece = |at: usize| -> Result<f64> {
            let active = self.active(segment, run, pieces[at])?;
            Ok(limited.iter().map(|of| of.lost_share * length(&both(&active, &of.periods)) as f64).sum())
        };
        let active_ps: f64 = run.work.gather(pieces.len(), lost_of_piece)?.into_iter().sum();
        let all_ps: f64 = limited.iter().map(|of| of.lost_share * length(&of.periods) as f64).sum();
        times.active_throttled_s = active_ps / PS_PER_S as f64;
        times.inactive_throttled_s = (all_ps - active_ps).max(0.0) / PS_PER_S as f64;
        Ok(())
    }

    /// Pieces of a span whose instructions fit into memory.
    fn pieces<B: Bytes>(&self, segment: &Segment<B>, span: Interval) -> Result<Vec<Interval>> {
        let mut rows = 0;
        for (track, table) in &self.tracks {
            let list = segment.blocks(*table)?;
            let blocks = list.overlapping(segment.blocks_of(*track)?, span);
            rows += blocks.map(|block| list.rows(block) as u64).sum::<u64>();
        }
        Ok(equal_pieces(span, rows, self.tracks.len() as u64))
    }

    /// The times within a piece in which an instruction runs that does not wait.
    fn active<B: Bytes>(
        &self,
        segment: &Segment<B>,
        run: &RunFacts<'_>,
        piece: Interval,
    ) -> Result<IntervalList> {
        let mut active = Union::default();
        for &(track, table) in &self.tracks {
            let mut of_track = Union::default();
            for block in segment.blocks(table)?.overlapping(segment.blocks_of(track)?, piece) {
                run.work.cancel.check()?;
                let mut reader = BlockReader::new(segment, table, block)?;
                let starts = reader.core_ints(ColumnRole::Start)?;
                let durations = reader.core_ints(ColumnRole::Duration)?;
                let names = reader.core_ints(ColumnRole::Name)?;
                for ((start, duration), name) in starts.into_iter().zip(durations).zip(names) {
                    let inside = piece.intersection(Interval::lasting(start, duration));
                    if inside.duration_ps() > 0 && !segment.footer().waits.contains_stored(name) {
                        of_track.add(inside.start.0, inside.end.0);
                    }
                }
            }
            active.take_in(of_track.settled());
        }
        Ok(active.settled())
    }
}

/// The limited times by their share, the strictest limits first. No moment is in two of them.
fn limited_times<'r>(records: impl Iterator<Item = &'r ThrottleRecord>) -> Vec<LimitedTime> {
    let mut strict: Vec<&ThrottleRecord> =
        records.filter(|record| record.allowed < 1.0 && record.period.duration_ps() > 0).collect();
    strict.sort_by(|a, b| a.allowed.total_cmp(&b.allowed).then(a.period.start.cmp(&b.period.start)));
    let (mut limited, mut taken) = (Vec::new(), IntervalList::new());
    for alike in strict.chunk_by(|a, b| a.allowed == b.allowed) {
        let mut periods = Union::default();
        alike.iter().for_each(|record| periods.add(record.period.start.0, record.period.end.0));
        let periods = periods.settled();
        limited.push(LimitedTime {
            lost_share: 1.0 - alike[0].allowed.max(0.0),
            periods: without(&periods, &taken),
        });
        let mut all = Union::default();
        all.take_in(taken);
        all.take_in(periods);
        taken = all.settled();
    }
    limited
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::fixture::{DrawnInstruction, neuron_rank};
    use super::super::read;
    use super::*;
    use crate::exec::Work;
    use crate::metrics::MetricScope;

    const PARTS: [&str; 7] =
        ["peak", "active", "other", "unused", "active_throttled", "inactive_throttled", "idle"];

    /// The split in nanoseconds at the peak.
    fn split(segment: &Segment<Vec<u8>>, window: Option<Interval>) -> [Option<f64>; PARTS.len()] {
        let metrics = read(segment, &MetricScope::within(window), Work::IN_PLACE).unwrap();
        let all: Vec<_> = metrics.groups.into_iter().flat_map(|group| group.metrics).collect();
        PARTS.map(|part| {
            let name = format!("tensor_engine_{part}_flops");
            let flops = all.iter().find(|metric| metric.name == name)?.value.float()?;
            Some((flops / 32_768.0 * 1e6).round() / 1e6)
        })
    }

    /// A product of so many nanoseconds at the peak.
    fn product(start_ps: i64, duration_ps: i64, at_peak: i64) -> DrawnInstruction {
        DrawnInstruction(Engine::Tensor, "MATMUL", "", start_ps, duration_ps, 16_384 * at_peak, 0)
    }

    #[test]
    fn throttling_takes_its_share_of_active_and_of_other_time() {
        let sync = DrawnInstruction(Engine::Sync, "WRITE", "", 0, 10_000, 0, 0);
        // Half of the peak is allowed in the first six of ten nanoseconds.
        let segment = neuron_rank(&[product(0, 4_000, 1), sync], &[], 6_000);
        assert_eq!(split(&segment, None), [10.0, 4.0, 1.0, 1.0, 2.0, 1.0, 5.0].map(Some));
        let window = Some(Interval::new(2_000, 8_000));
        assert_eq!(split(&segment, window), [6.0, 2.0, 0.0, 1.0, 1.0, 1.0, 3.0].map(Some));
    }

    #[test]
    fn more_operations_than_fit_have_no_split() {
        let segment = neuron_rank(&[product(0, 4_000, 5)], &[], 0);
        assert_eq!(split(&segment, None), [None; PARTS.len()]);
        let metrics = read(&segment, &MetricScope::default(), Work::IN_PLACE).unwrap();
        assert!(metrics.absent.iter().any(|absent| absent.key == "neuron_flops_split"));
    }

    #[test]
    fn of_limits_at_once_the_strictest_one_counts() {
        let record = |start, end, allowed| ThrottleRecord::at(Interval::new(start, end), allowed);
        let records = [record(0, 10, 0.75), record(5, 20, 0.5), record(30, 40, 0.75), record(0, 50, 1.0)];
        let found: Vec<_> =
            limited_times(records.iter()).into_iter().map(|of| (of.lost_share, of.periods)).collect();
        assert_eq!(found, [(0.5, vec![(5, 20)]), (0.25, vec![(0, 5), (30, 40)])]);
    }

    proptest! {
        #[test]
        fn the_parts_sum_up_to_the_peak_in_every_window(
            products in prop::collection::vec((0..200_i64, 1..30_i64), 1..30),
            limited in 0..250_i64,
            mut cuts in prop::collection::vec(0..250_i64, 0..4),
        ) {
            let drawn: Vec<_> = products.iter().map(|of| product(of.0 * 1_000, of.1 * 1_000, 0)).collect();
            let segment = neuron_rank(&drawn, &[], limited * 1_000);
            cuts.extend([0, 250]);
            cuts.sort_unstable();
            let mut sums = [0.0; PARTS.len()];
            for pair in cuts.windows(2).filter(|pair| pair[0] < pair[1]) {
                let of = split(&segment, Some(Interval::new(pair[0] * 1_000, pair[1] * 1_000)));
                let [whole, _, parts @ ..] = of.map(Option::unwrap);
                prop_assert!((parts.iter().sum::<f64>() - whole).abs() < 1e-4, "{of:?}");
                sums.iter_mut().zip(of).for_each(|(sum, of)| *sum += of.unwrap());
            }
            let all = split(&segment, Some(Interval::new(0, 250_000))).map(Option::unwrap);
            prop_assert!(sums.iter().zip(all).all(|(sum, all)| (sum - all).abs() < 1e-4), "{sums:?} {all:?}");
        }
    }
}
