//! A simulated accelerator, for captures without hardware. It imitates the training of a
//! transformer on several ranks.
//!
//! Each rank works through the same layers, step by step. A tile of a layer is loaded by DMA two
//! tiles ahead, multiplied by the Tensor engine and finished by the Scalar, Vector and GpSimd
//! engines, which wait for each other by semaphores. Each part of a layer ends with a barrier and a
//! collective operation in which all ranks wait for the slowest. Causes of lost time can be
//! planted; what each costs is found by running the job without it. These laws hold in every
//! capture:
//! - An engine runs one instruction at a time. Only the Tensor engine loads weights while it
//!   multiplies.
//! - An instruction that waits for a semaphore starts 70 ns after the change that fulfils its
//!   condition, or later. An instruction, a packet or a collective operation makes each change.
//! - A DMA queue moves one packet at a time on each engine. A transfer spans its packets and has
//!   their bytes. Bytes are rate times duration.
//! - A collective operation ends at the same time on all ranks, after the last one has arrived.
//! - An arrow leads from a slice that ended to one that started later.
//!
//! Memory grows by eight bytes for each phase of some thousand events, and equal settings give
//! equal captures.

mod chip;
mod collective;
mod device_tracks;
mod extent;
mod fault;
mod job;
mod op;
mod operands;
mod phase;
mod phases;
mod place;
mod plan;
mod program;
mod queue;
mod random;
mod rig;
mod semaphore;
mod side;
mod sources;
mod transfer;
mod transfer_counters;
mod truth;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod truth_tests;

use nprof_engine::base::{Error, Interval, Result};
use nprof_engine::model::Sink;

use self::fault::Effects;
use self::op::FIRST_PRODUCT;
use self::phases::Emission;
use self::plan::{BeginPlan, EndPlan, EngineRun, PlanSink, SetupPlan, TilePlan};
use self::program::ProgramTexts;
use self::rig::Rig;

pub use self::fault::{FaultKind, PlantedFault};
pub use self::job::SimulatedJob;
pub use self::side::host_of;
pub use self::sources::{SOURCES, SourceFile};
pub use self::truth::{JobTruth, PlantedCause};

/// Size and seed of a simulated job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Simulation {
    /// Number of ranks of the job, at most [`Simulation::MAX_RANKS`].
    pub ranks: u32,
    /// Number of slices and samples of each rank.
    pub events_per_rank: u64,
    /// Seed of the random numbers. Different seeds give different jobs.
    pub seed: u64,
    /// Number of layers of the model, at most [`Simulation::MAX_LAYERS`].
    pub layers: u32,
    /// Planted causes. `None`: those of the seed, which are a slow rank, throttling and an error.
    pub faults: Option<Vec<PlantedFault>>,
    /// Subject of the capture.
    pub detail: Detail,
}

/// Events of a simulated capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// All instructions, transfers, counters and operations.
    Full,
    /// For each phase its collective operation, and one instruction in the place of its
    /// computation: jobs of many ranks stay small.
    Collectives,
}

impl Simulation {
    /// Most ranks of a job. All of them are run before the first capture.
    pub const MAX_RANKS: u32 = 4096;
    /// Most layers of a model. Its program stays in memory, some 20 KiB for each layer.
    pub const MAX_LAYERS: u32 = 512;
    /// Most events of a capture. Row numbers must fit 32 bits for links between slices.
    pub const MAX_EVENTS: u64 = 4_000_000_000;

    fn check(&self) -> Result<()> {
        let faults = self.faults.iter().flatten();
        let what = match self {
            _ if self.ranks == 0 || self.ranks > Self::MAX_RANKS => "ranks must be 1 to 4096",
            _ if self.layers == 0 || self.layers > Self::MAX_LAYERS => "layers must be 1 to 512",
            _ if self.events_per_rank > Self::MAX_EVENTS => "events per rank must be at most 4,000,000,000",
            _ if !faults.clone().all(|fault| fault.fits(self)) => {
                "a fault must be of a rank or a layer of the job"
            }
            _ => return Ok(()),
        };
        Err(Error::Invalid { what })
    }
}

impl Default for Simulation {
    fn default() -> Self {
        Self { ranks: 4, events_per_rank: 100_000, seed: 1, layers: 12, faults: None, detail: Detail::Full }
    }
}

/// Captures one rank of a job. `progress` receives the number of events so far.
///
/// # Errors
/// If the settings are out of range, or the sink fails.
pub fn capture(
    settings: &Simulation,
    rank: u32,
    sink: &mut dyn Sink,
    progress: &mut dyn FnMut(u64),
) -> Result<()> {
    SimulatedJob::new(settings)?.capture(rank, sink, progress)
}

impl SimulatedJob {
    /// Captures one rank. `progress` receives the number of events so far.
    pub fn capture(&self, rank: u32, sink: &mut dyn Sink, progress: &mut dyn FnMut(u64)) -> Result<()> {
        let settings = self.settings();
        if rank >= settings.ranks {
            return Err(Error::Invalid { what: "the rank must be below the number of ranks" });
        }
        let texts = ProgramTexts::new(settings.layers);
        let effects = Effects::new(self.faults(), rank);
        let mut rig = Rig::new(settings, &effects, &texts, sink)?;
        match settings.detail {
            Detail::Full => {
                let mut emission = Emission::new(&mut rig, &effects, sink);
                self.run(rank, &mut emission, &mut |extent, meeting, emission| {
                    progress(emission.rig.events());
                    let Some(collectives) = emission.rig.collectives.take() else { return Ok(()) };
                    collectives.exchange(&extent.place, meeting, emission.rig, emission.sink)?;
                    emission.rig.collectives = Some(collectives);
                    Ok(())
                })?;
                emission.finish()?;
            }
            Detail::Collectives => self.brief(rank, &mut rig, sink, progress)?,
        }
        progress(rig.events());
        side::describe(settings, rank, &rig, &texts.frames, sink)
    }

    /// Captures for each phase one instruction and its operation.
    fn brief(
        &self,
        rank: u32,
        rig: &mut Rig<'_>,
        sink: &mut dyn Sink,
        progress: &mut dyn FnMut(u64),
    ) -> Result<()> {
        self.run(rank, &mut PhaseStart(0), &mut |extent, meeting, began| {
            let run = EngineRun { span: Interval::new(began.0, meeting.arrival), wait_ps: 0 };
            rig.op(extent.place.body(), FIRST_PRODUCT, 0, run, sink)?;
            if let Some(collectives) = rig.collectives.take() {
                collectives.operation(&extent.place, meeting, rig, sink)?;
                rig.collectives = Some(collectives);
            }
            progress(rig.events());
            Ok(())
        })
    }
}

/// Time at which the work of a phase begins, once the host has started it.
struct PhaseStart(i64);

impl PlanSink for PhaseStart {
    fn setup(&mut self, _: &SetupPlan) -> Result<()> {
        Ok(())
    }

    fn begin(&mut self, plan: &BeginPlan) -> Result<()> {
        self.0 = plan.host.map_or(plan.start, |host| host.span.start.0);
        Ok(())
    }

    fn tile(&mut self, _: &TilePlan) -> Result<()> {
        Ok(())
    }

    fn end(&mut self, _: &EndPlan) -> Result<()> {
        Ok(())
    }
}
