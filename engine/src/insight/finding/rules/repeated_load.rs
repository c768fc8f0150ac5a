//! Data that is loaded more often than it has to be, for the rules about spills, reloads and
//! weights.

use super::super::evidence::{EvidenceMeasure, EvidenceValue, FindingEvidence, beginning};
use super::super::facts::Facts;
use super::super::place::Place;
use super::super::verdict::Finding;
use crate::insight::Bracket;
use crate::metrics::{TensorTraffic, TransferMetrics};

/// Share of the bytes read from memory that are reloads, at least.
pub(super) const LEAST_RELOADED: f64 = 0.2;
/// Reloaded bytes for each spilled one, at least.
const LEAST_RETURNS: f64 = 2.0;

/// Whether spilled data comes back several times.
pub(super) fn comes_back_often(bytes: &TransferMetrics) -> bool {
    bytes.reloaded_bytes > 0.0 && bytes.reloaded_bytes >= LEAST_RETURNS * bytes.spilled_bytes
}

/// Loads of a tensor in each pass through the program from which on it is loaded again, exclusive.
const MOST_LOADS: f64 = 2.0;

/// The tensors that are loaded again.
#[derive(Debug, Clone, Copy)]
pub(super) struct RepeatedLoads<'f> {
    /// The one with the most bytes that are loaded again.
    pub(super) most: RepeatedLoad<'f>,
    /// Bytes of all that are loaded again.
    pub(super) again_bytes: f64,
    /// Time of the transfers of these bytes, in picoseconds.
    pub(super) again_ps: f64,
}

/// A tensor that is loaded again.
#[derive(Debug, Clone, Copy)]
pub(super) struct RepeatedLoad<'f> {
    pub(super) of: &'f TensorTraffic,
    /// Loads of all of it for each one that has to be.
    pub(super) loads: f64,
    /// Bytes that are loaded again.
    pub(super) again_bytes: f64,
}

impl<'f> RepeatedLoads<'f> {
    /// The tensors of a kind that are loaded again in so many passes. `None` if there are none.
    pub(super) fn of(
        facts: &'f Facts<'_>,
        passes: f64,
        is_wanted: impl Fn(&TensorTraffic) -> bool,
    ) -> Option<Self> {
        let again = |of: &'f TensorTraffic| {
            let (loaded, needed) = (of.loaded_bytes as f64, of.needed_bytes(passes)?);
            let is_again = is_wanted(of) && loaded > MOST_LOADS * needed;
            is_again.then(|| RepeatedLoad { of, loads: loaded / needed, again_bytes: loaded - needed })
        };
        let all = || facts.measures().tensors.iter().filter_map(again);
        // The first of equal ones.
        let larger =
            |a: RepeatedLoad<'f>, b: RepeatedLoad<'f>| if b.again_bytes > a.again_bytes { b } else { a };
        Some(Self {
            most: all().reduce(larger)?,
            again_bytes: all().map(|one| one.again_bytes).sum(),
            again_ps: all().map(|one| one.again_ps()).sum(),
        })
    }
}

/// Bytes of a tensor that are loaded again; 0 if its size is not known.
pub(super) fn again_bytes(facts: &Facts<'_>, of: &TensorTraffic) -> f64 {
    let transfers = facts.measures().devices.first().and_then(|device| device.transfers);
    let passes = transfers.map_or(1.0, |transfers| transfers.passes.max(1.0));
    of.needed_bytes(passes).map_or(0.0, |needed| (of.loaded_bytes as f64 - needed).max(0.0))
}

/// At most the time of the transfers of a part of all bytes is saved: at the rate of all transfers,
/// or as long as the transfers of single tensors take, if that is longer.
pub(super) fn saving(bytes: &TransferMetrics, part: f64, tensors: Option<&RepeatedLoads<'_>>) -> Bracket {
    let active_ps = bytes.active_ps as f64;
    let of_tensors = tensors.map_or(0.0, |tensors| tensors.again_ps);
    let time_ps = (active_ps * part).max(of_tensors).min(active_ps) as i64;
    Bracket { low_ps: 0, middle_ps: time_ps, high_ps: time_ps }
}

impl RepeatedLoad<'_> {
    fn again_ps(&self) -> f64 {
        self.of.loading_ps as f64 * self.again_bytes / (self.of.loaded_bytes as f64).max(1.0)
    }

    /// Adds the tensor to a finding: its numbers, and the way to its transfers.
    pub(super) fn explain(&self, finding: &mut Finding) {
        let TensorTraffic { rank, name, loads, span_ps, row, .. } = self.of;
        finding.place =
            Place { row: Some(*row), ..Place { rank: Some(*rank), ..Place::of_span(span_ps.0, span_ps.1) } };
        let about = |measure, value| FindingEvidence::about(measure, name, value);
        finding.evidence.extend([
            about(EvidenceMeasure::Loads, EvidenceValue::Factor(self.loads)),
            about(EvidenceMeasure::Count, EvidenceValue::Count(*loads)),
            about(EvidenceMeasure::BytesAgain, EvidenceValue::Bytes(self.again_bytes as u64)),
        ]);
    }
}

/// The tensor of a finding in words. `None` if it names none.
pub(super) fn tensor_in_words(of: &Finding) -> Option<String> {
    let name = beginning(of.measured(EvidenceMeasure::Loads)?.of.as_deref()?);
    let [loads, again] =
        [EvidenceMeasure::Loads, EvidenceMeasure::BytesAgain].map(|measure| of.words(measure));
    let transfers = match of.measured(EvidenceMeasure::Count)?.quantity {
        EvidenceValue::Count(1) => "1 transfer".to_owned(),
        count => format!("{} transfers", count.words()),
    };
    Some(format!("`{name}` is loaded {loads} by {transfers}, {again} of it again"))
}
