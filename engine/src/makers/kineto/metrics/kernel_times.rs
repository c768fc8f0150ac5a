//! The time of the kernels by name.

use rustc_hash::FxHashMap;

use super::super::KinetoClass;
use super::kernel_slice::StreamSlices;
use super::{count, seconds};
use crate::base::Result;
use crate::metrics::{MetricDefinition, MetricFamily, MetricRow};
use crate::model::{NameId, OwnedValue, Unit};
use crate::segment::{Bytes, Segment};

pub(super) const FAMILY: MetricFamily = MetricFamily {
    key: "kernels_by_name",
    title: "Kernels by name",
    row: Some("kernel"),
    metrics: &[
        MetricDefinition::new("kind", Unit::None, "Whether the kernel computes, communicates or copies."),
        MetricDefinition::new("count", Unit::Count, "Number of its executions."),
        MetricDefinition::new("sum", Unit::Seconds, "Sum of their durations."),
        MetricDefinition::new("min", Unit::Seconds, "The shortest duration."),
        MetricDefinition::new("mean", Unit::Seconds, "Mean duration."),
        MetricDefinition::new("max", Unit::Seconds, "The longest duration."),
        MetricDefinition::new(
            "std",
            Unit::Seconds,
            "Standard deviation of the durations, with one degree of freedom less; 0 for one execution.",
        ),
    ],
    source: "Holistic Trace Analysis 0.5, kernel breakdown by name",
    needs: super::busy_time::TEMPORAL.needs,
};

/// Durations of one name, in picoseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
struct NameDurations {
    class: KinetoClass,
    count: u64,
    sum_ps: i64,
    least_ps: i64,
    most_ps: i64,
    /// Mean of the durations so far, and the sum of their squared distances from it (Welford).
    mean_ps: f64,
    squares: f64,
}

impl NameDurations {
    fn new(class: KinetoClass) -> Self {
        Self { class, count: 0, sum_ps: 0, least_ps: i64::MAX, most_ps: 0, mean_ps: 0.0, squares: 0.0 }
    }

    fn add(&mut self, duration_ps: i64) {
        self.count += 1;
        self.sum_ps = self.sum_ps.saturating_add(duration_ps);
        (self.least_ps, self.most_ps) = (self.least_ps.min(duration_ps), self.most_ps.max(duration_ps));
        let off = duration_ps as f64 - self.mean_ps;
        self.mean_ps += off / self.count as f64;
        self.squares += off * (duration_ps as f64 - self.mean_ps);
    }

    fn deviation_ps(&self) -> f64 {
        if self.count > 1 { (self.squares / (self.count - 1) as f64).sqrt() } else { 0.0 }
    }

    fn values(&self) -> Vec<Option<OwnedValue>> {
        let kind = match self.class {
            KinetoClass::Collective => "communication",
            KinetoClass::Copy => "copy",
            KinetoClass::Compute | KinetoClass::Neither => "compute",
        };
        let float = |ps: f64| OwnedValue::Float(ps / crate::base::time::PS_PER_S as f64);
        let values = [
            OwnedValue::Text(kind.to_owned()),
            count(self.count),
            seconds(self.sum_ps),
            seconds(self.least_ps),
            float(self.sum_ps as f64 / self.count as f64),
            seconds(self.most_ps),
            float(self.deviation_ps()),
        ];
        values.map(Some).to_vec()
    }
}

/// A row for each name, those with the most time first.
pub(super) fn rows<B: Bytes>(segment: &Segment<B>, streams: &[StreamSlices]) -> Result<Vec<MetricRow>> {
    let mut by_name: FxHashMap<u32, NameDurations> = FxHashMap::default();
    for slice in streams.iter().flat_map(|stream| &stream.slices) {
        by_name.entry(slice.name).or_insert_with(|| NameDurations::new(slice.class)).add(slice.duration_ps());
    }
    let mut names: Vec<(u32, NameDurations)> = by_name.into_iter().collect();
    names.sort_unstable_by_key(|(name, of)| (std::cmp::Reverse(of.sum_ps), *name));
    let row = |(name, of): &(u32, NameDurations)| {
        Ok(MetricRow { name: segment.text(NameId(*name))?.to_owned(), values: of.values() })
    };
    names.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    //! Durations against their statistics.

    use super::*;

    #[test]
    fn durations_have_a_mean_and_a_deviation() {
        let mut of = NameDurations::new(KinetoClass::Compute);
        [2, 4, 4, 4, 5, 5, 7, 9].into_iter().for_each(|ps| of.add(ps));
        assert_eq!((of.count, of.sum_ps, of.least_ps, of.most_ps), (8, 40, 2, 9));
        assert!((of.deviation_ps() - (32.0_f64 / 7.0).sqrt()).abs() < 1e-12);
        let mut one = NameDurations::new(KinetoClass::Copy);
        one.add(3);
        assert_eq!(one.deviation_ps(), 0.0);
    }
}
