//! Groups of ranks behind one stream, for traces that do not name communicators.
//!
//! Two ranks belong together if their calls of the stream end together, again and again. Groups in
//! lock-step cannot be told apart, and become one.

use rustc_hash::FxHashMap;

use super::is_anchor;
use super::votes::partners;
use crate::analysis::Job;
use crate::analysis::clock::line::Line;

/// Least common ends of two ranks.
const LEAST_COMMON: usize = 2;
/// Difference between the ends of one operation: this, and a share of the shorter duration.
const SPREAD_PS: f64 = 3.5e6;
const SPREAD_SHARE: f64 = 0.03;
/// Share of the calls of the rank with fewer calls that must end together.
const LEAST_SHARE: f64 = 0.8;

/// The ranks with calls on the stream, in groups.
pub(super) fn apart(job: &Job, group: u32, lines: &[Line]) -> Vec<Vec<u16>> {
    let ranks = &job.members[group as usize];
    let ends: Vec<Vec<(i64, i64, u32)>> =
        ranks.iter().map(|&rank| ends_of(job, group, rank, &lines[usize::from(rank)])).collect();
    let mut first: Vec<usize> = (0..ranks.len()).collect();
    for (a, b) in partners(ranks.len()) {
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
    groups
}

fn root(first: &[usize], mut at: usize) -> usize {
    while first[at] != at {
        at = first[at];
    }
    at
}

/// End, duration and class of the calls of a rank, by end.
fn ends_of(job: &Job, group: u32, rank: u16, line: &Line) -> Vec<(i64, i64, u32)> {
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

fn are_together(a: &[(i64, i64, u32)], b: &[(i64, i64, u32)]) -> bool {
    let (few, many) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let (Some(first), Some(last)) = (many.first(), many.last()) else { return false };
    let (mut common, mut asked) = (0, 0);
    for &(end, duration, class) in few {
        if end < first.0 - 100_000_000 || end > last.0 + 100_000_000 {
            continue;
        }
        asked += 1;
        let near = many.partition_point(|other| other.0 < end);
        let around = many[near.saturating_sub(3)..many.len().min(near + 3)].iter();
        common += usize::from(around.into_iter().any(|other| {
            let spread = SPREAD_PS + SPREAD_SHARE * duration.min(other.1) as f64;
            other.2 == class && other.0.abs_diff(end) as f64 <= spread
        }));
    }
    common >= LEAST_COMMON.min(asked).max(1) && common as f64 >= LEAST_SHARE * asked as f64
}
