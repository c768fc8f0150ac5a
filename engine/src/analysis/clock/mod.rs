//! One clock for all ranks: what is certain of each offset, and the best estimate within.

mod bounds;
mod causality;
mod estimate;
pub(crate) mod line;
mod missing_bounds;
mod sample;
mod solve;

use crate::base::{ClockFit, Result};
use crate::exec::Cancel;

use super::islands::Islands;
use super::{Instances, Job};
use line::ClockLine;

pub(super) use estimate::tree;
pub use missing_bounds::Unbounded;

/// Relation between the clocks of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClockVerdict {
    /// No two ranks meet, so nothing is known.
    Unknown,
    /// The clocks agree as far as the calls tell. No rank is moved.
    Agree,
    /// At least one rank is moved.
    Aligned,
}

impl ClockVerdict {
    /// The verdict in a word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Agree => "agree",
            Self::Aligned => "aligned",
        }
    }
}

/// The clock of a rank, as the calls of all ranks show it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankClock {
    /// The map from the rank's times to those of the reference.
    pub fit: ClockFit,
    /// Least offset at [`ClockFit::at_ps`] that does not contradict causality, in picoseconds.
    /// `None` if nothing bounds it.
    pub low_ps: Option<i64>,
    /// Largest such offset.
    pub high_ps: Option<i64>,
    /// Why there is no least or no largest offset. `None` if there are both.
    pub unbounded: Option<Unbounded>,
    /// Typical difference between an end on this rank and the median of the operation's ends.
    pub residual_ps: u64,
    /// Operations that the estimate uses.
    pub calls: u32,
}

/// The clocks of all ranks.
#[derive(Debug, Clone, PartialEq)]
pub struct JobClocks {
    /// Position of the rank that the others are compared with.
    pub reference: usize,
    /// Verdict about the job.
    pub verdict: ClockVerdict,
    /// The clocks, in the order of ranks.
    pub ranks: Vec<RankClock>,
    /// Operations whose times contradict their certain order on the resulting clocks: a rank left
    /// an all-reduce before another one entered, for example.
    pub violations: u64,
}

/// Finds the clocks. `start` are lines that are known roughly.
pub(super) fn find(
    job: &Job,
    instances: &Instances,
    islands: &Islands,
    start: Vec<ClockLine>,
    cancel: Cancel<'_>,
) -> Result<(JobClocks, Vec<ClockLine>)> {
    let sample = sample::of(job, instances, islands, cancel)?;
    let reference = sample.reference;
    let sampled = sample::SampledJob { job, instances, sample: &sample };
    let estimated = estimate::fit(sampled, start, cancel)?;
    let is_certain = |rank: usize| islands.are_certain(rank, reference);
    let is_certain: Vec<bool> = (0..job.ranks.len()).map(is_certain).collect();
    let bounds = bounds::certain(sampled, is_certain.clone(), cancel)?;
    let (verdict, lines) = estimated.verdict(job, &sample, &bounds);
    let limits: Vec<(Option<i64>, Option<i64>)> = limits(job, &bounds, &lines);
    let has_open = limits.iter().any(|limits| matches!(limits, (None, _) | (_, None)));
    let seen =
        if has_open { Some(missing_bounds::RankOperations::of(job, instances, cancel)?) } else { None };
    let ranks = (0..job.ranks.len()).map(|rank| {
        let line = &lines[rank];
        let at_ps = line.at_ps;
        let (low, high) = limits[rank];
        let shift = line::rounded(line.shift(at_ps));
        // The estimate must not contradict what is certain.
        let shift_within = shift.max(low.unwrap_or(i64::MIN)).min(high.unwrap_or(i64::MAX));
        let is_moved = verdict == ClockVerdict::Aligned && job.clocks[rank] != job.clocks[reference];
        let moved = if is_moved { shift_within } else { shift };
        let bound = low.zip(high).map(|(low, high)| moved.abs_diff(low).max(moved.abs_diff(high)));
        let fit = ClockLine { offset_ps: moved as f64, ..*line }.clock(at_ps, bound);
        let residual_ps = line::rounded(estimated.residuals[rank]).unsigned_abs();
        let unbounded = match (low, high) {
            (Some(_), Some(_)) => None,
            _ => seen.as_ref().map(|seen| seen.why(job, rank, &is_certain, bounds.are_contradictory(rank))),
        };
        RankClock { fit, low_ps: low, high_ps: high, unbounded, residual_ps, calls: sample.calls(rank) }
    });
    let ranks: Vec<RankClock> = ranks.collect();
    let violations = bounds::violations(job, instances, &ranks, cancel)?;
    Ok((JobClocks { reference, verdict, ranks, violations }, estimated.lines))
}

/// Lowest and highest offset of each rank. Those of ranks with one clock hold for all of them.
fn limits(job: &Job, bounds: &bounds::Bounds, lines: &[ClockLine]) -> Vec<(Option<i64>, Option<i64>)> {
    let own: Vec<(Option<i64>, Option<i64>)> =
        lines.iter().enumerate().map(|(rank, line)| bounds.at(rank, line.at_ps)).collect();
    let mut of_clocks = own.clone();
    for ((low, high), &clock) in own.iter().zip(&job.clocks) {
        let of = &mut of_clocks[usize::from(clock)];
        // `None` is less than any number.
        of.0 = of.0.max(*low);
        of.1 = match (of.1, *high) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
    }
    let of_rank = |(own, &clock): (&(Option<i64>, Option<i64>), &u16)| match of_clocks[usize::from(clock)] {
        (Some(low), Some(high)) if low > high => *own,
        limits => limits,
    };
    own.iter().zip(&job.clocks).map(of_rank).collect()
}
