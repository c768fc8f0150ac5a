//! All definitions of metrics, for lists of them.

use super::aiu::metrics as aiu;
use super::collective_points::{POINTS, SPREADS};
use super::job::schema::JOB;
use super::kineto::metrics::FAMILIES;
use super::neuron::metrics as neuron;
use super::neuron::schema::SUMMARY;
use super::table::TableSchema;
use super::time_partition;
use crate::metrics::{DefinedMetric, MetricDefinition, MetricFamily, trace};

/// The definitions of all metrics whose names do not depend on a profile, in display order. Those
/// of a Neuron profile that the trace only states are among them.
#[must_use]
pub fn defined_metrics() -> Vec<DefinedMetric> {
    let of_families = |families: &[&'static MetricFamily], of: &'static str| {
        let of_family = |family: &&'static MetricFamily| {
            let (title, source) = (family.title, family.source);
            let defined = move |metric: &'static MetricDefinition| DefinedMetric {
                family: title,
                name: metric.name,
                unit: metric.unit,
                doc: metric.doc,
                of,
                source,
            };
            family.metrics.iter().map(defined).collect::<Vec<_>>()
        };
        families.iter().flat_map(of_family).collect::<Vec<_>>()
    };
    let mut all = of_families(&trace::FAMILIES, "any trace");
    all.extend(of_families(&[&time_partition::FAMILY], "any trace"));
    all.extend(of_families(&FAMILIES, "kernels of devices"));
    all.extend(of_families(&[&SPREADS, &POINTS], "collective operations"));
    for (title, table) in aiu::TABLES {
        all.extend(of_table(title, table, "AIU", "acelyzer"));
    }
    all.extend(of_families(&aiu::FAMILIES, "AIU"));
    all.extend(aiu::by_category());
    all.extend(of_table("All ranks", &JOB, "a job of several ranks", "nprof"));
    all.extend(of_families(&neuron::FAMILIES, "Neuron"));
    all.extend(of_table("Summary of neuron-profile", &SUMMARY, "Neuron", "neuron-profile"));
    all
}

fn of_table(
    family: &'static str,
    table: &'static TableSchema,
    of: &'static str,
    source: &'static str,
) -> impl Iterator<Item = DefinedMetric> {
    table.fields.iter().map(move |field| DefinedMetric {
        family,
        name: field.name,
        unit: field.unit,
        doc: field.doc,
        of,
        source,
    })
}

#[cfg(test)]
mod tests {
    //! Rules that hold for all definitions.

    use super::*;
    use crate::model::Unit;

    #[test]
    fn every_metric_is_explained_once_in_its_family() {
        let all = defined_metrics();
        let mut names: Vec<(&str, &str)> = all.iter().map(|one| (one.family, one.name)).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count, "a metric twice");
        for one in &all {
            assert!(one.doc.ends_with('.') && !one.source.is_empty(), "{one:?}");
        }
        assert!(all.iter().any(|one| one.name == "non_compute_time" && one.unit == Unit::Seconds));
    }
}
