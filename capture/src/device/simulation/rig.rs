//! The rank that is being captured: tables, tracks, and counts of emitted events.

use nprof_engine::base::time::PS_PER_NS;
use nprof_engine::base::{Interval, Result};
use nprof_engine::makers::neuron::schema::{
    COLLECTIVE_TRIGGER, DMA_COMPLETION, DMA_TRIGGER, Dma, DmaThroughput, ErrorEvent, FLOW_DEPENDENCE, Ham,
    HbmUsage, Instruction, InstructionUsage, PendingDma, SbufAllocation, ScratchpadAllocation,
    SemaphoreUpdate, UNTHROTTLED_KIND, throttle_reason,
};
use nprof_engine::makers::neuron::{CounterTrack, EngineTrack, NeuronMemory, NeuronTracks};
use nprof_engine::model::{FieldId, NameId, Sink, SliceForm, SliceKey, SliceRecord, TrackId, Value};

use super::Simulation;
use super::device_tracks::{CollectiveTracks, RingTracks, SemaphoreTrack};
use super::fault::Effects;
use super::op::OPS;
use super::phase::SETUP_PS;
use super::plan::EngineRun;
use super::program::{Body, BodyOp, COMPILER_PC, ID, OPERANDS, PC, ProgramTexts, WAIT};
use super::queue::QUEUES;
use super::semaphore::{Semaphore, SemaphoreCondition};
use super::transfer_counters::TransferCounters;

#[derive(Debug)]
pub(super) struct LinkNames {
    pub(super) dependence: NameId,
    pub(super) trigger: NameId,
    pub(super) completion: NameId,
    pub(super) collective: NameId,
}

#[derive(Debug)]
pub(super) struct RigTables {
    pub(super) dma: Dma,
    pub(super) ham: Ham,
    pub(super) semaphore: SemaphoreUpdate,
    pub(super) usage: InstructionUsage,
    pub(super) hbm: HbmUsage,
    pub(super) state_buffer: SbufAllocation,
    pub(super) scratchpad: ScratchpadAllocation,
}

#[derive(Debug)]
pub(super) struct FixedTracks {
    pub(super) throttling: TrackId,
    pub(super) sbuf: TrackId,
    pub(super) psum: TrackId,
    pub(super) hbm: TrackId,
    pub(super) state_buffer: TrackId,
    pub(super) scratchpad: TrackId,
}

/// The track of errors, on a rank that has one.
#[derive(Debug, Clone, Copy)]
pub(super) struct ErrorTrack {
    pub(super) track: TrackId,
    pub(super) table: ErrorEvent,
    pub(super) name: NameId,
}

/// A transfer that nobody has waited for yet, with the condition that tells its end.
#[derive(Debug, Clone, Copy)]
pub(super) struct AwaitedTransfer {
    pub(super) condition: SemaphoreCondition,
    pub(super) transfer: SliceKey,
}

impl LinkNames {
    fn new(sink: &mut dyn Sink) -> Result<Self> {
        Ok(Self {
            dependence: sink.name(FLOW_DEPENDENCE)?,
            trigger: sink.name(DMA_TRIGGER)?,
            completion: sink.name(DMA_COMPLETION)?,
            collective: sink.name(COLLECTIVE_TRIGGER)?,
        })
    }
}

impl RigTables {
    fn define(sink: &mut dyn Sink) -> Result<Self> {
        PendingDma::define(sink)?;
        Ok(Self {
            dma: Dma::define(sink)?,
            ham: Ham::define(sink)?,
            semaphore: SemaphoreUpdate::define(sink)?,
            usage: InstructionUsage::define(sink)?,
            hbm: HbmUsage::define(sink)?,
            state_buffer: SbufAllocation::define(sink)?,
            scratchpad: ScratchpadAllocation::define(sink)?,
        })
    }
}

impl FixedTracks {
    fn new(tracks: &mut NeuronTracks, sink: &mut dyn Sink) -> Result<Self> {
        Ok(Self {
            throttling: tracks.throttling(sink, 0)?,
            sbuf: tracks.counter(sink, 0, CounterTrack::SbufUsage)?,
            psum: tracks.counter(sink, 0, CounterTrack::PsumUsage)?,
            hbm: tracks.counter(sink, 0, CounterTrack::HbmUsage)?,
            state_buffer: tracks.memory(sink, NeuronMemory::StateBuffer)?,
            scratchpad: tracks.memory(sink, NeuronMemory::Scratchpad)?,
        })
    }
}

impl ErrorTrack {
    fn new(tracks: &mut NeuronTracks, sink: &mut dyn Sink) -> Result<Self> {
        Ok(Self {
            track: tracks.errors(sink)?,
            table: ErrorEvent::define(sink)?,
            name: sink.name("DMA2D OOB")?,
        })
    }
}

/// State of one rank.
pub(super) struct Rig<'t> {
    pub(super) tables: RigTables,
    pub(super) tracks: FixedTracks,
    pub(super) queues: Vec<RingTracks>,
    semaphores: Vec<SemaphoreTrack>,
    /// Names of the semaphores in rows, by their index.
    pub(super) semaphore_ids: &'t [String],
    pub(super) subgroups: &'t [Vec<String>],
    pub(super) collectives: Option<CollectiveTracks>,
    pub(super) errors: Option<ErrorTrack>,
    pub(super) links: LinkNames,
    pub(super) bodies: Vec<Body<'t>>,
    pub(super) counters: TransferCounters,
    /// Names of the throttle periods: of free and of limited phases.
    pub(super) reasons: [NameId; 2],
    /// Fields of the slice that is being made. The buffer is reused.
    pub(super) scratch: Vec<(FieldId, Value<'t>)>,
    pub(super) arrivals: Vec<AwaitedTransfer>,
    /// The latest time so far.
    pub(super) end: i64,
    events: u64,
    pub(super) limit: u64,
    /// Number of instructions so far. The count is also the last instruction's id.
    instruction_ids: i64,
    /// Number of transfers and packets so far.
    dma_ids: i64,
}

impl<'t> Rig<'t> {
    pub(super) fn new(
        settings: &Simulation,
        effects: &Effects,
        texts: &'t ProgramTexts,
        sink: &mut dyn Sink,
    ) -> Result<Self> {
        let instruction = Instruction::define(sink)?;
        let tables = RigTables::define(sink)?;
        let mut tracks = NeuronTracks::default();
        for track in EngineTrack::ALL {
            tracks.engine(sink, track.name(), 0)?;
        }
        let bodies = texts.bodies(&instruction, &mut tracks, sink)?;
        let queues = QUEUES.iter().map(|queue| RingTracks::new(queue, &mut tracks, sink));
        let queues = queues.collect::<Result<_>>()?;
        let collectives = match settings.ranks {
            1 => None,
            ranks => Some(CollectiveTracks::new(ranks, &mut tracks, sink)?),
        };
        let pending = tracks.counter(sink, 0, CounterTrack::PendingDmas)?;
        let throughput = tracks.counter(sink, 0, CounterTrack::DmaThroughput)?;
        let semaphores = Semaphore::ALL.iter().map(|&of| SemaphoreTrack::new(of, &mut tracks, sink));
        Ok(Self {
            semaphores: semaphores.collect::<Result<_>>()?,
            counters: TransferCounters::new(pending, throughput, DmaThroughput::define(sink)?),
            tables,
            tracks: FixedTracks::new(&mut tracks, sink)?,
            queues,
            semaphore_ids: &texts.semaphores,
            subgroups: &texts.subgroups,
            collectives,
            errors: effects.has_error().then(|| ErrorTrack::new(&mut tracks, sink)).transpose()?,
            links: LinkNames::new(sink)?,
            bodies,
            reasons: [sink.name(&throttle_reason(UNTHROTTLED_KIND))?, sink.name(&throttle_reason(0))?],
            scratch: Vec::with_capacity(32),
            arrivals: Vec::new(),
            end: SETUP_PS,
            events: 0,
            limit: settings.events_per_rank,
            instruction_ids: 0,
            dma_ids: 0,
        })
    }

    /// Number of slices and samples so far.
    pub(super) fn events(&self) -> u64 {
        self.events
    }

    pub(super) fn count(&mut self, events: u64) {
        self.events += events;
    }

    /// Emits an instruction of a body. The slot tells its operands.
    pub(super) fn op(
        &mut self,
        body: usize,
        at: usize,
        slot: i64,
        run: EngineRun,
        sink: &mut dyn Sink,
    ) -> Result<SliceKey> {
        self.instruction_ids += 1;
        let Body { ops, operands, pc, .. } = &mut self.bodies[body];
        let pc = *pc + slot * OPS as i64 + at as i64;
        let BodyOp { track, name, fields } = &mut ops[at];
        fields[ID].1 = Value::Int(self.instruction_ids);
        fields[WAIT].1 = Value::Int(run.wait_ps / PS_PER_NS);
        fields[PC].1 = Value::Int(pc);
        fields[COMPILER_PC].1 = Value::Int(pc);
        fields[OPERANDS].1 = Value::Text(operands.at(slot, at));
        let record = slice_record(*track, run.span, *name, fields);
        self.end = self.end.max(run.span.end.0);
        self.events += 1;
        sink.slice(&record)
    }

    pub(super) fn slice(
        &mut self,
        track: TrackId,
        span: Interval,
        name: NameId,
        fields: &[(FieldId, Value<'_>)],
        sink: &mut dyn Sink,
    ) -> Result<SliceKey> {
        self.end = self.end.max(span.end.0);
        self.events += 1;
        sink.slice(&slice_record(track, span, name, fields))
    }

    /// Emits a change of a semaphore by an engine, or by the bus.
    pub(super) fn change(
        &mut self,
        semaphore: Semaphore,
        time: i64,
        value: i64,
        source: &str,
        sink: &mut dyn Sink,
    ) -> Result<()> {
        let table = self.tables.semaphore;
        let fields = [(table.value, Value::Int(value)), (table.update_source, Value::Text(source))];
        let SemaphoreTrack { track, name } = self.semaphores[semaphore.index()];
        self.instant(track, name, time, &fields, sink)
    }

    pub(super) fn instant(
        &mut self,
        track: TrackId,
        name: NameId,
        time: i64,
        fields: &[(FieldId, Value<'_>)],
        sink: &mut dyn Sink,
    ) -> Result<()> {
        self.events += 1;
        let at = Interval::lasting(time, 0);
        let record = SliceRecord { form: SliceForm::Instant, ..slice_record(track, at, name, fields) };
        sink.slice(&record).map(|_| ())
    }

    pub(super) fn sample(
        &mut self,
        track: TrackId,
        time: i64,
        value: f64,
        fields: &[(FieldId, Value<'_>)],
        sink: &mut dyn Sink,
    ) -> Result<()> {
        self.events += 1;
        sink.sample(track, time, value, fields)
    }

    /// The transfer that fulfils a condition, for the one instruction that waits.
    pub(super) fn arrived(&mut self, condition: SemaphoreCondition) -> Option<SliceKey> {
        let at = self.arrivals.iter().position(|arrival| arrival.condition == condition)?;
        Some(self.arrivals.swap_remove(at).transfer)
    }

    /// A new id of a transfer or a packet. A device counts them in the order in which it starts
    /// them.
    pub(super) fn id(&mut self) -> Value<'static> {
        self.dma_ids += 1;
        Value::Int(self.dma_ids)
    }
}

fn slice_record<'a>(
    track: TrackId,
    span: Interval,
    name: NameId,
    fields: &'a [(FieldId, Value<'a>)],
) -> SliceRecord<'a> {
    let (start_ps, duration_ps) = (span.start.0, span.duration_ps());
    SliceRecord { track, start_ps, duration_ps, name, form: SliceForm::Complete, fields }
}
