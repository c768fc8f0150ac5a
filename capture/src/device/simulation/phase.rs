//! A phase of a rank: its tiles, from the first input to the barrier.
//!
//! The Sync engine triggers the load of weights two tiles ahead. The Tensor engine multiplies them
//! by the input, the Scalar engine takes the sums out of the partial-sum buffer, and the Vector and
//! GpSimd engines finish the tile. Each waits by semaphores for the one before.

use nprof_engine::base::{Interval, Result};
use nprof_engine::makers::neuron::Engine;

use super::chip::{BEFORE_END_PS, EngineTask, MoveOrder, NO_WAIT, SimulatedChip};
use super::extent::PhaseExtent;
use super::fault::{Effects, EnginePace, PAUSED_TILE};
use super::op::{ACTIVATIONS, BARRIER, MATMULS, PACED_TILE, VECTORS};
use super::place::{LayerPart, PhasePlace};
use super::plan::{BeginPlan, EndPlan, EngineRun, MovePlan, PlanSink, SetupPlan, TilePlan};
use super::queue::{AHEAD, GROUP, Move, NEEDED_AT, moves_of};
use super::random::{SplitMix, mix};
use super::semaphore::{Semaphore, SemaphoreCondition};

/// Time at which the first loads are triggered.
const FIRST_PS: i64 = 1_000_000;
/// Time at which the host starts the first step.
pub(super) const SETUP_PS: i64 = 10_000_000;
/// Time between two steps, in which the host prepares the next batch.
const HOST_PS: i64 = 10_000_000;
/// Time for an engine to see and to raise the barrier's semaphore.
const BARRIER_PS: i64 = 32_000;
/// An instruction of the barrier ends this long after its change.
const BARRIER_END_PS: i64 = 45_000;
/// Duration of the instruction that clears the semaphores.
const CLEAR_PS: i64 = 94_000;
/// Time that the GpSimd engine needs to start an operation.
pub(super) const COLLECTIVE_PS: i64 = 50_000;
/// Time from the end of a collective operation to the change of its semaphore.
pub(super) const COLLECTIVE_SET_PS: i64 = 40_000;

const TILES: usize = LayerPart::MOST_TILES as usize;

/// Times of a phase at which semaphores reach the values that others wait for, by tile.
#[derive(Debug, Clone, Copy)]
struct PhaseTimes {
    weights: [i64; TILES],
    inputs: [i64; TILES],
    tensor: [i64; TILES],
    scalar: [i64; TILES],
    vector: [i64; TILES],
    gpsimd: [i64; TILES],
    saved: i64,
    reloaded: i64,
    /// Transfers so far, by kind.
    moved: [i64; Move::ALL.len()],
}

/// The work of one rank.
#[derive(Debug)]
pub(super) struct RankRun {
    effects: Effects,
    seed: u64,
    /// Whether collective operations end the phases.
    meets: bool,
    chip: SimulatedChip,
    /// Times at which the weights of the next phase's first tiles are there.
    ahead: [i64; AHEAD as usize],
    times: PhaseTimes,
    random: SplitMix,
    pace: EnginePace,
}

const NO_TIMES: PhaseTimes = PhaseTimes {
    weights: [0; TILES],
    inputs: [0; TILES],
    tensor: [0; TILES],
    scalar: [0; TILES],
    vector: [0; TILES],
    gpsimd: [0; TILES],
    saved: 0,
    reloaded: 0,
    moved: [0; Move::ALL.len()],
};

fn at(tile: i64) -> usize {
    usize::try_from(tile).unwrap_or(0).min(TILES - 1)
}

/// Time at which an instruction changes its semaphore.
pub(super) fn set_by(run: EngineRun) -> i64 {
    run.span.end.0 - BEFORE_END_PS
}

impl RankRun {
    pub(super) fn new(effects: Effects, seed: u64, rank: u32, meets: bool) -> Self {
        let seed = seed ^ mix(u64::from(rank) + 1);
        Self {
            pace: effects.pace(&PhasePlace::new(0, 1)),
            effects,
            seed,
            meets,
            chip: SimulatedChip::new(FIRST_PS),
            ahead: [0; AHEAD as usize],
            times: NO_TIMES,
            random: SplitMix::new(seed),
        }
    }

    pub(super) fn effects(&self) -> &Effects {
        &self.effects
    }

    /// Loads the weights of the first tiles.
    pub(super) fn setup(&mut self, stage: &mut dyn PlanSink) -> Result<()> {
        let rest = LayerPart::Attention.tiles() + 1;
        let moves = [(0, 0), (1, rest)].map(|(tile, slot)| self.load_ahead(tile, slot, NO_WAIT));
        stage.setup(&SetupPlan { moves: moves.to_vec() })
    }

    /// Runs a phase, or what the recording has of it, after the meeting that ended at `start`.
    /// Returns the time at which the rank arrives at the next one.
    pub(super) fn phase(
        &mut self,
        extent: &PhaseExtent,
        start: i64,
        stage: &mut dyn PlanSink,
    ) -> Result<i64> {
        let place = extent.place;
        self.random = SplitMix::new(self.seed ^ mix(place.number.wrapping_add(1)));
        self.pace = self.effects.pace(&place);
        self.times = PhaseTimes { moved: [0; Move::ALL.len()], ..NO_TIMES };
        for (tile, &set) in self.ahead.iter().enumerate() {
            self.times.weights[tile] = set;
        }
        stage.begin(&self.begin(place, start))?;
        for tile in 0..extent.tiles {
            let plan = self.tile(place, tile);
            stage.tile(&plan)?;
        }
        if !extent.is_whole {
            return Ok(start);
        }
        let plan = self.end(place);
        stage.end(&plan)?;
        Ok(plan.arrival)
    }

    fn begin(&mut self, place: PhasePlace, start: i64) -> BeginPlan {
        let host = place.begins_step().then(|| {
            let prepared = if place.number == 0 { 0 } else { HOST_PS };
            let late = self.effects.late_host_ps() + self.effects.blocked_host_ps(&place);
            let set = start + prepared + late;
            let duration = EngineTask::Wait.duration(self.pace, &mut self.random);
            self.chip.run(Engine::Sync, set, duration, &mut self.random)
        });
        let set = if host.is_some() || !self.meets { NO_WAIT } else { start + COLLECTIVE_SET_PS };
        let error_ps = self.effects.error_ps(&place);
        let slot = if set == NO_WAIT { place.part.tiles() + 1 } else { 0 };
        let input = self.input(0, slot, set, error_ps.unwrap_or(0));
        BeginPlan { place, start, host, input, is_out_of_bounds: error_ps.is_some() }
    }

    fn tile(&mut self, place: PhasePlace, tile: i64) -> TilePlan {
        let pause_ps = if tile == PAUSED_TILE { self.effects.pause_ps(&place) } else { 0 };
        let pause = (pause_ps > 0).then(|| self.chip.pause(pause_ps));
        let late_ps = self.effects.late_trigger_ps(&place);
        let pace = (tile == PACED_TILE).then(|| {
            let duration = EngineTask::Wait.duration(self.pace, &mut self.random) + late_ps;
            self.chip.run(Engine::Sync, NO_WAIT, duration, &mut self.random)
        });
        let moves = moves_of(place.part, tile).map(|kind| self.start(kind, place, tile)).collect();
        let (weights_wait, input_wait, reload_wait) = self.tensor_waits(tile);
        let (loads, products) = self.multiply(tile);
        let activations = self.activate(tile, &products);
        let (vectors, gpsimd) = self.finish(tile, &activations);
        TilePlan {
            place,
            tile,
            pace,
            is_late: late_ps > 0,
            moves,
            weights_wait,
            input_wait,
            reload_wait,
            loads,
            products,
            activations,
            vectors,
            gpsimd,
            pause,
            settled: self.chip.free(Engine::Sync),
        }
    }

    /// Triggers a transfer of a tile.
    fn start(&mut self, kind: Move, place: PhasePlace, tile: i64) -> MovePlan {
        match kind {
            Move::Weights => {
                // The tile before last has left its place in the state buffer.
                let set = if tile == 0 { NO_WAIT } else { self.times.tensor[at(tile - 1)] };
                let next = tile + AHEAD;
                match next - place.part.tiles() {
                    first if first >= 0 => self.load_ahead(first, tile, set),
                    _ => self.load(next, tile, set),
                }
            }
            Move::Input => self.input((tile + GROUP - 1) / GROUP, tile, NO_WAIT, 0),
            Move::Save => {
                let plan = self.spill(kind, tile, self.times.vector[0]);
                self.times.saved = plan.done();
                plan
            }
            Move::Reload => {
                let plan = self.spill(kind, tile, self.times.saved);
                self.times.reloaded = plan.done();
                plan
            }
            Move::Output => self.output(tile, self.times.gpsimd[at(tile - 2)]),
        }
    }

    fn transfer(&mut self, order: MoveOrder) -> MovePlan {
        // Numbers of their own: a transfer does not depend on what else is moved.
        let number = order.slot.unsigned_abs() * 8 + order.kind.index() as u64 + 1;
        let mut random = SplitMix::new(self.random.clone().next() ^ mix(number));
        self.times.moved[order.kind.index()] += 1;
        self.chip.transfer(&order, &mut random)
    }

    /// Loads weights of a tile of this phase.
    fn load(&mut self, tile: i64, slot: i64, set: i64) -> MovePlan {
        let condition = SemaphoreCondition::of_weights(tile);
        let kind = Move::Weights;
        let bytes = self.effects.bytes_of(kind);
        let plan = self.transfer(MoveOrder { kind, slot, set, condition, bytes, error_ps: 0 });
        self.times.weights[at(tile)] = plan.done();
        plan
    }

    /// Loads weights of a tile of the next phase.
    fn load_ahead(&mut self, tile: i64, slot: i64, set: i64) -> MovePlan {
        let condition = SemaphoreCondition::of_weights(tile);
        let kind = Move::Weights;
        let bytes = self.effects.bytes_of(kind);
        let plan = self.transfer(MoveOrder { kind, slot, set, condition, bytes, error_ps: 0 });
        self.ahead[at(tile)] = plan.done();
        plan
    }

    fn input(&mut self, group: i64, slot: i64, set: i64, error_ps: i64) -> MovePlan {
        let kind = Move::Input;
        let condition = SemaphoreCondition { semaphore: Semaphore::Input, value: (group + 1) * count(kind) };
        let plan = self.transfer(MoveOrder { kind, slot, set, condition, bytes: kind.bytes(), error_ps });
        self.times.inputs[at(group)] = plan.done();
        plan
    }

    fn spill(&mut self, kind: Move, slot: i64, set: i64) -> MovePlan {
        let number = if kind == Move::Save { 1 } else { 2 };
        let bytes = self.effects.bytes_of(kind);
        let condition = SemaphoreCondition { semaphore: Semaphore::Spill, value: number * count(kind) };
        self.transfer(MoveOrder { kind, slot, set, condition, bytes, error_ps: 0 })
    }

    fn output(&mut self, slot: i64, set: i64) -> MovePlan {
        let kind = Move::Output;
        let value = (self.times.moved[kind.index()] + 1) * count(kind);
        let condition = SemaphoreCondition { semaphore: Semaphore::Output, value };
        self.transfer(MoveOrder { kind, slot, set, condition, bytes: kind.bytes(), error_ps: 0 })
    }

    /// The Tensor engine's waits for what a tile needs.
    fn tensor_waits(&mut self, tile: i64) -> (EngineRun, Option<EngineRun>, Option<EngineRun>) {
        let mut wait = |set| {
            let duration = EngineTask::Wait.duration(self.pace, &mut self.random);
            self.chip.run(Engine::Tensor, set, duration, &mut self.random)
        };
        let weights = wait(self.times.weights[at(tile)]);
        let input = (tile % GROUP == 0).then(|| wait(self.times.inputs[at(tile / GROUP)]));
        let reload = (tile == NEEDED_AT).then(|| wait(self.times.reloaded));
        (weights, input, reload)
    }

    /// Multiplies. Weights are loaded while the multiplication before still runs.
    fn multiply(&mut self, tile: i64) -> ([EngineRun; MATMULS], [EngineRun; MATMULS]) {
        let (mut loads, mut products) = ([EngineRun::default(); MATMULS], [EngineRun::default(); MATMULS]);
        // Two tiles of sums fit in the partial-sum buffer.
        let mut set = if tile < 2 { NO_WAIT } else { self.times.scalar[at(tile - 2)] };
        let (mut load_free, mut product_free) = (self.chip.free(Engine::Tensor), i64::MIN / 2);
        let mut product_start = i64::MIN / 2;
        for (load, product) in loads.iter_mut().zip(&mut products) {
            let duration = EngineTask::Load.duration(self.pace, &mut self.random);
            *load = self.chip.planned(load_free.max(product_start), set, duration, &mut self.random);
            set = NO_WAIT;
            let duration = EngineTask::Product.duration(self.pace, &mut self.random);
            let free = load.span.end.0.max(product_free);
            *product = self.chip.planned(free, NO_WAIT, duration, &mut self.random);
            load_free = load.span.end.0;
            (product_start, product_free) = (product.span.start.0, product.span.end.0);
        }
        self.chip.keep(Engine::Tensor, product_free);
        self.times.tensor[at(tile)] = set_by(products[MATMULS - 1]);
        (loads, products)
    }

    /// Takes each pair of sums out of the partial-sum buffer.
    fn activate(&mut self, tile: i64, products: &[EngineRun; MATMULS]) -> [EngineRun; ACTIVATIONS] {
        let mut index = 0;
        let activations = [(); ACTIVATIONS].map(|()| {
            let set = set_by(products[2 * index + 1]);
            index += 1;
            let duration = EngineTask::Activation.duration(self.pace, &mut self.random);
            self.chip.run(Engine::Scalar, set, duration, &mut self.random)
        });
        self.times.scalar[at(tile)] = set_by(activations[ACTIVATIONS - 1]);
        activations
    }

    fn finish(
        &mut self,
        tile: i64,
        activations: &[EngineRun; ACTIVATIONS],
    ) -> ([EngineRun; VECTORS], EngineRun) {
        let mut index = 0;
        let vectors = [(); VECTORS].map(|()| {
            let set = match index {
                0 => set_by(activations[ACTIVATIONS / 2 - 1]),
                at if at == VECTORS / 2 => set_by(activations[ACTIVATIONS - 1]),
                _ => NO_WAIT,
            };
            index += 1;
            let duration = EngineTask::Vector.duration(self.pace, &mut self.random);
            self.chip.run(Engine::Vector, set, duration, &mut self.random)
        });
        let set = set_by(vectors[VECTORS - 1]);
        self.times.vector[at(tile)] = set;
        let duration = EngineTask::GpSimd.duration(self.pace, &mut self.random);
        let gpsimd = self.chip.run(Engine::GpSimd, set, duration, &mut self.random);
        self.times.gpsimd[at(tile)] = set_by(gpsimd);
        (vectors, gpsimd)
    }

    /// Stores the last output. All engines meet, semaphores are cleared, and the collective
    /// operation starts.
    fn end(&mut self, place: PhasePlace) -> EndPlan {
        let tiles = place.part.tiles();
        let output = self.output(tiles, self.times.gpsimd[at(tiles - 1)]);
        let duration = EngineTask::Wait.duration(self.pace, &mut self.random);
        let output_wait = self.chip.run(Engine::Sync, output.done(), duration, &mut self.random);
        let (barrier, barrier_sets) = self.barrier();
        let clear = self.chip.run(Engine::Sync, NO_WAIT, CLEAR_PS, &mut self.random);
        let trigger =
            self.meets.then(|| self.chip.run(Engine::GpSimd, NO_WAIT, COLLECTIVE_PS, &mut self.random));
        let arrival = trigger.map_or(clear.span.end.0, |trigger| trigger.span.end.0);
        EndPlan { place, tiles, output, output_wait, barrier, barrier_sets, clear, arrival }
    }

    /// Engine after engine raises the semaphore that the next one waits for, there and back.
    fn barrier(&mut self) -> ([EngineRun; BARRIER.len()], [i64; BARRIER.len()]) {
        let (mut runs, mut sets) = ([EngineRun::default(); BARRIER.len()], [0; BARRIER.len()]);
        let mut before = NO_WAIT;
        for ((run, set), engine) in runs.iter_mut().zip(&mut sets).zip(BARRIER) {
            // The wait is inside the instruction and does not keep it from starting.
            let start = self.chip.run(engine, NO_WAIT, 0, &mut self.random).span.start.0;
            *set = start.max(before) + self.random.part(BARRIER_PS, 800, 1_250);
            *run = EngineRun { span: Interval::new(start, *set + BARRIER_END_PS), wait_ps: 0 };
            self.chip.keep(engine, run.span.end.0);
            before = *set;
        }
        (runs, sets)
    }
}

fn count(kind: Move) -> i64 {
    i64::try_from(kind.packets()).unwrap_or(i64::MAX)
}
