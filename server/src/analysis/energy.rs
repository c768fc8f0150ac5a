//! The energy of a profile: the power of each rank, and what its device did meanwhile.

use nprof_engine::analysis::Analysed;
use nprof_engine::base::{ClockFit, Error, Interval, Time};
use nprof_engine::exec::Cancel;
use nprof_engine::insight::energy::{PartTotals, RankActivity, RankPower, by_region};
use nprof_engine::insight::region::RegionKind;
use nprof_engine::insight::walk::{CriticalPath, JobEdges};
use nprof_engine::makers::power;
use nprof_engine::model::PowerCounter;

use super::graph::replayable;
use super::regions::regions_of_job;
use super::{AnalysisError, of_segment, on_all_cores};
use crate::store::{Profile, RankFile};

/// The energy of a profile, and the time of its run.
#[derive(Debug)]
pub struct RunEnergy {
    /// First and last work of the run, in picoseconds of the shared clock. Empty without work.
    pub run: Interval,
    /// Number of ranks of the job, also of those that the profile lacks.
    pub world: u32,
    /// The ranks.
    pub ranks: Vec<RankEnergy>,
    /// The analysis of all ranks, for their clocks.
    analysed: Analysed,
}

/// The energy of a rank.
#[derive(Debug)]
pub struct RankEnergy {
    /// Number of the rank.
    pub rank: u32,
    /// Names of its work; the totals have their numbers.
    pub names: Vec<String>,
    /// The parts of the run, in picoseconds.
    pub time: PartTotals,
    /// The recorded power, and its parts in joules.
    pub energy: Result<RankJoules, NoPower>,
}

/// The energy of a rank with a counter of power.
#[derive(Debug)]
pub struct RankJoules {
    /// The counter, on the clock of the segment.
    pub counter: PowerCounter,
    /// The power, on the shared clock.
    pub power: RankPower,
    /// The parts of the energy, in joules.
    pub parts: PartTotals,
}

/// The reason why the energy of a rank is not known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoPower {
    /// The trace has no counter of power.
    #[error("no counter of power was recorded")]
    None,
    /// All values of the counter are zero.
    #[error("the counter \"{0}\" has no value above zero")]
    Zero(String),
    /// Several counters, of which nobody can tell whether they measure the same.
    #[error("several counters of power were recorded ({}); --counter NAME chooses one", .0.join(", "))]
    Several(Vec<String>),
}

/// The energy and the time of a region, over all ranks.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RegionEnergy {
    /// Name of the region; empty for the rest.
    pub name: String,
    /// Time in picoseconds, summed over the ranks.
    pub time_ps: f64,
    /// Joules of the ranks with a power.
    pub joules: f64,
}

impl RunEnergy {
    /// The energy of these ranks. `counter` is a part of the name of the counter.
    pub fn of(
        profile: &Profile,
        rank: Option<u32>,
        counter: Option<&str>,
        cancel: Cancel<'_>,
    ) -> Result<Self, AnalysisError> {
        let failed = |source: Error| AnalysisError::Segment { path: profile.dir.clone(), source };
        let of = replayable(profile, cancel)?;
        let edges = JobEdges::of(of.graph(), on_all_cores(cancel)).map_err(failed)?;
        let (start_ps, end_ps) = CriticalPath::of(&edges).span_ps;
        let run = Interval::new(start_ps, end_ps);
        let wanted =
            (0_u32..).zip(&of.analysed.job.ranks).filter(|(_, one)| rank.is_none_or(|rank| rank == one.rank));
        let wanted: Vec<(u32, &RankFile)> = wanted
            .filter_map(|(at, one)| {
                Some((at, profile.manifest.ranks.iter().find(|file| file.rank == one.rank)?))
            })
            .collect();
        let one = |(at, file): (u32, &RankFile)| {
            let activity = RankActivity::of(&edges, at);
            let time = PartTotals::of_time(run, &activity.work, &activity.rests);
            let counters = of_segment(profile, file, |segment| power(segment, cancel))?;
            let clock = of.analysed.clock_of(file.rank);
            let energy = chosen(counters, counter).map(|one| {
                let power = power_on(&one, &clock);
                let parts = PartTotals::of_energy(&power, &activity.work, &activity.rests);
                RankJoules { counter: one, power, parts }
            });
            Ok(RankEnergy { rank: file.rank, names: activity.names, time, energy })
        };
        let work = on_all_cores(cancel);
        let ranks = work.gather(wanted.len(), |at| Ok(one(wanted[at]))).map_err(failed)?;
        let ranks = ranks.into_iter().collect::<Result<Vec<_>, AnalysisError>>()?;
        let all = nprof_engine::base::narrow(of.analysed.job.ranks.len());
        drop(edges);
        Ok(Self { run, world: of.analysed.job.world.max(all), ranks, analysed: of.analysed })
    }

    /// The energy of the regions of a kind, in the order of their starts, then that of the rest.
    /// The time is that of the run.
    pub fn by_region(
        &self,
        profile: &Profile,
        kind: RegionKind,
        cancel: Cancel<'_>,
    ) -> Result<Vec<RegionEnergy>, AnalysisError> {
        let of_rank = |one: &&RankFile| self.ranks.iter().any(|rank| rank.rank == one.rank);
        let files: Vec<&RankFile> = profile.manifest.ranks.iter().filter(of_rank).collect();
        let found = regions_of_job(profile, &files, &self.analysed, cancel)?;
        let (mut regions, mut rest): (Vec<RegionEnergy>, _) = (Vec::new(), RegionEnergy::default());
        for of in &found {
            let Some(rank) = self.ranks.iter().find(|rank| rank.rank == of.rank) else { continue };
            let of_kind: Vec<_> = of.regions.all.iter().filter(|region| region.kind == kind).collect();
            let spans: Vec<Interval> = of_kind.iter().map(|region| region.span).collect();
            let passed = |time_ps: i64| time_ps.saturating_sub(self.run.start.0) as f64;
            let (times, other_ps) = by_region(self.run, &spans, passed);
            let power = rank.energy.as_ref().ok().map(|energy| &energy.power);
            let (joules, other) = match power {
                Some(power) => by_region(power.span(), &spans, |time_ps| power.joules_until(time_ps)),
                None => (vec![0.0; spans.len()], 0.0),
            };
            (rest.time_ps, rest.joules) = (rest.time_ps + other_ps, rest.joules + other);
            for ((region, time_ps), joules) in of_kind.iter().zip(times).zip(joules) {
                match regions.iter_mut().find(|known| known.name == region.name) {
                    Some(known) => {
                        known.time_ps += time_ps;
                        known.joules += joules;
                    }
                    None => regions.push(RegionEnergy { name: region.name.clone(), time_ps, joules }),
                }
            }
        }
        regions.push(rest);
        Ok(regions)
    }
}

/// The counter to use.
fn chosen(mut counters: Vec<PowerCounter>, name: Option<&str>) -> Result<PowerCounter, NoPower> {
    counters.retain(|one| name.is_none_or(|name| one.name.contains(name)));
    if counters.len() > 1 {
        return Err(NoPower::Several(counters.into_iter().map(|one| one.name).collect()));
    }
    let only = counters.pop().ok_or(NoPower::None)?;
    match only.samples.iter().any(|(_, watts)| *watts > 0.0) {
        true => Ok(only),
        false => Err(NoPower::Zero(only.name)),
    }
}

fn power_on(of: &PowerCounter, clock: &ClockFit) -> RankPower {
    let samples: Vec<(i64, f64)> =
        of.samples.iter().map(|(time_ps, watts)| (clock.to_shared(Time(*time_ps)).0, *watts)).collect();
    RankPower::new(&samples, clock.to_shared(Time(of.end_ps)).0)
}
