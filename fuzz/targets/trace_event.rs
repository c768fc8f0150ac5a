//! Any bytes as Trace Event JSON.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nprof_capture::formats::trace_event;
use nprof_engine::fixture::Recorder;

fuzz_target!(|bytes: &[u8]| {
    let mut input = bytes;
    let _ = trace_event::read(&mut input, &mut Recorder::default(), &mut |_| {});
    let _ = trace_event::read_bytes(bytes, &mut Recorder::default(), &mut |_| {});
});
