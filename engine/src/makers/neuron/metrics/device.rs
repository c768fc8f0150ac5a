//! The metrics of a Neuron device as values, from those that neuron-profile names.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::metrics::{DeviceMetrics, EngineTime, PeakRates, TensorFlops, TransferMetrics};

/// Engines beside Tensor, by the prefixes of their metrics.
const OTHERS: [(&str, &str); 3] = [("vector", "Vector"), ("scalar", "Scalar"), ("gpsimd", "GpSimd")];

/// The metrics of a rank by name, in seconds and bytes, as values. `None` without times of engines.
pub(in crate::makers) fn device_metrics(rank: u32, values: &FxHashMap<String, f64>) -> Option<DeviceMetrics> {
    let value = |name: &str| values.get(name).copied().filter(|value| value.is_finite());
    let ps = |name: &str| Some((value(name)? * 1e12) as i64);
    let other = |(prefix, name): (&str, &'static str)| {
        Some(EngineTime { name, time_ps: ps(&format!("{prefix}_engine_active_time"))? })
    };
    let flops = value("hardware_flops").filter(|flops| *flops > 0.0).map(|hardware| TensorFlops {
        hardware,
        transposes: value("transpose_flops").unwrap_or(0.0),
        model: value("model_flops").filter(|flops| *flops > 0.0),
    });
    let transfers = || {
        Some(TransferMetrics {
            active_ps: ps("dma_active_time")?,
            count: value("dma_transfer_count")?,
            mean_bytes: value("dma_transfer_average_bytes")?,
            read_bytes: value("hbm_read_bytes").unwrap_or(0.0),
            written_bytes: value("hbm_write_bytes").unwrap_or(0.0),
            spilled_bytes: value("spill_save_bytes").unwrap_or(0.0),
            reloaded_bytes: value("spill_reload_bytes").unwrap_or(0.0),
            weight_bytes: value("weight_queue_bytes").unwrap_or(0.0),
            weights_size: value("weight_size_bytes").unwrap_or(0.0),
            passes: 1.0,
        })
    };
    // A share of the peak is what was done over the peak in the total time.
    let peak = |done: f64, share: &str| {
        let share = value(share).filter(|share| *share > 0.0 && done > 0.0)?;
        Some(done / share / value("total_time")?)
    };
    let peak_flops = || peak(value("hardware_flops")?, "hfu_estimated_percent");
    let peaks = || {
        let bytes = value("hbm_read_bytes")? + value("hbm_write_bytes")?;
        Some(PeakRates { flops: peak_flops()?, bytes: peak(bytes, "mbu_estimated_percent")? })
    };
    // Operations that were not possible while Tensor worked, at the rate of its peak.
    let throttled_ps =
        || Some((value("tensor_engine_active_throttled_flops")? / peak_flops()? * 1e12) as i64);
    Some(DeviceMetrics {
        rank,
        total_ps: ps("total_time")?,
        active_ps: ps("total_active_time")?,
        tensor_ps: ps("tensor_engine_active_time")?,
        busiest_other: OTHERS.into_iter().filter_map(other).max_by_key(|engine| engine.time_ps),
        flops,
        transfers: transfers(),
        peaks: peaks(),
        lost_peak: lost_peak(values),
        throttled_ps: throttled_ps(),
    })
}

/// The part of the peak that the most limited core lost. Time without a record is not limited,
/// though the vendor's average over all time counts it as such.
fn lost_peak(values: &FxHashMap<String, f64>) -> f64 {
    let mut lost: BTreeMap<&str, f64> = BTreeMap::new();
    for (name, share) in values {
        let of_reason = name.strip_prefix("throttle_").and_then(|name| name.strip_suffix("_percent"));
        let Some((reason, core)) = of_reason.and_then(|name| name.split_once("_active_time_nc")) else {
            continue;
        };
        if let Some(limit) = values.get(&format!("throttle_{reason}_avg_util_limit_nc{core}_percent")) {
            *lost.entry(core).or_default() += share * (1.0 - limit);
        }
    }
    lost.into_values().filter(|lost| lost.is_finite()).fold(0.0, f64::max).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_vendor_become_values() {
        let values = [
            ("total_time", 2e-3),
            ("total_active_time", 1e-3),
            ("tensor_engine_active_time", 5e-4),
            ("vector_engine_active_time", 1e-4),
            ("scalar_engine_active_time", 2e-4),
            // The last tenth has no record.
            ("throttle_avg_util_limit_nc0_percent", 0.9),
            ("throttle_unknown_active_time_nc0_percent", 0.9),
            ("throttle_unknown_avg_util_limit_nc0_percent", 1.0),
            ("throttle_avg_util_limit_nc1_percent", 0.75),
            ("throttle_unknown_active_time_nc1_percent", 0.5),
            ("throttle_unknown_avg_util_limit_nc1_percent", 1.0),
            ("throttle_activity_0_active_time_nc1_percent", 0.5),
            ("throttle_activity_0_avg_util_limit_nc1_percent", 0.5),
        ];
        let values = values.map(|(name, value)| (name.to_owned(), value)).into_iter().collect();
        let of = device_metrics(3, &values).unwrap();
        assert_eq!((of.rank, of.tensor_ps, of.lost_peak), (3, 500_000_000, 0.25));
        assert_eq!(of.busiest_other, Some(EngineTime { name: "Scalar", time_ps: 200_000_000 }));
        assert!(of.flops.is_none() && of.transfers.is_none());
        assert_eq!(device_metrics(0, &FxHashMap::default()), None);
    }
}
