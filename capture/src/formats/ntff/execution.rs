//! Executions of instructions. This module pairs start and end records and sorts the executions by
//! time.

use std::cmp::Reverse;
use std::collections::VecDeque;

use nprof_engine::base::bytes::{Cursor, Put};
use nprof_engine::base::{self, Interval};
use nprof_engine::model::{SliceKey, WarningKind};
use nprof_engine::spill::{NoBytes, Ordered, Scratch, Space, SpillKey};
use rustc_hash::FxHashMap;

use super::core::CoreProgram;
use super::finding::Findings;
use super::floor::{Floors, RecordBlock};
use super::landmark::{InstructionEdge, edge};
use super::program::RecordTarget;
use super::record::{DeviceRecord, SegmentKind};
use crate::error::Error;
use nprof_engine::makers::neuron::Engine;

/// Most starts without an end, besides one of each instruction. No device has that many in flight.
/// A trace with more has lost the ends, and must not fill the memory.
const MAX_WAITING: usize = if cfg!(test) { 64 } else { 1 << 22 };

/// One run of an instruction, as recorded. Ordered like rows: by start, the longest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Execution {
    /// Start since the origin.
    pub start_ps: i64,
    /// End since the origin; not before the start.
    pub end_ps: Reverse<i64>,
    /// Engine that executed the instruction.
    pub engine: Engine,
    /// Index of the instruction within the program, or its distance from the program's start if it
    /// is behind it.
    pub pc: u32,
    /// True if the instruction is one of the program's.
    pub is_inside: bool,
    /// Cycles that the instruction waited for its semaphores.
    pub wait_cycles: u16,
    /// Checksums over its input and output; `None` if it never ended.
    pub crc: Option<(u16, u16)>,
}

impl SpillKey for Execution {
    type Span = NoBytes;
    const MAX_LEN: usize = 8 + 10 + 1 + 5 + 3 + 4;

    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.start_ps.to_le_bytes());
        out.put_varint(self.end_ps.0.abs_diff(self.start_ps));
        let engine = u8::try_from(self.engine.index()).unwrap_or(u8::MAX);
        out.push(engine << 2 | u8::from(self.is_inside) << 1 | u8::from(self.crc.is_some()));
        out.put_varint(u64::from(self.pc));
        out.put_varint(u64::from(self.wait_cycles));
        if let Some((crc_in, crc_out)) = self.crc {
            out.extend_from_slice(&(u32::from(crc_out) << 16 | u32::from(crc_in)).to_le_bytes());
        }
    }

    fn take(cursor: &mut Cursor<'_>) -> base::Result<Self> {
        let start_ps = cursor.u64()?.cast_signed();
        let end_ps = Reverse(start_ps.saturating_add_unsigned(cursor.varint()?));
        let bits = cursor.u8()?;
        Ok(Self {
            start_ps,
            end_ps,
            engine: Engine::from_number(u32::from(bits >> 2)).ok_or_else(|| cursor.corrupt())?,
            is_inside: bits & 2 != 0,
            pc: cursor.varint_u32()?,
            wait_cycles: u16::try_from(cursor.varint_u32()?).map_err(|_| cursor.corrupt())?,
            crc: if bits & 1 == 0 { None } else { Some((cursor.u16()?, cursor.u16()?)) },
        })
    }
}

/// An execution that has a row and that others can depend on.
#[derive(Debug, Clone, Copy)]
pub struct Executed {
    /// Start since the origin.
    pub start_ps: i64,
    /// End since the origin.
    pub end_ps: i64,
    /// Key of the slice.
    pub key: SliceKey,
    /// Engine that executed the instruction.
    pub engine: Engine,
}

#[derive(Debug, Clone, Copy)]
struct RunStart {
    /// Start on the clocks' axis.
    ps: i64,
    wait_cycles: u16,
    /// Block of the record.
    block: u32,
}

/// Reads instruction segments.
pub struct ExecutionReader<'c, 'a, 's> {
    core: &'c CoreProgram<'a>,
    blocks: Vec<RecordBlock<'c>>,
    /// Number of the next block.
    next: u32,
    floors: Floors,
    /// Starts without an end yet, of each instruction of each program.
    started: [Vec<VecDeque<RunStart>>; Engine::ALL.len()],
    /// Starts without an end yet, of instructions behind the programs.
    started_behind: FxHashMap<(Engine, u32), VecDeque<RunStart>>,
    waiting: usize,
    executions: Ordered<Execution, &'s dyn Scratch>,
    /// The last end so far, since the origin.
    pub last_end_ps: i64,
    /// Findings in the records so far.
    pub found: Findings<'s>,
}

impl<'c, 'a, 's> ExecutionReader<'c, 'a, 's> {
    /// A reader for the instruction segments of a core. `floors` are those of the blocks.
    #[must_use]
    pub fn new(
        core: &'c CoreProgram<'a>,
        blocks: Vec<RecordBlock<'c>>,
        floors: Floors,
        space: Space<'s>,
    ) -> Self {
        Self {
            core,
            blocks,
            next: 0,
            floors,
            started: Engine::ALL
                .map(|engine| vec![VecDeque::new(); core.programs[engine.index()].instruction_count()]),
            started_behind: FxHashMap::default(),
            waiting: 0,
            executions: Ordered::new(space.sorter(2)),
            last_end_ps: 0,
            found: Findings::new(SegmentKind::Instruction, space),
        }
    }

    /// The next execution, in order of time.
    pub fn next_execution(&mut self) -> Result<Option<Execution>, Error> {
        loop {
            if let Some(&execution) = self.executions.next()? {
                return Ok(Some(execution));
            }
            let Some(&block) = self.blocks.get(self.next as usize) else { return Ok(None) };
            for (number, record) in block.records() {
                self.record(number, &record)?;
            }
            let floor_ps = self.floors.after(self.next).saturating_sub(self.core.origin_ps);
            self.next += 1;
            if self.next as usize == self.blocks.len() {
                self.finish()?;
            } else {
                self.executions.release(|execution| execution.start_ps < floor_ps)?;
            }
        }
    }

    /// Takes a record, with its number in its segment.
    fn record(&mut self, number: u64, record: &DeviceRecord) -> Result<(), Error> {
        // Unknown records were kept by the first pass.
        let Some((engine, edge)) = edge(record) else { return Ok(()) };
        let place = self.core.programs[engine.index()].locate(record.low24());
        if place == RecordTarget::Before {
            // The runtime's own code, which prepares runs. neuron-profile does not list it either.
            return Ok(());
        }
        let Some(ps) = self.core.clocks.engine_ps(engine, record.ticks) else {
            let what = "an instruction of an engine without a clock, or with a time out of range";
            self.found.warn_of(WarningKind::DamagedRecord, what, number);
            return Ok(());
        };
        let waiting = match place {
            RecordTarget::Inside(pc) => self.started[engine.index()].get_mut(pc as usize),
            RecordTarget::Behind(pc) => Some(self.started_behind.entry((engine, pc)).or_default()),
            RecordTarget::Before => None,
        };
        let Some(waiting) = waiting else { return Ok(()) };
        let start = match edge {
            InstructionEdge::Start => {
                waiting.push_back(RunStart { ps, wait_cycles: record.payload_high(), block: self.next });
                self.waiting += 1;
                self.floors.opened(self.next);
                // Too many starts: the oldest one of this instruction has lost its end.
                let lost =
                    if self.waiting > MAX_WAITING && waiting.len() > 1 { waiting.pop_front() } else { None };
                if let Some(start) = lost {
                    self.waiting -= 1;
                    self.floors.closed(start.block);
                    self.unfinished(engine, place, start)?;
                }
                return Ok(());
            }
            InstructionEdge::End => waiting.pop_front(),
        };
        match start {
            Some(start) => {
                self.waiting -= 1;
                self.floors.closed(start.block);
                self.ended(engine, place, start, RunEnd { ps, record, number })?;
            }
            None => self.found.warn_of(
                WarningKind::Unpaired,
                "an instruction that ended and never started",
                number,
            ),
        }
        Ok(())
    }

    fn ended(
        &mut self,
        engine: Engine,
        place: RecordTarget,
        start: RunStart,
        ending: RunEnd<'_>,
    ) -> Result<(), Error> {
        let start_ps = start.ps - self.core.origin_ps;
        if start_ps < 0 {
            return Ok(());
        }
        if ending.ps < start.ps {
            let what = "an instruction that ended before it started";
            self.found.warn_of(WarningKind::AdjustedValue, what, ending.number);
        }
        let during = Interval::new(start_ps, ending.ps - self.core.origin_ps);
        let crc = Some((ending.record.payload_low(), ending.record.payload_high()));
        self.push(engine, place, during, start.wait_cycles, crc)
    }

    fn push(
        &mut self,
        engine: Engine,
        place: RecordTarget,
        during: Interval,
        wait_cycles: u16,
        crc: Option<(u16, u16)>,
    ) -> Result<(), Error> {
        let (pc, is_inside) = match place {
            RecordTarget::Inside(pc) => (pc, true),
            RecordTarget::Behind(pc) => (pc, false),
            RecordTarget::Before => return Ok(()),
        };
        let (start_ps, end_ps) = (during.start.0, Reverse(during.end.0));
        self.last_end_ps = self.last_end_ps.max(end_ps.0);
        Ok(self.executions.push(Execution { start_ps, end_ps, engine, pc, is_inside, wait_cycles, crc })?)
    }

    /// Ends the executions, including those that never ended.
    ///
    /// An engine that waits for the next run is normal and gives no row. Any other open instruction
    /// hangs and is shown to the end.
    fn finish(&mut self) -> Result<(), Error> {
        let behind = std::mem::take(&mut self.started_behind);
        let mut open: Vec<(Engine, RecordTarget, RunStart)> = Vec::new();
        for (engine, started) in Engine::ALL.into_iter().zip(std::mem::take(&mut self.started)) {
            for (pc, starts) in (0_u32..).zip(started) {
                open.extend(starts.into_iter().map(|start| (engine, RecordTarget::Inside(pc), start)));
            }
        }
        for ((engine, pc), starts) in behind {
            open.extend(starts.into_iter().map(|start| (engine, RecordTarget::Behind(pc), start)));
        }
        open.sort_unstable_by_key(|&(engine, place, start)| (start.ps, engine, place));
        for (engine, place, start) in open {
            self.unfinished(engine, place, start)?;
        }
        Ok(self.executions.finish()?)
    }

    fn unfinished(&mut self, engine: Engine, place: RecordTarget, start: RunStart) -> Result<(), Error> {
        let start_ps = start.ps - self.core.origin_ps;
        if start_ps < 0 || self.waits_for_next_run(engine, place, start_ps) {
            return Ok(());
        }
        self.found.warn(WarningKind::Unpaired, "an instruction that started and never ended", || {
            format!("{} engine, {start_ps} ps after the start of the run", engine.name())
        });
        let during = Interval::new(start_ps, self.last_end_ps);
        self.push(engine, place, during, start.wait_cycles, None)
    }

    /// Whether the engine is back in the runtime's part of the program. The last start of a trace
    /// waits there for the next run.
    fn waits_for_next_run(&self, engine: Engine, place: RecordTarget, start_ps: i64) -> bool {
        let RecordTarget::Inside(pc) = place else { return false };
        let program = &self.core.programs[engine.index()];
        program.compiler_pc(pc).is_none() && start_ps >= self.last_end_ps
    }
}

/// The end record of an instruction.
struct RunEnd<'r> {
    ps: i64,
    record: &'r DeviceRecord,
    number: u64,
}
