//! Engines and DMA queues of a rank: when each is free, and how long its work takes.
//!
//! An engine starts an instruction after the one before, and after the semaphore that it waits for
//! has changed. Durations and delays are those of traces of real devices.

use nprof_engine::base::Interval;
use nprof_engine::base::time::PS_PER_S;
use nprof_engine::makers::neuron::Engine;

use super::fault::EnginePace;
use super::plan::{EngineRun, MovePlan};
use super::queue::{DMA_ENGINES, Move, QUEUES};
use super::random::SplitMix;
use super::semaphore::SemaphoreCondition;

/// Time between two instructions of an engine.
const DISPATCH_PS: i64 = 8_000;
/// Time from the change of a semaphore to the start of the instruction that waits for it.
const RELEASE_PS: i64 = 70_000;
/// An instruction changes its semaphore this long before its recorded end.
pub(super) const BEFORE_END_PS: i64 = 33_000;
/// Time from the end of a packet to the change of the semaphore.
const COMPLETION_PS: i64 = 120_000;
/// Time from the trigger to the first packet.
const LATENCY_PS: i64 = 520_000;
/// Duration of an instruction that writes to a queue.
const TRIGGER_PS: i64 = 48_000;

/// Highest and lowest rate of a DMA engine, in bytes a second.
const FASTEST: i64 = 27_000_000_000;
const SLOWEST: i64 = 18_000_000_000;

/// Time of a semaphore that nobody waits for.
pub(super) const NO_WAIT: i64 = i64::MIN;

/// A transfer to plan.
#[derive(Debug, Clone, Copy)]
pub(super) struct MoveOrder {
    pub(super) kind: Move,
    pub(super) slot: i64,
    /// Time of the semaphore that the trigger waits for.
    pub(super) set: i64,
    /// Holds after the transfer.
    pub(super) condition: SemaphoreCondition,
    pub(super) bytes: i64,
    /// Further duration of the first packet.
    pub(super) error_ps: i64,
}

/// Times at which engines and queues are free.
#[derive(Debug, Clone)]
pub(super) struct SimulatedChip {
    engines: [i64; Engine::ALL.len()],
    queues: [i64; QUEUES.len()],
}

impl SimulatedChip {
    pub(super) fn new(start: i64) -> Self {
        Self { engines: [start; Engine::ALL.len()], queues: [start; QUEUES.len()] }
    }

    pub(super) fn free(&self, engine: Engine) -> i64 {
        self.engines[engine.index()]
    }

    /// Runs an instruction after a semaphore has changed at `set`, and keeps the engine until then.
    pub(super) fn run(
        &mut self,
        engine: Engine,
        set: i64,
        duration: i64,
        random: &mut SplitMix,
    ) -> EngineRun {
        let run = self.planned(self.free(engine), set, duration, random);
        self.engines[engine.index()] = run.span.end.0;
        run
    }

    /// An instruction of an engine that is free at `free`.
    pub(super) fn planned(&self, free: i64, set: i64, duration: i64, random: &mut SplitMix) -> EngineRun {
        let ready = free + DISPATCH_PS;
        let released = set.saturating_add(RELEASE_PS + random.part(1_024, 0, 1_000));
        let wait_ps = if set == NO_WAIT { 0 } else { (set - ready).max(0) };
        let start = if wait_ps > 0 { released } else { ready.max(released) };
        EngineRun { span: Interval::lasting(start, duration), wait_ps }
    }

    /// Keeps an engine until this time.
    pub(super) fn keep(&mut self, engine: Engine, until: i64) {
        let free = &mut self.engines[engine.index()];
        *free = (*free).max(until);
    }

    /// Lets all engines stand still for some time.
    pub(super) fn pause(&mut self, duration: i64) -> Interval {
        let start = self.engines.iter().copied().max().unwrap_or(0);
        self.engines = [start + duration; Engine::ALL.len()];
        Interval::lasting(start, duration)
    }

    /// Triggers a transfer and moves its packets. A queue moves one transfer at a time.
    pub(super) fn transfer(&mut self, order: &MoveOrder, random: &mut SplitMix) -> MovePlan {
        let duration = random.part(TRIGGER_PS, 800, 1_300);
        let trigger = self.run(Engine::Sync, order.set, duration, random);
        let count = order.kind.packets();
        let free = &mut self.queues[order.kind.queue()];
        let from = (*free).max(trigger.span.end.0 + random.part(LATENCY_PS, 850, 1_150));
        let bytes = order.bytes / i64::try_from(count).unwrap_or(1);
        let mut packets = [Interval::default(); DMA_ENGINES as usize];
        let mut sets = [0; DMA_ENGINES as usize];
        for (packet, set) in packets.iter_mut().zip(&mut sets).take(count) {
            let rate = SLOWEST + random.part(FASTEST - SLOWEST, 0, 1_000);
            let start = from + random.part(LATENCY_PS, 0, 150);
            *packet = Interval::lasting(start, duration_ps(bytes, rate));
            *set = random.part(COMPLETION_PS, 850, 1_150);
        }
        packets[0].end.0 += order.error_ps;
        for (packet, set) in packets.iter().zip(&mut sets).take(count) {
            *set += packet.end.0;
        }
        sets[..count].sort_unstable();
        let start = packets[..count].iter().map(|packet| packet.start.0).min().unwrap_or(from);
        let end = packets[..count].iter().map(|packet| packet.end.0).max().unwrap_or(from);
        *free = sets[count - 1];
        MovePlan {
            kind: order.kind,
            slot: order.slot,
            trigger,
            span: Interval::new(start, end),
            packets,
            sets,
            condition: order.condition,
            bytes: bytes * i64::try_from(count).unwrap_or(1),
        }
    }
}

/// Durations of instructions at full speed, in picoseconds: 512 columns of a tile.
#[derive(Debug, Clone, Copy)]
pub(super) enum EngineTask {
    Load,
    Product,
    Activation,
    Vector,
    GpSimd,
    /// An instruction that only waits, or that does nothing.
    Wait,
}

impl EngineTask {
    pub(super) fn duration(self, pace: EnginePace, random: &mut SplitMix) -> i64 {
        let (typical, low, high) = match self {
            Self::Load => (84_000, 950, 1_150),
            Self::Product => (352_000, 980, 1_040),
            Self::Activation => (490_000, 880, 1_060),
            Self::Vector => (340_000, 800, 1_150),
            Self::GpSimd => (1_400_000, 800, 1_200),
            Self::Wait => return random.part(17_000, 900, 1_200),
        };
        pace.of(random.part(typical, low, high))
    }
}

/// Picoseconds for these bytes at this rate in bytes a second.
fn duration_ps(bytes: i64, rate: i64) -> i64 {
    // Rates in kilobytes a second keep the product within 64 bits for transfers up to 9 GB.
    bytes * (PS_PER_S / 1000) / (rate / 1000).max(1)
}
