//! The source of the events of a trace.

use std::path::PathBuf;

use nprof_capture::files::Sinks;
use nprof_engine::spill::Space;

use super::Result;

/// The source of the events of one rank, or of several ranks in one trace.
pub struct TraceSource<'a> {
    /// Number of the rank, if it is known before the trace is read.
    pub rank: Option<u32>,
    /// Host of its ranks, if it is known before the trace is read. A host that the trace states has
    /// precedence.
    pub host: Option<String>,
    /// File names of the trace, for messages.
    pub inputs: Vec<String>,
    /// Path that errors name.
    pub place: PathBuf,
    /// About how many bytes the trace has, unpacked. A large one is built alone.
    pub bytes: u64,
    /// Sends the events of the trace to sinks.
    pub fill: Fill<'a>,
}

/// Sends the events of a trace to the sinks of its ranks. The [`Space`] is the memory for sorting.
/// A trace of several ranks is read once per rank.
pub type Fill<'a> = Box<dyn Fn(&mut dyn Sinks, Space<'_>) -> Result<()> + Send + Sync + 'a>;
