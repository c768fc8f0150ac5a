//! Any bytes as neuron-profile's JSON.

use crate::bound::within_reader;
use nprof_capture::formats::neuron_json;
use nprof_engine::fixture::Recorder;

/// Runs the target on an input.
pub(super) fn run(bytes: &[u8]) {
    within_reader(bytes.len(), || {
        let mut input = bytes;
        let _ = neuron_json::read(&mut input, &mut Recorder::default(), &mut |_| {});
    });
}
