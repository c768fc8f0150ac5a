//! Rows of table `instruction`, with the arrows between them and the counters of on-chip memory.

use std::cmp::Reverse;

use nprof_engine::model::{
    FieldId, FieldSpec, Filled, NameId, NumberBits, Sink, SliceForm, SliceKey, SliceRecord, TemplateId,
    TemplateValue, TrackId, Unit, Value,
};
use nprof_engine::spill::Space;

use super::core::{CoreProgram, NtffOutput};
use super::decoder::{DecodedInstruction, InstructionDecoder};
use super::dependency::Dependencies;
use super::disassemble::SemaphoreNames;
use super::execution::{Executed, Execution, ExecutionReader};
use super::landmark::TriggerStart;
use super::lookahead;
use super::pending_transfers::PendingTransfers;
use super::transfer::{SetOff, TransferRow, Transfers};
use super::usage::MemoryUsage;
use super::word::Opcode;
use crate::error::Error;
use crate::formats::room::{FieldBuffer, emptied};
use nprof_engine::makers::neuron::schema::{DMA_TRIGGER, Instruction};
use nprof_engine::makers::neuron::{Engine, EngineTrack};

/// Waits are counted in cycles of 1.4 GHz on every engine, so `cycles * 10 / 14` are nanoseconds.
const WAIT_NS_PER_CYCLE: (i64, i64) = (10, 14);
/// Number of records of an execution: its start and its end.
const RECORDS: u64 = 2;

/// Number of rows of each engine, by [`Engine::index`].
pub type RowCounts = [u64; Engine::ALL.len()];

/// Writes all rows of a core ordered by time, with the arrows between them and the counters that
/// they change.
pub fn write(
    core: &CoreProgram<'_>,
    executions: &mut ExecutionReader<'_, '_, '_>,
    transfers: &Transfers<'_>,
    names: &SemaphoreNames,
    space: Space<'_>,
    out: &mut NtffOutput<'_>,
) -> Result<RowCounts, Error> {
    let mut rows = InstructionRows::new(core, names.clone(), out)?;
    let mut set_off = SetOff::new(transfers)?;
    let mut dependencies = Dependencies::new(out)?;
    let mut usage = MemoryUsage::new(transfers, space)?;
    let mut pending = PendingTransfers::new(core, transfers, space)?;
    let trigger_name = out.sink.name(DMA_TRIGGER)?;
    // Pairing and sorting records takes a sixth of the time of writing rows.
    let mut next = || executions.next_execution();
    lookahead::for_each(space.work.exec, &mut next, &mut |execution: &Execution| {
        rows.decode(execution, out)?;
        let transfer = rows.trigger(execution).map_or(Ok(None), |trigger| set_off.by(&trigger))?;
        let key = rows.write(execution, transfer.as_ref(), out)?;
        if let Some(transfer) = transfer {
            out.sink.link(key, transfer.key, trigger_name)?;
        }
        if let Some(decoded) = rows.decoded(execution).filter(|decoded| has_consequences(decoded)) {
            let Execution { start_ps, end_ps: Reverse(end_ps), engine, .. } = *execution;
            let run = Executed { start_ps, end_ps, key, engine };
            dependencies.step(&run, decoded, out)?;
            usage.step(&run, decoded)?;
            pending.step(&run, decoded)?;
        }
        out.row_written(if execution.crc.is_some() { RECORDS } else { 1 });
        Ok(())
    })?;
    dependencies.finish(out)?;
    usage.write(core, out)?;
    pending.write(core, out)?;
    Ok(rows.counts)
}

/// Writer of the rows.
struct InstructionRows<'c, 'a> {
    core: &'c CoreProgram<'a>,
    handles: Instruction,
    raw_field: FieldId,
    subgraph: NameId,
    outside: NameId,
    labels: Labels,
    decoder: InstructionDecoder,
    tracks: [Option<TrackId>; EngineTrack::ALL.len()],
    counts: RowCounts,
}

impl<'c, 'a> InstructionRows<'c, 'a> {
    fn new(
        core: &'c CoreProgram<'a>,
        names: SemaphoreNames,
        out: &mut NtffOutput<'_>,
    ) -> Result<Self, Error> {
        let handles = Instruction::define(out.sink)?;
        let doc = "All 64 bytes of an instruction with an unknown opcode.";
        let raw = FieldSpec::new("raw_instruction", Unit::Hexadecimal, "Operands", doc);
        Ok(Self {
            core,
            raw_field: out.sink.field(handles.table, raw)?,
            handles,
            subgraph: out.sink.name(&core.qualified_name())?,
            outside: out.sink.name("UNKNOWN")?,
            labels: Labels::define(out.sink)?,
            decoder: InstructionDecoder::new(core, names),
            tracks: Default::default(),
            counts: RowCounts::default(),
        })
    }

    /// Decodes an instruction of the program, unless it is decoded already.
    fn decode(&mut self, execution: &Execution, out: &mut NtffOutput<'_>) -> Result<(), Error> {
        let &Execution { engine, pc, is_inside, .. } = execution;
        if is_inside && !self.decoder.is_ready(engine, pc) {
            let (handles, labels) = (&self.handles, &self.labels);
            let fixed =
                |decoded: &DecodedInstruction| fixed_fields(handles, labels, execution, Some(decoded));
            self.decoder.decode(self.core, engine, pc, fixed, out.sink)?;
            let (subgraph, raw) = (self.subgraph, self.raw_field);
            let parts = |decoded: &DecodedInstruction| parts_of(handles, subgraph, raw, decoded);
            self.decoder.ran(engine, pc, |decoded| out.sink.template(handles.table, &parts(decoded)))?;
        }
        Ok(())
    }

    fn decoded(&self, execution: &Execution) -> Option<&DecodedInstruction> {
        let &Execution { engine, pc, is_inside, .. } = execution;
        self.decoder.known(engine, pc).filter(|_| is_inside)
    }

    /// The trigger, if the execution can have triggered a static transfer.
    fn trigger(&self, execution: &Execution) -> Option<TriggerStart> {
        let &Execution { start_ps, engine, pc, .. } = execution;
        let decoded = self.decoded(execution)?;
        let may_trigger = decoded.opcode == Opcode::Write && decoded.compiler_pc.is_some();
        let start_ps = start_ps.saturating_add(self.core.origin_ps);
        may_trigger.then_some(TriggerStart { start_ps, engine, pc })
    }

    fn write(
        &mut self,
        execution: &Execution,
        transfer: Option<&TransferRow>,
        out: &mut NtffOutput<'_>,
    ) -> Result<SliceKey, Error> {
        let &Execution { start_ps, end_ps: Reverse(end_ps), engine, .. } = execution;
        let track = track_of(engine, self.decoded(execution));
        let track = self.track(track, out)?;
        let trigger = match transfer.zip(execution.crc) {
            Some((transfer, _)) => self.trigger_template(execution, transfer, out)?,
            None => None,
        };
        let decoded = self.decoded(execution);
        let template = decoded.and_then(|decoded| decoded.template).zip(execution.crc);
        let mut fields: Vec<(FieldId, Value<'_>)> = std::mem::take(&mut out.room);
        if template.is_none() {
            self.row_fields(execution, decoded, &mut fields);
        }
        if let Some(transfer) = transfer.filter(|_| trigger.is_none()) {
            self.trigger_fields(transfer, &mut fields);
        }
        let slice = SliceRecord {
            track,
            start_ps,
            duration_ps: end_ps - start_ps,
            name: decoded.map_or(self.outside, |decoded| decoded.name),
            form: if execution.crc.is_some() { SliceForm::Complete } else { SliceForm::Unfinished },
            fields: &fields,
        };
        let key = match template {
            Some((template, crc)) => {
                let numbers = [wait_ns(execution), i64::from(crc.0), i64::from(crc.1)];
                send_filled(&slice, template, numbers, trigger.as_ref(), out)
            }
            None => out.sink.slice(&slice),
        };
        out.room = emptied(fields);
        self.counts[engine.index()] += 1;
        Ok(key?)
    }

    /// The track's id. The first row of a track creates it.
    fn track(&mut self, track: EngineTrack, out: &mut NtffOutput<'_>) -> Result<TrackId, Error> {
        if let Some(id) = self.tracks[track.index()] {
            return Ok(id);
        }
        let id = out.tracks.engine(out.sink, track.name(), self.core.number)?;
        Ok(*self.tracks[track.index()].insert(out.in_order(id)?))
    }

    /// Fields of a row without a template.
    fn row_fields<'f>(
        &'f self,
        execution: &Execution,
        decoded: Option<&'f DecodedInstruction>,
        fields: &mut Vec<(FieldId, Value<'f>)>,
    ) {
        self.run_fields(execution, fields);
        if let Some(decoded) = decoded {
            fields.push((self.handles.operands, Value::Name(decoded.operands)));
            fields.extend(decoded.raw.map(|raw| (self.raw_field, Value::Name(raw))));
            fields.extend_from_slice(&decoded.fields);
        } else {
            fields.extend(fixed_fields(&self.handles, &self.labels, execution, None));
        }
    }

    /// The template and the numbers of a row that triggered a transfer. `None` if the instruction
    /// has no template.
    fn trigger_template(
        &mut self,
        execution: &Execution,
        transfer: &TransferRow,
        out: &mut NtffOutput<'_>,
    ) -> Result<Option<TriggerRow>, Error> {
        let &Execution { engine, pc, .. } = execution;
        let Ok(size_bytes) = i64::try_from(transfer.size_bytes) else { return Ok(None) };
        let start_ns = transfer.start_ps.div_euclid(1000);
        let handles = &self.handles;
        let (subgraph, raw) = (self.subgraph, self.raw_field);
        let Some(decoded) = self.decoder.known_mut(engine, pc).filter(|of| of.template.is_some()) else {
            return Ok(None);
        };
        let template = match decoded.trigger_template {
            Some(template) => template,
            None => {
                let mut parts = parts_of(handles, subgraph, raw, decoded);
                parts.extend(trigger_parts(handles));
                *decoded.trigger_template.insert(out.sink.template(handles.table, &parts)?)
            }
        };
        Ok(Some(TriggerRow { template, start_ns, size_bytes }))
    }

    fn run_fields(&self, execution: &Execution, fields: &mut Vec<(FieldId, Value<'_>)>) {
        let handles = &self.handles;
        fields.extend([
            (handles.evt_wait_time, Value::Int(wait_ns(execution))),
            (handles.fully_qualified_subgraph, Value::Name(self.subgraph)),
        ]);
        if let Some((crc_in, crc_out)) = execution.crc {
            fields.push((handles.crc_in, Value::Int(i64::from(crc_in))));
            fields.push((handles.crc_out, Value::Int(i64::from(crc_out))));
        }
    }

    /// A static transfer loads weights. Its bytes are counted for the instruction that triggered
    /// it.
    fn trigger_fields(&self, transfer: &TransferRow, fields: &mut Vec<(FieldId, Value<'_>)>) {
        let handles = &self.handles;
        let size = Value::unsigned(transfer.size_bytes);
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
}

fn wait_ns(execution: &Execution) -> i64 {
    let (multiplier, divisor) = WAIT_NS_PER_CYCLE;
    i64::from(execution.wait_cycles) * multiplier / divisor
}

/// Fields of a row that triggered a transfer, besides the numbers of each row.
struct TriggerRow {
    template: TemplateId,
    /// Start and size of the transfer.
    start_ns: i64,
    size_bytes: i64,
}

/// Numbers of a run that ended: the wait and both checksums.
const RUN_NUMBERS: usize = 3;
/// Further numbers of a run that triggered a transfer: start and size of the transfer.
const TRIGGER_NUMBERS: usize = 2;

/// Sends a row by its template, or by that of its trigger, which takes further numbers.
#[inline]
fn send_filled(
    slice: &SliceRecord<'_>,
    template: TemplateId,
    [wait_ns, crc_in, crc_out]: [i64; RUN_NUMBERS],
    trigger: Option<&TriggerRow>,
    out: &mut NtffOutput<'_>,
) -> nprof_engine::base::Result<SliceKey> {
    let (mut template, mut count, mut of_trigger) = (template, RUN_NUMBERS, [0; TRIGGER_NUMBERS]);
    if let Some(trigger) = trigger {
        (template, count) = (trigger.template, RUN_NUMBERS + TRIGGER_NUMBERS);
        of_trigger = [trigger.start_ns, trigger.size_bytes];
    }
    let [start_ns, size_bytes] = of_trigger;
    let numbers = [wait_ns, crc_in, crc_out, start_ns, size_bytes].map(NumberBits::from);
    out.sink.slice_by(Filled { template, numbers: &numbers[..count] }, slice)
}

/// The fields of [`InstructionRows::trigger_fields`] in a template.
fn trigger_parts(handles: &Instruction) -> [(FieldId, TemplateValue); 8] {
    const START: u8 = RUN_NUMBERS as u8;
    let (size, nothing) = (TemplateValue::Int(START + 1), TemplateValue::Fixed(Value::Int(0)));
    [
        (handles.trigger, TemplateValue::Int(START)),
        (handles.hbm_read_bytes, size),
        (handles.sbuf_write_bytes, size),
        (handles.weight_queue_bytes, size),
        (handles.hbm_write_bytes, nothing),
        (handles.sbuf_read_bytes, nothing),
        (handles.spill_save_bytes, nothing),
        (handles.spill_reload_bytes, nothing),
    ]
}

/// Fields of a run that ended, in the order of [`InstructionRows::write`]. The numbers are the wait
/// and both checksums.
fn parts_of(
    handles: &Instruction,
    subgraph: NameId,
    raw_field: FieldId,
    decoded: &DecodedInstruction,
) -> Vec<(FieldId, TemplateValue)> {
    let fixed = |(field, value)| (field, TemplateValue::Fixed(value));
    let mut parts = vec![
        (handles.evt_wait_time, TemplateValue::Int(0)),
        fixed((handles.fully_qualified_subgraph, Value::Name(subgraph))),
        (handles.crc_in, TemplateValue::Int(1)),
        (handles.crc_out, TemplateValue::Int(2)),
        fixed((handles.operands, Value::Name(decoded.operands))),
    ];
    parts.extend(decoded.raw.map(|raw| fixed((raw_field, Value::Name(raw)))));
    parts.extend(decoded.fields.iter().copied().map(fixed));
    parts
}

/// Names of the tracks by [`EngineTrack::index`].
struct Labels([NameId; EngineTrack::ALL.len()]);

impl Labels {
    fn define(sink: &mut dyn Sink) -> nprof_engine::base::Result<Self> {
        let mut names = [NameId(0); EngineTrack::ALL.len()];
        for track in EngineTrack::ALL {
            names[track.index()] = sink.name(track.name())?;
        }
        Ok(Self(names))
    }

    fn of(&self, track: EngineTrack) -> Value<'static> {
        Value::Name(self.0[track.index()])
    }
}

/// The track of an execution. The opcode is known if the instruction is part of the program.
fn track_of(engine: Engine, decoded: Option<&DecodedInstruction>) -> EngineTrack {
    match decoded {
        Some(decoded) if engine == Engine::Tensor && decoded.opcode == Opcode::MatMul => {
            EngineTrack::MatrixProducts
        }
        _ => EngineTrack::Of(engine),
    }
}

/// Fields that all rows of an instruction share.
fn fixed_fields(
    handles: &Instruction,
    labels: &Labels,
    &Execution { engine, pc, .. }: &Execution,
    decoded: Option<&DecodedInstruction>,
) -> FieldBuffer {
    let mut fields = vec![
        (handles.label, labels.of(track_of(engine, decoded))),
        (handles.subgroup, labels.of(EngineTrack::Of(engine))),
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
    fields.extend(columns.into_iter().filter_map(|(field, value)| Some((field, Value::unsigned(value?)))));
    if traffic.psum_read_sbuf_write.is_some() {
        fields.push((handles.is_psum_read_sbuf_write, Value::Bool(true)));
    }
    fields
}

/// Whether the instruction can depend on others, or others on it.
fn has_consequences(decoded: &DecodedInstruction) -> bool {
    let effect = &decoded.effect;
    decoded.compiler_pc.is_some()
        && (effect.read.is_some()
            || effect.write.is_some()
            || decoded.only_waits
            || decoded.completion.is_some())
}
