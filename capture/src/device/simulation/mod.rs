//! A simulated accelerator, for captures without hardware. It imitates the training of a
//! transformer on several ranks.
//!
//! Each rank works through the same layers. A tile of a layer is loaded by DMA, multiplied by the
//! Tensor engine and finished by the Scalar, Vector and GpSimd engines. Each part of a layer ends
//! with a collective operation in which all ranks wait for the slowest. These laws hold in every
//! capture:
//! - An engine runs one instruction at a time. Only the Tensor engine loads weights while it
//!   multiplies.
//! - A DMA queue moves one packet at a time on each engine. A transfer spans its packets and has
//!   their bytes. Bytes are rate times duration.
//! - A collective operation ends at the same time on all ranks, after the last one has arrived.
//! - An arrow leads from a slice that ended to one that started later.
//!
//! Memory does not grow with the number of events, and equal settings give equal captures.

mod collective;
mod device_tracks;
mod phases;
mod program;
mod random;
mod rig;
mod schedule;
mod side;
mod tile;

#[cfg(test)]
mod tests;

use nprof_engine::base::{Error, Result};
use nprof_engine::model::Sink;

use self::program::BodyTexts;
use self::rig::Rig;
use self::schedule::{LayerPart, RankSchedule};

pub use self::side::host_of;

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
    /// The slowest rank. `None`: the seed decides.
    pub straggler: Option<u32>,
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
    /// Most ranks of a job. Each rank simulates the arrivals of all others, so time grows with the
    /// square of this number.
    pub const MAX_RANKS: u32 = 4096;
    /// Most layers of a model. Its program stays in memory, some 60 KiB for each layer.
    pub const MAX_LAYERS: u32 = 512;
    /// Most events of a capture. Row numbers must fit 32 bits for links between slices.
    pub const MAX_EVENTS: u64 = 4_000_000_000;

    fn check(&self, rank: u32) -> Result<()> {
        let what = match self {
            _ if self.ranks == 0 || self.ranks > Self::MAX_RANKS => "ranks must be 1 to 4096",
            _ if rank >= self.ranks => "the rank must be below the number of ranks",
            _ if self.straggler.is_some_and(|rank| rank >= self.ranks) => {
                "the straggler must be below the number of ranks"
            }
            _ if self.layers == 0 || self.layers > Self::MAX_LAYERS => "layers must be 1 to 512",
            _ if self.events_per_rank > Self::MAX_EVENTS => "events per rank must be at most 4,000,000,000",
            _ => return Ok(()),
        };
        Err(Error::Invalid { what })
    }
}

impl Default for Simulation {
    fn default() -> Self {
        Self {
            ranks: 4,
            events_per_rank: 100_000,
            seed: 1,
            layers: 32,
            straggler: None,
            detail: Detail::Full,
        }
    }
}

/// Captures one rank of the job. `progress` receives the number of events so far.
///
/// # Errors
/// If the settings are out of range, or the sink fails.
pub fn capture(
    settings: &Simulation,
    rank: u32,
    sink: &mut dyn Sink,
    progress: &mut dyn FnMut(u64),
) -> Result<()> {
    settings.check(rank)?;
    let texts: Vec<BodyTexts> = (0..settings.layers)
        .flat_map(|layer| LayerPart::ALL.map(|part| BodyTexts::new(layer, part)))
        .collect();
    let subgroups = program::subgroups(device_tracks::DMA_ENGINES);
    let mut rig = Rig::new(settings, rank, &texts, &subgroups, sink)?;
    let mut schedule = RankSchedule::new(settings, rank);
    loop {
        let phase = schedule.next();
        if !rig.phase(&phase, sink)? {
            break;
        }
        progress(rig.events());
    }
    rig.finish(sink)?;
    progress(rig.events());
    side::describe(settings, rank, &rig, sink)
}
