//! Rules about metrics, each with one number that is wrong and with all that are right.

use super::super::{Facts, Finding, Judgement, MetricsNeed, RuleName, findings};
use super::machines::{busy, machine};
use crate::exec::Work;
use crate::metrics::{
    DeviceMetrics, EngineTime, PeakRates, RankMeasures, TensorFlops, TensorTraffic, TransferMetrics,
};

const US: i64 = 1_000_000;

/// Metrics of a sound rank of 10.2 ms.
fn sound() -> DeviceMetrics {
    DeviceMetrics {
        throttled_ps: None,
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
    let all = found_with(RankMeasures { devices: vec![metrics], ..RankMeasures::default() });
    all.iter().map(|one| (one.rule, one.saved_ps().unwrap() / US)).collect()
}

/// The first finding of each rule that finds something.
fn found_with(measures: RankMeasures) -> Vec<Finding> {
    let of = machine(&busy(100));
    let facts = Facts::new(&of.job, &of.report, &of.graph, Work::IN_PLACE).unwrap();
    let all = findings(&facts.with_measures(measures)).unwrap();
    all.into_iter().filter_map(|one| one.verdict.found().first().cloned()).collect()
}

/// A tensor of 100 kB that is loaded from memory.
fn tensor(name: &str, loaded_bytes: u64, stored_bytes: u64) -> TensorTraffic {
    TensorTraffic {
        rank: 0,
        name: name.to_owned(),
        size_bytes: if stored_bytes > 0 { 0 } else { 100_000 },
        loads: loaded_bytes / 50_000,
        loaded_bytes,
        loading_ps: 0,
        stored_bytes,
        span_ps: (700, 900),
        row: 7,
    }
}

fn with_tensors(transfers: TransferMetrics, tensors: Vec<TensorTraffic>) -> RankMeasures {
    let devices = vec![DeviceMetrics { transfers: Some(transfers), ..sound() }];
    RankMeasures { devices, tensors, ..RankMeasures::default() }
}

#[test]
fn the_rank_that_could_save_most_counts() {
    let limited = |rank: u32, lost_peak: f64| DeviceMetrics { rank, lost_peak, ..sound() };
    let devices = vec![limited(0, 0.0), limited(1, 0.1), limited(2, 0.3), limited(3, 0.3)];
    let all = found_with(RankMeasures { devices, ..RankMeasures::default() });
    let ranks = all.iter().map(|one| (one.rule, one.place.rank)).collect::<Vec<_>>();
    assert_eq!(ranks, [(RuleName::Throttled, Some(2))]);
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
    // The other engine is the limit: nothing is saved.
    let bound = DeviceMetrics { tensor_ps: 3_000 * US, busiest_other: engine(9_000), ..sound() };
    assert_eq!(found(bound), []);
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
fn data_that_comes_back_several_times_is_reloaded_and_not_spilled() {
    let moved = |spilled: f64, reloaded: f64| {
        let bytes = TransferMetrics { spilled_bytes: spilled, reloaded_bytes: reloaded, ..transfers() };
        found(DeviceMetrics { transfers: Some(bytes), ..sound() })
    };
    assert_eq!(moved(20e6, 39e6), [(RuleName::Spill, 1_966)]);
    assert_eq!(moved(20e6, 40e6), [(RuleName::Reload, 666)]);
    assert_eq!(moved(0.0, 30e6), [(RuleName::Reload, 1_000)]);
    // Few of the reads are reloads.
    assert_eq!(moved(5e6, 19e6), []);
}

#[test]
fn a_tensor_that_is_loaded_again_is_named_with_its_place() {
    // Two passes need 200 kB.
    let sound = with_tensors(transfers(), vec![tensor("w", 400_000, 0)]);
    assert_eq!(found_with(sound), []);
    let large = TransferMetrics { read_bytes: 20e6, written_bytes: 4e6, reloaded_bytes: 0.0, ..transfers() };
    let small = tensor("small", 500_000, 0);
    let again = with_tensors(large, vec![tensor("w", 1_200_000, 0), small, tensor("kv", 900_000, 900_000)]);
    let [one] = &found_with(again)[..] else { panic!("one finding") };
    assert_eq!(
        (one.rule, one.place.row, one.place.span_ps),
        (RuleName::WeightsReloaded, Some(7), Some((700, 900)))
    );
    // 1.3 of 24 MB, of 4 ms.
    assert_eq!(one.saved_ps().unwrap() / US, 216);
    let text = "`w` is loaded 6.00 times by 24 transfers, 976.6 KiB of it again: 5.4 % of what memory moves was \
                there before";
    assert_eq!(one.text(), text);
    // A slow queue takes longer: five of six parts of its time.
    let slow = TensorTraffic { loading_ps: 1_200 * US as u64, ..tensor("w", 1_200_000, 0) };
    let [one] = &found_with(with_tensors(large, vec![slow]))[..] else { panic!("one finding") };
    assert_eq!(one.saved_ps().unwrap() / US, 1_000);
    let both = TransferMetrics { weight_bytes: 40e6, ..transfers() };
    let [one] = &found_with(with_tensors(both, vec![tensor("w", 1_200_000, 0)]))[..] else { panic!("one") };
    assert!(one.text().starts_with("each pass loads the weights 4.00 times"), "{}", one.text());
    assert!(one.text().ends_with("; `w` is loaded 6.00 times by 24 transfers, 976.6 KiB of it again"));
}

#[test]
fn a_tensor_that_comes_back_is_named_by_the_rule_of_reloads() {
    let bytes = TransferMetrics { spilled_bytes: 10e6, reloaded_bytes: 30e6, ..transfers() };
    let tensors = vec![tensor("kv", 30_000_000, 10_000_000), tensor("w", 400_000, 0)];
    let [one] = &found_with(with_tensors(bytes, tensors))[..] else { panic!("one finding") };
    assert_eq!((one.rule, one.place.row), (RuleName::Reload, Some(7)));
    let text = "spilled data comes back 3.00 times: 30.0 % of the reads from memory are reloads; `kv` is loaded 3.00 \
                times by 600 transfers, 19.1 MiB of it again";
    assert_eq!(one.text(), text);
    // Nobody knows what has to be loaded of a tensor without a size.
    let unknown = TensorTraffic { size_bytes: 0, ..tensor("x", 10_000_000, 0) };
    assert_eq!(found_with(with_tensors(transfers(), vec![unknown])), []);
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
