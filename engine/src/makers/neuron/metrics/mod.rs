//! The summary of a Neuron profile: the metrics of neuron-profile's `summary`, computed from the
//! rows.
//!
//! Formulas come from the vendor's documentation (neuron-profile user guide, Neuron Explorer's
//! summary), with the definitions that agree with its output on real traces. Times are not rounded:
//! sums of whole nanoseconds would be wrong by percents. Values that the trace states are copied:
//! versions, or a whole summary in an imported JSON.

mod absence;
mod activity;
mod busy;
mod device;
mod dma;
mod elements;
mod engines;
mod field_sums;
#[cfg(test)]
mod fixture;
mod flops_over_time;
mod flops_split;
mod layer_points;
mod opcode;
mod reach;
mod run;
mod throttle;
#[cfg(test)]
mod window_tests;

pub use busy::{Busy, for_each_busy};
pub(in crate::makers) use device::device_metrics;
pub(in crate::makers) use flops_over_time::flops_over_time;

use std::borrow::Cow;

use activity::NeuronActivity;
use layer_points::layer_points;
use run::RunFacts;
pub use throttle::{is_limit, shown_name};

use crate::base::{Result, clamped};
use crate::exec::Work;
use crate::makers::CallIds;
use crate::makers::collective_points::{self, points_of_rank};
use crate::makers::columns::NamedColumns;
use crate::makers::neuron::collectives;
use crate::makers::neuron::group::NeuronGroup;
use crate::metrics::{
    AbsentMetrics, Metric, MetricFamily, MetricGroup, MetricScope, MetricTable, RankMetrics, RooflinePoint,
    roofline, trace,
};
use crate::model::{OwnedValue, Unit};
use crate::segment::{Bytes, Segment};

/// The families that are no part of neuron-profile's summary.
pub(in crate::makers) const FAMILIES: [&MetricFamily; 2] = [&flops_split::FAMILY, &elements::FAMILY];

/// A metric with its group.
type GroupedMetric = (NeuronGroup, Metric);

/// Points that a trace without names of layers lacks.
const NO_LAYERS: AbsentMetrics = AbsentMetrics {
    key: "roofline_layers",
    title: "Layers on the roofline",
    reason: Cow::Borrowed(
        "no instruction states its layer or its HLO operation; a NEFF does: `-n file.neff`",
    ),
};

/// Metrics that a window lacks.
const OF_RUN: AbsentMetrics = AbsentMetrics {
    key: "neuron_run",
    title: "Sizes of weights and tensors, counts of records, values of neuron-profile",
    reason: Cow::Borrowed("the trace states them for the whole run, not for a window"),
};

/// All metrics of a Neuron profile.
pub(super) fn read<B: Bytes>(
    segment: &Segment<B>,
    scope: &MetricScope,
    work: Work<'_>,
) -> Result<RankMetrics> {
    let run = RunFacts::of(segment, scope, work)?;
    let mut metrics = groups(segment, scope, &run)?;
    add_roofline(segment, &run, &mut metrics)?;
    let rank = segment.footer().rank.rank.unwrap_or(0);
    let calls = collectives::operations(segment, rank, CallIds::Skipped, work.cancel)?;
    metrics.tables.extend(collective_points::tables(points_of_rank(&calls, scope.window)));
    if scope.window.is_some() {
        // A window has the metrics of any trace beside.
        let of_trace = trace::read(segment, scope, work)?;
        metrics.groups.extend(of_trace.groups.into_iter().map(without_length));
        metrics.tracks = of_trace.tracks;
        metrics.absent.push(OF_RUN);
    } else {
        let absent: Vec<AbsentMetrics> = absence::absent(&metrics.groups).collect();
        metrics.absent.extend(absent);
    }
    Ok(metrics)
}

/// Adds the points of all work and of the layers, or the reason why there are none.
fn add_roofline<B: Bytes>(segment: &Segment<B>, run: &RunFacts<'_>, metrics: &mut RankMetrics) -> Result<()> {
    let Some(all) = roofline_point(&metrics.groups) else {
        let lacks_peaks = "the trace does not state the peaks of the device";
        let lacks_products = "no instruction is a matrix product with a number of elements";
        let reason = if run.chip.is_none() { lacks_peaks } else { lacks_products };
        metrics.absent.push(roofline::no_roofline(reason));
        return Ok(());
    };
    let of_layers = layer_points(segment, run, all.peak)?;
    let rows = std::iter::once(all).chain(of_layers.points).map(RooflinePoint::row).collect();
    metrics.tables.push(MetricTable { family: &roofline::FAMILY, rows });
    metrics.absent.extend(roofline::without_point("layers", of_layers.layers, of_layers.absent));
    metrics.absent.extend((of_layers.layers == 0).then_some(NO_LAYERS));
    Ok(())
}

/// The group without the length of the window, which is known already.
fn without_length(mut group: MetricGroup) -> MetricGroup {
    group.metrics.retain(|metric| metric.name != trace::TOTAL_TIME);
    group
}

/// The whole run on the roofline of the device. `None` without matrix products.
fn roofline_point(groups: &[MetricGroup]) -> Option<RooflinePoint> {
    let all = groups.iter().flat_map(|group| &group.metrics);
    let values = all.filter_map(|metric| Some((metric.name.clone(), metric.value.float()?))).collect();
    let of = device_metrics(0, &values)?;
    let (flops, moved) = (of.flops?, of.transfers?);
    let (flops, bytes) = (flops.model.unwrap_or(flops.hardware), moved.read_bytes + moved.written_bytes);
    let peak = of.peaks?;
    Some(RooflinePoint {
        name: "all".to_owned(),
        count: 1,
        time_ps: of.total_ps,
        flops,
        bytes,
        least: Some(peak.least_time(flops, bytes)),
        peak: Some(peak),
    })
}

/// The groups of metrics, and the division of the time.
fn groups<B: Bytes>(segment: &Segment<B>, scope: &MetricScope, run: &RunFacts<'_>) -> Result<RankMetrics> {
    let activity = NeuronActivity::of(segment, scope, run.work)?;
    let mut placed: Vec<GroupedMetric> = Vec::new();
    engines::metrics(segment, run, &activity, &mut placed)?;
    dma::metrics(segment, run, &activity, &mut placed)?;
    let throttling = throttle::records(segment, run)?;
    throttle::metrics(&throttling, run, &mut placed);
    run.metrics(&mut placed);
    reach::metrics(run, &mut placed);
    let no_split = flops_split::metrics(segment, run, &throttling, &mut placed)?;
    let stated = run.stated.clone();
    let mut taken = Vec::new();
    for (_, metric) in &mut placed {
        if let Some((_, value)) = stated.iter().find(|(name, _)| *name == metric.name) {
            metric.value = value.clone();
        }
        taken.push(metric.name.clone());
    }
    let rest = stated.into_iter().filter(|(name, _)| !taken.iter().any(|taken| taken == name));
    let stated = |(name, value)| Metric::new(name, value, Unit::None, "Value that the trace states.");
    placed.extend(rest.map(|metric| (NeuronGroup::System, stated(metric))));
    let metrics_of = |group| {
        let of_group = placed.iter().filter(move |(of, _)| *of == group);
        of_group.map(|(_, metric)| metric.clone()).collect()
    };
    let group = |group: NeuronGroup| MetricGroup {
        key: group.key(),
        title: group.title(),
        has_names_of_trace: false,
        metrics: metrics_of(group),
    };
    let mut groups = NeuronGroup::ALL.map(group).to_vec();
    groups.retain(|group| !group.metrics.is_empty());
    let absent = no_split.into_iter().collect();
    Ok(RankMetrics { groups, time: activity.time, absent, ..RankMetrics::default() })
}

#[expect(clippy::cast_precision_loss, reason = "a metric in seconds has the precision of a float")]
fn seconds(ps: u64) -> f64 {
    ps as f64 / crate::base::time::PS_PER_S as f64
}

fn float(name: &str, value: f64, unit: Unit, doc: &str) -> Metric {
    Metric::new(name, OwnedValue::Float(value), unit, doc)
}

fn int(name: &str, value: i64, unit: Unit, doc: &str) -> Metric {
    Metric::new(name, OwnedValue::Int(value), unit, doc)
}

fn count(name: &str, value: u64, doc: &str) -> Metric {
    int(name, clamped(value), Unit::Count, doc)
}

/// A share; 0 if the whole is 0.
fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}
