//! The work of operators by the shapes of their inputs, where it is known what they compute.

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::super::KinetoClass;
use super::super::device_peak::DevicePeak;
use super::super::kernel_slice::StreamSlices;
use super::super::seconds;
use super::cost::OperatorCost;
use super::launched_work::LaunchedWork;
use super::open_scopes::{OpenOperator, ShapeKey};
use crate::base::Result;
use crate::base::time::PS_PER_S;
use crate::makers::call_columns::integers;
use crate::metrics::{
    AbsentMetrics, Metric, MetricDefinition, MetricFamily, MetricGroup, MetricRow, RooflineBound,
    RooflinePoint, roofline,
};
use crate::model::{NameId, OwnedValue, Unit};
use crate::segment::{Bytes, Segment};

/// Points of a roofline at most, besides that of all.
const MOST_POINTS: usize = 500;

pub(super) const FAMILY: MetricFamily = MetricFamily {
    key: "floating_point",
    title: "Floating-point operations",
    row: None,
    metrics: &[
        MetricDefinition::new(
            "flops",
            Unit::Flops,
            "Floating-point operations of matrix products, convolutions and attention, by the shapes of \
             their inputs. Causal attention over as many keys as queries counts half.",
        ),
        MetricDefinition::new(
            "flops_time",
            Unit::Seconds,
            "Sum of the durations of the kernels, copies and fills that these operators launched.",
        ),
        MetricDefinition::new(
            "flops_time_share",
            Unit::Ratio,
            "`flops_time` as a share of the sum of the durations of all kernels that do not communicate.",
        ),
        MetricDefinition::new("flops_rate", Unit::FlopsPerSecond, "`flops` per second of `flops_time`."),
        MetricDefinition::new(
            "mfu",
            Unit::Ratio,
            "Time that `flops` take at the peaks of the device for their types, without sparsity, as a \
             share of `kernel_time`.",
        ),
    ],
    source: "TraceLens, performance models of operators; peaks from data sheets",
    needs: crate::metrics::roofline::FAMILY.needs,
};

/// The peaks that a roofline lacks without a known device.
pub(super) const PEAKS: MetricFamily = MetricFamily {
    key: "peaks",
    title: "Utilization of the peak",
    row: None,
    metrics: &[],
    source: FAMILY.source,
    needs: "the peaks of this device are not known: `nprof summary --peak 989TF --bandwidth 3.35TB/s` takes \
            them",
};

#[derive(Debug, Clone, Copy)]
struct ShapeWork {
    cost: OperatorCost,
    executions: u64,
    time_ps: i64,
}

/// Work by shape.
#[derive(Debug, Default)]
pub(super) struct Shapes {
    works: FxHashMap<ShapeKey, ShapeWork>,
    /// Names of operators with launches of which no cost is known.
    unknown: FxHashSet<u32>,
}

impl Shapes {
    /// Gives the work of a launch to the operator whose cost is known, if one is open.
    pub(super) fn add(&mut self, work: &LaunchedWork, open: &[OpenOperator]) {
        let known = open.iter().find_map(|of| Some((of.cost?, of.has_launched)));
        let Some(((key, cost), has_launched)) = known else {
            self.unknown.extend(open.last().map(|of| of.slice.name));
            return;
        };
        let of = self.works.entry(key).or_insert(ShapeWork { cost, executions: 0, time_ps: 0 });
        of.executions += u64::from(!has_launched);
        of.time_ps = of.time_ps.saturating_add(work.time_ps);
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.unknown.extend(other.unknown);
        for (key, work) in other.works {
            let of = self.works.entry(key).or_insert(ShapeWork { executions: 0, time_ps: 0, ..work });
            of.executions += work.executions;
            of.time_ps = of.time_ps.saturating_add(work.time_ps);
        }
    }

    /// Operations and rate of an operator.
    pub(super) fn values_of(&self, name: u32) -> Vec<Option<OwnedValue>> {
        let of_name = self.works.iter().filter(|(key, _)| key[0] == Some(name)).map(|(_, work)| work);
        let (mut flops, mut time_ps) = (0.0, 0_i64);
        for work in of_name {
            flops += work.flops();
            time_ps = time_ps.saturating_add(work.time_ps);
        }
        match flops > 0.0 {
            true => vec![Some(whole(flops)), rate(flops, time_ps).map(OwnedValue::Float)],
            false => vec![None, None],
        }
    }

    /// The line about operators of which no cost is known.
    pub(super) fn without_point(&self) -> Option<AbsentMetrics> {
        let known: FxHashSet<u32> = self.works.keys().filter_map(|key| key[0]).collect();
        let absent = self.unknown.difference(&known).count();
        roofline::without_point("operators that launch work", known.len() + absent, absent)
    }

    /// The metrics of all shapes. `None` if no cost is known.
    pub(super) fn group(&self, streams: &[StreamSlices], peak: &DevicePeak) -> Option<MetricGroup> {
        let all = self.points(peak).into_iter().reduce(add)?;
        let slices = || streams.iter().flat_map(|stream| &stream.slices);
        let of_kernels = slices().filter(|of| of.class == KinetoClass::Compute);
        let kernels_ps: f64 = of_kernels.map(|of| of.duration_ps() as f64).sum();
        let first_ps = slices().map(|of| of.start_ps).min().unwrap_or_default();
        let last_ps = slices().map(|of| of.end_ps).max().unwrap_or_default();
        let length_s = last_ps.saturating_sub(first_ps) as f64 / PS_PER_S as f64;
        let ratio = |part: f64, whole: f64| Some(part / whole).filter(|of| of.is_finite());
        let computing_s: Option<f64> =
            self.works.values().map(|work| Some(work.flops() / peak.of(work.cost.precision)?.flops)).sum();
        let values = [
            Some(whole(all.flops)),
            Some(seconds(all.time_ps)),
            ratio(all.time_ps as f64, kernels_ps).map(OwnedValue::Float),
            rate(all.flops, all.time_ps).map(OwnedValue::Float),
            computing_s.and_then(|least_s| ratio(least_s, length_s)).map(OwnedValue::Float),
        ];
        let metrics: Vec<Metric> =
            FAMILY.metrics.iter().zip(values).filter_map(|(of, value)| Some(of.metric(value?))).collect();
        let (key, title) = (FAMILY.key, FAMILY.title);
        Some(MetricGroup { key, title, has_names_of_trace: false, metrics })
    }

    fn points(&self, peak: &DevicePeak) -> Vec<RooflinePoint> {
        self.works.values().map(|work| work.point(String::new(), peak)).collect()
    }

    /// All work, then each shape, those with the most time first.
    pub(super) fn rows<B: Bytes>(&self, segment: &Segment<B>, peak: &DevicePeak) -> Result<Vec<MetricRow>> {
        let Some(all) = self.points(peak).into_iter().reduce(add) else { return Ok(Vec::new()) };
        let mut by_name: FxHashMap<String, RooflinePoint> = FxHashMap::default();
        for (key, work) in &self.works {
            let name = shape_name(segment, key)?;
            let point = work.point(name.clone(), peak);
            match by_name.remove(&name) {
                Some(known) => by_name.insert(name, add(known, point)),
                None => by_name.insert(name, point),
            };
        }
        let mut points: Vec<RooflinePoint> = by_name.into_values().collect();
        points.sort_unstable_by(|a, b| b.time_ps.cmp(&a.time_ps).then_with(|| a.name.cmp(&b.name)));
        points.truncate(MOST_POINTS);
        let all = RooflinePoint { name: "all".to_owned(), ..all };
        Ok(std::iter::once(all).chain(points).map(RooflinePoint::row).collect())
    }
}

impl ShapeWork {
    fn flops(&self) -> f64 {
        self.cost.flops as f64 * self.executions as f64
    }

    fn point(&self, name: String, peak: &DevicePeak) -> RooflinePoint {
        let (flops, bytes) = (self.flops(), self.cost.bytes as f64 * self.executions as f64);
        let peak = peak.of(self.cost.precision);
        let least = peak.map(|peak| peak.least_time(flops, bytes));
        RooflinePoint { name, count: self.executions, time_ps: self.time_ps, flops, bytes, least, peak }
    }
}

/// The work of both. If their peaks differ, both together have no peak.
fn add(a: RooflinePoint, b: RooflinePoint) -> RooflinePoint {
    let bound = |(a_s, a): (f64, RooflineBound), (b_s, b): (f64, RooflineBound)| {
        (a_s + b_s, if a_s >= b_s { a } else { b })
    };
    RooflinePoint {
        name: a.name,
        count: a.count + b.count,
        time_ps: a.time_ps.saturating_add(b.time_ps),
        flops: a.flops + b.flops,
        bytes: a.bytes + b.bytes,
        least: a.least.zip(b.least).map(|(a, b)| bound(a, b)),
        peak: a.peak.filter(|peak| b.peak.is_some_and(|other| other == *peak)),
    }
}

/// The operator with the lengths of its tensors: `aten::mm 64×32 · 32×16 float`.
fn shape_name<B: Bytes>(segment: &Segment<B>, key: &ShapeKey) -> Result<String> {
    let text = |code: Option<u32>| code.map_or(Ok(""), |code| segment.text(NameId(code)));
    let lists =
        text(key[1])?.split(['[', ']']).filter(|list| list.contains(|sign: char| sign.is_ascii_digit()));
    let lengths = |list: &str| integers(list).map(|length| length.to_string()).collect::<Vec<_>>().join("×");
    let tensors: Vec<String> = lists.map(lengths).collect();
    let first = text(key[2])?.split('"').nth(1).unwrap_or_default();
    let type_of = first.strip_prefix("c10::").unwrap_or(first);
    let name = format!("{} {} {type_of}", text(key[0])?, tensors.join(" · "));
    Ok(name.trim_end().to_owned())
}

fn rate(flops: f64, time_ps: i64) -> Option<f64> {
    Some(flops / (time_ps as f64 / PS_PER_S as f64)).filter(|rate| rate.is_finite())
}

fn whole(number: f64) -> OwnedValue {
    OwnedValue::Uint(number as u64)
}
