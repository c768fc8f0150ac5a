//! Any bytes as an NTFF: an error or events, never a panic, and every event well formed enough to be recorded.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nprof_capture::formats::ntff;
use nprof_engine::fixture::Recorder;

fuzz_target!(|bytes: &[u8]| {
    let _ = ntff::read(bytes, None, &mut Recorder::default(), &mut |_| {});
});
