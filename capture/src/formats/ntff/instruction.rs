//! Instructions: a start and an end of the same instruction make a row.

use std::collections::VecDeque;

use nprof_engine::model::{
    FieldId, FieldSpec, Form, NameId, SliceKey, SliceRecord, TrackId, Unit, Value, WarningKind,
};
use rustc_hash::FxHashMap;

use super::core::{Core, Output};
use super::decoded::{Decoded, Decoder};
use super::dma::Transfer;
use super::engine::Engine;
use super::landmark::{Edge, TriggerStart, edge};
use super::program::Place;
use super::record::{Record, SegmentKind, records};
use super::unknown::UnknownRecords;
use super::word::Opcode;
use crate::formats::Error;
use crate::formats::neuron::schema::Instruction;
use crate::formats::room::{Room, emptied};

/// Waits are counted in cycles of 1.4 GHz, on every engine: `cycles * 10 / 14` ns.
const WAIT_NS_PER_CYCLE: (i64, i64) = (10, 14);

/// An instruction that ran and that others may depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Executed {
    /// Since the origin.
    pub start_ps: i64,
    /// Since the origin.
    pub end_ps: i64,
    /// Its slice.
    pub key: SliceKey,
    /// Who executed it.
    pub engine: Engine,
    /// Which instruction.
    pub pc: u32,
}

/// What the instruction segment leaves for the readers after it.
#[derive(Debug, Default)]
pub struct InstructionResult {
    /// Instructions of the compiler's program that touch on-chip memory, wait or start transfers.
    pub executed: Vec<Executed>,
    /// Rows of each engine, by [`Engine::index`].
    pub rows: [u64; Engine::ALL.len()],
    /// The last end, since the origin.
    pub last_end_ps: i64,
    /// The instructions that set static transfers off, and the transfers.
    pub triggered: Vec<(SliceKey, SliceKey)>,
}

#[derive(Debug, Clone, Copy)]
struct Start {
    /// On the clocks' axis.
    ps: i64,
    wait_cycles: u16,
}

/// Reads instruction segments.
#[derive(Debug)]
pub struct InstructionReader<'c, 'a> {
    core: &'c Core<'a>,
    handles: Instruction,
    raw_field: FieldId,
    subgraph: String,
    outside: NameId,
    decoder: Decoder,
    tracks: [Option<TrackId>; Engine::ALL.len()],
    /// Starts without an end yet, of each instruction of each program.
    started: [Vec<VecDeque<Start>>; Engine::ALL.len()],
    /// The same behind the programs.
    started_behind: FxHashMap<(Engine, u32), VecDeque<Start>>,
    transfers: &'c [Transfer],
    /// Positions of transfers by what set them off.
    triggered_by: FxHashMap<TriggerStart, usize>,
    result: InstructionResult,
}

impl<'c, 'a> InstructionReader<'c, 'a> {
    /// For the instruction segments of a core.
    ///
    /// # Errors
    /// The sink's own.
    pub fn new(
        core: &'c Core<'a>,
        decoder: Decoder,
        transfers: &'c [Transfer],
        out: &mut Output<'_>,
    ) -> Result<Self, Error> {
        let handles = Instruction::define(out.sink)?;
        let doc = "The instruction's 64 bytes, where its opcode is not known.";
        let raw = FieldSpec::new("raw_instruction", Unit::Hexadecimal, "Operands", doc);
        Ok(Self {
            core,
            raw_field: out.sink.field(handles.table, raw)?,
            handles,
            subgraph: core.qualified_name(),
            outside: out.sink.name("UNKNOWN")?,
            decoder,
            tracks: Default::default(),
            started: Engine::ALL
                .map(|engine| vec![VecDeque::new(); core.programs[engine.index()].instruction_count()]),
            started_behind: FxHashMap::default(),
            transfers,
            triggered_by: (0..).zip(transfers).filter_map(|(at, t)| Some((t.trigger?, at))).collect(),
            result: InstructionResult::default(),
        })
    }

    /// Reads a segment.
    ///
    /// # Errors
    /// The sink's own.
    pub fn read(
        &mut self,
        bytes: &[u8],
        unknown: &mut UnknownRecords,
        out: &mut Output<'_>,
    ) -> Result<(), Error> {
        let segment = SegmentKind::Instruction.title();
        for (number, record) in records(bytes) {
            out.record_done();
            let Some((engine, edge)) = edge(&record) else {
                unknown.keep(out.sink, segment, number, &record)?;
                continue;
            };
            let place = self.core.programs[engine.index()].locate(record.low24());
            if place == Place::Before {
                // The runtime's own code, which prepares runs; neuron-profile does not list it either.
                continue;
            }
            let Some(ps) = self.core.clocks.engine_ps(engine, record.ticks) else {
                out.damaged("an instruction of an engine without a clock, or out of time", segment, number);
                continue;
            };
            let waiting = match place {
                Place::Inside(pc) => self.started[engine.index()].get_mut(pc as usize),
                Place::Behind(pc) => Some(self.started_behind.entry((engine, pc)).or_default()),
                Place::Before => None,
            };
            let Some(waiting) = waiting else { continue };
            if edge == Edge::Start {
                waiting.push_back(Start { ps, wait_cycles: record.payload_high() });
            } else if let Some(start) = waiting.pop_front() {
                self.row(engine, place, start, Ending { ps, record: &record, number }, out)?;
            } else {
                out.sink.warn(WarningKind::Unpaired, "an instruction ended that never started", &|| {
                    format!("record {number} of the {segment} segment")
                });
            }
        }
        out.segment_done();
        Ok(())
    }

    fn row(
        &mut self,
        engine: Engine,
        place: Place,
        start: Start,
        ending: Ending<'_>,
        out: &mut Output<'_>,
    ) -> Result<(), Error> {
        let start_ps = start.ps - self.core.origin_ps;
        if start_ps < 0 {
            return Ok(());
        }
        if ending.ps < start.ps {
            out.sink.warn(WarningKind::AdjustedValue, "an instruction ended before it started", &|| {
                format!("record {} of the instruction segment", ending.number)
            });
        }
        let end_ps = (ending.ps - self.core.origin_ps).max(start_ps);
        let crc = Some((ending.record.payload_low(), ending.record.payload_high()));
        let shape = Shape { engine, place, start_ps, end_ps, wait_cycles: start.wait_cycles, crc };
        self.write(&shape, Form::Complete, out)
    }

    fn write(&mut self, shape: &Shape, form: Form, out: &mut Output<'_>) -> Result<(), Error> {
        let Shape { engine, place, start_ps, end_ps, .. } = *shape;
        let (pc, is_inside) = match place {
            Place::Inside(pc) => (pc, true),
            Place::Behind(pc) => (pc, false),
            Place::Before => return Ok(()),
        };
        if is_inside {
            let handles = &self.handles;
            let fixed = |decoded: &Decoded| fixed_fields(handles, engine, pc, Some(decoded));
            self.decoder.decode(self.core, (engine, pc), fixed, out.sink)?;
        }
        let decoded = self.decoder.known(engine, pc);
        let track = match self.tracks[engine.index()] {
            Some(track) => track,
            None => {
                let track = out.tracks.engine(out.sink, engine.name(), self.core.number)?;
                *self.tracks[engine.index()].insert(track)
            }
        };
        let origin_ps = self.core.origin_ps;
        let trigger = TriggerStart { start_ps: start_ps.saturating_add(origin_ps), engine, pc };
        let may_trigger = decoded.is_some_and(|d| d.opcode == Opcode::Write && d.compiler_pc.is_some());
        let transfer = if may_trigger { self.triggered_by.get(&trigger) } else { None };
        let transfer = transfer.map(|&at| self.transfers[at]);
        let mut fields: Vec<(FieldId, Value<'_>)> = std::mem::take(&mut out.room);
        self.run_fields(shape, &mut fields);
        match decoded {
            Some(decoded) => {
                fields.push((self.handles.operands, Value::Text(&decoded.operands)));
                fields.extend(decoded.raw.as_ref().map(|raw| (self.raw_field, Value::Text(raw))));
                fields.extend_from_slice(&decoded.fields);
            }
            None => fields.extend(fixed_fields(&self.handles, engine, pc, None)),
        }
        if let Some(transfer) = transfer {
            self.trigger_fields(&transfer, &mut fields);
        }
        let key = out.sink.slice(&SliceRecord {
            track,
            start_ps,
            duration_ps: end_ps - start_ps,
            name: decoded.map_or(self.outside, |decoded| decoded.name),
            form,
            fields: &fields,
        });
        out.room = emptied(fields);
        let key = key?;
        self.result.rows[engine.index()] += 1;
        self.result.last_end_ps = self.result.last_end_ps.max(end_ps);
        if let Some(transfer) = transfer {
            self.result.triggered.push((key, transfer.key));
        }
        if decoded.is_some_and(has_consequences) {
            self.result.executed.push(Executed { start_ps, end_ps, key, engine, pc });
        }
        Ok(())
    }

    fn run_fields<'f>(&'f self, shape: &Shape, fields: &mut Vec<(FieldId, Value<'f>)>) {
        let handles = &self.handles;
        let (multiplier, divisor) = WAIT_NS_PER_CYCLE;
        fields.extend([
            (handles.evt_wait_time, Value::Int(i64::from(shape.wait_cycles) * multiplier / divisor)),
            (handles.fully_qualified_subgraph, Value::Text(&self.subgraph)),
        ]);
        if let Some((crc_in, crc_out)) = shape.crc {
            fields.push((handles.crc_in, Value::Int(i64::from(crc_in))));
            fields.push((handles.crc_out, Value::Int(i64::from(crc_out))));
        }
    }

    /// A static transfer loads weights: what it moves is counted for the instruction that set it off.
    fn trigger_fields(&self, transfer: &Transfer, fields: &mut Vec<(FieldId, Value<'_>)>) {
        let handles = &self.handles;
        let size = unsigned(transfer.size_bytes);
        fields.extend([
            (handles.trigger, Value::Int(transfer.start_ps.div_euclid(1000))),
            (handles.hbm_read_bytes, size),
            (handles.sbuf_write_bytes, size),
            (handles.weight_queue_bytes, size),
            (handles.hbm_write_bytes, Value::Int(0)),
            (handles.sbuf_read_bytes, Value::Int(0)),
            (handles.spill_save_bytes, Value::Int(0)),
            (handles.spill_reload_bytes, Value::Int(0)),
        ]);
    }

    /// Writes what never ended, once all segments are read.
    ///
    /// An engine that stands at the wait for the next run is no news; anything else hangs and is shown to the end.
    ///
    /// # Errors
    /// The sink's own.
    pub fn finish(mut self, out: &mut Output<'_>) -> Result<(InstructionResult, Decoder), Error> {
        let behind = std::mem::take(&mut self.started_behind);
        let mut open: Vec<(Engine, Place, Start)> = Vec::new();
        for (engine, started) in Engine::ALL.into_iter().zip(std::mem::take(&mut self.started)) {
            for (pc, starts) in (0_u32..).zip(started) {
                open.extend(starts.into_iter().map(|start| (engine, Place::Inside(pc), start)));
            }
        }
        for ((engine, pc), starts) in behind {
            open.extend(starts.into_iter().map(|start| (engine, Place::Behind(pc), start)));
        }
        open.sort_unstable_by_key(|&(engine, _, start)| (start.ps, engine));
        for (engine, place, start) in open {
            let start_ps = start.ps - self.core.origin_ps;
            if start_ps < 0 || self.waits_for_next_run(engine, place, start_ps) {
                continue;
            }
            out.sink.warn(WarningKind::Unpaired, "an instruction started that never ended", &|| {
                format!("{} engine, {start_ps} ps after the start of the run", engine.name())
            });
            let end_ps = self.result.last_end_ps.max(start_ps);
            let shape = Shape { engine, place, start_ps, end_ps, wait_cycles: start.wait_cycles, crc: None };
            self.write(&shape, Form::Unfinished, out)?;
        }
        Ok((self.result, self.decoder))
    }

    /// Whether the engine went back to the runtime's part of the program, where the last start of a trace waits.
    fn waits_for_next_run(&self, engine: Engine, place: Place, start_ps: i64) -> bool {
        let Place::Inside(pc) = place else { return false };
        let program = &self.core.programs[engine.index()];
        program.compiler_pc(pc).is_none() && start_ps >= self.result.last_end_ps
    }
}

/// What all rows of an instruction have.
fn fixed_fields(handles: &Instruction, engine: Engine, pc: u32, decoded: Option<&Decoded>) -> Room {
    let is_product = decoded.is_some_and(|decoded| decoded.opcode == Opcode::MatMul);
    let engine = engine.name();
    let mut fields = vec![
        (handles.label, Value::Text(if is_product { "TensorMatrix" } else { engine })),
        (handles.subgroup, Value::Text(engine)),
        (handles.pc, Value::Int(i64::from(pc))),
    ];
    let Some(decoded) = decoded else { return fields };
    fields.extend(decoded.compiler_pc.map(|pc| (handles.compiler_pc, Value::Int(pc))));
    let traffic = &decoded.effect.traffic;
    let columns = [
        (handles.elements, traffic.elements),
        (handles.hbm_read_bytes, traffic.hbm_read),
        (handles.hbm_write_bytes, traffic.hbm_write),
        (handles.sbuf_read_bytes, traffic.sbuf_read),
        (handles.sbuf_write_bytes, traffic.sbuf_write),
        (handles.psum_read_bytes, traffic.psum_read),
        (handles.psum_write_bytes, traffic.psum_write),
        (handles.psum_read_sbuf_write_bytes, traffic.psum_read_sbuf_write),
    ];
    fields.extend(columns.into_iter().filter_map(|(field, value)| Some((field, unsigned(value?)))));
    if traffic.psum_read_sbuf_write.is_some() {
        fields.push((handles.is_psum_read_sbuf_write, Value::Bool(true)));
    }
    fields
}

/// The end record of an instruction.
struct Ending<'r> {
    ps: i64,
    record: &'r Record,
    number: u64,
}

/// What the trace says of one run of an instruction.
struct Shape {
    engine: Engine,
    place: Place,
    start_ps: i64,
    end_ps: i64,
    wait_cycles: u16,
    crc: Option<(u16, u16)>,
}

/// Whether other instructions may depend on it, or it on others.
fn has_consequences(decoded: &Decoded) -> bool {
    let effect = &decoded.effect;
    decoded.compiler_pc.is_some()
        && (effect.read.is_some()
            || effect.write.is_some()
            || decoded.only_waits
            || decoded.completion.is_some())
}

fn unsigned(value: u64) -> Value<'static> {
    i64::try_from(value).map_or(Value::Uint(value), Value::Int)
}
