//! Any bytes as an NTFF: the result is an error or events, never a panic. Every event must be well
//! formed enough to record.

use crate::bound::within_reader;
use nprof_capture::formats::ntff;
use nprof_engine::fixture::Recorder;
use nprof_engine::spill::{MemoryScratch, Space};

/// Runs the target on an input.
pub(super) fn run(bytes: &[u8]) {
    within_reader(bytes.len(), || {
        let scratch = MemoryScratch::default();
        // Little memory, so that sorting spills.
        let space = Space { sort_bytes: 4_000, ..Space::new(&scratch) };
        let _ = ntff::read(bytes, None, space, &mut Recorder::default(), &mut |_| {});
    });
}
