//! Work of a rank with its times, before it becomes rows.

use nprof_engine::base::{Interval, Result};

use super::op::{ACTIVATIONS, BARRIER, MATMULS, VECTORS};
use super::place::PhasePlace;
use super::queue::{DMA_ENGINES, Move};
use super::semaphore::SemaphoreCondition;

/// An instruction as it runs.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct EngineRun {
    pub(super) span: Interval,
    /// Time from the end of what its engine did before to the change of the semaphore.
    pub(super) wait_ps: i64,
}

/// A transfer with its trigger.
#[derive(Debug, Clone)]
pub(super) struct MovePlan {
    pub(super) kind: Move,
    /// Tile at which it is triggered, which tells its operands.
    pub(super) slot: i64,
    pub(super) trigger: EngineRun,
    pub(super) span: Interval,
    pub(super) packets: [Interval; DMA_ENGINES as usize],
    /// Times at which the semaphore changes, ascending, one for each packet.
    pub(super) sets: [i64; DMA_ENGINES as usize],
    /// Holds after the last packet.
    pub(super) condition: SemaphoreCondition,
    pub(super) bytes: i64,
}

impl MovePlan {
    /// Time at which the last packet raises the semaphore.
    pub(super) fn done(&self) -> i64 {
        self.sets[self.kind.packets() - 1]
    }
}

/// The loads before the first phase.
#[derive(Debug)]
pub(super) struct SetupPlan {
    pub(super) moves: Vec<MovePlan>,
}

/// Beginning of a phase.
#[derive(Debug)]
pub(super) struct BeginPlan {
    pub(super) place: PhasePlace,
    /// End of the collective operation before.
    pub(super) start: i64,
    /// Wait for the host, at the beginning of a step.
    pub(super) host: Option<EngineRun>,
    pub(super) input: MovePlan,
    /// Whether the input reports an error.
    pub(super) is_out_of_bounds: bool,
}

/// Work on a tile.
#[derive(Debug)]
pub(super) struct TilePlan {
    pub(super) place: PhasePlace,
    pub(super) tile: i64,
    /// Pause of the Sync engine before its triggers, and whether it is long.
    pub(super) pace: Option<EngineRun>,
    pub(super) is_late: bool,
    pub(super) moves: Vec<MovePlan>,
    pub(super) weights_wait: EngineRun,
    pub(super) input_wait: Option<EngineRun>,
    pub(super) reload_wait: Option<EngineRun>,
    pub(super) loads: [EngineRun; MATMULS],
    pub(super) products: [EngineRun; MATMULS],
    pub(super) activations: [EngineRun; ACTIVATIONS],
    pub(super) vectors: [EngineRun; VECTORS],
    pub(super) gpsimd: EngineRun,
    /// Time at which all engines stood still before the tile.
    pub(super) pause: Option<Interval>,
    /// Time before which no later trigger starts.
    pub(super) settled: i64,
}

/// End of a phase: the last output, and the barrier.
#[derive(Debug)]
pub(super) struct EndPlan {
    pub(super) place: PhasePlace,
    /// Number of tiles, which tells operands.
    pub(super) tiles: i64,
    pub(super) output: MovePlan,
    pub(super) output_wait: EngineRun,
    pub(super) barrier: [EngineRun; BARRIER.len()],
    /// Times at which the barrier's semaphore changes.
    pub(super) barrier_sets: [i64; BARRIER.len()],
    pub(super) clear: EngineRun,
    /// Time at which the rank has done its work.
    pub(super) arrival: i64,
}

/// Receives the work of a rank in the order of the program.
pub(super) trait PlanSink {
    fn setup(&mut self, plan: &SetupPlan) -> Result<()>;
    fn begin(&mut self, plan: &BeginPlan) -> Result<()>;
    fn tile(&mut self, plan: &TilePlan) -> Result<()>;
    fn end(&mut self, plan: &EndPlan) -> Result<()>;
}
