//! Any bytes as Trace Event JSON.

use crate::bound::within_reader;
use nprof_capture::formats::trace_event::{self, Context, beginning};
use nprof_capture::origin::origins;
use nprof_engine::fixture::Recorder;

/// Runs the target on an input.
pub(super) fn run(bytes: &[u8]) {
    within_reader(bytes.len(), || {
        let mut input = bytes;
        let _ = trace_event::read(&mut input, Context::default(), &mut Recorder::default(), &mut |_| {});
        let origin = origins(&[beginning(bytes), beginning(&bytes[bytes.len() / 2..])])[1];
        let context = Context { origin, ..Context::default() };
        let _ = trace_event::read_bytes(bytes, context, &mut Recorder::default(), &mut |_| {});
    });
}
