//! Any bytes as a NEFF: everything that is read can be written.

use crate::bound::within_reader;
use nprof_capture::formats::neff::Neff;
use nprof_engine::fixture::Recorder;

/// Runs the target on an input.
pub(super) fn run(bytes: &[u8]) {
    within_reader(bytes.len(), || {
        if let Ok(neff) = Neff::read(bytes) {
            neff.write(&mut Recorder::default()).expect("the recorder takes everything");
        }
    });
}
