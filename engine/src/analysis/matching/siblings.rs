//! Groups of ranks behind one stream, for traces that do not name communicators.
//!
//! Two ranks belong together if their calls of the stream end together, again and again. Groups in
//! lock-step cannot be told apart, and become one.

use rustc_hash::FxHashMap;

use super::is_anchor;
use super::votes::partners;
use crate::analysis::Job;
use crate::analysis::clock::line::ClockLine;
use crate::base::Result;
use crate::exec::Cancel;

/// Least common ends of two ranks.
const LEAST_COMMON: usize = 2;
/// Difference between the ends of one operation: this, and a share of the shorter duration.
const SPREAD_PS: f64 = 3.5e6;
const SPREAD_SHARE: f64 = 0.03;
/// Share of the calls with a call of the other rank nearby that must end together.
const LEAST_SHARE: f64 = 0.8;
/// Calls are near each other up to this multiple of the difference between ends.
const NEARBY: f64 = 8.0;

/// The ranks of a stream, in groups.
pub(super) fn apart(
    job: &Job,
    group: u32,
    ranks: &[u16],
    lines: &[ClockLine],
    cancel: Cancel<'_>,
) -> Result<Vec<Vec<u16>>> {
    let ends: Vec<Vec<(i64, i64, u32)>> =
        ranks.iter().map(|&rank| ends_of(job, group, rank, &lines[usize::from(rank)])).collect();
    let mut first: Vec<usize> = (0..ranks.len()).collect();
    for (a, b) in partners(ranks.len()) {
        cancel.check()?;
        if root(&first, a) != root(&first, b) && are_together(&ends[a], &ends[b]) {
            let (low, high) = (root(&first, a), root(&first, b));
            first[low.max(high)] = low.min(high);
        }
    }
    let mut groups: FxHashMap<usize, Vec<u16>> = FxHashMap::default();
    for (at, &rank) in ranks.iter().enumerate() {
        groups.entry(root(&first, at)).or_default().push(rank);
    }
    let mut groups: Vec<Vec<u16>> = groups.into_values().collect();
    groups.sort_unstable();
    Ok(groups)
}

fn root(first: &[usize], mut at: usize) -> usize {
    while first[at] != at {
        at = first[at];
    }
    at
}

/// End, duration and class of the calls of a rank, by end.
fn ends_of(job: &Job, group: u32, rank: u16, line: &ClockLine) -> Vec<(i64, i64, u32)> {
    let own = &job.ranks[usize::from(rank)].calls;
    let anchors = job.calls_in(rank.into(), group).iter().filter(|&&call| is_anchor(job, rank.into(), call));
    let mut ends: Vec<(i64, i64, u32)> = anchors
        .map(|&call| {
            let at = call as usize;
            (line.shared(own.end_ps(at)), own.durations_ps[at], job.classes[own.signatures[at] as usize])
        })
        .collect();
    ends.sort_unstable();
    ends
}

/// Calls without a call of the other rank nearby tell nothing: they are lost, or not recorded.
fn are_together(a: &[(i64, i64, u32)], b: &[(i64, i64, u32)]) -> bool {
    let (few, many) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let (mut common, mut apart) = (0, 0);
    for &(end, duration, class) in few {
        let near = many.partition_point(|other| other.0 < end);
        let around = many[near.saturating_sub(3)..many.len().min(near + 3)].iter();
        let spreads = around.filter(|other| other.2 == class).map(|other| {
            let spread = SPREAD_PS + SPREAD_SHARE * duration.min(other.1) as f64;
            other.0.abs_diff(end) as f64 / spread
        });
        let nearest = spreads.fold(f64::INFINITY, f64::min);
        common += usize::from(nearest <= 1.0);
        apart += usize::from(nearest > 1.0 && nearest <= NEARBY);
    }
    common >= LEAST_COMMON.min(few.len()).max(1) && common as f64 >= LEAST_SHARE * (common + apart) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls of 20 µs that end at these microseconds.
    fn ends(us: &[i64]) -> Vec<(i64, i64, u32)> {
        us.iter().map(|us| (us * 1_000_000, 20_000_000, 7)).collect()
    }

    #[track_caller]
    fn check(a: &[i64], b: &[i64], expected: bool) {
        assert_eq!(are_together(&ends(a), &ends(b)), expected);
        assert_eq!(are_together(&ends(b), &ends(a)), expected);
    }

    #[test]
    fn ranks_that_end_together_belong_together() {
        check(&[100, 200, 300], &[101, 198, 300], true);
        check(&[100, 5_000, 9_000], &[100, 7_000, 9_001], true);
        check(&[100, 200, 300], &[110, 212, 301], false);
        check(&[100, 5_000], &[2_500, 7_500], false);
        check(&[100], &[101], true);
        check(&[], &[101], false);
    }
}
