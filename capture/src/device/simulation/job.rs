//! The job: when its ranks meet.
//!
//! A phase ends with a collective operation that no rank leaves before the last one has arrived.
//! All ranks are run once to know these times. Each can then be captured by itself and still agrees
//! with the others on every meeting. Their memory is eight bytes a phase.

use nprof_engine::base::Result;

use super::Simulation;
use super::extent::{PhaseExtent, Recording};
use super::fault::{Effects, PlantedFault, of_seed};
use super::phase::{RankRun, SETUP_PS};
use super::place::LayerPart;
use super::plan::{BeginPlan, EndPlan, PlanSink, SetupPlan, TilePlan};

/// Picoseconds for 1024 bytes. A rank's links to the others carry 192 GB/s.
const LINK_PS_PER_KIB: i64 = 5_333;
/// Time of a collective operation of no bytes.
const LINK_LATENCY_PS: i64 = 1_000_000;

/// A job with the times at which its ranks meet.
#[derive(Debug)]
pub struct SimulatedJob {
    settings: Simulation,
    faults: Vec<PlantedFault>,
    /// For each phase the time at which its last rank arrives.
    last_arrivals: Vec<i64>,
}

/// One phase on one rank. Times in picoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RankMeeting {
    /// Time at which this rank has done its work and enters the collective operation.
    pub(super) arrival: i64,
    /// Time at which the last rank arrives.
    pub(super) last_arrival: i64,
    /// Time at which the operation ends, on all ranks.
    pub(super) end: i64,
    /// Factor by which this rank moves its part sooner than the slowest one.
    pub(super) ahead: i64,
}

/// A stage that keeps nothing.
struct Empty;

impl PlanSink for Empty {
    fn setup(&mut self, _: &SetupPlan) -> Result<()> {
        Ok(())
    }

    fn begin(&mut self, _: &BeginPlan) -> Result<()> {
        Ok(())
    }

    fn tile(&mut self, _: &TilePlan) -> Result<()> {
        Ok(())
    }

    fn end(&mut self, _: &EndPlan) -> Result<()> {
        Ok(())
    }
}

impl SimulatedJob {
    /// Runs all ranks of a job. Fails if the settings are out of range.
    pub fn new(settings: &Simulation) -> Result<Self> {
        settings.check()?;
        Self::with(settings, settings.faults.clone().unwrap_or_else(|| of_seed(settings)))
    }

    /// Runs all ranks with these causes.
    pub(super) fn with(settings: &Simulation, faults: Vec<PlantedFault>) -> Result<Self> {
        let mut job = Self { settings: settings.clone(), faults, last_arrivals: Vec::new() };
        if settings.ranks > 1 {
            job.last_arrivals = job.meet()?;
        }
        Ok(job)
    }

    pub(super) fn settings(&self) -> &Simulation {
        &self.settings
    }

    /// The causes that are planted.
    #[must_use]
    pub fn faults(&self) -> &[PlantedFault] {
        &self.faults
    }

    fn meet(&self) -> Result<Vec<i64>> {
        let recording = Recording::new(&self.settings);
        let mut ranks: Vec<RankRun> = (0..self.settings.ranks).map(|rank| self.run_of(rank)).collect();
        let factor = ranks.first().map_or(1, |run| run.effects().link_factor());
        for run in &mut ranks {
            run.setup(&mut Empty)?;
        }
        let (mut start, mut last_arrivals) = (SETUP_PS, Vec::new());
        for extent in recording.filter(|extent| extent.is_whole) {
            let mut last = start;
            for run in &mut ranks {
                last = last.max(run.phase(&extent, start, &mut Empty)?);
            }
            start = last + exchange_ps(self.settings.ranks, extent.place.part) * factor;
            last_arrivals.push(last);
        }
        Ok(last_arrivals)
    }

    fn run_of(&self, rank: u32) -> RankRun {
        let effects = Effects::new(&self.faults, rank);
        RankRun::new(effects, self.settings.seed, rank, self.settings.ranks > 1)
    }

    /// Runs a rank. `met` receives each phase that ends, after its work.
    pub(super) fn run<S: PlanSink>(
        &self,
        rank: u32,
        stage: &mut S,
        met: &mut dyn FnMut(&PhaseExtent, &RankMeeting, &mut S) -> Result<()>,
    ) -> Result<()> {
        let recording = Recording::new(&self.settings);
        let mut run = self.run_of(rank);
        if recording.has_setup {
            run.setup(stage)?;
        }
        let (mut start, mut number) = (SETUP_PS, 0);
        let factor = run.effects().link_factor();
        let ahead = if run.effects().has_slow_link() { 1 } else { factor };
        for extent in recording {
            let arrival = run.phase(&extent, start, stage)?;
            let last_arrival = self.last_arrivals.get(number).copied().unwrap_or(arrival);
            let exchange = exchange_ps(self.settings.ranks, extent.place.part) * factor;
            let end = if self.settings.ranks > 1 { last_arrival + exchange } else { arrival };
            if extent.is_whole {
                met(&extent, &RankMeeting { arrival, last_arrival, end, ahead }, stage)?;
            }
            (start, number) = (end, number + 1);
        }
        Ok(())
    }
}

/// Time on the links. Each rank sends its share to the others, in an all-reduce there and back.
pub(super) fn exchange_ps(ranks: u32, part: LayerPart) -> i64 {
    let ranks = i64::from(ranks);
    let rounds = match part {
        LayerPart::Attention => ranks - 1,
        LayerPart::Mlp => 2 * (ranks - 1),
    };
    LINK_LATENCY_PS + part.collective_bytes() / 1024 * LINK_PS_PER_KIB / ranks * rounds
}
