//! The bandwidth of copies and fills by their kind.

use std::collections::BTreeMap;

use super::super::KinetoClass;
use super::kernel_slice::StreamSlices;
use super::{count, seconds};
use crate::base::Result;
use crate::metrics::{MetricDefinition, MetricFamily, MetricRow};
use crate::model::{NameId, OwnedValue, Unit};
use crate::segment::{Bytes, Segment};

pub(super) const FAMILY: MetricFamily = MetricFamily {
    key: "copies_by_kind",
    title: "Copies and fills by kind",
    row: Some("kind"),
    metrics: &[
        MetricDefinition::new("copy_count", Unit::Count, "Number of copies or fills."),
        MetricDefinition::new("copy_time", Unit::Seconds, "Sum of their durations."),
        MetricDefinition::new("copy_bytes", Unit::Bytes, "Sum of their bytes, of those that state them."),
        MetricDefinition::new(
            "mean_bandwidth",
            Unit::BytesPerSecond,
            "Mean of the bandwidths that they state. A short copy counts as much as a long one.",
        ),
        MetricDefinition::new(
            "least_bandwidth",
            Unit::BytesPerSecond,
            "The lowest bandwidth that one states.",
        ),
        MetricDefinition::new(
            "most_bandwidth",
            Unit::BytesPerSecond,
            "The highest bandwidth that one states.",
        ),
    ],
    source: "Holistic Trace Analysis 0.5, memory bandwidth summary",
    needs: "no copies or fills were recorded",
};

/// Copies of one kind.
#[derive(Debug, Default)]
struct CopySums {
    count: u64,
    time_ps: i64,
    bytes: Option<i64>,
    bandwidths: Vec<f64>,
}

impl CopySums {
    fn values(&self) -> Vec<Option<OwnedValue>> {
        let of = |value: Option<f64>| value.map(OwnedValue::Float);
        let mean = self.bandwidths.iter().sum::<f64>() / self.bandwidths.len() as f64;
        vec![
            Some(count(self.count)),
            Some(seconds(self.time_ps)),
            self.bytes.map(OwnedValue::Int),
            of(Some(mean).filter(|_| !self.bandwidths.is_empty())),
            of(self.bandwidths.iter().copied().reduce(f64::min)),
            of(self.bandwidths.iter().copied().reduce(f64::max)),
        ]
    }
}

/// A row for each kind: the name up to its memories, e.g. "Memcpy HtoD".
pub(super) fn rows<B: Bytes>(segment: &Segment<B>, streams: &[StreamSlices]) -> Result<Vec<MetricRow>> {
    let mut kinds: BTreeMap<&str, CopySums> = BTreeMap::new();
    let slices = streams.iter().flat_map(|stream| &stream.slices);
    for slice in slices.filter(|slice| slice.class == KinetoClass::Copy) {
        let name = segment.text(NameId(slice.name))?;
        let sums = kinds.entry(name.split(" (").next().unwrap_or(name)).or_default();
        sums.count += 1;
        sums.time_ps = sums.time_ps.saturating_add(slice.duration_ps());
        if let Some(bytes) = slice.bytes {
            sums.bytes = Some(sums.bytes.unwrap_or(0).saturating_add(bytes));
        }
        sums.bandwidths.extend(slice.bandwidth.filter(|bandwidth| bandwidth.is_finite() && *bandwidth > 0.0));
    }
    Ok(kinds.iter().map(|(kind, of)| MetricRow { name: (*kind).to_owned(), values: of.values() }).collect())
}
