//! Rules about metrics, each with one number that is wrong and with all that are right.

use super::super::{Facts, Judgement, MeasuredRank, RuleName, findings};
use super::machines::{busy, machine};
use crate::exec::Work;

/// Metrics of a sound rank of 10.2 ms. Times are in seconds.
const SOUND: [(&str, f64); 15] = [
    ("total_time", 10.2e-3),
    ("total_active_time", 10e-3),
    ("tensor_engine_active_time", 8e-3),
    ("vector_engine_active_time", 5e-3),
    ("scalar_engine_active_time", 1e-3),
    ("gpsimd_engine_active_time", 0.0),
    ("hardware_flops", 100e9),
    ("transpose_flops", 5e9),
    ("model_flops", 90e9),
    ("hbm_read_bytes", 100e6),
    ("hbm_write_bytes", 20e6),
    ("spill_reload_bytes", 1e6),
    ("dma_active_time", 4e-3),
    ("dma_transfer_average_bytes", 65_536.0),
    ("dma_transfer_count", 1_000.0),
];

/// The rules that find something, with the most likely saving of each in microseconds.
fn found(changes: &[(&str, f64)]) -> Vec<(RuleName, i64)> {
    let of = machine(&busy(100));
    let values = SOUND.iter().chain(changes).map(|(name, value)| ((*name).to_owned(), *value)).collect();
    let facts = Facts::new(&of.job, &of.report, &of.graph, Work::IN_PLACE).unwrap();
    let facts = facts.with_metrics_of(MeasuredRank { rank: 0, values });
    let all = findings(&facts).unwrap();
    let of_rule = |(rule, verdict): (RuleName, Judgement)| match verdict {
        Judgement::Found(found) => found.first().map(|one| (rule, one.saved_ps().unwrap() / 1_000_000)),
        _ => None,
    };
    all.into_iter().filter_map(|one| of_rule((one.rule, one.verdict))).collect()
}

#[test]
fn a_sound_rank_has_no_findings() {
    assert_eq!(found(&[]), []);
}

#[test]
fn each_rule_finds_its_number() {
    assert_eq!(found(&[("tensor_engine_active_time", 4e-3)]), [(RuleName::TensorIdle, 1_000)]);
    // The other engine is the limit: nothing is sure to be saved.
    let bound = [("tensor_engine_active_time", 3e-3), ("vector_engine_active_time", 9e-3)];
    assert_eq!(found(&bound), [(RuleName::TensorIdle, 0)]);
    assert_eq!(found(&[("throttle_avg_util_limit_nc1_percent", 0.95)]), [(RuleName::Throttled, 400)]);
    assert_eq!(found(&[("transpose_flops", 25e9)]), [(RuleName::LowFlops, 2_000)]);
    assert_eq!(found(&[("model_flops", 40e9)]), [(RuleName::LowFlops, 4_800)]);
    assert_eq!(found(&[("dma_transfer_average_bytes", 8_192.0)]), [(RuleName::SmallDmas, 3_000)]);
    let spilled = [("spill_reload_bytes", 30e6), ("spill_save_bytes", 30e6)];
    assert_eq!(found(&spilled), [(RuleName::Spill, 2_000)]);
}

#[test]
fn what_is_too_little_is_no_finding() {
    assert_eq!(found(&[("throttle_avg_util_limit_nc0_percent", 0.992)]), []);
    // A limit in time in which nothing is computed.
    let idle = [("throttle_avg_util_limit_nc0_percent", 0.1), ("tensor_engine_active_time", 1e-6)];
    assert!(found(&idle).iter().all(|(rule, _)| *rule != RuleName::Throttled));
    assert_eq!(found(&[("dma_transfer_average_bytes", 8_192.0), ("dma_transfer_count", 20.0)]), []);
}

#[test]
fn devices_without_such_metrics_are_not_asked() {
    let of = machine(&busy(100));
    let facts = Facts::new(&of.job, &of.report, &of.graph, Work::IN_PLACE).unwrap();
    let all = findings(&facts).unwrap();
    assert!(all.iter().all(|one| !one.rule.rule().needs_metrics));
    let alone = super::super::verdict_of(&facts, RuleName::Spill).unwrap();
    assert!(matches!(alone, Judgement::CannotTell(_)), "{alone:?}");
}
