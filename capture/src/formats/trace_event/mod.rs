//! Trace Event JSON, as Chrome, Perfetto, PyTorch (Kineto) and many others write it.
//!
//! The format is described in "Trace Event Format" (Google, 2016); what real files do beyond it is taken as it comes, and
//! nothing is dropped in silence: an event that cannot be read is kept as text in the table `unread_event` and counted as
//! a warning with its place.
//!
//! [`scan`] and `json::tokens` turn bytes into tokens, [`document`] finds the events, [`event`] their parts; [`reader`] knows
//! what they mean. Where the whole input is at hand, [`ahead`] takes events apart on another thread. Memory is bounded whatever the input's size: events go to the sink as they end, the window over the
//! input, the open slices and the unmatched correlations have limits; only names, tracks and fields grow with what the
//! trace has of them.
//!
//! What is kept where:
//! - Threads, and streams of devices, are tracks of the table `slice`, grouped by process; their order and names
//!   are those of the metadata events.
//! - PyTorch's `[memory]` instants are counters of allocated bytes, too.
//! - Asynchronous slices are in `async`, samples of counters in `counter`; each argument of a counter is a track.
//! - Keys of the event and of its arguments are fields. Where an argument has the name of an event's key, its field
//!   is called `args.…`; where the end of a slice says something else than its begin, `end.…`.
//! - Side tables: `metadata` (keys beside `traceEvents`), `metadata_event`, `track` (process and thread of each
//!   track), `stack_frame`, `sample`, `flow_event`, `unread_event`.

mod ahead;
mod asynchronous;
mod clock;
mod counter;
mod document;
mod duration;
mod event;
mod field;
mod flow;
mod json;
mod kineto;
mod memory;
mod metadata;
mod naming;
mod number;
mod open;
mod origin;
mod output;
mod reader;
mod recovery;
mod scan;
mod shape;
mod text;
mod thread;
mod track;

use std::io::Read;

use nprof_engine::exec::{Exec, InPlace};
use nprof_engine::model::Sink;
use nprof_engine::spill::Space;

use super::Error;
use crate::files::{Fault, Job};
use crate::importer::Sinks;
use crate::json::{digits, tokens};

pub use self::origin::{Beginning, Origin, Sharing, origins};

/// Facts about the profile that a trace is a rank of, and means that its reader may use.
#[derive(Clone, Copy, Default)]
pub struct Context<'s> {
    /// The time zero that the ranks of the profile share; `None` where the trace is alone.
    pub origin: Option<Origin>,
    /// For the texts of begins that wait for their ends, where there are many.
    pub space: Option<Space<'s>>,
}

impl<'s> Context<'s> {
    fn exec(&self) -> &'s dyn Exec {
        self.space.map_or(&InPlace, |space| space.exec)
    }
}

/// Reads a trace, unpacked, to its end. `progress` is told how many bytes have been read so far.
///
/// # Errors
/// If the input is no Trace Event JSON at all or cannot be read, or if the sink refuses. Damage
/// within a trace is no error: what can be read is, and the rest is counted.
pub fn read(
    input: &mut dyn Read,
    context: Context<'_>,
    sink: &mut dyn Sink,
    progress: &mut dyn FnMut(u64),
) -> Result<(), Error> {
    let scan = scan::Scan::new(input, progress);
    document::Document::new(scan, reader::Reader::new(context, sink)?, context.exec()).read()
}

/// As [`read`], of a trace that is at hand as a whole.
///
/// # Errors
/// As [`read`].
pub fn read_bytes(
    bytes: &[u8],
    context: Context<'_>,
    sink: &mut dyn Sink,
    progress: &mut dyn FnMut(u64),
) -> Result<(), Error> {
    let scan = scan::Scan::over(bytes, progress);
    document::Document::new(scan, reader::Reader::new(context, sink)?, context.exec()).read()
}

/// Reads a plan's trace: over its bytes if they lie somewhere unpacked, else while it is unpacked.
///
/// # Errors
/// As [`read`].
pub fn import(job: &Job<'_>, sinks: &mut dyn Sinks) -> Result<(), Fault> {
    let context = Context { origin: job.origin, space: Some(job.space) };
    let Some(bytes) = job.files.leaf(job.plan.trace()).plain() else {
        return job.stream_trace(sinks, |input, sink| read(input, context, sink, &mut |_| {}));
    };
    let Some(sink) = sinks.rank(0) else { return Ok(()) };
    job.of_trace(read_bytes(&bytes, context, sink, &mut |done| (job.progress)(done)))
}

#[cfg(test)]
mod tests;
