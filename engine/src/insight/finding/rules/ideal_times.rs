//! The times that a device would need at its peaks.

use super::super::evidence::{EvidenceMeasure, EvidenceValue, FindingEvidence};
use super::super::verdict::Finding;
use crate::base::time::PS_PER_S;
use crate::metrics::DeviceMetrics;

/// The times of a rank at the peaks of its device.
pub(super) struct IdealTimes {
    /// Time of its operations, in picoseconds.
    pub(super) arithmetic_ps: i64,
    /// Time of its bytes, in picoseconds.
    pub(super) memory_ps: i64,
    /// Operations for each byte.
    pub(super) intensity: f64,
    /// Operations for each byte at which both times are equal.
    pub(super) balance: f64,
}

impl IdealTimes {
    /// The times of a rank. `None` if operations, bytes or peaks are not known.
    pub(super) fn of(of: &DeviceMetrics) -> Option<Self> {
        let (flops, peaks, transfers) = (of.flops?, of.peaks?, of.transfers?);
        let bytes = transfers.read_bytes + transfers.written_bytes;
        let ps = |done: f64, peak: f64| (done / peak * PS_PER_S as f64) as i64;
        (bytes > 0.0).then(|| Self {
            arithmetic_ps: ps(flops.hardware, peaks.flops),
            memory_ps: ps(bytes, peaks.bytes),
            intensity: flops.hardware / bytes,
            balance: peaks.flops / peaks.bytes,
        })
    }
}

/// The evidence that one side is the limit.
pub(super) fn bound_evidence(
    needed_ps: i64,
    active_ps: i64,
    intensity: f64,
    balance: f64,
) -> Vec<FindingEvidence> {
    let share = EvidenceValue::Share(needed_ps as f64 / active_ps.max(1) as f64);
    let factor = |of: &str, factor| {
        FindingEvidence::about(EvidenceMeasure::Intensity, of, EvidenceValue::Factor(factor))
    };
    vec![
        FindingEvidence::new(EvidenceMeasure::Active, share),
        factor("operations a byte", intensity),
        factor("balance of the device", balance),
    ]
}

/// A number of operations for each byte, for people.
pub(super) fn numbers(of: &Finding, at: usize) -> String {
    match of.all(EvidenceMeasure::Intensity).nth(at).map(|one| one.quantity) {
        Some(EvidenceValue::Factor(factor)) => format!("{factor:.0}"),
        _ => String::new(),
    }
}
