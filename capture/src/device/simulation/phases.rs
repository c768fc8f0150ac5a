//! Rows of a rank's work: tiles, barriers, memory and throttling.

use nprof_engine::base::{Interval, Result, signed};
use nprof_engine::makers::neuron::Engine;
use nprof_engine::makers::neuron::schema::UNTHROTTLED_KIND;
use nprof_engine::model::{Sink, SliceKey, Value};

use super::Simulation;
use super::chip::BEFORE_END_PS;
use super::fault::{Effects, THROTTLED_OF, THROTTLED_TO};
use super::op::{
    BARRIER, CLEAR, FIRST_ACTIVATION, FIRST_BARRIER, FIRST_VECTOR, GPSIMD, HOST, INPUT_WAIT, MATMULS,
    OUTPUT_WAIT, PACE, RELOAD_WAIT, VECTORS, WEIGHTS_WAIT,
};
use super::phase::set_by;
use super::place::PhasePlace;
use super::plan::{BeginPlan, EndPlan, EngineRun, MovePlan, PlanSink, SetupPlan, TilePlan};
use super::queue::{AHEAD, GROUP, Move};
use super::rig::Rig;
use super::semaphore::{Semaphore, SemaphoreCondition};

/// Device memory that a core can use.
const HBM_GIB: i32 = 16;
const GIB: f64 = (1 << 30) as f64;

/// Bytes of the state buffer.
const STATE_BUFFER: i64 = 24 << 20;

/// A period of throttling that has begun.
#[derive(Debug, Clone, Copy)]
struct ThrottlePeriod {
    start: i64,
    is_limited: bool,
}

/// Turns the work of a rank into rows.
pub(super) struct Emission<'e, 't> {
    pub(super) rig: &'e mut Rig<'t>,
    pub(super) sink: &'e mut dyn Sink,
    effects: &'e Effects,
    period: Option<ThrottlePeriod>,
    /// Beginning of the phase, and the times of what is saved and loaded again.
    began: i64,
    saved: Interval,
    reloaded: Interval,
}

impl<'e, 't> Emission<'e, 't> {
    pub(super) fn new(rig: &'e mut Rig<'t>, effects: &'e Effects, sink: &'e mut dyn Sink) -> Self {
        let none = Interval::default();
        Self { rig, sink, effects, period: None, began: 0, saved: none, reloaded: none }
    }

    fn op(&mut self, place: &PhasePlace, at: usize, slot: i64, run: EngineRun) -> Result<SliceKey> {
        self.rig.op(place.body(), at, slot, run, self.sink)
    }

    /// Emits an instruction that waits for a transfer.
    fn wait(
        &mut self,
        place: &PhasePlace,
        at: usize,
        slot: i64,
        run: EngineRun,
        awaited: SemaphoreCondition,
    ) -> Result<()> {
        let waited = self.op(place, at, slot, run)?;
        match self.rig.arrived(awaited) {
            Some(transfer) => self.sink.link(transfer, waited, self.rig.links.completion),
            None => Ok(()),
        }
    }

    fn moved(&mut self, place: &PhasePlace, plan: &MovePlan) -> Result<()> {
        match plan.kind {
            Move::Save => self.saved = plan.span,
            Move::Reload => self.reloaded = plan.span,
            _ => {}
        }
        self.rig.moved(place.body(), plan, self.sink)
    }

    fn raise(&mut self, semaphore: Semaphore, time: i64, value: i64, engine: Engine) -> Result<()> {
        self.rig.change(semaphore, time, value, engine.name(), self.sink)
    }

    fn tell_counters(&mut self, before: i64) -> Result<()> {
        let told = self.rig.counters.tell_before(before, self.sink)?;
        self.rig.count(told);
        Ok(())
    }

    /// Ends a period of throttling.
    fn throttle(&mut self, end: i64) -> Result<()> {
        let Some(period) = self.period.take() else { return Ok(()) };
        let (k, n, code, reason) = match period.is_limited {
            false => (1, 1, UNTHROTTLED_KIND, self.rig.reasons[0]),
            true => (THROTTLED_TO, THROTTLED_OF, 0, self.rig.reasons[1]),
        };
        let ham = self.rig.tables.ham;
        let fields = [(ham.k, Value::Int(k)), (ham.n, Value::Int(n)), (ham.kind, Value::Int(code))];
        let span = Interval::new(period.start, end.max(period.start));
        self.rig.slice(self.rig.tracks.throttling, span, reason, &fields, self.sink).map(|_| ())
    }

    fn device_memory(&mut self, place: &PhasePlace, time: i64) -> Result<()> {
        // Activations are kept for the backward pass, so memory fills up layer by layer.
        let used = 0.5 + f64::from(place.layer) / f64::from(4 * Simulation::MAX_LAYERS);
        let fields = [(self.rig.tables.hbm.capacity_bytes, Value::Int(i64::from(HBM_GIB) << 30))];
        let bytes = used * f64::from(HBM_GIB) * GIB;
        self.rig.sample(self.rig.tracks.hbm, time, bytes, &fields, self.sink)
    }

    fn error(&mut self, plan: &MovePlan) -> Result<()> {
        let Some(errors) = self.rig.errors else { return Ok(()) };
        let fields = [
            (errors.table.kind, Value::Text("Errors")),
            (errors.table.error_type_id, Value::Int(3)),
            (errors.table.metadata, Value::Text("queue qSyncIn0 engine 0 packet 0")),
            (errors.table.metadata_hex, Value::Int(0x0200)),
        ];
        self.rig.instant(errors.track, errors.name, plan.packets[0].end.0, &fields, self.sink)
    }

    /// The Tensor engine's waits. It sets the semaphores of the first two tiles to zero itself.
    fn tensor_waits(&mut self, plan: &TilePlan) -> Result<()> {
        let (place, tile) = (&plan.place, plan.tile);
        let awaited = SemaphoreCondition::of_weights(tile);
        self.wait(place, WEIGHTS_WAIT, tile, plan.weights_wait, awaited)?;
        if tile < AHEAD {
            let time = plan.weights_wait.span.end.0 - BEFORE_END_PS / 8;
            self.raise(awaited.semaphore, time, 0, Engine::Tensor)?;
        }
        if let Some(run) = plan.input_wait {
            let value = (tile / GROUP + 1) * signed(Move::Input.packets());
            let awaited = SemaphoreCondition { semaphore: Semaphore::Input, value };
            self.wait(place, INPUT_WAIT, tile, run, awaited)?;
        }
        if let Some(run) = plan.reload_wait {
            let value = signed(Move::Save.packets() + Move::Reload.packets());
            let awaited = SemaphoreCondition { semaphore: Semaphore::Spill, value };
            self.wait(place, RELOAD_WAIT, tile, run, awaited)?;
        }
        Ok(())
    }

    /// The multiplications, and what the other engines do with their sums.
    fn compute(&mut self, plan: &TilePlan) -> Result<()> {
        let (place, tile) = (&plan.place, plan.tile);
        let mut sums = [None; MATMULS / 2];
        for (index, (load, product)) in plan.loads.iter().zip(&plan.products).enumerate() {
            let loaded = self.op(place, 2 * index, tile, *load)?;
            let sum = self.op(place, 2 * index + 1, tile, *product)?;
            self.sink.link(loaded, sum, self.rig.links.dependence)?;
            if index % 2 == 1 {
                sums[index / 2] = Some(sum);
                let value = tile * signed(sums.len()) + signed(index / 2) + 1;
                self.raise(Semaphore::Tensor, set_by(*product), value, Engine::Tensor)?;
            }
        }
        for (index, (run, sum)) in plan.activations.iter().zip(sums).enumerate() {
            let key = self.op(place, FIRST_ACTIVATION + index, tile, *run)?;
            if let Some(sum) = sum {
                self.sink.link(sum, key, self.rig.links.dependence)?;
            }
            let value = tile * signed(plan.activations.len()) + signed(index) + 1;
            self.raise(Semaphore::Scalar, set_by(*run), value, Engine::Scalar)?;
        }
        for (index, run) in plan.vectors.iter().enumerate() {
            self.op(place, FIRST_VECTOR + index, tile, *run)?;
        }
        self.raise(Semaphore::Vector, set_by(plan.vectors[VECTORS - 1]), tile + 1, Engine::Vector)?;
        self.op(place, GPSIMD, tile, plan.gpsimd)?;
        self.raise(Semaphore::GpSimd, set_by(plan.gpsimd), tile + 1, Engine::GpSimd)
    }

    /// Samples of memory use. The state buffer fills during a phase; the partial-sum buffer's banks
    /// are used in turn.
    fn memories(&mut self, plan: &TilePlan) -> Result<()> {
        let (usage, tracks) = (self.rig.tables.usage, (self.rig.tracks.sbuf, self.rig.tracks.psum));
        let time = plan.loads[0].span.start.0;
        let is_full = self.effects.spills() || self.effects.reloads();
        let most = if is_full { 0.97 } else { 0.72 };
        let share = most * ratio(plan.tile + GROUP, plan.place.part.tiles() + GROUP);
        let fields = [
            (usage.kind, Value::Text("sb")),
            (usage.partition_0_usage, Value::Float(share)),
            (usage.partition_32_usage, Value::Float(share)),
            (usage.partition_64_usage, Value::Float(share)),
            (usage.partition_96_usage, Value::Float(share)),
        ];
        self.rig.sample(tracks.0, time, share, &fields, self.sink)?;
        let (first, second) = if plan.tile % 2 == 0 { (1.0, 0.5) } else { (0.5, 1.0) };
        let fields = [
            (usage.kind, Value::Text("psum")),
            (usage.bank_0_usage, Value::Float(first)),
            (usage.bank_1_usage, Value::Float(second)),
        ];
        // Two of the eight banks are in use.
        self.rig.sample(tracks.1, time, (first + second) / 8.0, &fields, self.sink)
    }

    /// Ranges of memory that the phase used.
    fn allocations(&mut self, place: &PhasePlace, end: i64) -> Result<()> {
        let body = &self.rig.bodies[place.body()];
        let (tensors, hlo) = (body.tensors, body.hlo);
        let (table, scratchpad) = (self.rig.tables.state_buffer, self.rig.tables.scratchpad);
        let spilled = self.effects.bytes_of(Move::Save);
        let [hidden, kept] = [Move::Input, Move::Save].map(|kind| tensors[kind.index()].as_str());
        let ranges = [
            (hidden, Interval::new(self.began, end), 0x2_0000_i64, STATE_BUFFER / 4, "qSyncIn0"),
            (kept, Interval::new(self.reloaded.start.0, end), 0x0_4000, spilled, "qSyncSpillReload0"),
        ];
        for (tensor, span, start, bytes, queue) in ranges {
            let fields = [
                (table.start_address, Value::Int(start)),
                (table.end_address, Value::Int(start + bytes / 128 - 1)),
                (table.partition, Value::Int(0)),
                (table.size_bytes, Value::Int(bytes)),
                (table.op_source_type, Value::Text("dma")),
                (table.queue_name, Value::Text(queue)),
                (table.hlo_name, Value::Text(hlo)),
            ];
            let name = self.sink.name(tensor)?;
            self.rig.slice(self.rig.tracks.state_buffer, span, name, &fields, self.sink)?;
        }
        let fields = [
            (scratchpad.start_address, Value::Int(0x3_0000_0000)),
            (scratchpad.end_address, Value::Int(0x3_0000_0000 + spilled - 1)),
            (scratchpad.size_bytes, Value::Int(spilled)),
            (scratchpad.queue_name, Value::Text("qSyncSpillReload0")),
            (scratchpad.hlo_name, Value::Text(hlo)),
        ];
        let name = self.sink.name(kept)?;
        let span = Interval::new(self.saved.start.0, self.reloaded.end.0);
        self.rig.slice(self.rig.tracks.scratchpad, span, name, &fields, self.sink).map(|_| ())
    }

    /// Ends the capture. The semaphores that are cleared at the end of a run fill the rest of it.
    pub(super) fn finish(&mut self) -> Result<()> {
        self.tell_counters(i64::MAX)?;
        let end = self.rig.end;
        self.throttle(end)?;
        while self.rig.events() < self.rig.limit {
            self.raise(Semaphore::Barrier, end, 0, Engine::Sync)?;
        }
        Ok(())
    }
}

impl PlanSink for Emission<'_, '_> {
    fn setup(&mut self, plan: &SetupPlan) -> Result<()> {
        let first = PhasePlace::new(0, 1);
        plan.moves.iter().try_for_each(|moved| self.moved(&first, moved))
    }

    fn begin(&mut self, plan: &BeginPlan) -> Result<()> {
        self.throttle(plan.start)?;
        let is_limited = self.effects.is_throttled(&plan.place);
        self.period = Some(ThrottlePeriod { start: plan.start, is_limited });
        self.began = plan.input.span.start.0;
        self.device_memory(&plan.place, plan.start)?;
        if let Some(run) = plan.host {
            self.op(&plan.place, HOST, 0, run)?;
        }
        self.moved(&plan.place, &plan.input)?;
        if plan.is_out_of_bounds { self.error(&plan.input) } else { Ok(()) }
    }

    fn tile(&mut self, plan: &TilePlan) -> Result<()> {
        if let Some(run) = plan.pace {
            let slot = if plan.is_late { plan.place.part.tiles() + 1 } else { plan.tile };
            self.op(&plan.place, PACE, slot, run)?;
        }
        for moved in &plan.moves {
            self.moved(&plan.place, moved)?;
        }
        self.tensor_waits(plan)?;
        self.compute(plan)?;
        self.memories(plan)?;
        self.tell_counters(plan.settled)
    }

    fn end(&mut self, plan: &EndPlan) -> Result<()> {
        self.moved(&plan.place, &plan.output)?;
        let awaited = plan.output.condition;
        self.wait(&plan.place, OUTPUT_WAIT, plan.tiles, plan.output_wait, awaited)?;
        for (index, (run, &set)) in plan.barrier.iter().zip(&plan.barrier_sets).enumerate() {
            self.op(&plan.place, FIRST_BARRIER + index, plan.tiles, *run)?;
            let value = if index + 1 == BARRIER.len() { 0 } else { signed(index) + 1 };
            self.raise(Semaphore::Barrier, set, value, BARRIER[index])?;
        }
        self.op(&plan.place, CLEAR, plan.tiles, plan.clear)?;
        for semaphore in Semaphore::CLEARED {
            self.raise(semaphore, set_by(plan.clear), 0, Engine::Sync)?;
        }
        self.rig.arrivals.retain(|arrival| !Semaphore::CLEARED.contains(&arrival.condition.semaphore));
        self.allocations(&plan.place, plan.clear.span.end.0)?;
        self.tell_counters(plan.clear.span.end.0)
    }
}

#[expect(clippy::cast_precision_loss, reason = "both are small")]
fn ratio(part: i64, whole: i64) -> f64 {
    part as f64 / whole as f64
}
