//! A first pass over the instruction segment, to find the start of the run and the instructions
//! that triggered static transfers.

use nprof_engine::base;
use nprof_engine::base::bytes::{Cursor, Put};
use nprof_engine::spill::{Key, NoBytes, Scratch, Sorter, Space};

use super::core::Core;
use super::program::{Place, Program};
use super::record::{Record, records};
use super::word::{Opcode, Word};
use crate::formats::Error;
use nprof_engine::vendor::neuron::Engine;

/// A NOTIFY with this hint ends an engine's preparation.
const RUN_BEGINS: u8 = 2;

/// Start or end of an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edge {
    /// The instruction started.
    Start,
    /// The instruction ended.
    End,
}

/// Engine and edge of an instruction record; `None` for an unknown kind.
#[must_use]
pub fn edge(record: &Record) -> Option<(Engine, Edge)> {
    let kind = u32::from(record.kind());
    let edge = match kind % 4 {
        0 => Edge::Start,
        1 => Edge::End,
        _ => return None,
    };
    Some((Engine::from_number((kind / 4).checked_sub(1)?)?, edge))
}

/// The start of an instruction that can have triggered a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TriggerStart {
    /// Start on the clocks' axis.
    pub start_ps: i64,
    /// Engine that executed the instruction.
    pub engine: Engine,
    /// Index of the instruction in the program.
    pub pc: u32,
}

impl Key for TriggerStart {
    type Span = NoBytes;
    const MAX_LEN: usize = 8 + 1 + 5;

    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.start_ps.to_le_bytes());
        out.put_varint(self.engine.index() as u64);
        out.put_varint(u64::from(self.pc));
    }

    fn take(cursor: &mut Cursor<'_>) -> base::Result<Self> {
        let start_ps = cursor.u64()?.cast_signed();
        let engine = Engine::from_number(cursor.varint_u32()?).ok_or_else(|| cursor.corrupt())?;
        Ok(Self { start_ps, engine, pc: cursor.varint_u32()? })
    }
}

/// Results of the first pass.
pub struct Landmarks<'s> {
    /// Time at which the last engine was ready, if the trace states it.
    pub run_begin_ps: Option<i64>,
    /// Time of the program's earliest record.
    pub earliest_ps: Option<i64>,
    /// Starts of WRITEs that the compiler placed.
    pub triggers: Sorter<TriggerStart, &'s dyn Scratch>,
}

impl<'s> Landmarks<'s> {
    /// Finds the landmarks in the instruction segments of a core.
    ///
    /// # Errors
    /// If the scratch space fails.
    pub fn find(core: &Core<'_>, segments: &[&[u8]], space: Space<'s>) -> Result<Self, Error> {
        let mut found = Self { run_begin_ps: None, earliest_ps: None, triggers: space.sorter(4) };
        let mut begins = [None; Engine::ALL.len()];
        // Kept in ticks. Only the first one is converted to a time.
        let mut earliest = [None; Engine::ALL.len()];
        for (_, record) in segments.iter().flat_map(|bytes| records(bytes)) {
            let Some((engine, edge)) = edge(&record) else { continue };
            let program = &core.programs[engine.index()];
            let Place::Inside(pc) = program.locate(record.low24()) else { continue };
            let first = earliest[engine.index()].get_or_insert(record.ticks);
            *first = record.ticks.min(*first);
            let Some(kind) = kind_of(program, pc) else { continue };
            let Some(ps) = core.clocks.engine_ps(engine, record.ticks) else { continue };
            match (kind, edge) {
                (Kind::RunBegins, Edge::End) => {
                    begins[engine.index()].get_or_insert(ps);
                }
                (Kind::Trigger, Edge::Start) => {
                    found.triggers.push(TriggerStart { start_ps: ps, engine, pc })?;
                }
                _ => {}
            }
        }
        let first = |engine: Engine| core.clocks.engine_ps(engine, earliest[engine.index()]?);
        found.earliest_ps = Engine::ALL.into_iter().filter_map(first).min();
        found.run_begin_ps = begins.into_iter().flatten().max();
        Ok(found)
    }
}

enum Kind {
    RunBegins,
    Trigger,
}

fn kind_of(program: &Program<'_>, pc: u32) -> Option<Kind> {
    let word = Word(program.word(pc)?);
    match word.opcode() {
        Opcode::Notify if word.u8(36) == RUN_BEGINS => Some(Kind::RunBegins),
        Opcode::Write if program.compiler_pc(pc).is_some() => Some(Kind::Trigger),
        _ => None,
    }
}
