//! One instance on the shared clock: who came when, who waited for whom.
//!
//! Definitions follow Scalasca's wait states: of an operation that waits for all, everybody waits
//! for the last; of a broadcast, the receivers wait for the root; of a reduce, the root waits for
//! the first of the others. A wait ends when its call ends.

use super::{InstanceCall, Instances, Job};
use crate::base::{ClockFit, Result, Time};
use crate::exec::Cancel;
use crate::model::{CollectiveKind, WaitingRanks};

/// A member on the shared clock, in picoseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Arrival {
    /// The call.
    pub member: InstanceCall,
    /// Start of the call.
    pub start_ps: i64,
    /// End of the call.
    pub end_ps: i64,
    /// Time until the awaited ranks arrived.
    pub wait_ps: i64,
    /// Waiting of others that this rank caused: gaps between arrivals, shared by those who have not
    /// come yet.
    pub blame_ps: f64,
}

/// Times of an instance, in picoseconds of the shared clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct InstanceTimes {
    /// Earliest arrival.
    pub first_ps: i64,
    /// Latest arrival.
    pub last_ps: i64,
    /// Latest arrival but one; the latest one if there is only one.
    pub second_last_ps: i64,
    /// Earliest end.
    pub first_end_ps: i64,
    /// Latest end.
    pub end_ps: i64,
}

/// Clocks and roots: what turns calls into arrivals.
#[derive(Debug)]
pub(super) struct ArrivalFacts<'j> {
    pub(super) job: &'j Job,
    pub(super) instances: &'j Instances,
    /// Clocks in the order of ranks.
    pub(super) clocks: &'j [ClockFit],
    /// Tells whether the work is cancelled.
    pub(super) cancel: Cancel<'j>,
}

impl ArrivalFacts<'_> {
    /// The members of an instance without waits and blame.
    pub(super) fn arrivals(&self, at: usize, out: &mut Vec<Arrival>) {
        out.clear();
        out.extend(self.instances.members(at).map(|member| {
            let calls = &self.job.ranks[member.rank].calls;
            let clock = &self.clocks[member.rank];
            let shared = |time: i64| clock.to_shared(Time(time)).0;
            let start_ps = shared(calls.starts_ps[member.call]);
            let end_ps = shared(calls.end_ps(member.call));
            Arrival { member, start_ps, end_ps, wait_ps: 0, blame_ps: 0.0 }
        }));
    }
}

/// First, last and end of arrivals.
pub(super) fn span_of(arrivals: &[Arrival]) -> InstanceTimes {
    let first = arrivals.first().map_or(0, |one| one.start_ps);
    let mut span = InstanceTimes {
        first_ps: first,
        last_ps: i64::MIN,
        second_last_ps: i64::MIN,
        first_end_ps: i64::MAX,
        end_ps: i64::MIN,
    };
    for one in arrivals {
        span.first_ps = span.first_ps.min(one.start_ps);
        span.first_end_ps = span.first_end_ps.min(one.end_ps);
        span.end_ps = span.end_ps.max(one.end_ps);
        if one.start_ps >= span.last_ps {
            (span.second_last_ps, span.last_ps) = (span.last_ps, one.start_ps);
        } else {
            span.second_last_ps = span.second_last_ps.max(one.start_ps);
        }
    }
    if arrivals.len() < 2 {
        span.second_last_ps = span.last_ps;
    }
    span
}

/// Fills in waits and direct blame. `root` is the position of the root's rank in the job. Returns
/// the number of waits that were cut because a call ended before the awaited rank came.
pub(super) fn judge(arrivals: &mut [Arrival], kind: CollectiveKind, root: Option<usize>) -> u64 {
    if arrivals.len() < 2 {
        return 0;
    }
    let mut cuts = 0;
    let mut cut = |one: &Arrival, until: i64| {
        let wait = until.saturating_sub(one.start_ps).max(0);
        let most = one.end_ps.saturating_sub(one.start_ps).max(0);
        cuts += u64::from(wait > most);
        wait.min(most)
    };
    match kind.waiting() {
        WaitingRanks::ForAll => {
            let last = span_of(arrivals).last_ps;
            for one in arrivals.iter_mut() {
                one.wait_ps = cut(one, last);
            }
            share(arrivals);
        }
        WaitingRanks::ForRoot => {
            let Some(of) = arrivals.iter().position(|one| Some(one.member.rank) == root) else { return 0 };
            let came = arrivals[of].start_ps;
            let mut sum = 0;
            for (at, one) in arrivals.iter_mut().enumerate() {
                one.wait_ps = if at == of { 0 } else { cut(one, came) };
                sum += one.wait_ps;
            }
            arrivals[of].blame_ps = sum as f64;
        }
        WaitingRanks::RootForAll => {
            let Some(of) = arrivals.iter().position(|one| Some(one.member.rank) == root) else { return 0 };
            let others = arrivals.iter().enumerate().filter(|(at, _)| *at != of);
            let came = others.map(|(_, one)| one.start_ps).min().unwrap_or(arrivals[of].start_ps);
            let wait = cut(&arrivals[of], came);
            let shares = (arrivals.len() - 1) as f64;
            for (at, one) in arrivals.iter_mut().enumerate() {
                (one.wait_ps, one.blame_ps) = if at == of { (wait, 0.0) } else { (0, wait as f64 / shares) };
            }
        }
    }
    cuts
}

/// Shares the waits of all: while some ranks wait, the others have equal parts in it.
fn share(arrivals: &mut [Arrival]) {
    let mut order: Vec<usize> = (0..arrivals.len()).collect();
    order.sort_unstable_by_key(|&at| (arrivals[at].start_ps, arrivals[at].member.rank));
    // A wait that was cut ends early, so each rank counts until its own wait ends.
    let has_cut =
        arrivals.iter().any(|one| one.start_ps.saturating_add(one.wait_ps) > one.end_ps.max(one.start_ps));
    debug_assert!(!has_cut);
    let last = arrivals[order[order.len() - 1]].start_ps;
    let is_whole = arrivals.iter().all(|one| one.start_ps + one.wait_ps == last);
    let mut caused = 0.0;
    for place in 1..order.len() {
        let (from, to) = (arrivals[order[place - 1]].start_ps, arrivals[order[place]].start_ps);
        let waited = if is_whole {
            place as f64 * (to - from) as f64
        } else {
            let part = |&at: &usize| {
                let one = &arrivals[at];
                (to.min(one.start_ps + one.wait_ps) - from.max(one.start_ps)).max(0) as f64
            };
            order[..place].iter().map(part).sum()
        };
        caused += waited / (order.len() - place) as f64;
        arrivals[order[place]].blame_ps = caused;
    }
}

/// The rank that does not wait in the operations of a group with a root, if the trace does not
/// state it. `None` without operations.
pub(super) fn likely_root(
    scene: &ArrivalFacts<'_>,
    instances: &[usize],
    waiting: WaitingRanks,
) -> Result<Option<usize>> {
    let mut scores: rustc_hash::FxHashMap<usize, (f64, u32)> = rustc_hash::FxHashMap::default();
    let mut arrivals = Vec::new();
    for &at in instances {
        scene.cancel.check()?;
        scene.arrivals(at, &mut arrivals);
        if arrivals.len() < 2 {
            continue;
        }
        let span = span_of(&arrivals);
        let shortest = arrivals.iter().map(|one| one.end_ps - one.start_ps).min().unwrap_or(0);
        for one in &arrivals {
            // A root that came after others had left is none. A root's own stay is short.
            let cost = match waiting {
                WaitingRanks::ForRoot => {
                    let before =
                        arrivals.iter().map(|other| (one.start_ps - other.end_ps).max(0)).sum::<i64>();
                    before as f64 * 4.0 + (one.end_ps - one.start_ps - shortest) as f64
                }
                _ => (span.last_ps - one.end_ps).max(0) as f64 * 4.0 + (span.end_ps - one.end_ps) as f64,
            };
            let score = scores.entry(one.member.rank).or_default();
            score.0 += cost;
            score.1 += 1;
        }
    }
    // A rank whose calls are lost must not win by absence.
    let most = scores.values().map(|(_, count)| *count).max().unwrap_or(0);
    let likely = scores.iter().filter(|(_, (_, count))| count * 2 >= most);
    let mean = |score: &(f64, u32)| score.0 / f64::from(score.1);
    let best = likely.min_by(|a, b| mean(a.1).total_cmp(&mean(b.1)).then(a.0.cmp(b.0)));
    Ok(best.map(|(rank, _)| *rank))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrivals(times: &[(i64, i64)]) -> Vec<Arrival> {
        let one = |(rank, &(start_ps, end_ps)): (usize, &(i64, i64))| Arrival {
            member: InstanceCall { rank, call: 0 },
            start_ps,
            end_ps,
            wait_ps: 0,
            blame_ps: 0.0,
        };
        times.iter().enumerate().map(one).collect()
    }

    #[track_caller]
    fn check(kind: CollectiveKind, times: &[(i64, i64)], waits: &[i64], blame: &[f64]) {
        let mut all = arrivals(times);
        judge(&mut all, kind, Some(0));
        assert_eq!(all.iter().map(|one| one.wait_ps).collect::<Vec<_>>(), waits, "waits");
        assert_eq!(all.iter().map(|one| one.blame_ps).collect::<Vec<_>>(), blame, "blame");
    }

    #[test]
    fn waits_and_blame_follow_the_kind() {
        use CollectiveKind::{AllReduce, Broadcast, Reduce};
        check(AllReduce, &[(0, 50), (10, 50), (40, 50)], &[40, 30, 0], &[0.0, 5.0, 65.0]);
        check(Broadcast, &[(20, 25), (5, 30), (40, 50)], &[0, 15, 0], &[15.0, 0.0, 0.0]);
        check(Reduce, &[(0, 50), (10, 12), (40, 42)], &[10, 0, 0], &[0.0, 5.0, 5.0]);
        check(AllReduce, &[(7, 9)], &[0], &[0.0]);
    }

    #[test]
    fn a_wait_does_not_outlast_its_call() {
        let mut all = arrivals(&[(0, 5), (10, 20)]);
        assert_eq!(judge(&mut all, CollectiveKind::AllReduce, None), 1);
        assert_eq!((all[0].wait_ps, all[1].blame_ps), (5, 5.0));
        let span = span_of(&all);
        assert_eq!((span.last_ps, span.second_last_ps, span.end_ps), (10, 0, 20));
    }
}
