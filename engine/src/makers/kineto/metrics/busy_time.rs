//! The time of the devices by what they do: a partition by the kinds of work that run at once.

use super::super::KinetoClass;
use super::kernel_slice::{KernelSlice, StreamSlices};
use crate::metrics::{Metric, MetricDefinition, MetricFamily, MetricGroup};
use crate::model::{OwnedValue, Unit};

const COMPUTE: usize = 1;
const COMMUNICATION: usize = 2;
const COPY: usize = 4;
/// Sets of kinds that can run at once.
const SETS: usize = 8;

pub(super) const TEMPORAL: MetricFamily = MetricFamily {
    key: "device_time",
    title: "Time of the devices",
    row: None,
    metrics: &[
        MetricDefinition::new(
            "kernel_time",
            Unit::Seconds,
            "From the start of the first kernel, copy or fill to the end of the last, on all streams.",
        ),
        MetricDefinition::new(
            "idle_time",
            Unit::Seconds,
            "Time of `kernel_time` in which no stream ran a kernel, a copy or a fill.",
        ),
        MetricDefinition::new(
            "compute_time",
            Unit::Seconds,
            "Time of `kernel_time` in which at least one kernel ran that does not communicate.",
        ),
        MetricDefinition::new(
            "non_compute_time",
            Unit::Seconds,
            "Time of `kernel_time` in which kernels that communicate, copies or fills ran, and no other \
             kernel. Idle, compute and non-compute time sum up to `kernel_time`.",
        ),
        MetricDefinition::new(
            "comp_comm_overlap",
            Unit::Ratio,
            "Share of the time of communication in which a kernel computed, too.",
        ),
    ],
    source: "Holistic Trace Analysis 0.5, temporal breakdown and communication-computation overlap",
    needs: "no kernels were recorded: profile with `ProfilerActivity.CUDA` or that of the device",
};

pub(super) const BREAKDOWN: MetricFamily = MetricFamily {
    key: "kernel_kinds",
    title: "Time by kind of kernel",
    row: None,
    metrics: &[
        MetricDefinition::new(
            "compute_alone_time",
            Unit::Seconds,
            "Time in which only kernels ran that compute.",
        ),
        MetricDefinition::new(
            "communication_alone_time",
            Unit::Seconds,
            "Time in which only kernels ran that communicate.",
        ),
        MetricDefinition::new(
            "compute_and_communication_time",
            Unit::Seconds,
            "Time in which kernels computed and communicated, without copies and fills.",
        ),
        MetricDefinition::new("copy_alone_time", Unit::Seconds, "Time in which only copies and fills ran."),
        MetricDefinition::new(
            "compute_and_copy_time",
            Unit::Seconds,
            "Time in which kernels computed beside copies or fills, without communication.",
        ),
        MetricDefinition::new(
            "communication_and_copy_time",
            Unit::Seconds,
            "Time in which kernels communicated beside copies or fills, without computation.",
        ),
        MetricDefinition::new(
            "all_kinds_time",
            Unit::Seconds,
            "Time in which kernels computed and communicated beside copies or fills.",
        ),
    ],
    source: "Holistic Trace Analysis 0.5, kernel breakdown with overlaps",
    needs: TEMPORAL.needs,
};

/// Time by the set of kinds that run at once, in picoseconds. The first set is that of nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct TimeBySet([i64; SETS]);

impl TimeBySet {
    fn of(streams: &[StreamSlices]) -> Self {
        let all = || streams.iter().flat_map(|stream| &stream.slices).filter(|of| of.duration_ps() > 0);
        let mut edges: Vec<(i64, bool, usize)> = Vec::with_capacity(2 * all().count());
        for slice in all() {
            let kind = kind_of(slice);
            edges.extend([(slice.start_ps, true, kind), (slice.end_ps, false, kind)]);
        }
        edges.sort_unstable();
        let (mut times, mut running, mut set) = (Self::default(), [0_u32; SETS], 0);
        let mut last_ps = edges.first().map_or(0, |edge| edge.0);
        for (time_ps, starts, kind) in edges {
            times.0[set] = times.0[set].saturating_add(time_ps.saturating_sub(last_ps));
            last_ps = time_ps;
            // An end comes before a start of the same time in the order, and a slice takes time.
            running[kind] = if starts { running[kind] + 1 } else { running[kind] - 1 };
            set = if running[kind] > 0 { set | kind } else { set & !kind };
        }
        times
    }

    fn with(&self, kinds: usize) -> i64 {
        (0..SETS).filter(|set| set & kinds == kinds).map(|set| self.0[set]).fold(0, i64::saturating_add)
    }
}

fn kind_of(slice: &KernelSlice) -> usize {
    match slice.class {
        KinetoClass::Collective => COMMUNICATION,
        KinetoClass::Copy => COPY,
        KinetoClass::Compute | KinetoClass::Neither => COMPUTE,
    }
}

/// The partition of the time, and that of the busy part. Parts without time are not listed.
pub(super) fn groups(streams: &[StreamSlices]) -> Vec<MetricGroup> {
    let times = TimeBySet::of(streams);
    let whole: i64 = times.0.iter().fold(0, |sum, time| sum.saturating_add(*time));
    let (compute, communication) = (times.with(COMPUTE), times.with(COMMUNICATION));
    let non_compute = whole - times.0[0] - compute;
    let overlap = times.with(COMPUTE | COMMUNICATION) as f64 / communication as f64;
    let mut temporal = metrics(TEMPORAL.metrics, [whole, times.0[0], compute, non_compute]);
    temporal.extend((communication > 0).then(|| TEMPORAL.metrics[4].metric(OwnedValue::Float(overlap))));
    let mut kinds = metrics(BREAKDOWN.metrics, times.0[1..].iter().copied());
    kinds.retain(|metric| metric.value != super::seconds(0));
    vec![group(&TEMPORAL, temporal), group(&BREAKDOWN, kinds)]
}

fn group(family: &MetricFamily, metrics: Vec<Metric>) -> MetricGroup {
    MetricGroup { key: family.key, title: family.title, has_names_of_trace: false, metrics }
}

/// The metrics of times, in the order of their definitions.
fn metrics(definitions: &[MetricDefinition], times_ps: impl IntoIterator<Item = i64>) -> Vec<Metric> {
    definitions.iter().zip(times_ps).map(|(of, ps)| of.metric(super::seconds(ps))).collect()
}

#[cfg(test)]
mod tests {
    //! Drawn streams against times counted by hand.

    use super::*;
    use crate::makers::kineto::metrics::fixture::streams;

    #[track_caller]
    fn check(drawn: &[(KinetoClass, &str)], expected: [i64; SETS]) {
        assert_eq!(TimeBySet::of(&streams(drawn)).0, expected);
    }

    #[test]
    fn every_moment_counts_in_one_set() {
        use KinetoClass::{Collective, Compute, Copy};
        check(&[], [0; SETS]);
        check(&[(Compute, " ###  ##")], [2, 5, 0, 0, 0, 0, 0, 0]);
        check(&[(Compute, "###"), (Compute, "  ###")], [0, 5, 0, 0, 0, 0, 0, 0]);
        check(
            &[(Compute, "###  ##  "), (Collective, " ####    "), (Copy, "  ##  ###")],
            [0, 2, 1, 1, 2, 1, 1, 1],
        );
    }
}
