//! One time zero for the ranks of a profile, found before any of them is read.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use nprof_capture::formats::detect::{Format, HEAD_LEN, detect};
use nprof_capture::formats::input::Input;
use nprof_capture::formats::trace_event::{self, Beginning, Origin};

use super::inputs::RankInput;
use super::meter::Meter;

/// Unpacked bytes of a trace that are looked at together.
const CHUNK_LEN: usize = 1 << 20;

/// Bytes of a chunk that are looked at again with the next: more than a key and its number have.
const OVERLAP_LEN: usize = 256;

/// The origin of each input, in their order; `None` for a trace that is alone, and for those whose
/// times count from a zero of their format. Files that cannot be read are left to their readers.
pub(super) fn origins(inputs: &[RankInput], meter: &Meter) -> Vec<Option<Origin>> {
    if inputs.len() < 2 {
        return vec![None; inputs.len()];
    }
    let beginning = |input: &RankInput| match beginning(&input.trace, meter) {
        Ok(beginning) => beginning,
        Err(error) => {
            tracing::debug!("{}: no first timestamp ({error})", input.trace.display());
            None
        }
    };
    let beginnings: Vec<_> = inputs.iter().map(beginning).collect();
    trace_event::origins(&beginnings)
}

/// When a trace begins: reads up to its first timestamps.
fn beginning(path: &Path, meter: &Meter) -> io::Result<Option<Beginning>> {
    let mut input = Input::new(File::open(path)?)?;
    if !matches!(detect(input.head(HEAD_LEN)?), Ok(Format::TraceEvent)) {
        return Ok(None);
    }
    let mut chunk = Vec::new();
    while !meter.is_cancelled() {
        let read = input.by_ref().take(CHUNK_LEN as u64).read_to_end(&mut chunk)?;
        if let Some(beginning) = Beginning::of(&chunk) {
            return Ok(Some(beginning));
        }
        if read == 0 {
            break;
        }
        chunk.drain(..chunk.len().saturating_sub(OVERLAP_LEN));
    }
    Ok(None)
}
