//! Busy intervals of each engine: the union of its instructions, without waits.
//! neuron-profile uses the same definition.

use std::collections::VecDeque;
use std::ops::Range;

use super::NamedColumns;
use super::engines::instruction_tracks;
use crate::base::{Error, Result};
use crate::exec::Cancel;
use crate::makers::neuron::EngineTrack;
use crate::makers::neuron::schema::INSTRUCTION;
use crate::model::{Identity, Role, TrackId};
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
/// interval gives its engine and core. An engine has one interval where several of its tracks are
/// busy at the same time.
pub fn for_each_busy<B: Bytes, E: From<Error>>(
    segment: &Segment<B>,
    mut each: impl FnMut(&Busy) -> Result<(), E>,
) -> Result<(), E> {
    let Some(instruction) = NamedColumns::of(segment, INSTRUCTION.name, Cancel::NEVER) else { return Ok(()) };
    for engine in engines(segment, instruction_tracks(segment, &instruction)) {
        let mut parts = Vec::new();
        for track in engine {
            let blocks = segment.blocks_of(track)?;
            parts.push(BusyParts { segment, instruction: &instruction, blocks, read: VecDeque::new() });
        }
        let mut open: Option<Busy> = None;
        while let Some(part) = first(&mut parts)? {
            match &mut open {
                Some(busy) if part.start_ps <= busy.end_ps => busy.end_ps = busy.end_ps.max(part.end_ps),
                _ => {
                    if let Some(ended) = open.replace(part) {
                        each(&ended)?;
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

/// The tracks by engine, in the order of the first track of each. A track of an unknown engine is
/// alone.
fn engines<B: Bytes>(segment: &Segment<B>, tracks: Vec<TrackId>) -> Vec<Vec<TrackId>> {
    let mut engines: Vec<(Identity, Vec<TrackId>)> = Vec::new();
    for track in tracks {
        let identity = segment.footer().tracks[track.0 as usize].spec.identity;
        match engines.iter_mut().find(|(of, _)| *of == identity && of.role != Role::Unknown) {
            Some((_, tracks)) => tracks.push(track),
            None => engines.push((identity, vec![track])),
        }
    }
    engines.into_iter().map(|(_, tracks)| tracks).collect()
}

/// Takes the interval that starts first.
fn first<B: Bytes>(tracks: &mut [BusyParts<'_, B>]) -> Result<Option<Busy>> {
    let mut first: Option<(i64, usize)> = None;
    for (at, track) in tracks.iter_mut().enumerate() {
        if let Some(start_ps) = track.start_ps()? {
            first = Some(first.map_or((start_ps, at), |first| first.min((start_ps, at))));
        }
    }
    Ok(first.and_then(|(_, at)| tracks[at].read.pop_front()))
}

/// Busy intervals of a track, a block at a time.
struct BusyParts<'a, B> {
    segment: &'a Segment<B>,
    instruction: &'a NamedColumns<'a, B>,
    /// Blocks that are not read yet.
    blocks: Range<usize>,
    read: VecDeque<Busy>,
}

impl<B: Bytes> BusyParts<'_, B> {
    /// Start of the next interval. Reads blocks up to one that has an interval.
    fn start_ps(&mut self) -> Result<Option<i64>> {
        while self.read.is_empty() {
            let Some(block) = self.blocks.next() else { return Ok(None) };
            self.read = parts(self.segment, self.instruction, block)?.into();
        }
        Ok(self.read.front().map(|busy| busy.start_ps))
    }
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
            let track = EngineTrack::from_label(label);
            parts[at].engine = track.map_or(label, |track| track.engine().name()).to_lowercase();
        }
    })?;
    instruction.for_each_int("pcore_idx", block, |row, core| {
        if let Some(at) = at(row) {
            parts[at].core = core;
        }
    })?;
    Ok(parts)
}
