//! Metrics of the whole run that a recording lacks, each with the data that would give them.

use std::borrow::Cow;

use super::elements::FAMILY as OTHER_FLOPS;
use crate::metrics::{AbsentMetrics, MetricGroup};

/// Metrics that need the same data.
struct NeededData {
    /// Names of the metrics.
    metrics: &'static [&'static str],
    absent: AbsentMetrics,
}

const fn needed(
    metrics: &'static [&'static str],
    key: &'static str,
    title: &'static str,
    reason: &'static str,
) -> NeededData {
    NeededData { metrics, absent: AbsentMetrics { key, title, reason: Cow::Borrowed(reason) } }
}

const NEEDED: &[NeededData] = &[
    needed(
        &["hfu_estimated_percent", "mbu_estimated_percent", "peak_flops_bandwidth_ratio"],
        "neuron_peaks",
        "Shares of the peaks: HFU, MFU, MBU, split of the operations of Tensor",
        "the recording does not state its device: neither `metadata` nor an NTFF of a known one is there",
    ),
    needed(
        &["model_flops", "mm_arithmetic_intensity", "mfu_estimated_percent", "mfu_hlo_estimated_percent"],
        "neuron_model_flops",
        "MFU, operations of the model, arithmetic intensity",
        "the recording does not state the operations of the model; a NEFF does: `-n file.neff`",
    ),
    needed(
        &["transpose_flops", "mfu_inst_estimated_percent"],
        "neuron_transposes",
        "Operations of transposes, MFU of the executed instructions",
        "no instruction states whether it only transposes data; neuron-profile's JSON does: `nprof ingest file.json`",
    ),
    needed(
        &["vector_engine_flops", "scalar_engine_flops", "gpsimd_engine_flops"],
        OTHER_FLOPS.key,
        OTHER_FLOPS.title,
        OTHER_FLOPS.needs,
    ),
    needed(
        &["inputs_and_weights_size_bytes", "mbu_min_read_util_percent"],
        "neuron_weights",
        "Size of inputs and weights, least share of the memory's peak",
        "the recording does not state the sizes of tensors; neuron-profile's JSON does: `nprof ingest file.json`",
    ),
    needed(
        &["compiler_version"],
        "neuron_compiler",
        "Version of the compiler",
        "the recording does not state it; a NEFF does: `-n file.neff`",
    ),
];

/// The metrics of the whole run without a value.
pub(super) fn absent(groups: &[MetricGroup]) -> impl Iterator<Item = AbsentMetrics> {
    let is_there = |name: &str| groups.iter().flat_map(|of| &of.metrics).any(|metric| metric.name == *name);
    NEEDED
        .iter()
        .filter(move |one| !one.metrics.iter().any(|name| is_there(name)))
        .map(|one| one.absent.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Metric;
    use crate::model::{OwnedValue, Unit};

    #[test]
    fn metrics_without_values_name_the_data_that_gives_them() {
        let metric = |name: &str| Metric::new(name, OwnedValue::Float(0.5), Unit::Ratio, "");
        let group = |names: &[&str]| MetricGroup {
            key: "overall",
            title: "Overall",
            has_names_of_trace: false,
            metrics: names.iter().map(|name| metric(name)).collect(),
        };
        let keys = |names: &[&str]| absent(&[group(names)]).map(|one| one.key).collect::<Vec<_>>();
        let all: Vec<&str> = NEEDED.iter().flat_map(|one| one.metrics).copied().collect();
        assert_eq!(keys(&all), [""; 0]);
        let measured =
            ["hfu_estimated_percent", "transpose_flops", "vector_engine_flops", "mbu_min_read_util_percent"];
        assert_eq!(keys(&measured), ["neuron_model_flops", "neuron_compiler"]);
    }
}
