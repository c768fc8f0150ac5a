//! The rates that the device could have reached, the times that the work would need at its peaks,
//! and the useful part of the work. Each value follows from metrics that are computed before it.

use super::run::{CorePeaks, RunFacts};
use super::{GroupedMetric, float, share};
use crate::makers::neuron::Engine;
use crate::makers::neuron::group::NeuronGroup;
use crate::model::Unit;

/// Adds the metrics whose inputs are there.
pub(super) fn metrics(run: &RunFacts<'_>, out: &mut Vec<GroupedMetric>) {
    let value = |name: &str| out.iter().find(|(_, metric)| metric.name == name)?.1.value.float();
    let mut found = Vec::new();
    found.extend(useful_reads(value("hbm_read_bytes"), value("spill_reload_bytes")));
    if let Some(chip) = run.chip {
        found.extend(of_memory(chip, run.total_s, &value));
        found.extend(at_the_peak(chip, &value));
    }
    out.extend(found);
}

fn useful_reads(read: Option<f64>, reloaded: Option<f64>) -> Option<GroupedMetric> {
    let (read, reloaded) = read.zip(reloaded).filter(|(read, _)| *read > 0.0)?;
    let doc = "Bytes read from device memory without reloads of spilled data, as a share of all bytes read.";
    let useful = share(read - reloaded, read);
    Some((NeuronGroup::DataMovement, float("useful_read_percent", useful, Unit::Ratio, doc)))
}

/// Rates of the memory and of the DMA engines.
fn of_memory(chip: CorePeaks, total_s: f64, value: &dyn Fn(&str) -> Option<f64>) -> Vec<GroupedMetric> {
    let doc = "Peak data rate of the device memory for the core.";
    let rate = float("hbm_available_bandwidth", chip.hbm_bytes_per_s, Unit::BytesPerSecond, doc);
    let moved = value("dma_transfer_total_bytes").zip(chip.dma_bytes_per_s).map(|(bytes, peak)| {
        let doc =
            "Bytes of all whole transfers as a share of what the DMA engines could move in the total time.";
        float("dma_utilization_percent", share(bytes, peak * total_s), Unit::Ratio, doc)
    });
    [Some(rate), moved].into_iter().flatten().map(|metric| (NeuronGroup::DataMovement, metric)).collect()
}

/// Times that the work needs at the peaks.
fn at_the_peak(chip: CorePeaks, value: &dyn Fn(&str) -> Option<f64>) -> Vec<GroupedMetric> {
    let tensor = NeuronGroup::Engine(Engine::Tensor);
    let time = |group, name: &str, done: Option<f64>, peak: f64, doc: &str| {
        Some((group, float(name, share(done?, peak), Unit::Seconds, doc)))
    };
    let moved = value("hbm_read_bytes").zip(value("hbm_write_bytes")).map(|(read, written)| read + written);
    let flops = chip.peak_flops();
    let times = [
        time(
            NeuronGroup::Overall,
            "memory_bound_ideal_time",
            moved,
            chip.hbm_bytes_per_s,
            "Time that the bytes of device memory need at its peak data rate.",
        ),
        time(
            NeuronGroup::Overall,
            "compute_bound_ideal_time",
            value("hardware_flops"),
            flops,
            "Time that all matrix multiplications need at the peak of the Tensor engine.",
        ),
        time(
            tensor,
            "tensor_engine_model_ideal_time",
            value("model_flops"),
            flops,
            "Time that the operations of the model need at the peak of the engine.",
        ),
        time(
            tensor,
            "tensor_engine_transpose_ideal_time",
            value("transpose_flops"),
            flops,
            "Time that transposes need at the peak of the engine.",
        ),
    ];
    times.into_iter().flatten().collect()
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
