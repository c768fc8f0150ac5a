//! Rules about metrics, each with one number that is wrong and with all that are right.

use super::super::{Facts, Judgement, MetricsNeed, RuleName, findings};
use super::machines::{busy, machine};
use crate::exec::Work;
use crate::metrics::{DeviceMetrics, EngineTime, PeakRates, RankMeasures, TensorFlops, TransferMetrics};

const US: i64 = 1_000_000;

/// Metrics of a sound rank of 10.2 ms.
fn sound() -> DeviceMetrics {
    DeviceMetrics {
        rank: 0,
        total_ps: 10_200 * US,
        active_ps: 10_000 * US,
        tensor_ps: 8_000 * US,
        busiest_other: Some(EngineTime { name: "Vector", time_ps: 5_000 * US }),
        flops: Some(TensorFlops { hardware: 100e9, transposes: 5e9, model: Some(90e9) }),
        transfers: Some(transfers()),
        // The operations need 2 ms, the bytes 1.2 ms.
        peaks: Some(PeakRates { flops: 50e12, bytes: 100e9 }),
        lost_peak: 0.0,
    }
}

fn transfers() -> TransferMetrics {
    TransferMetrics {
        active_ps: 4_000 * US,
        count: 1_000.0,
        mean_bytes: 65_536.0,
        read_bytes: 100e6,
        written_bytes: 20e6,
        spilled_bytes: 1e6,
        reloaded_bytes: 1e6,
        weight_bytes: 10e6,
        weights_size: 5e6,
        passes: 2.0,
    }
}

/// The rules that find something, with the most likely saving of each in microseconds.
fn found(metrics: DeviceMetrics) -> Vec<(RuleName, i64)> {
    let of = machine(&busy(100));
    let facts = Facts::new(&of.job, &of.report, &of.graph, Work::IN_PLACE).unwrap();
    let facts = facts.with_measures(RankMeasures { device: Some(metrics), ..RankMeasures::default() });
    let all = findings(&facts).unwrap();
    let of_rule = |(rule, verdict): (RuleName, Judgement)| match verdict {
        Judgement::Found(found) => found.first().map(|one| (rule, one.saved_ps().unwrap() / US)),
        _ => None,
    };
    all.into_iter().filter_map(|one| of_rule((one.rule, one.verdict))).collect()
}

#[test]
fn a_sound_rank_has_no_findings() {
    assert_eq!(found(sound()), []);
}

#[test]
fn each_rule_finds_its_number() {
    let engine = |time_us: i64| Some(EngineTime { name: "Vector", time_ps: time_us * US });
    let idle = DeviceMetrics { tensor_ps: 4_000 * US, ..sound() };
    assert_eq!(found(idle), [(RuleName::TensorIdle, 1_000)]);
    // The other engine is the limit: nothing is sure to be saved.
    let bound = DeviceMetrics { tensor_ps: 3_000 * US, busiest_other: engine(9_000), ..sound() };
    assert_eq!(found(bound), [(RuleName::TensorIdle, 0)]);
    assert_eq!(found(DeviceMetrics { lost_peak: 0.05, ..sound() }), [(RuleName::Throttled, 400)]);
    let flops = |transposes: f64, model: f64| DeviceMetrics {
        flops: Some(TensorFlops { hardware: 100e9, transposes, model: Some(model) }),
        ..sound()
    };
    assert_eq!(found(flops(25e9, 75e9)), [(RuleName::LowFlops, 2_000)]);
    assert_eq!(found(flops(5e9, 40e9)), [(RuleName::LowFlops, 4_800)]);
    let moved = |transfers: TransferMetrics| DeviceMetrics { transfers: Some(transfers), ..sound() };
    let small = TransferMetrics { mean_bytes: 8_192.0, ..transfers() };
    assert_eq!(found(moved(small)), [(RuleName::SmallDmas, 3_000)]);
    let reloaded = TransferMetrics { weight_bytes: 40e6, ..transfers() };
    assert_eq!(found(moved(reloaded)), [(RuleName::WeightsReloaded, 1_000)]);
    let peaks = |flops, bytes| DeviceMetrics { peaks: Some(PeakRates { flops, bytes }), ..sound() };
    assert_eq!(found(peaks(50e12, 15e9)), [(RuleName::MemoryBound, 6_000)]);
    assert_eq!(found(peaks(12.5e12, 100e9)), [(RuleName::ComputeBound, 6_800)]);
    let spilled = TransferMetrics { spilled_bytes: 30e6, reloaded_bytes: 30e6, ..transfers() };
    assert_eq!(found(moved(spilled)), [(RuleName::Spill, 2_000)]);
}

#[test]
fn what_is_too_little_is_no_finding() {
    assert_eq!(found(DeviceMetrics { lost_peak: 0.008, ..sound() }), []);
    // A limit in time in which nothing is computed.
    let idle = found(DeviceMetrics { lost_peak: 0.9, tensor_ps: US, ..sound() });
    assert!(idle.iter().all(|(rule, _)| *rule != RuleName::Throttled), "{idle:?}");
    let few = TransferMetrics { mean_bytes: 8_192.0, count: 20.0, ..transfers() };
    assert_eq!(found(DeviceMetrics { transfers: Some(few), ..sound() }), []);
}

#[test]
fn devices_without_such_metrics_are_not_asked() {
    let of = machine(&busy(100));
    let facts = Facts::new(&of.job, &of.report, &of.graph, Work::IN_PLACE).unwrap();
    let all = findings(&facts).unwrap();
    assert!(all.iter().all(|one| one.rule.rule().needs == MetricsNeed::Nothing));
    let alone = super::super::verdict_of(&facts, RuleName::Spill).unwrap();
    assert!(matches!(alone, Judgement::CannotTell(_)), "{alone:?}");
}
