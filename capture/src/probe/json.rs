//! Probes of the JSON formats: neuron-profile's tables, and Trace Event.

use super::outline::{Outline, events};
use super::{Confidence, aiu};

/// Whether this is output of `neuron-profile view --output-format json`.
#[must_use]
pub fn probe_neuron(head: &[u8]) -> Option<Confidence> {
    let keys = Outline::of(head)?;
    keys.has_neuron_table().then_some(Confidence::Certain)
}

/// Whether this is Trace Event JSON: the object with `traceEvents`, or its events alone. Formats
/// that are written as such JSON have readers of their own.
#[must_use]
pub fn probe_trace_event(head: &[u8]) -> Option<Confidence> {
    let is_of_aiu = aiu::probe(head).is_some() || aiu::probe_compiler(head).is_some();
    if is_of_aiu { None } else { events(head) }
}

/// Whether this is a JSON export of nprof that no format reads: one of a Neuron profile is read as
/// neuron-profile's JSON.
#[must_use]
pub fn is_own_export(head: &[u8]) -> bool {
    Outline::of(head).is_some_and(|outline| outline.is_own_export() && !outline.has_neuron_table())
}
