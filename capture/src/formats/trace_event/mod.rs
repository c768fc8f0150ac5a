//! Trace Event JSON, as Chrome, Perfetto, PyTorch (Kineto) and many others write it.
//!
//! The format is described in "Trace Event Format" (Google, 2016). Deviations of real files are
//! accepted, and nothing is dropped silently. An event that cannot be read is kept as text in the
//! table `unread_event` and counted as a warning with its place.
//!
//! [`scan`] and `json::tokens` turn bytes into tokens. [`document`] finds the events, [`event`]
//! their parts, and [`reader`] knows their meaning. If the whole input is in memory, [`lookahead`]
//! parses events on another thread. Memory is bounded for any size of input. Events go to the sink
//! as they end. The window over the input, the open slices and the unmatched correlations have
//! limits. Only names, tracks and fields grow with their number in the trace.
//!
//! Places of the contents:
//! - Threads, and streams of devices, are tracks of the table `slice`, grouped by process. Metadata
//!   events give their order and names.
//! - Annotations of a device have a track beside their stream.
//! - PyTorch's `[memory]` instants are counters of allocated bytes, too.
//! - Asynchronous slices are in `async`, samples of counters in `counter`. Each argument of a
//!   counter is a track.
//! - Keys of the event and of its arguments are fields. If an argument has the name of an event's
//!   key, its field is called `args.…`. If the end of a slice differs from its begin, the field is
//!   called `end.…`.
//! - Side tables: `metadata` (keys beside `traceEvents`), `metadata_event`, `track` (process and
//!   thread of each track), `stack_frame`, `sample`, `flow_event`, `unread_event`.

pub(super) mod allowance;
mod async_slices;
mod beginning;
pub(super) mod clock;
mod counter;
mod cycles;
mod description;
mod document;
mod duration;
mod event;
mod events;
mod field;
mod files;
mod flow;
mod identity;
pub(super) mod json;
pub(super) mod kineto;
pub(super) mod layer;
mod lookahead;
mod memory;
mod metadata;
mod named_begins;
mod naming;
mod number;
mod open;
mod order;
mod output;
mod reader;
mod recovery;
mod role;
mod scan;
mod shape;
mod side_table;
mod slice_flow;
mod text;
mod thread;
mod time;
mod track;
pub(super) mod value;

use std::io::Read;

use nprof_engine::exec::Work;
use nprof_engine::model::Sink;
use nprof_engine::spill::Space;

use crate::error::Error;
use crate::files::{Fault, ImportJob, Sinks};
use crate::json::{digits, tokens};
use crate::origin::Origin;

pub use self::beginning::beginning;

/// Facts about the profile that the trace is a rank of, and resources for its reader.
#[derive(Clone, Copy, Default)]
pub struct Context<'s> {
    /// The time zero that the ranks of the profile share; `None` if the trace is alone.
    pub origin: Option<Origin>,
    /// Space for the texts of begins that wait for their ends, if there are many.
    pub space: Option<Space<'s>>,
}

impl<'s> Context<'s> {
    fn work(&self) -> Work<'s> {
        self.space.map_or(Work::IN_PLACE, |space| space.work)
    }
}

/// Reads a trace, unpacked, to its end. `progress` receives the number of bytes read so far.
///
/// # Errors
/// If the input is no Trace Event JSON at all or cannot be read, if the sink fails, or if the
/// reading is cancelled. Damage within a trace is no error: it is counted, and the rest is read.
pub fn read(
    input: &mut dyn Read,
    context: Context<'_>,
    sink: &mut dyn Sink,
    progress: &mut dyn FnMut(u64),
) -> Result<(), Error> {
    let scan = scan::Scan::new(input, progress);
    document::TraceDocument::new(scan, reader::TraceEventReader::new(context, sink)?, context.work()).read()
}

/// Reads a trace like [`read`], from bytes in memory.
pub fn read_bytes(
    bytes: &[u8],
    context: Context<'_>,
    sink: &mut dyn Sink,
    progress: &mut dyn FnMut(u64),
) -> Result<(), Error> {
    let scan = scan::Scan::over(bytes, progress);
    document::TraceDocument::new(scan, reader::TraceEventReader::new(context, sink)?, context.work()).read()
}

/// Reads a plan's traces: from their bytes if they are not packed, else while they are unpacked.
/// Several traces are cycles of one rank, in order.
pub fn import(job: &ImportJob<'_>, sinks: &mut dyn Sinks) -> Result<(), Fault> {
    let context = Context { origin: job.origin, space: Some(job.space) };
    if job.plan.traces().nth(1).is_some() {
        return cycles::import(job, context, sinks);
    }
    let Some(bytes) = job.files.leaf(job.plan.trace()).plain() else {
        return job.stream_trace(sinks, |input, sink| read(input, context, sink, &mut |_| {}));
    };
    job.plain_trace(sinks, |sink| read_bytes(&bytes, context, sink, &mut |done| (job.progress)(done)))
}

#[cfg(test)]
mod tests;
