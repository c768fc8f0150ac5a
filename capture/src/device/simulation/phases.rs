//! The work of a rank phase by phase: tiles, memory, throttling and a collective operation, as long
//! as the capture has room.

use nprof_engine::base::{Interval, Result};
use nprof_engine::makers::neuron::schema::UNTHROTTLED_KIND;
use nprof_engine::model::{Sink, Value};

use super::device_tracks::{CollectiveTracks, DMA_ENGINES};
use super::program::{FIRST_PRODUCT, OPS_PER_TILE, WAIT};
use super::rig::Rig;
use super::schedule::{RankPhase, Throttle};
use super::tile::{TileWork, body_of};
use super::{Detail, Simulation};

/// Events of a tile: instructions, a transfer and its packets, two semaphore changes, two samples
/// each of pending DMAs, throughput and on-chip memory.
const TILE_EVENTS: u64 = OPS_PER_TILE + 1 + DMA_ENGINES as u64 + 2 + 6;

/// Events at the start of a phase: the throttle period and device memory in use.
const PHASE_EVENTS: u64 = 2;

/// Device memory that a core can use.
const HBM_GIB: i32 = 16;
const GIB: f64 = (1 << 30) as f64;

impl Rig<'_> {
    /// Emits a phase. Returns false if the capture is full.
    pub(super) fn phase(&mut self, phase: &RankPhase, sink: &mut dyn Sink) -> Result<bool> {
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
            TileWork::new(phase, phase.start + step * step_ps, step_ps, step).emit(self, sink)?;
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
    fn brief_phase(&mut self, phase: &RankPhase, sink: &mut dyn Sink) -> Result<bool> {
        const BRIEF_EVENTS: u64 = 2;
        if !self.room_for(BRIEF_EVENTS) {
            return Ok(false);
        }
        let body = body_of(phase);
        self.op(body, FIRST_PRODUCT, Interval::new(phase.start, phase.arrival), 0, sink)?;
        if let Some(collectives) = self.collectives.take() {
            collectives.operation(phase, self, sink)?;
            self.collectives = Some(collectives);
        }
        Ok(true)
    }

    fn throttle(&mut self, phase: &RankPhase, sink: &mut dyn Sink) -> Result<()> {
        let (k, n, code, reason) = match phase.throttle {
            Throttle::Free => (1, 1, UNTHROTTLED_KIND, self.reasons[0]),
            Throttle::Limited => (7, 8, 0, self.reasons[1]),
        };
        let ham = self.tables.ham;
        let fields = [(ham.k, Value::Int(k)), (ham.n, Value::Int(n)), (ham.kind, Value::Int(code))];
        self.slice(self.tracks.throttling, Interval::new(phase.start, phase.arrival), reason, &fields, sink)?;
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
        while self.events() < self.limit {
            let start = self.end;
            self.op(0, WAIT, Interval::lasting(start, POLL_PS), 0, sink)?;
        }
        Ok(())
    }
}
