//! Busy intervals of each engine: the union of its instructions, without waits.
//! neuron-profile uses the same definition.

use super::NamedColumns;
use super::engines::instruction_tracks;
use crate::base::{Error, Result};
use crate::exec::Cancel;
use crate::makers::neuron::MATRIX;
use crate::makers::neuron::schema::INSTRUCTION;
use crate::segment::{BlockReader, Bytes, ColumnRole, Segment};

/// An interval without a gap in which an engine is busy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Busy {
    /// Name of the engine, in small letters.
    pub engine: String,
    /// Physical core within the logical core.
    pub core: i64,
    /// Start in picoseconds.
    pub start_ps: i64,
    /// End in picoseconds.
    pub end_ps: i64,
}

/// Calls `each` with every busy interval, by engine and then by time. The first instruction of an
/// interval gives its engine and core.
pub fn for_each_busy<B: Bytes, E: From<Error>>(
    segment: &Segment<B>,
    mut each: impl FnMut(&Busy) -> Result<(), E>,
) -> Result<(), E> {
    let Some(instruction) = NamedColumns::of(segment, INSTRUCTION.name, Cancel::NEVER) else { return Ok(()) };
    for track in instruction_tracks(segment, &instruction) {
        let mut open: Option<Busy> = None;
        for block in segment.blocks_of(track)? {
            for part in parts(segment, &instruction, block)? {
                match &mut open {
                    Some(busy) if part.start_ps <= busy.end_ps => busy.end_ps = busy.end_ps.max(part.end_ps),
                    _ => {
                        if let Some(ended) = open.replace(part) {
                            each(&ended)?;
                        }
                    }
                }
            }
        }
        if let Some(last) = open {
            each(&last)?;
        }
    }
    Ok(())
}

/// The busy intervals of one block.
fn parts<B: Bytes>(
    segment: &Segment<B>,
    instruction: &NamedColumns<'_, B>,
    block: usize,
) -> Result<Vec<Busy>> {
    let mut reader = BlockReader::new(segment, instruction.table(), block)?;
    let starts = reader.core_ints(ColumnRole::Start)?;
    let durations = reader.core_ints(ColumnRole::Duration)?;
    let names = reader.core_ints(ColumnRole::Name)?;
    // Row of the first instruction, start, end.
    let mut spans: Vec<(usize, i64, i64)> = Vec::new();
    for (row, ((&start, &duration), &name)) in starts.iter().zip(&durations).zip(&names).enumerate() {
        if segment.footer().waits.contains_stored(name) {
            continue;
        }
        let end = start.saturating_add(duration);
        match spans.last_mut() {
            Some((_, _, last)) if start <= *last => *last = end.max(*last),
            _ => spans.push((row, start, end)),
        }
    }
    let mut parts: Vec<Busy> = spans
        .iter()
        .map(|&(_, start_ps, end_ps)| Busy { engine: String::new(), core: 0, start_ps, end_ps })
        .collect();
    let at = |row| spans.binary_search_by_key(&row, |&(first, ..)| first).ok();
    instruction.for_each_text("label", block, |row, label| {
        if let Some(at) = at(row) {
            parts[at].engine = label.strip_suffix(MATRIX).unwrap_or(label).to_lowercase();
        }
    })?;
    instruction.for_each_int("pcore_idx", block, |row, core| {
        if let Some(at) = at(row) {
            parts[at].core = core;
        }
    })?;
    Ok(parts)
}
