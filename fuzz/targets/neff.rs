//! Any bytes as a NEFF: everything that is read can be written.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nprof_capture::formats::neff::Neff;
use nprof_engine::fixture::Recorder;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(neff) = Neff::read(bytes) {
        neff.write(&mut Recorder::default()).expect("the recorder takes everything");
    }
});
