//! Any bytes as neuron-profile's JSON.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nprof_capture::formats::neuron_json;
use nprof_engine::fixture::Recorder;

fuzz_target!(|bytes: &[u8]| {
    let mut input = bytes;
    let _ = neuron_json::read(&mut input, &mut Recorder::default(), &mut |_| {});
});
