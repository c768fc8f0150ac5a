//! Any bytes as a Perfetto trace.

use crate::bound::within_reader;
use nprof_capture::formats::perfetto;
use nprof_capture::origin::origins;
use nprof_engine::fixture::Recorder;
use nprof_engine::spill::{MemoryScratch, Space};

/// Runs the target on an input.
pub(super) fn run(bytes: &[u8]) {
    within_reader(bytes.len(), || {
        let scratch = MemoryScratch::default();
        // So little memory that the sorters spill.
        let space = Space { sort_bytes: 4_000, ..Space::new(&scratch) };
        let origin =
            origins(&[perfetto::beginning(bytes), perfetto::beginning(&bytes[bytes.len() / 2..])])[1];
        for origin in [None, origin] {
            let mut input = bytes;
            let _ = perfetto::read(&mut input, space, origin, &mut Recorder::default(), &mut |_| {});
        }
    });
}
