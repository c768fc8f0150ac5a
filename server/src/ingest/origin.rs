//! Finds one time zero for the ranks of a profile before any of them is read.

use std::io::{self, Read};

use nprof_capture::archive::PlainFile;
use nprof_capture::formats::{FindBeginning, reader_of};
use nprof_capture::importer::FileRole;
use nprof_capture::inputs::PlanFile;
use nprof_capture::origin::{self, Origin, TraceBeginning};

use super::inputs::Inputs;
use crate::work::Meter;

/// Unpacked bytes of a trace that are searched at once.
const CHUNK_LEN: usize = 1 << 20;

/// Bytes of a chunk that are searched again with the next chunk: more than a key and its number
/// have.
const OVERLAP_LEN: usize = 256;

/// The origin of each plan, in their order. `None` for a single trace, and for traces whose times
/// count from a zero of their format. Unreadable files are left to their readers.
pub(super) fn origins(inputs: &Inputs, meter: &Meter) -> Vec<Option<Origin>> {
    if inputs.plans.len() < 2 {
        return vec![None; inputs.plans.len()];
    }
    let is_trace = |part: &&PlanFile| part.role == FileRole::Trace;
    let mut traces = Vec::new();
    for (at, plan) in inputs.plans.iter().enumerate() {
        let find = reader_of(plan.importer).beginning;
        traces.extend(plan.files.iter().filter(is_trace).map(|part| (at, part.file, find)));
    }
    let beginnings = traces.iter().map(|&(_, file, find)| {
        let leaf = &inputs.files[file].leaf;
        let found = beginning(leaf, find?, meter);
        found.unwrap_or_else(|error| {
            tracing::debug!("{}: cannot find the first timestamp ({error})", leaf.candidate.name);
            None
        })
    });
    let origins = origin::origins(&beginnings.collect::<Vec<_>>());
    // All traces of a plan have one clock.
    let of_plan = |at: usize| {
        let mut own = traces.iter().zip(&origins).filter(|((plan, ..), _)| *plan == at);
        own.find_map(|(_, origin)| *origin)
    };
    (0..inputs.plans.len()).map(of_plan).collect()
}

/// The start of a trace. Reads up to the first timestamps.
fn beginning(leaf: &PlainFile, find: FindBeginning, meter: &Meter) -> io::Result<Option<TraceBeginning>> {
    let mut input = leaf.reader();
    let mut chunk = Vec::new();
    while !meter.is_cancelled() {
        let read = input.by_ref().take(CHUNK_LEN as u64).read_to_end(&mut chunk)?;
        if let Some(beginning) = find(&chunk) {
            return Ok(Some(beginning));
        }
        if read == 0 {
            break;
        }
        chunk.drain(..chunk.len().saturating_sub(OVERLAP_LEN));
    }
    Ok(None)
}
