//! The rank that is being captured: tables, tracks, clock, and counts of emitted events.

use nprof_engine::base::time::PS_PER_NS;
use nprof_engine::base::{Interval, Result};
use nprof_engine::model::{FieldId, NameId, Sink, SliceForm, SliceKey, SliceRecord, TrackId, Value};

use super::device_tracks::{CollectiveTracks, RingTracks};
use super::program::{Body, BodyOp, BodyTexts, QUEUES};
use super::random::{SplitMix, mix};
use super::schedule::SETUP_PS;
use super::{Detail, Simulation};
use nprof_engine::makers::neuron::schema::{
    COLLECTIVE_TRIGGER, DMA_COMPLETION, DMA_TRIGGER, Dma, DmaThroughput, FLOW_DEPENDENCE, Ham, HbmUsage,
    Instruction, InstructionUsage, PendingDma, SemaphoreUpdate, UNTHROTTLED_KIND, throttle_reason,
};
use nprof_engine::makers::neuron::{CounterTrack, EngineTrack, NeuronTracks};

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
    pub(super) throughput: DmaThroughput,
    pub(super) usage: InstructionUsage,
    pub(super) hbm: HbmUsage,
}

/// The track of a semaphore, and the name of its updates.
#[derive(Debug, Clone, Copy)]
pub(super) struct SemaphoreTrack {
    track: TrackId,
    name: NameId,
}

#[derive(Debug)]
pub(super) struct FixedTracks {
    pub(super) throttling: TrackId,
    pub(super) pending: TrackId,
    pub(super) throughput: TrackId,
    pub(super) sbuf: TrackId,
    pub(super) psum: TrackId,
    pub(super) hbm: TrackId,
    /// The semaphore that the first queue raises and the Sync engine waits for.
    pub(super) semaphore: SemaphoreTrack,
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
            throughput: DmaThroughput::define(sink)?,
            usage: InstructionUsage::define(sink)?,
            hbm: HbmUsage::define(sink)?,
        })
    }
}

impl FixedTracks {
    fn new(tracks: &mut NeuronTracks, sink: &mut dyn Sink) -> Result<Self> {
        let semaphore = "S[8] (qSyncIO0)";
        Ok(Self {
            throttling: tracks.throttling(sink, 0)?,
            pending: tracks.counter(sink, 0, CounterTrack::PendingDmas)?,
            throughput: tracks.counter(sink, 0, CounterTrack::DmaThroughput)?,
            sbuf: tracks.counter(sink, 0, CounterTrack::SbufUsage)?,
            psum: tracks.counter(sink, 0, CounterTrack::PsumUsage)?,
            hbm: tracks.counter(sink, 0, CounterTrack::HbmUsage)?,
            semaphore: SemaphoreTrack {
                track: tracks.semaphore(sink, 0, semaphore)?,
                name: sink.name(semaphore)?,
            },
        })
    }
}

/// State of one rank.
pub(super) struct Rig<'t> {
    pub(super) random: SplitMix,
    pub(super) tables: RigTables,
    pub(super) tracks: FixedTracks,
    pub(super) queues: Vec<RingTracks>,
    /// Names of the queues in rows, by queue and engine.
    pub(super) subgroups: &'t [Vec<String>],
    pub(super) collectives: Option<CollectiveTracks>,
    pub(super) links: LinkNames,
    pub(super) bodies: Vec<Body<'t>>,
    /// Names of the throttle periods: of free and of limited phases.
    pub(super) reasons: [NameId; 2],
    /// Fields of the slice that is being made. The buffer is reused.
    pub(super) scratch: Vec<(FieldId, Value<'t>)>,
    /// The transfer that the next tile waits for.
    pub(super) loaded: Option<SliceKey>,
    pub(super) total_bytes: i64,
    /// The latest time so far.
    pub(super) end: i64,
    events: u64,
    pub(super) limit: u64,
    pub(super) detail: Detail,
    /// Number of instructions so far. The count is also the last instruction's id.
    instruction_ids: i64,
    /// Number of transfers and packets so far.
    dma_ids: i64,
}

impl<'t> Rig<'t> {
    pub(super) fn new(
        settings: &Simulation,
        rank: u32,
        texts: &'t [BodyTexts],
        subgroups: &'t [Vec<String>],
        sink: &mut dyn Sink,
    ) -> Result<Self> {
        let instruction = Instruction::define(sink)?;
        let tables = RigTables::define(sink)?;
        let mut tracks = NeuronTracks::default();
        for track in EngineTrack::ALL {
            tracks.engine(sink, track.name(), 0)?;
        }
        let bodies = texts.iter().enumerate();
        let bodies = bodies.map(|(number, texts)| texts.body(number, &instruction, &mut tracks, sink));
        let bodies = bodies.collect::<Result<_>>()?;
        let queues = QUEUES.iter().map(|queue| RingTracks::new(queue, &mut tracks, sink));
        let queues = queues.collect::<Result<_>>()?;
        let collectives = match settings.ranks {
            1 => None,
            ranks => Some(CollectiveTracks::new(ranks, &mut tracks, sink)?),
        };
        Ok(Self {
            random: SplitMix::new(settings.seed ^ mix(u64::from(rank) + 1)),
            tables,
            tracks: FixedTracks::new(&mut tracks, sink)?,
            queues,
            subgroups,
            collectives,
            links: LinkNames::new(sink)?,
            bodies,
            reasons: [sink.name(&throttle_reason(UNTHROTTLED_KIND))?, sink.name(&throttle_reason(0))?],
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

    pub(super) fn room_for(&self, events: u64) -> bool {
        self.limit - self.events >= events
    }

    /// Runs an instruction of a body after a wait of `wait_ps`.
    pub(super) fn op(
        &mut self,
        body: usize,
        at: usize,
        span: Interval,
        wait_ps: i64,
        sink: &mut dyn Sink,
    ) -> Result<SliceKey> {
        self.instruction_ids += 1;
        let BodyOp { track, name, fields } = &mut self.bodies[body].ops[at];
        fields[0].1 = Value::Int(self.instruction_ids);
        fields[1].1 = Value::Int(wait_ps / PS_PER_NS);
        let record = slice_record(*track, span, *name, fields);
        self.end = self.end.max(span.end.0);
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

    pub(super) fn instant(
        &mut self,
        track: SemaphoreTrack,
        time: i64,
        fields: &[(FieldId, Value<'_>)],
        sink: &mut dyn Sink,
    ) -> Result<()> {
        self.events += 1;
        let at = Interval::lasting(time, 0);
        let record =
            SliceRecord { form: SliceForm::Instant, ..slice_record(track.track, at, track.name, fields) };
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
    span: Interval,
    name: NameId,
    fields: &'a [(FieldId, Value<'a>)],
) -> SliceRecord<'a> {
    let (start_ps, duration_ps) = (span.start.0, span.duration_ps());
    SliceRecord { track, start_ps, duration_ps, name, form: SliceForm::Complete, fields }
}
