//! The rank that is being captured: tables, tracks, clock, and counts of emitted events.

use nprof_engine::base::Result;
use nprof_engine::base::time::PS_PER_NS;
use nprof_engine::model::{FieldId, Form, NameId, Sink, SliceKey, SliceRecord, TrackId, Value};

use super::collective::CollectiveTracks;
use super::program::{Body, FIRST_PRODUCT, OPS_PER_TILE, Op, QUEUES, Texts};
use super::random::{Random, mix};
use super::schedule::{Phase, SETUP_PS, Throttle};
use super::tile::{QueueTracks, Tile};
use super::{Detail, Simulation};
use nprof_engine::vendor::neuron::schema::{
    COLLECTIVE_TRIGGER, DMA_COMPLETION, DMA_TRIGGER, Dma, DmaThroughput, FLOW_DEPENDENCE, Ham, HbmUsage,
    Instruction, InstructionUsage, PendingDma, SemaphoreUpdate, throttle_reason,
};
use nprof_engine::vendor::neuron::{CounterTrack, Engine, Tracks};

/// Number of DMA engines of a core. Each transfer is spread over all of them.
pub(super) const DMA_ENGINES: u32 = 16;

/// Events of a tile: instructions, a transfer and its packets, two semaphore changes, two samples
/// each of pending DMAs, throughput and on-chip memory.
const TILE_EVENTS: u64 = OPS_PER_TILE + 1 + DMA_ENGINES as u64 + 2 + 6;

/// Events at the start of a phase: the throttle period and device memory in use.
const PHASE_EVENTS: u64 = 2;

/// Device memory that a core can use.
const HBM_GIB: i32 = 16;
const GIB: f64 = (1 << 30) as f64;

#[derive(Debug)]
pub(super) struct LinkNames {
    pub(super) dependence: NameId,
    pub(super) trigger: NameId,
    pub(super) completion: NameId,
    pub(super) collective: NameId,
}

#[derive(Debug)]
pub(super) struct Tables {
    pub(super) dma: Dma,
    ham: Ham,
    pub(super) semaphore: SemaphoreUpdate,
    pub(super) throughput: DmaThroughput,
    pub(super) usage: InstructionUsage,
    hbm: HbmUsage,
}

#[derive(Debug)]
pub(super) struct FixedTracks {
    throttling: TrackId,
    pub(super) pending: TrackId,
    pub(super) throughput: TrackId,
    pub(super) sbuf: TrackId,
    pub(super) psum: TrackId,
    hbm: TrackId,
    /// The semaphore that the first queue raises and the Sync engine waits for.
    pub(super) semaphore: (TrackId, NameId),
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

impl Tables {
    fn define(sink: &mut dyn Sink) -> Result<Self> {
        PendingDma::define(sink)?;
        Ok(Self {
            dma: Dma::define(sink)?,
            ham: Ham::define(sink)?,
            semaphore: SemaphoreUpdate::define(sink)?,
            throughput: DmaThroughput::define(sink)?,
            usage: InstructionUsage::define(sink)?,
            hbm: HbmUsage::define(sink)?,
        })
    }
}

impl FixedTracks {
    fn new(tracks: &mut Tracks, sink: &mut dyn Sink) -> Result<Self> {
        let semaphore = "S[8] (qSyncIO0)";
        Ok(Self {
            throttling: tracks.throttling(sink, 0)?,
            pending: tracks.counter(sink, 0, CounterTrack::PendingDmas)?,
            throughput: tracks.counter(sink, 0, CounterTrack::DmaThroughput)?,
            sbuf: tracks.counter(sink, 0, CounterTrack::SbufUsage)?,
            psum: tracks.counter(sink, 0, CounterTrack::PsumUsage)?,
            hbm: tracks.counter(sink, 0, CounterTrack::HbmUsage)?,
            semaphore: (tracks.semaphore(sink, 0, semaphore)?, sink.name(semaphore)?),
        })
    }
}

/// State of one rank.
pub(super) struct Rig<'t> {
    pub(super) random: Random,
    pub(super) tables: Tables,
    pub(super) tracks: FixedTracks,
    pub(super) queues: Vec<QueueTracks>,
    /// Names of the queues in rows, by queue and engine.
    pub(super) subgroups: &'t [Vec<String>],
    pub(super) collectives: Option<CollectiveTracks>,
    pub(super) links: LinkNames,
    pub(super) bodies: Vec<Body<'t>>,
    reasons: [NameId; 2],
    /// Fields of the slice that is being made. The buffer is reused.
    pub(super) scratch: Vec<(FieldId, Value<'t>)>,
    /// The transfer that the next tile waits for.
    pub(super) loaded: Option<SliceKey>,
    pub(super) total_bytes: i64,
    /// The latest time so far.
    pub(super) end: i64,
    events: u64,
    limit: u64,
    detail: Detail,
    /// Number of instructions so far. The count is also the last instruction's id.
    instruction_ids: i64,
    /// Number of transfers and packets so far.
    dma_ids: i64,
}

impl<'t> Rig<'t> {
    pub(super) fn new(
        settings: &Simulation,
        rank: u32,
        texts: &'t [Texts],
        subgroups: &'t [Vec<String>],
        sink: &mut dyn Sink,
    ) -> Result<Self> {
        let instruction = Instruction::define(sink)?;
        let tables = Tables::define(sink)?;
        let mut tracks = Tracks::default();
        for engine in Engine::SHOWN {
            tracks.engine(sink, engine.name(), 0)?;
        }
        let bodies = texts.iter().enumerate();
        let bodies = bodies.map(|(number, texts)| texts.body(number, &instruction, &mut tracks, sink));
        let bodies = bodies.collect::<Result<_>>()?;
        let queues = QUEUES.iter().map(|queue| QueueTracks::new(queue, &mut tracks, sink));
        let queues = queues.collect::<Result<_>>()?;
        let collectives = match settings.ranks {
            1 => None,
            ranks => Some(CollectiveTracks::new(ranks, &mut tracks, sink)?),
        };
        Ok(Self {
            random: Random::new(settings.seed ^ mix(u64::from(rank) + 1)),
            tables,
            tracks: FixedTracks::new(&mut tracks, sink)?,
            queues,
            subgroups,
            collectives,
            links: LinkNames::new(sink)?,
            bodies,
            reasons: [sink.name(&throttle_reason(99))?, sink.name(&throttle_reason(0))?],
            scratch: Vec::with_capacity(32),
            loaded: None,
            total_bytes: 0,
            end: SETUP_PS,
            events: 0,
            limit: settings.events_per_rank,
            detail: settings.detail,
            instruction_ids: 0,
            dma_ids: 0,
        })
    }

    /// Number of slices and samples so far.
    pub(super) fn events(&self) -> u64 {
        self.events
    }

    fn room_for(&self, events: u64) -> bool {
        self.limit - self.events >= events
    }

    /// Emits a phase. Returns false if the capture is full.
    pub(super) fn phase(&mut self, phase: &Phase, sink: &mut dyn Sink) -> Result<bool> {
        if self.detail == Detail::Collectives {
            return self.brief_phase(phase, sink);
        }
        if !self.room_for(PHASE_EVENTS) {
            return Ok(false);
        }
        self.throttle(phase, sink)?;
        let steps = phase.part.steps();
        // The last step of the phase has no tile. The engines behind the Tensor engine finish in
        // that step.
        let step_ps = (phase.arrival - phase.start) / (steps + 1);
        for step in 0..steps {
            if !self.room_for(TILE_EVENTS) {
                return Ok(false);
            }
            Tile::new(phase, phase.start + step * step_ps, step_ps, step).emit(self, sink)?;
        }
        if let Some(collectives) = self.collectives.take() {
            let fits = self.room_for(CollectiveTracks::EVENTS);
            if fits {
                collectives.exchange(phase, self, sink)?;
            }
            self.collectives = Some(collectives);
            return Ok(fits);
        }
        Ok(true)
    }

    /// Emits one instruction and the operation of a phase.
    fn brief_phase(&mut self, phase: &Phase, sink: &mut dyn Sink) -> Result<bool> {
        const BRIEF_EVENTS: u64 = 2;
        if !self.room_for(BRIEF_EVENTS) {
            return Ok(false);
        }
        let body = super::tile::body_of(phase);
        self.op(body, FIRST_PRODUCT, (phase.start, phase.arrival - phase.start), 0, sink)?;
        if let Some(collectives) = self.collectives.take() {
            collectives.operation(phase, self, sink)?;
            self.collectives = Some(collectives);
        }
        Ok(true)
    }

    fn throttle(&mut self, phase: &Phase, sink: &mut dyn Sink) -> Result<()> {
        let (k, n, code, reason) = match phase.throttle {
            Throttle::Free => (1, 1, 99, self.reasons[0]),
            Throttle::Limited => (7, 8, 0, self.reasons[1]),
        };
        let ham = self.tables.ham;
        let fields = [(ham.k, Value::Int(k)), (ham.n, Value::Int(n)), (ham.kind, Value::Int(code))];
        self.slice(
            self.tracks.throttling,
            (phase.start, phase.arrival - phase.start),
            reason,
            &fields,
            sink,
        )?;
        // Activations are kept for the backward pass, so memory fills up layer by layer.
        let used = 0.5 + f64::from(phase.layer) / f64::from(4 * Simulation::MAX_LAYERS);
        let fields = [(self.tables.hbm.capacity_bytes, Value::Int(i64::from(HBM_GIB) << 30))];
        self.sample(self.tracks.hbm, phase.start, used * f64::from(HBM_GIB) * GIB, &fields, sink)
    }

    /// Fills the rest of the capture. The Sync engine polls an empty queue.
    pub(super) fn finish(&mut self, sink: &mut dyn Sink) -> Result<()> {
        const POLL_PS: i64 = 24_000;
        if self.detail == Detail::Collectives {
            return Ok(());
        }
        let poll = super::program::WAIT;
        while self.events < self.limit {
            let start = self.end;
            self.op(0, poll, (start, POLL_PS), 0, sink)?;
        }
        Ok(())
    }

    /// Runs an instruction of a body for `(start, duration)` after a wait of `wait_ps`.
    pub(super) fn op(
        &mut self,
        body: usize,
        at: usize,
        span: (i64, i64),
        wait_ps: i64,
        sink: &mut dyn Sink,
    ) -> Result<SliceKey> {
        self.instruction_ids += 1;
        let Op { track, name, fields } = &mut self.bodies[body].ops[at];
        fields[0].1 = Value::Int(self.instruction_ids);
        fields[1].1 = Value::Int(wait_ps / PS_PER_NS);
        let record = slice_record(*track, span, *name, fields);
        self.end = self.end.max(span.0 + span.1);
        self.events += 1;
        sink.slice(&record)
    }

    pub(super) fn slice(
        &mut self,
        track: TrackId,
        span: (i64, i64),
        name: NameId,
        fields: &[(FieldId, Value<'_>)],
        sink: &mut dyn Sink,
    ) -> Result<SliceKey> {
        self.end = self.end.max(span.0 + span.1);
        self.events += 1;
        sink.slice(&slice_record(track, span, name, fields))
    }

    pub(super) fn instant(
        &mut self,
        (track, name): (TrackId, NameId),
        time: i64,
        fields: &[(FieldId, Value<'_>)],
        sink: &mut dyn Sink,
    ) -> Result<()> {
        self.events += 1;
        let record = SliceRecord { form: Form::Instant, ..slice_record(track, (time, 0), name, fields) };
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

    /// A new id of a transfer or a packet. A device counts them in the order in which it starts
    /// them.
    pub(super) fn id(&mut self) -> Value<'static> {
        self.dma_ids += 1;
        Value::Int(self.dma_ids)
    }
}

fn slice_record<'a>(
    track: TrackId,
    (start_ps, duration_ps): (i64, i64),
    name: NameId,
    fields: &'a [(FieldId, Value<'a>)],
) -> SliceRecord<'a> {
    SliceRecord { track, start_ps, duration_ps, name, form: Form::Complete, fields }
}
