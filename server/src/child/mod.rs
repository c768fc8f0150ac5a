//! Ingests and comparisons of ranks in a process of their own. The inputs of a server's clients are
//! foreign bytes, and whatever they cause must end one upload, not the server. The memory of a
//! comparison grows with the number of calls.
//!
//! ```text
//! jobs ── Order ───► stdin   nprof --ingest-child   ──► files of the profile, in
//! `ChildTask::staging` ◄─ Report ── stdout   (limits of memory and processor time) app, jobs ──
//! Order ───► the same ──► job segment and overlay, in `ChildTask::staging`
//! ```
//! *Invariant.* The child changes nothing but the staging directory that the server lends to it.
//! The server publishes the profile, or moves the job segment beside the ranks, and removes the
//! directory. The child ends when its standard
//! input ends, so it never outlives the server.

mod child_side;
pub mod comparison;
mod limits;
mod message;
mod parent;

use std::ffi::OsString;

pub use child_side::run;
pub use limits::Limits;
pub use message::{ChildTask, InputsOutcome};
pub use parent::IngestProcess;

/// The only argument of a child. It is no option of the command line: a child takes its order from
/// its standard input and refuses everything else.
pub const ARGUMENT: &str = "--ingest-child";

/// Returns true if these arguments, without the program's name, are those of a child.
pub fn is_asked(arguments: impl Iterator<Item = OsString>) -> bool {
    arguments.eq([ARGUMENT])
}
