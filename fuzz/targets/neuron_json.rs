//! Any bytes as neuron-profile's JSON.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nprof_capture::formats::neuron_json;
use nprof_engine::fixture::Recorder;
use nprof_fuzz::within_reader;

fuzz_target!(|bytes: &[u8]| within_reader(bytes.len(), || {
    let mut input = bytes;
    let _ = neuron_json::read(&mut input, &mut Recorder::default(), &mut |_| {});
}));
