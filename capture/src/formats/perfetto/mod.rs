//! Perfetto traces: lists of protobuf packets, as Chrome, Android, the Perfetto SDK and nprof's own
//! export write them.
//!
//! The format is described by the files under `protos/perfetto/trace` of the Perfetto project. No
//! message is decoded as a whole: [`crate::protobuf`] steps through the fields of a packet, and no
//! length allocates anything.
//!
//! A trace is ordered by writer ([`sequence`]), not by time. Descriptors of tracks can be at its
//! end. So the reader passes twice over its events. [`reader`] turns packets into records with all
//! their texts, which a sorter takes. [`tree`] makes the tracks when the trace has ended, and
//! [`emit`] matches begins with ends, track by track. Memory is bounded for any size of input: the
//! sorters spill, and interned texts, tracks and open slices have limits.
//!
//! Places of the contents:
//! - Slices and instants are in the table `slice`, samples in `counter`, processes and threads in
//!   the side table `track`.
//! - Annotations are fields of their name. Nested ones are JSON.
//! - Other packets are counted in warnings and in the side table `unread_packet` ([`source`]).

mod annotation;
mod beginning;
mod clock;
mod emit;
mod event;
mod field;
#[cfg(any(test, feature = "fixture"))]
pub mod fixture;
mod flow;
mod input;
mod legacy;
mod output;
mod packet_event;
mod reader;
mod record;
mod sequence;
mod source;
mod track;
mod tree;

use std::cell::Cell;
use std::io::Read;

use nprof_engine::model::Sink;
use nprof_engine::spill::Space;

use self::reader::PerfettoReader;
use crate::error::Error;
use crate::files::{Fault, ImportJob, Sinks};
use crate::origin::Origin;

pub use self::beginning::beginning;

/// Facts about a trace, and resources for its reader.
#[derive(Clone, Copy)]
pub struct PacketContext<'s> {
    /// Memory and scratch space for sorting.
    pub space: Space<'s>,
    /// The time zero that the ranks of the profile share; `None` if the trace is alone.
    pub origin: Option<Origin>,
    /// Most bytes that the packed packets of the trace unpack to, all together.
    pub most_unpacked: u64,
}

/// Reads a trace, unpacked, to its end. `progress` receives the number of bytes read so far.
///
/// # Errors
/// If the input has no packet of a trace or cannot be read, if the sink fails, or if the reading is
/// cancelled. Damage within a trace is no error: it is counted, and everything before it is kept.
pub fn read(
    input: &mut dyn Read,
    context: PacketContext<'_>,
    sink: &mut dyn Sink,
    progress: &mut dyn FnMut(u64),
) -> Result<(), Error> {
    PerfettoReader::new(context, sink, None)?.read(input, progress)
}

/// Like [`read()`]. `place` receives the offset of the packet of each event before the sink
/// receives the event.
pub(super) fn read_noting(
    input: &mut dyn Read,
    context: PacketContext<'_>,
    sink: &mut dyn Sink,
    place: &Cell<u64>,
    progress: &mut dyn FnMut(u64),
) -> Result<(), Error> {
    PerfettoReader::new(context, sink, Some(place))?.read(input, progress)
}

/// Reads a plan's trace: from its bytes if they are not packed, else while it is unpacked.
pub fn import(job: &ImportJob<'_>, sinks: &mut dyn Sinks) -> Result<(), Fault> {
    let leaf = job.files.leaf(job.plan.trace());
    let context = PacketContext { space: job.space, origin: job.origin, most_unpacked: leaf.most_unpacked() };
    let Some(bytes) = leaf.plain() else {
        return job.stream_trace(sinks, |input, sink| read(input, context, sink, &mut |_| {}));
    };
    job.plain_trace(sinks, |sink| read(&mut &bytes[..], context, sink, &mut |done| (job.progress)(done)))
}

#[cfg(test)]
mod tests;
