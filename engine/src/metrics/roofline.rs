//! The roofline of a device: how fast it could compute work of a given intensity, and how fast it
//! did.

use std::borrow::Cow;

use super::{AbsentMetrics, MetricDefinition, MetricFamily, MetricRow};
use crate::base::time::PS_PER_S;
use crate::model::{OwnedValue, Unit};

/// Kinds of numbers, by which devices compute at different rates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NumberWidth {
    /// 64 bits.
    Double,
    /// 32 bits, and TF32 where the device has it.
    Single,
    /// 16 bits.
    Half,
    /// 8 bits.
    Eight,
}

/// The rates that a device cannot exceed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PeakRates {
    /// Floating-point operations a second.
    pub flops: f64,
    /// Bytes a second of the device's memory.
    pub bytes: f64,
}

impl PeakRates {
    /// The least time for this work, in seconds, with what limits it.
    #[must_use]
    pub fn least_time(&self, flops: f64, bytes: f64) -> (f64, RooflineBound) {
        let (computing, moving) = (flops / self.flops, bytes / self.bytes);
        if moving > computing { (moving, RooflineBound::Memory) } else { (computing, RooflineBound::Compute) }
    }
}

/// A limit of work on a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RooflineBound {
    /// The bytes.
    Memory,
    /// The operations.
    Compute,
}

impl RooflineBound {
    /// The word for people and exports.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Compute => "compute",
        }
    }
}

/// Work on a device.
#[derive(Debug, Clone, PartialEq)]
pub struct RooflinePoint {
    /// Name of the work.
    pub name: String,
    /// Number of executions.
    pub count: u64,
    /// Time on the device, in picoseconds.
    pub time_ps: i64,
    /// Floating-point operations of all executions.
    pub flops: f64,
    /// Bytes that they read and write at least.
    pub bytes: f64,
    /// Least time for them, in seconds, with the limit of most of it. `None` if the device's peaks
    /// are not known.
    pub least: Option<(f64, RooflineBound)>,
    /// Peak rate for its numbers, in operations a second.
    pub peak: Option<PeakRates>,
}

/// The points of a roofline as metrics.
pub const FAMILY: MetricFamily = MetricFamily {
    key: "roofline",
    title: "Roofline",
    row: Some("work"),
    metrics: &[
        MetricDefinition::new(
            "time",
            Unit::Seconds,
            "Time on the device. Of a layer: the stretches in which its products and transfers follow each other.",
        ),
        MetricDefinition::new(
            "flops_rate",
            Unit::FlopsPerSecond,
            "Floating-point operations per second of time on the device.",
        ),
        MetricDefinition::new(
            "of_reachable",
            Unit::Ratio,
            "Rate as a share of the reachable one: the least time of the work divided by its time.",
        ),
        MetricDefinition::new("bound", Unit::None, "What limits the reachable rate: memory or compute."),
        MetricDefinition::new("intensity", Unit::None, "Floating-point operations per byte."),
        MetricDefinition::new("count", Unit::Count, "Number of executions, or of the stretches of a layer."),
        MetricDefinition::new("flops", Unit::Flops, "Floating-point operations of all executions."),
        MetricDefinition::new(
            "bytes",
            Unit::Bytes,
            "Bytes of all executions. Of an operator of PyTorch: each input read once, each output written \
             once. Of a Neuron device or of a layer: bytes that its memory moved.",
        ),
        MetricDefinition::new(
            "reachable_rate",
            Unit::FlopsPerSecond,
            "Rate that the device can reach with this intensity: its peak, or the intensity multiplied by \
             its memory's bandwidth if that is less.",
        ),
        MetricDefinition::new("peak_rate", Unit::FlopsPerSecond, "Peak of the device for these numbers."),
        MetricDefinition::new("peak_bandwidth", Unit::BytesPerSecond, "Peak of the device's memory."),
    ],
    source: "Williams, Waterman and Patterson: Roofline, 2009; costs of operators as in TraceLens",
    needs: "no operator states the shapes of its inputs; `record_shapes=True` of the PyTorch profiler records \
            them",
};

/// The line about work without a point, if there is some: `what` in the plural, how many there are,
/// and how many of them lack operations or bytes.
#[must_use]
pub fn without_point(what: &str, all: usize, absent: usize) -> Option<AbsentMetrics> {
    let verb = if absent == 1 { "has" } else { "have" };
    let reason = format!("{absent} of {all} {what} {verb} no operations or no bytes");
    let (key, title) = ("roofline_points", "Points of the roofline");
    (absent > 0).then_some(AbsentMetrics { key, title, reason: Cow::Owned(reason) })
}

/// The absence of the roofline, for a reason of its own.
#[must_use]
pub const fn no_roofline(reason: &'static str) -> AbsentMetrics {
    AbsentMetrics { key: FAMILY.key, title: FAMILY.title, reason: Cow::Borrowed(reason) }
}

impl RooflinePoint {
    /// The values of the family.
    #[must_use]
    pub fn row(self) -> MetricRow {
        let time_s = self.time_ps as f64 / PS_PER_S as f64;
        let (flops, bytes) = (self.flops, self.bytes);
        let ratio = |part: f64, whole: f64| Some(part / whole).filter(|ratio| ratio.is_finite());
        let float = |of: Option<f64>| of.map(OwnedValue::Float);
        let whole = |of: f64| OwnedValue::Uint(of as u64);
        let values = vec![
            Some(OwnedValue::Float(time_s)),
            float(ratio(flops, time_s)),
            float(self.least.and_then(|(least_s, _)| ratio(least_s, time_s))),
            self.least.map(|(_, bound)| OwnedValue::Text(bound.word().to_owned())),
            float(ratio(flops, bytes)),
            Some(OwnedValue::Uint(self.count)),
            Some(whole(flops)),
            Some(whole(bytes)),
            float(self.least.and_then(|(least_s, _)| ratio(flops, least_s))),
            float(self.peak.map(|peak| peak.flops)),
            float(self.peak.map(|peak| peak.bytes)),
        ];
        MetricRow { name: self.name, values }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_of_low_intensity_is_bound_by_memory() {
        let peak = PeakRates { flops: 100.0, bytes: 10.0 };
        assert_eq!(peak.least_time(50.0, 50.0), (5.0, RooflineBound::Memory));
        assert_eq!(peak.least_time(500.0, 50.0), (5.0, RooflineBound::Compute));
        let point = RooflinePoint {
            name: "mm".to_owned(),
            count: 2,
            time_ps: 10 * PS_PER_S,
            flops: 50.0,
            bytes: 50.0,
            least: Some(peak.least_time(50.0, 50.0)),
            peak: Some(peak),
        };
        let values = point.row().values;
        assert_eq!(values.len(), FAMILY.metrics.len());
        let of = |name: &str| {
            let at = FAMILY.metrics.iter().position(|metric| metric.name == name).unwrap();
            values[at].clone().unwrap()
        };
        assert_eq!(of("flops_rate"), OwnedValue::Float(5.0));
        assert_eq!(of("reachable_rate"), OwnedValue::Float(10.0));
        assert_eq!(of("of_reachable"), OwnedValue::Float(0.5));
        assert_eq!(of("bound"), OwnedValue::Text("memory".to_owned()));
    }
}
