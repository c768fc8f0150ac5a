//! Rough clocks from calls without numbers.
//!
//! Two ranks that meet in a group end their calls together. Each pair of equal calls votes for the
//! difference of its ends; only the true difference gets many votes. From there on both sequences
//! are followed in order. A spanning tree over the best pairs of ranks gives each rank a line.

use super::{is_anchor, tolerance};
use crate::analysis::Job;
use crate::analysis::clock::line::{Line, Point, resistant, weight_of};
use crate::base::Result;
use crate::exec::Cancel;
use rustc_hash::FxHashMap;

/// Width of a bin of the histogram.
const BIN_PS: i64 = 20_000_000;
/// Bins on each side: half a second.
const BINS: i64 = 25_000;
/// Calls of a rank that vote.
const VOTERS: usize = 128;
/// Calls of the other rank that a vote considers on each side.
const NEAR: usize = 512;
/// Largest drift between two clocks that is followed.
const MOST_DRIFT: f64 = 100e-6;

/// A call without a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Ended {
    end_ps: i64,
    duration_ps: i64,
    class: u32,
}

/// A line between two ranks and the number of calls that agree.
#[derive(Debug)]
struct Edge {
    a: usize,
    b: usize,
    hits: usize,
    /// From times of `b` to times of `a`.
    line: Line,
}

/// Pairs of positions that are compared if no communicator says who is with whom: neighbours, and
/// distances that are powers of two.
pub(super) fn partners(count: usize) -> impl Iterator<Item = (usize, usize)> {
    let distances = std::iter::successors(Some(1_usize), |distance| distance.checked_mul(2));
    distances
        .take_while(move |distance| *distance < count)
        .flat_map(move |distance| (0..count - distance).map(move |at| (at, at + distance)))
}

/// A line for each rank to the time of the first one, and whether it was found.
pub(crate) fn rough_clocks(job: &Job, cancel: Cancel<'_>) -> Result<(Vec<Line>, Vec<bool>)> {
    let calls: Vec<Vec<Ended>> = (0..job.ranks.len()).map(|rank| unnumbered(job, rank)).collect();
    let mut edges: Vec<Edge> = Vec::new();
    for (a, b) in pairs(job) {
        cancel.check()?;
        edges.extend(edge(&calls, a, b));
    }
    edges.sort_by_key(|edge| (std::cmp::Reverse(edge.hits), edge.a, edge.b));
    let mut tree: Vec<Vec<(usize, Line)>> = vec![Vec::new(); job.ranks.len()];
    let mut first: Vec<usize> = (0..job.ranks.len()).collect();
    for edge in &edges {
        let (a, b) = (root(&mut first, edge.a), root(&mut first, edge.b));
        if a == b {
            continue;
        }
        first[a.max(b)] = a.min(b);
        tree[edge.a].push((edge.b, edge.line));
        let Line { at_ps, offset_ps, slope } = edge.line;
        let back = Line { at_ps: edge.line.shared(at_ps), offset_ps: -offset_ps, slope: -slope };
        tree[edge.b].push((edge.a, back));
    }
    let mut lines = vec![Line::default(); job.ranks.len()];
    let mut is_found = vec![false; job.ranks.len()];
    let Some(start) = (0..tree.len()).find(|&rank| !tree[rank].is_empty()) else {
        return Ok((lines, is_found));
    };
    is_found[start] = true;
    let mut queue = vec![start];
    while let Some(from) = queue.pop() {
        for (to, line) in tree[from].clone() {
            if !is_found[to] {
                is_found[to] = true;
                lines[to] = line.then(&lines[from]);
                queue.push(to);
            }
        }
    }
    Ok((lines, is_found))
}

fn root(first: &mut [usize], mut at: usize) -> usize {
    while first[at] != at {
        first[at] = first[first[at]];
        at = first[at];
    }
    at
}

/// Calls of a rank that end together with others and have no number, by end.
fn unnumbered(job: &Job, rank: usize) -> Vec<Ended> {
    let own = &job.ranks[rank].calls;
    let groups = job.ranks[rank].groups.iter().map(|(group, _)| *group);
    let mut calls = Vec::new();
    for group in groups.filter(|&group| !job.is_numbered(group)) {
        let anchors = job.calls_in(rank, group).iter().filter(|&&call| is_anchor(job, rank, call));
        calls.extend(anchors.map(|&call| {
            let at = call as usize;
            let class = job.classes[own.signatures[at] as usize];
            Ended { end_ps: own.end_ps(at), duration_ps: own.durations_ps[at], class }
        }));
    }
    calls.sort_unstable();
    calls
}

/// Pairs of ranks to compare: in each communicator the rank with the most calls and every other
/// one.
fn pairs(job: &Job) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    for (group, members) in (0_u32..).zip(&job.members) {
        if job.is_numbered(group) {
            continue;
        }
        let members: Vec<usize> = members.iter().map(|&rank| usize::from(rank)).collect();
        if !job.groups[group as usize].is_stated() {
            pairs.extend(partners(members.len()).map(|(a, b)| (members[a], members[b])));
            continue;
        }
        let calls = |rank: usize| job.calls_in(rank, group).len();
        let centre = members.iter().copied().max_by_key(|&rank| (calls(rank), std::cmp::Reverse(rank)));
        let Some(centre) = centre else { continue };
        let others = members.into_iter().filter(|&rank| rank != centre);
        pairs.extend(others.map(|rank| (rank.min(centre), rank.max(centre))));
    }
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

fn edge(calls: &[Vec<Ended>], a: usize, b: usize) -> Option<Edge> {
    let mut by_class: FxHashMap<u32, Vec<i64>> = FxHashMap::default();
    for call in &calls[a] {
        by_class.entry(call.class).or_default().push(call.end_ps);
    }
    let common: Vec<Ended> =
        calls[b].iter().copied().filter(|call| by_class.contains_key(&call.class)).collect();
    let is_common: rustc_hash::FxHashSet<u32> = common.iter().map(|call| call.class).collect();
    let others: Vec<Ended> =
        calls[a].iter().copied().filter(|call| is_common.contains(&call.class)).collect();
    let middle = common.len().saturating_sub(VOTERS) / 2;
    let voters = &common[middle..common.len().min(middle + VOTERS)];
    let (mut votes, mut shift) = vote(&by_class, voters, 0);
    if votes * 2 < voters.len() {
        // The clocks may have nothing in common: their first calls may.
        let prior = others.first()?.end_ps.saturating_sub(common.first()?.end_ps);
        let (again, other) = vote(&by_class, voters, prior);
        if again > votes * 2 {
            (votes, shift) = (again, other);
        }
    }
    if votes == 0 {
        return None;
    }
    let mut points = follow(&others, &common, middle + voters.len() / 2, shift);
    let hits = points.len();
    resistant(&mut points, 4e6).map(|line| Edge { a, b, hits, line })
}

/// The number of votes of the best difference near `prior`, and that difference.
fn vote(by_class: &FxHashMap<u32, Vec<i64>>, voters: &[Ended], prior: i64) -> (usize, i64) {
    let mut bins = vec![0_u16; usize::try_from(2 * BINS + 2).unwrap_or_default()];
    for call in voters {
        let Some(ends) = by_class.get(&call.class) else { continue };
        let expected = call.end_ps.saturating_add(prior);
        let near = ends.partition_point(|end| *end < expected);
        for end in &ends[near.saturating_sub(NEAR)..ends.len().min(near + NEAR)] {
            let bin = end.saturating_sub(expected).div_euclid(BIN_PS) + BINS;
            if let Some(bin) = usize::try_from(bin).ok().and_then(|bin| bins.get_mut(bin)) {
                *bin = bin.saturating_add(1);
            }
        }
    }
    let sum = |at: usize| -> usize { bins[at - 1..=at + 1].iter().map(|&votes| usize::from(votes)).sum() };
    let zero = usize::try_from(BINS).unwrap_or_default();
    let best = (1..bins.len() - 1)
        .max_by_key(|&at| (sum(at), bins[at], std::cmp::Reverse(at.abs_diff(zero))))
        .unwrap_or(zero);
    let middle = i64::try_from(best).unwrap_or_default() - BINS;
    (sum(best), prior.saturating_add(middle * BIN_PS + BIN_PS / 2))
}

/// Pairs of calls that end together, from position `middle` of `b` in both directions.
fn follow(a: &[Ended], b: &[Ended], middle: usize, shift: i64) -> Vec<Point> {
    let expected = b.get(middle).map_or(0, |call| call.end_ps.saturating_add(shift));
    let at = a.partition_point(|call| call.end_ps < expected.saturating_sub(BIN_PS * 2));
    // The vote is known to a bin. The first hits on both sides narrow it down.
    let mut points = walk(a[at..].iter(), b[middle..].iter(), shift, 1);
    points.extend(walk(a[..at].iter().rev(), b[..middle].iter().rev(), shift, -1));
    points
}

fn walk<'c>(
    a: impl Iterator<Item = &'c Ended>,
    b: impl Iterator<Item = &'c Ended>,
    shift: i64,
    direction: i64,
) -> Vec<Point> {
    let (mut a, mut b) = (a.peekable(), b.peekable());
    let (mut shift, mut points, mut last) = (shift as f64, Vec::new(), None::<i64>);
    while let (Some(one), Some(other)) = (a.peek(), b.peek()) {
        let difference = one.end_ps.saturating_sub(other.end_ps) as f64;
        let off = difference - shift;
        let since = last.map_or(0, |last| other.end_ps.abs_diff(last)) as f64;
        let begin = if points.len() < 3 { 1.5 * BIN_PS as f64 } else { 0.0 };
        let duration = one.duration_ps.min(other.duration_ps);
        if one.class == other.class && off.abs() <= tolerance(duration) + begin + MOST_DRIFT * since {
            let (time_ps, weight) = (other.end_ps, weight_of(duration));
            points.push(Point { time_ps, difference_ps: difference, weight, group: 0 });
            shift += 0.6 * off;
            last = Some(other.end_ps);
            a.next();
            b.next();
        } else if (off < 0.0) == (direction > 0) {
            a.next();
        } else {
            b.next();
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls(count: i64, shift: i64, lost: i64) -> Vec<Ended> {
        let mut end = 0;
        let all = (0..count).map(|at| {
            end += 900_000_000 + (at * 7_919 % 113) * 3_000_000;
            Ended { end_ps: end + shift, duration_ps: 20_000_000 + at % 5, class: u32::from(at % 9 == 0) }
        });
        all.enumerate().filter(|(at, _)| lost == 0 || *at as i64 % lost != 3).map(|(_, call)| call).collect()
    }

    #[test]
    fn the_true_difference_gets_the_votes_although_calls_are_lost() {
        for shift in [0, 48_000_000_000, -31_234_567_890, 3_600_000_000_000_000] {
            let ranks = [calls(300, 0, 11), calls(300, shift, 7)];
            let edge = edge(&ranks, 0, 1).unwrap();
            assert!(edge.hits > 200, "{shift}: {} hits", edge.hits);
            let off = edge.line.shift(ranks[1][5].end_ps) + shift as f64;
            assert!(off.abs() < 1e6, "{shift}: {off} ps off");
        }
    }

    #[test]
    fn partners_are_near_and_far() {
        let pairs: Vec<_> = partners(4).collect();
        assert_eq!(pairs, [(0, 1), (1, 2), (2, 3), (0, 2), (1, 3)]);
        assert_eq!(partners(1).count() + partners(0).count(), 0);
    }
}
