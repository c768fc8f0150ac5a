//! Any bytes as a NEFF: everything that is read can be written.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nprof_capture::formats::neff::Neff;
use nprof_engine::fixture::Recorder;
use nprof_fuzz::within_reader;

fuzz_target!(|bytes: &[u8]| within_reader(bytes.len(), || {
    if let Ok(neff) = Neff::read(bytes) {
        neff.write(&mut Recorder::default()).expect("the recorder takes everything");
    }
}));
