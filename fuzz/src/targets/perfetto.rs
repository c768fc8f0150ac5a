//! Any bytes as a Perfetto trace.

use crate::bound::within_reader;
use nprof_capture::formats::perfetto;
use nprof_capture::origin::origins;
use nprof_engine::fixture::Recorder;
use nprof_engine::spill::{MemoryScratch, Space};

/// Packed packets unpack to so little that the bounds of all readers hold.
const MOST_UNPACKED: u64 = 1 << 20;

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
            let context = perfetto::PacketContext { space, origin, most_unpacked: MOST_UNPACKED };
            let _ = perfetto::read(&mut input, context, &mut Recorder::default(), &mut |_| {});
        }
    });
}
