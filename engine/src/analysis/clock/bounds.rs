//! Certain bounds of the offsets, by causality alone.
//!
//! Each certain order bounds the difference of two clocks at a time. The tightest bounds of a rank
//! against the reference are the shortest paths over all operations, from it and to it. Clocks are
//! taken to run straight, and no two of them apart by more than [`MOST_DRIFT`]. So a bound at one
//! time also holds at others, wider by the drift that is possible in between. Bounds at several
//! times limit the drift further. The estimate has no part in it.
//!
//! Every pass leaves bounds that hold; further passes only tighten them.

use super::RankClock;
use super::causality::Causality;
use super::sample::SampledJob;
use crate::analysis::{Instances, Job};
use crate::base::{Result, Time};
use crate::exec::Cancel;

/// No bound. Sums with times stay in range.
const FAR: i64 = i64::MAX / 4;
/// Passes until nothing changes; more mean that clocks contradict each other.
const MOST_PASSES: usize = 24;
/// Parts of a rank's time, each with bounds of its own.
const PARTS: usize = 64;
/// Largest drift between two clocks: NTP corrects a clock by no more, and crystals differ by less.
const MOST_DRIFT: f64 = 500e-6;
/// Rounds in which bounds of the offsets limit the drift, and that limit tightens the bounds.
const ROUNDS: usize = 3;

/// Bounds of the offset of each rank.
#[derive(Debug)]
pub(super) struct Bounds {
    ranks: Vec<Envelope>,
    /// Ranks with the clock of the reference.
    is_reference: Vec<bool>,
    /// Ranks whose matches with the reference are certain. Others bound nothing.
    is_certain: Vec<bool>,
}

/// Bounds of the offset of a rank over its own time.
#[derive(Debug, Clone)]
struct Envelope {
    start_ps: i64,
    width_ps: i64,
    /// Lowest and highest offset in the middle of each part.
    low: Vec<i64>,
    high: Vec<i64>,
    /// Least and most growth of the offset in a picosecond.
    slopes: (f64, f64),
}

#[expect(clippy::cast_possible_truncation, reason = "a cast of a float saturates")]
fn ceiled(value: f64) -> i64 {
    value.ceil() as i64
}

impl Envelope {
    fn of(job: &Job, rank: usize) -> Self {
        let calls = &job.ranks[rank].calls;
        let start_ps = calls.starts_ps.first().copied().unwrap_or(0);
        let end_ps = (0..calls.len()).map(|call| calls.end_ps(call)).max().unwrap_or(start_ps);
        let parts = i64::try_from(PARTS).unwrap_or(1);
        let width_ps = end_ps.saturating_sub(start_ps).max(0) / parts + 1;
        let (low, high) = (vec![-FAR; PARTS], vec![FAR; PARTS]);
        Self { start_ps, width_ps, low, high, slopes: (-MOST_DRIFT, MOST_DRIFT) }
    }

    fn part(&self, time: i64) -> usize {
        let part = time.saturating_sub(self.start_ps) / self.width_ps;
        usize::try_from(part).unwrap_or(0).min(PARTS - 1)
    }

    fn centre(&self, part: usize) -> i64 {
        let whole = self.width_ps.saturating_mul(i64::try_from(part).unwrap_or(0));
        self.start_ps.saturating_add(whole).saturating_add(self.width_ps / 2)
    }

    /// The most by which the offset grows from one time to another.
    fn most(&self, from: i64, to: i64) -> i64 {
        let run = to.saturating_sub(from) as f64;
        ceiled(run * if run > 0.0 { self.slopes.1 } else { self.slopes.0 })
    }

    /// The least by which the offset grows from one time to another.
    fn least(&self, from: i64, to: i64) -> i64 {
        self.most(to, from).saturating_neg()
    }

    /// The shared time is no later than this.
    fn latest(&self, time: i64) -> i64 {
        let part = self.part(time);
        match self.high[part] {
            FAR => FAR,
            high => time.saturating_add(high).saturating_add(self.most(self.centre(part), time)),
        }
    }

    /// The shared time is no earlier than this.
    fn earliest(&self, time: i64) -> i64 {
        let part = self.part(time);
        if self.low[part] <= -FAR {
            return -FAR;
        }
        time.saturating_add(self.low[part]).saturating_add(self.least(self.centre(part), time))
    }

    /// The shared time of `time` is `shared` or before. Returns whether that is news.
    fn is_before(&mut self, time: i64, shared: i64) -> bool {
        let part = self.part(time);
        let high = shared.saturating_sub(time).saturating_add(self.most(time, self.centre(part)));
        let is_news = high < self.high[part];
        self.high[part] = self.high[part].min(high);
        is_news
    }

    /// The shared time of `time` is `shared` or after. Returns whether that is news.
    fn is_after(&mut self, time: i64, shared: i64) -> bool {
        let part = self.part(time);
        let low = shared.saturating_sub(time).saturating_add(self.least(time, self.centre(part)));
        let is_news = low > self.low[part];
        self.low[part] = self.low[part].max(low);
        is_news
    }

    /// Carries the bounds of each part to all others.
    fn spread(&mut self) {
        let (later, earlier) = (self.most(0, self.width_ps), self.most(self.width_ps, 0));
        // The most that the offset grows in one direction is the most that it falls in the other.
        let onwards = (1..PARTS).map(|at| (at - 1, at, later, earlier));
        let back = (1..PARTS).rev().map(|at| (at, at - 1, earlier, later));
        for (from, to, rise, fall) in onwards.chain(back) {
            if self.high[from] < FAR {
                self.high[to] = self.high[to].min(self.high[from].saturating_add(rise));
            }
            if self.low[from] > -FAR {
                self.low[to] = self.low[to].max(self.low[from].saturating_sub(fall));
            }
        }
    }

    /// Limits the growth of the offset by the bounds: the offset runs straight between them.
    fn limit_slopes(&mut self) {
        let (mut least, mut most) = self.slopes;
        for from in 0..PARTS {
            for to in from + 1..PARTS {
                let run = (to - from) as f64 * self.width_ps as f64;
                if self.high[to] < FAR && self.low[from] > -FAR {
                    most = most.min(self.high[to].saturating_sub(self.low[from]) as f64 / run);
                }
                if self.low[to] > -FAR && self.high[from] < FAR {
                    least = least.max(self.low[to].saturating_sub(self.high[from]) as f64 / run);
                }
            }
        }
        if least <= most {
            self.slopes = (least, most);
        }
    }

    /// Lowest and highest offset at a time.
    fn at(&self, time: i64) -> (i64, i64) {
        let part = self.part(time);
        let centre = self.centre(part);
        let low = if self.low[part] > -FAR { self.low[part] + self.least(centre, time) } else { -FAR };
        let high = if self.high[part] < FAR { self.high[part] + self.most(centre, time) } else { FAR };
        (low, high)
    }
}

/// Finds the bounds. `is_certain` says which ranks' matches with the reference are certain. The
/// sample shows most of what is certain: it comes first, because all instances of a large job take
/// long.
pub(super) fn certain(of: SampledJob<'_>, is_certain: Vec<bool>, cancel: Cancel<'_>) -> Result<Bounds> {
    let SampledJob { job, instances, sample } = of;
    let mut ranks: Vec<Envelope> = (0..job.ranks.len()).map(|rank| Envelope::of(job, rank)).collect();
    let is_reference: Vec<bool> =
        job.clocks.iter().map(|clock| job.clocks.get(sample.reference) == Some(clock)).collect();
    for (of, _) in ranks.iter_mut().zip(&is_reference).filter(|(_, is_reference)| **is_reference) {
        (of.low, of.high, of.slopes) = (vec![0; PARTS], vec![0; PARTS], (0.0, 0.0));
    }
    let mut bounds = Bounds { ranks, is_reference, is_certain };
    let all = Causality::certain(job, instances, cancel)?;
    let some: Vec<u32> =
        sample.instances.iter().copied().filter(|at| all.binary_search(at).is_ok()).collect();
    let step_ps = step_ps(job);
    for _ in 0..ROUNDS {
        bounds.tighten(job, instances, &some, step_ps, cancel)?;
        bounds.ranks.iter_mut().for_each(Envelope::limit_slopes);
    }
    bounds.tighten(job, instances, &all, step_ps, cancel)?;
    Ok(bounds)
}

impl Bounds {
    /// Passes over instances until nothing changes.
    fn tighten(
        &mut self,
        job: &Job,
        instances: &Instances,
        of: &[u32],
        step_ps: i64,
        cancel: Cancel<'_>,
    ) -> Result<()> {
        for pass in 0..MOST_PASSES {
            self.ranks.iter_mut().for_each(Envelope::spread);
            let mut has_changed = false;
            // Going back and forth carries a bound through the whole job in one pass.
            let order: Box<dyn Iterator<Item = &u32>> =
                if pass % 2 == 0 { Box::new(of.iter()) } else { Box::new(of.iter().rev()) };
            for &at in order {
                cancel.check()?;
                has_changed |= self.apply(job, instances, at as usize, step_ps);
            }
            if !has_changed {
                break;
            }
        }
        Ok(())
    }

    /// Applies the order of an instance. A time can be wrong by a step, to both sides. Returns
    /// whether it tells news.
    fn apply(&mut self, job: &Job, instances: &Instances, at: usize, step_ps: i64) -> bool {
        let Some(causality) = Causality::of(job, instances, at) else { return false };
        let (mut latest, mut earliest) = (FAR, -FAR);
        for one in instances.members(at).filter(|one| self.is_certain[one.rank]) {
            let (calls, of) = (&job.ranks[one.rank].calls, &self.ranks[one.rank]);
            if causality.binds_end(one.rank) {
                latest = latest.min(of.latest(calls.end_ps(one.call)));
            }
            if causality.binds_start(one.rank) {
                earliest = earliest.max(of.earliest(calls.starts_ps[one.call]));
            }
        }
        let (latest, earliest) = (latest.saturating_add(2 * step_ps), earliest.saturating_sub(2 * step_ps));
        let mut has_changed = false;
        for one in instances.members(at).filter(|one| !self.is_reference[one.rank]) {
            if !self.is_certain[one.rank] {
                continue;
            }
            let (calls, of) = (&job.ranks[one.rank].calls, &mut self.ranks[one.rank]);
            if latest < FAR && causality.binds_start(one.rank) {
                has_changed |= of.is_before(calls.starts_ps[one.call], latest);
            }
            if earliest > -FAR && causality.binds_end(one.rank) {
                has_changed |= of.is_after(calls.end_ps(one.call), earliest);
            }
        }
        has_changed
    }

    /// Lowest and highest offset of a rank at a time of its own. Bounds that contradict each other
    /// are none.
    pub(super) fn at(&self, rank: usize, time: i64) -> (Option<i64>, Option<i64>) {
        if self.are_contradictory(rank) {
            return (None, None);
        }
        let (low, high) = self.ranks[rank].at(time);
        (Some(low).filter(|low| *low > -FAR), Some(high).filter(|high| *high < FAR))
    }

    /// Whether the bounds of a rank contradict each other.
    pub(super) fn are_contradictory(&self, rank: usize) -> bool {
        let of = &self.ranks[rank];
        (0..PARTS).any(|part| of.low[part] > of.high[part])
    }

    /// Whether the clocks can be right as they were recorded.
    pub(super) fn allow_recorded(&self) -> bool {
        self.ranks
            .iter()
            .all(|of| of.low.iter().all(|low| *low <= 0) && of.high.iter().all(|high| *high >= 0))
    }
}

/// The step of the timestamps: a microsecond or a nanosecond if all times are multiples of it.
pub(super) fn step_ps(job: &Job) -> i64 {
    let is_step = |step: i64| {
        job.ranks.iter().all(|rank| rank.calls.starts_ps.iter().all(|start| start.rem_euclid(step) == 0))
    };
    [1_000_000, 1_000].into_iter().find(|step| is_step(*step)).unwrap_or(1)
}

/// Operations whose times contradict their certain order, beyond the steps of the timestamps.
pub(super) fn violations(
    job: &Job,
    instances: &Instances,
    clocks: &[RankClock],
    cancel: Cancel<'_>,
) -> Result<u64> {
    let slack = 2 * step_ps(job);
    let shared = |rank: usize, time: i64| clocks[rank].fit.to_shared(Time(time)).0;
    let is_violated = |at: u32| {
        let Some(causality) = Causality::of(job, instances, at as usize) else { return false };
        let (mut last_start, mut first_end) = (i64::MIN, i64::MAX);
        for one in instances.members(at as usize) {
            let calls = &job.ranks[one.rank].calls;
            if causality.binds_start(one.rank) {
                last_start = last_start.max(shared(one.rank, calls.starts_ps[one.call]));
            }
            if causality.binds_end(one.rank) {
                first_end = first_end.min(shared(one.rank, calls.end_ps(one.call)));
            }
        }
        last_start.saturating_sub(slack) > first_end
    };
    let mut count = 0;
    for at in Causality::certain(job, instances, cancel)? {
        cancel.check()?;
        count += u64::from(is_violated(at));
    }
    Ok(count)
}
