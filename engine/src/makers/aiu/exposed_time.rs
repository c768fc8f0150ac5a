//! Time in which kernels are prepared, or data moves between host and device, and no kernel covers
//! it.
//!
//! Preparation counts where the device does nothing at all, so that it is on the critical path. A
//! transfer counts where no kernel runs. Times before the first and after the last work of the
//! device are start-up and tear-down.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::AiuClass;
use super::tracks::LaneKind;
use crate::base::{Interval, Result};
use crate::exec::Cancel;
use crate::makers::call_columns::slice_tracks;
use crate::makers::device_time::{IntervalList, Union, joined, without};
use crate::metrics::trace::seconds;
use crate::metrics::{MetricDefinition, MetricFamily, MetricGroup};
use crate::model::{MachineSide, NameId, Role, Unit};
use crate::segment::{BlockReader, Bytes, ColumnRole, Segment};

/// The family.
pub(super) const FAMILY: MetricFamily = MetricFamily {
    key: "aiu_exposed",
    title: "Time that no kernel covers",
    row: None,
    metrics: &[
        MetricDefinition::new(
            "exposed_preparation_time",
            Unit::Seconds,
            "Time in which kernels are prepared and the device does nothing else, between its first and its last \
             work: preparation on the critical path.",
        ),
        MetricDefinition::new(
            "exposed_data_in_time",
            Unit::Seconds,
            "Time in which data moves from the host to the device and no kernel runs. Transfers of collective \
             operations do not count.",
        ),
        MetricDefinition::new(
            "exposed_data_out_time",
            Unit::Seconds,
            "Time in which data moves from the device to the host and no kernel runs. Transfers of collective \
             operations do not count.",
        ),
    ],
    source: "nprof",
    needs: "no slice is a preparation or a transfer",
};

/// Times in picoseconds. `None` if the trace has no slice of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct ExposedTimes {
    /// From the first to the last work of the device.
    pub(super) total_ps: i64,
    pub(super) preparation_ps: Option<i64>,
    data_in_ps: Option<i64>,
    data_out_ps: Option<i64>,
}

/// The part of a slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Kernel,
    DataIn,
    DataOut,
    OtherWork,
    Preparation,
}

/// The times of the parts.
#[derive(Debug, Default)]
struct PartTimes {
    parts: [Union; 5],
}

impl Part {
    fn of_class(class: AiuClass) -> Self {
        match class {
            AiuClass::ComputePrep => Self::Preparation,
            AiuClass::DataIn => Self::DataIn,
            AiuClass::DataOut => Self::DataOut,
            _ => Self::Kernel,
        }
    }
}

/// The times of a rank, or of a window of it.
pub(super) fn exposed_times<B: Bytes>(
    segment: &Segment<B>,
    window: Option<Interval>,
    cancel: Cancel<'_>,
) -> Result<ExposedTimes> {
    let PartTimes { parts } = PartTimes::read(segment, cancel)?;
    let [kernels, data_in, data_out, other, preparation] = parts.map(|part| Rc::new(part.settled()));
    let work = joined([&kernels, &data_in, &data_out, &other].map(Rc::clone).into());
    let (Some(first), Some(last)) = (work.first(), work.last()) else { return Ok(ExposedTimes::default()) };
    let whole = Interval::new(first.0, last.1);
    let inside = window.map_or(whole, |window| window.intersection(whole));
    let inside_ps =
        |(start, end): &(i64, i64)| (*end.min(&inside.end.0) - *start.max(&inside.start.0)).max(0);
    let exposed_ps = |part: &IntervalList, covering: &IntervalList| {
        let is_there = !part.is_empty();
        is_there.then(|| without(part, covering).iter().map(inside_ps).fold(0, i64::saturating_add))
    };
    Ok(ExposedTimes {
        total_ps: inside.duration_ps(),
        preparation_ps: exposed_ps(&preparation, &work),
        data_in_ps: exposed_ps(&data_in, &kernels),
        data_out_ps: exposed_ps(&data_out, &kernels),
    })
}

/// The times as metrics, without those of kinds that the trace lacks.
pub(super) fn group<B: Bytes>(
    segment: &Segment<B>,
    window: Option<Interval>,
    cancel: Cancel<'_>,
) -> Result<MetricGroup> {
    let of = exposed_times(segment, window, cancel)?;
    let values = [of.preparation_ps, of.data_in_ps, of.data_out_ps];
    let metric = |(definition, ps): (&MetricDefinition, Option<i64>)| {
        Some(definition.metric(seconds(ps?.unsigned_abs())))
    };
    let metrics = FAMILY.metrics.iter().zip(values).filter_map(metric).collect();
    Ok(MetricGroup { key: FAMILY.key, title: FAMILY.title, has_names_of_trace: false, metrics })
}

impl PartTimes {
    fn read<B: Bytes>(segment: &Segment<B>, cancel: Cancel<'_>) -> Result<Self> {
        let mut all = Self::default();
        let is_wanted = |role: Role| role == Role::Unknown || role.side() == Some(MachineSide::Device);
        for (track, table) in slice_tracks(segment, is_wanted) {
            let spec = &segment.footer().tracks[track.0 as usize].spec;
            let part = match (spec.identity.role, LaneKind::of_title(&spec.name)) {
                (Role::Unknown, Some(LaneKind::Prep)) => Some(Part::Preparation),
                (Role::Unknown, _) => continue,
                (_, Some(LaneKind::DataIn)) => Some(Part::DataIn),
                (_, Some(LaneKind::DataOut)) => Some(Part::DataOut),
                // Streams of PyTorch's dialect have kernels and transfers.
                (Role::Kernels, _) => None,
                _ => Some(Part::OtherWork),
            };
            let mut by_name: FxHashMap<i64, Part> = FxHashMap::default();
            for block in segment.blocks_of(track)? {
                cancel.check()?;
                let mut core = BlockReader::new(segment, table, block)?;
                let starts = core.core_ints(ColumnRole::Start)?;
                let durations = core.core_ints(ColumnRole::Duration)?;
                let names = if part.is_none() { core.core_ints(ColumnRole::Name)? } else { Vec::new() };
                for (at, (start, duration)) in starts.into_iter().zip(durations).enumerate() {
                    let part = match (part, names.get(at)) {
                        (Some(part), _) => part,
                        (None, Some(name)) => match by_name.get(name) {
                            Some(known) => *known,
                            None => *by_name.entry(*name).or_insert(part_of_name(segment, *name)?),
                        },
                        (None, None) => continue,
                    };
                    if duration > 0 {
                        all.parts[part as usize].add(start, start.saturating_add(duration));
                    }
                }
            }
            all.parts.iter_mut().for_each(Union::compact);
        }
        Ok(all)
    }
}

fn part_of_name<B: Bytes>(segment: &Segment<B>, name: i64) -> Result<Part> {
    let text = segment.text(NameId(u32::try_from(name).unwrap_or(u32::MAX)))?;
    Ok(Part::of_class(AiuClass::of_torch("", text)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::{BuildOptions, Builder};
    use crate::makers::aiu::schema::AiuOp;
    use crate::makers::aiu::{AiuTracks, SOURCE};
    use crate::model::{RankInfo, Sink, SliceForm, SliceRecord};
    use crate::spill::MemoryScratch;

    /// A slice: its lane, name, start and end.
    struct DrawnSlice(LaneKind, &'static str, i64, i64);

    fn rank(slices: &[DrawnSlice]) -> Segment<Vec<u8>> {
        let mut bytes = Vec::new();
        {
            let scratch = MemoryScratch::default();
            let mut sink = Builder::new(&scratch, &mut bytes, BuildOptions::default()).unwrap();
            sink.rank(RankInfo { source: SOURCE.to_owned(), ..RankInfo::default() });
            let (of, mut tracks) = (AiuOp::define(&mut sink).unwrap(), AiuTracks::new(Some(0)));
            for &DrawnSlice(lane, name, start_ps, end_ps) in slices {
                let track = tracks.lane(&mut sink, of.table, lane, 0).unwrap();
                let (name, form) = (sink.name(name).unwrap(), SliceForm::Complete);
                let duration_ps = end_ps - start_ps;
                sink.slice(&SliceRecord { track, start_ps, duration_ps, name, form, fields: &[] }).unwrap();
            }
            sink.finish().unwrap();
        }
        Segment::open(bytes).unwrap()
    }

    #[test]
    fn kernels_cover_transfers_and_all_work_covers_preparation() {
        let segment = rank(&[
            DrawnSlice(LaneKind::Prep, "add Cmpt Prep", 0, 60),
            DrawnSlice(LaneKind::DataIn, "x DmaI", 10, 40),
            DrawnSlice(LaneKind::Compute, "add Cmpt Exec", 60, 100),
            DrawnSlice(LaneKind::DataIn, "y DmaI", 90, 120),
            DrawnSlice(LaneKind::DataOut, "z DmaO", 110, 150),
        ]);
        let of = |window| exposed_times(&segment, window, Cancel::NEVER).unwrap();
        let times = |total_ps, preparation_ps, data_in_ps, data_out_ps| ExposedTimes {
            total_ps,
            preparation_ps: Some(preparation_ps),
            data_in_ps: Some(data_in_ps),
            data_out_ps: Some(data_out_ps),
        };
        // The preparation before the first work is start-up.
        assert_eq!(of(None), times(140, 20, 50, 40));
        assert_eq!(of(Some(Interval::new(0, 50))), times(40, 10, 30, 0));
        assert_eq!(of(Some(Interval::new(50, 200))), times(100, 10, 20, 40));
        let group = group(&segment, None, Cancel::NEVER).unwrap();
        let names: Vec<&str> = group.metrics.iter().map(|metric| metric.name.as_str()).collect();
        assert_eq!(names, FAMILY.metrics.iter().map(|of| of.name).collect::<Vec<_>>());
    }

    #[test]
    fn kinds_that_the_trace_lacks_have_no_time() {
        let segment = rank(&[DrawnSlice(LaneKind::Compute, "add Cmpt Exec", 60, 100)]);
        let expected = ExposedTimes { total_ps: 40, ..ExposedTimes::default() };
        assert_eq!(exposed_times(&segment, None, Cancel::NEVER).unwrap(), expected);
    }
}
