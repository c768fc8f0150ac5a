//! A first pass over the instruction segment, to find the start of the run and the instructions
//! that triggered static transfers.

use nprof_engine::base;
use nprof_engine::base::bytes::{Cursor, Put};
use nprof_engine::spill::{NoBytes, Scratch, Sorter, Space, SpillKey};

use super::core::CoreProgram;
use super::finding::Findings;
use super::floor::{Floors, RecordBlock};
use super::program::{EngineProgram, RecordTarget};
use super::record::{DeviceRecord, SegmentKind};
use super::word::{InstructionWord, Opcode};
use crate::error::Error;
use nprof_engine::makers::neuron::Engine;

/// A NOTIFY with this hint ends an engine's preparation.
const RUN_BEGINS: u8 = 2;

/// Start or end of an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstructionEdge {
    /// The instruction started.
    Start,
    /// The instruction ended.
    End,
}

/// Engine and edge of an instruction record; `None` for an unknown kind.
#[must_use]
pub fn edge(record: &DeviceRecord) -> Option<(Engine, InstructionEdge)> {
    let kind = u32::from(record.kind());
    let edge = match kind % 4 {
        0 => InstructionEdge::Start,
        1 => InstructionEdge::End,
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

impl SpillKey for TriggerStart {
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
    /// Earliest starts of the blocks.
    pub floors: Floors,
    /// Unknown records.
    pub found: Findings<'s>,
}

impl<'s> Landmarks<'s> {
    /// Finds the landmarks in the blocks of the instruction segments of a core.
    pub fn find(core: &CoreProgram<'_>, blocks: &[RecordBlock<'_>], space: Space<'s>) -> Result<Self, Error> {
        let mut found = Self {
            run_begin_ps: None,
            earliest_ps: None,
            triggers: space.sorter(4),
            floors: Floors::default(),
            found: Findings::new(SegmentKind::Instruction, space),
        };
        let mut begins = [None; Engine::ALL.len()];
        // Times are kept in ticks. Only the first ones are converted.
        let mut earliest = [u64::MAX; Engine::ALL.len()];
        let mut starts = Vec::with_capacity(blocks.len());
        for block in blocks {
            let mut started = [u64::MAX; Engine::ALL.len()];
            for (number, record) in block.records() {
                found.found.record_read();
                let Some((engine, edge)) = edge(&record) else {
                    found.found.unknown(number, &record)?;
                    continue;
                };
                if edge == InstructionEdge::Start {
                    lower(&mut started[engine.index()], record.ticks);
                }
                let program = &core.programs[engine.index()];
                let RecordTarget::Inside(pc) = program.locate(record.low24()) else { continue };
                lower(&mut earliest[engine.index()], record.ticks);
                let Some(kind) = kind_of(program, pc) else { continue };
                let Some(ps) = core.clocks.engine_ps(engine, record.ticks) else { continue };
                match (kind, edge) {
                    (LandmarkKind::RunBegins, InstructionEdge::End) => {
                        begins[engine.index()].get_or_insert(ps);
                    }
                    (LandmarkKind::Trigger, InstructionEdge::Start) => {
                        found.triggers.push(TriggerStart { start_ps: ps, engine, pc })?;
                    }
                    _ => {}
                }
            }
            starts.push(times(core, &started).map(|ps| ps.unwrap_or(i64::MIN)).min().unwrap_or(i64::MAX));
        }
        found.floors = Floors::new(starts);
        found.earliest_ps = times(core, &earliest).flatten().min();
        found.run_begin_ps = begins.into_iter().flatten().max();
        Ok(found)
    }
}

fn lower(least: &mut u64, ticks: u64) {
    *least = ticks.min(*least);
}

/// Times of the engines that have any ticks; `None` for a time that the clock cannot state.
fn times(core: &CoreProgram<'_>, ticks: &[u64; Engine::ALL.len()]) -> impl Iterator<Item = Option<i64>> {
    let stated = Engine::ALL.into_iter().map(|engine| (engine, ticks[engine.index()]));
    stated.filter(|(_, ticks)| *ticks < u64::MAX).map(|(engine, ticks)| core.clocks.engine_ps(engine, ticks))
}

enum LandmarkKind {
    RunBegins,
    Trigger,
}

fn kind_of(program: &EngineProgram<'_>, pc: u32) -> Option<LandmarkKind> {
    let word = InstructionWord(program.word(pc)?);
    match word.opcode() {
        Opcode::Notify if word.u8(36) == RUN_BEGINS => Some(LandmarkKind::RunBegins),
        Opcode::Write if program.compiler_pc(pc).is_some() => Some(LandmarkKind::Trigger),
        _ => None,
    }
}
