//! What the device could have reached: its rates, the times that the work would need at its peaks,
//! and the useful part of what it did. Each value follows from metrics that are computed before it.

use super::run::RunFacts;
use super::{GroupedMetric, float, share};
use crate::makers::neuron::Engine;
use crate::makers::neuron::group::NeuronGroup;
use crate::model::Unit;

/// Adds the metrics whose inputs are there.
pub(super) fn metrics(run: &RunFacts<'_>, out: &mut Vec<GroupedMetric>) {
    let value = |name: &str| out.iter().find(|(_, metric)| metric.name == name)?.1.value.float();
    let mut found = Vec::new();
    let mut add = |group, name: &str, value: Option<f64>, unit, doc: &str| {
        found.extend(value.map(|value| (group, float(name, value, unit, doc))));
    };
    let (read, reloaded) = (value("hbm_read_bytes"), value("spill_reload_bytes"));
    let useful = read.zip(reloaded).filter(|(read, _)| *read > 0.0);
    add(
        NeuronGroup::DataMovement,
        "useful_read_percent",
        useful.map(|(read, reloaded)| share(read - reloaded, read)),
        Unit::Ratio,
        "Bytes read from device memory without reloads of spilled data, as a share of all bytes read.",
    );
    if let Some(chip) = run.chip {
        let moved = read.zip(value("hbm_write_bytes")).map(|(read, written)| read + written);
        add(
            NeuronGroup::DataMovement,
            "hbm_available_bandwidth",
            Some(chip.hbm_bytes_per_s),
            Unit::BytesPerSecond,
            "Peak data rate of the device memory for the core.",
        );
        let transferred = value("dma_transfer_total_bytes").zip(chip.dma_bytes_per_s);
        add(
            NeuronGroup::DataMovement,
            "dma_utilization_percent",
            transferred.map(|(bytes, peak)| share(bytes, peak * run.total_s)),
            Unit::Ratio,
            "Bytes of all whole transfers as a share of what the DMA engines could move in the total time.",
        );
        add(
            NeuronGroup::Overall,
            "memory_bound_ideal_time",
            moved.map(|bytes| share(bytes, chip.hbm_bytes_per_s)),
            Unit::Seconds,
            "Time that the bytes of device memory need at its peak data rate.",
        );
        let at_peak = |name: &str| value(name).map(|flops| share(flops, chip.peak_flops()));
        add(
            NeuronGroup::Overall,
            "compute_bound_ideal_time",
            at_peak("hardware_flops"),
            Unit::Seconds,
            "Time that all matrix multiplications need at the peak of the Tensor engine.",
        );
        let tensor = NeuronGroup::Engine(Engine::Tensor);
        add(
            tensor,
            "tensor_engine_model_ideal_time",
            at_peak("model_flops"),
            Unit::Seconds,
            "Time that the operations of the model need at the peak of the engine.",
        );
        add(
            tensor,
            "tensor_engine_transpose_ideal_time",
            at_peak("transpose_flops"),
            Unit::Seconds,
            "Time that transposes need at the peak of the engine.",
        );
    }
    out.extend(found);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::Work;
    use crate::makers::neuron::metrics::fixture::{DrawnInstruction, DrawnTransfer, neuron_rank};
    use crate::makers::neuron::metrics::read;
    use crate::metrics::MetricScope;

    #[test]
    fn work_has_its_times_at_the_peaks() {
        let drawn = [
            DrawnInstruction(Engine::Tensor, "MATMUL", "a", 0, 4_000, 16_384, 0),
            DrawnInstruction(Engine::Sync, "WRITE", "a", 4_000, 1_000, 0, 512),
        ];
        let segment = neuron_rank(&drawn, &[DrawnTransfer(true, 0, 5_000, 1_000)], 0);
        let metrics = read(&segment, &MetricScope::default(), Work::IN_PLACE).unwrap();
        let all: Vec<_> = metrics.groups.into_iter().flat_map(|group| group.metrics).collect();
        let value = |name: &str| all.iter().find(|metric| metric.name == name)?.value.float();
        for (name, expected) in [
            ("compute_bound_ideal_time", Some(1e-9)),
            ("memory_bound_ideal_time", Some(0.512e-9)),
            ("hbm_available_bandwidth", Some(1e12)),
            // 1,000 of the 2,500 bytes that could be moved in 5 ns.
            ("dma_utilization_percent", Some(0.4)),
            ("useful_read_percent", Some(1.0)),
            // No instruction says whether it transposes.
            ("tensor_engine_transpose_ideal_time", None),
        ] {
            let found = value(name);
            let is_equal = match (found, expected) {
                (Some(found), Some(expected)) => (found / expected - 1.0).abs() < 1e-9,
                (found, expected) => found == expected,
            };
            assert!(is_equal, "{name}: {found:?}");
        }
    }
}
