//! Rough clocks from calls without numbers.
//!
//! Two ranks that meet in a group end their calls together, which shows the shift between their
//! clocks ([`shifts`]). From there on both sequences are followed in order. Threads of hosts do not
//! end together, so the order of their calls shows the shift ([`call_order`]). Ranks with one clock
//! need none. A spanning tree over the best pairs of ranks gives each rank a line.

use super::call_order;
use super::candidates::{BIN_PS, CallEnd};
use super::shifts::{self, MOST_DRIFT, PairShift};
use super::{is_anchor, tolerance};
use crate::analysis::Job;
use crate::analysis::clock::line::{ClockLine, WeightedPoint, resistant, weight_of};
use crate::analysis::islands::Islands;
use crate::base::Result;
use crate::exec::Cancel;
use rustc_hash::FxHashSet;

/// Ranks of a group timed by hosts of which all pairs are compared.
const MOST_OF_HOSTS: usize = 16;

/// Relation of two ranks by their calls.
#[derive(Debug)]
struct RankPair {
    a: usize,
    b: usize,
    hits: usize,
    is_certain: bool,
    /// From times of `b` to times of `a`. `None` if several fit.
    line: Option<ClockLine>,
}

/// Pairs of positions that are compared if no communicator says who is with whom: neighbours, and
/// distances that are powers of two.
pub(super) fn partners(count: usize) -> impl Iterator<Item = (usize, usize)> {
    let distances = std::iter::successors(Some(1_usize), |distance| distance.checked_mul(2));
    distances
        .take_while(move |distance| *distance < count)
        .flat_map(move |distance| (0..count - distance).map(move |at| (at, at + distance)))
}

/// A line for each rank to the time of the first one of its island, and the islands.
pub(crate) fn rough_clocks(job: &Job, cancel: Cancel<'_>) -> Result<(Vec<ClockLine>, Islands)> {
    let calls: Vec<Vec<CallEnd>> = (0..job.ranks.len()).map(|rank| unnumbered(job, rank)).collect();
    let of_unstated = job.signatures.iter().zip(&job.classes).filter(|(of, _)| !is_stated(job, of.group));
    let unstated: FxHashSet<u32> = of_unstated.map(|(_, class)| *class).collect();
    let mut edges: Vec<RankPair> = Vec::new();
    for (a, b) in pairs(job) {
        cancel.check()?;
        edges.extend(match () {
            () if job.clocks[a] == job.clocks[b] => Some(same(&calls, a, b)),
            () if job.is_timed_by_host(a) && job.is_timed_by_host(b) => edge_of_hosts(&calls, a, b),
            () => edge(&calls, &unstated, a, b),
        });
    }
    edges.sort_by_key(|edge| (!edge.is_certain, std::cmp::Reverse(edge.hits), edge.a, edge.b));
    let mut tree: Vec<Vec<(usize, ClockLine)>> = vec![Vec::new(); job.ranks.len()];
    let mut matched: Vec<usize> = (0..job.ranks.len()).collect();
    let mut certain = matched.clone();
    for edge in &edges {
        let Some(line) = edge.line else { continue };
        if edge.is_certain {
            join(&mut certain, edge.a, edge.b);
        }
        if join(&mut matched, edge.a, edge.b) {
            tree[edge.a].push((edge.b, line));
            tree[edge.b].push((edge.a, line.back()));
        }
    }
    let mut lines = vec![ClockLine::default(); job.ranks.len()];
    for start in 0..tree.len() {
        if root(&mut matched, start) != start {
            continue;
        }
        let mut queue = vec![(start, start)];
        while let Some((before, from)) = queue.pop() {
            for (to, line) in tree[from].iter().filter(|(to, _)| *to != before) {
                lines[*to] = line.then(&lines[from]);
                queue.push((from, *to));
            }
        }
    }
    let apart = apart(&edges, &mut matched);
    let certain = (0..certain.len()).map(|rank| root(&mut certain, rank)).collect();
    Ok((lines, Islands::new(apart, certain)))
}

/// The island of each rank. Ranks without a line to others stay on the largest island, as if their
/// clocks agreed, unless calls show that several lines fit.
fn apart(edges: &[RankPair], matched: &mut [usize]) -> Vec<usize> {
    let roots: Vec<usize> = (0..matched.len()).map(|rank| root(matched, rank)).collect();
    let mut sizes = vec![0_usize; roots.len()];
    roots.iter().for_each(|&root| sizes[root] += 1);
    let Some(largest) = (0..sizes.len()).max_by_key(|&at| (sizes[at], std::cmp::Reverse(at))) else {
        return Vec::new();
    };
    let unclear = edges.iter().map(|edge| (roots[edge.a], roots[edge.b])).filter(|(a, b)| a != b);
    let is_apart: FxHashSet<usize> = unclear.flat_map(|(a, b)| [a, b]).collect();
    roots.into_iter().map(|root| if is_apart.contains(&root) { root } else { largest }).collect()
}

/// Joins the sets of two members. Returns whether they were apart.
fn join(first: &mut [usize], a: usize, b: usize) -> bool {
    let (a, b) = (root(first, a), root(first, b));
    first[a.max(b)] = a.min(b);
    a != b
}

fn root(first: &mut [usize], mut at: usize) -> usize {
    while first[at] != at {
        first[at] = first[first[at]];
        at = first[at];
    }
    at
}

/// Calls of a rank that end together with others and have no number, by end.
fn unnumbered(job: &Job, rank: usize) -> Vec<CallEnd> {
    let own = &job.ranks[rank].calls;
    let groups = job.ranks[rank].groups.iter().map(|(group, _)| *group);
    let mut calls = Vec::new();
    for group in groups.filter(|&group| !job.is_numbered(group)) {
        let anchors = job.calls_in(rank, group).iter().filter(|&&call| is_anchor(job, rank, call));
        calls.extend(anchors.map(|&call| {
            let at = call as usize;
            let class = job.classes[own.signatures[at] as usize];
            CallEnd { end_ps: own.end_ps(at), duration_ps: own.durations_ps[at], class }
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
        if !is_stated(job, group) {
            pairs.extend(partners(members.len()).map(|(a, b)| (members[a], members[b])));
            continue;
        }
        let calls = |rank: usize| job.calls_in(rank, group).len();
        let centre = members.iter().copied().max_by_key(|&rank| (calls(rank), std::cmp::Reverse(rank)));
        let Some(centre) = centre else { continue };
        let others = members.iter().copied().filter(|&rank| rank != centre);
        pairs.extend(others.map(|rank| (rank.min(centre), rank.max(centre))));
        // The noise of hosts hides the shift between some ranks and not between others.
        if members.len() <= MOST_OF_HOSTS && members.iter().all(|&rank| job.is_timed_by_host(rank)) {
            let after = |(at, &a): (usize, &usize)| members[at + 1..].iter().map(move |&b| (a, b));
            pairs.extend(members.iter().enumerate().flat_map(after));
        }
    }
    // Ranks with one clock stay together, whatever their calls show.
    let clocks = (0..job.ranks.len()).map(|rank| (usize::from(job.clocks[rank]), rank));
    pairs.extend(clocks.filter(|(first, rank)| first != rank));
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

fn is_stated(job: &Job, group: u32) -> bool {
    job.groups[group as usize].is_stated()
}

/// The relation of two ranks with one clock.
fn same(calls: &[Vec<CallEnd>], a: usize, b: usize) -> RankPair {
    let (own, others) = of_both(calls, a, b);
    RankPair { a, b, hits: own.len().min(others.len()), is_certain: true, line: Some(ClockLine::default()) }
}

/// The relation of two ranks whose calls threads of hosts have timed.
fn edge_of_hosts(calls: &[Vec<CallEnd>], a: usize, b: usize) -> Option<RankPair> {
    let (others, own) = of_both(calls, a, b);
    let is_reverse = own.len() > others.len();
    let (few, many) = if is_reverse { (&others, &own) } else { (&own, &others) };
    match call_order::found(few, many) {
        PairShift::Nothing => None,
        PairShift::Unclear => Some(RankPair { a, b, hits: 0, is_certain: false, line: None }),
        PairShift::Shift(shift) => {
            let line = call_order::level(shift, few);
            let line = if is_reverse { line.back() } else { line };
            Some(RankPair { a, b, hits: few.len(), is_certain: shift.is_certain, line: Some(line) })
        }
    }
}

/// The calls of two ranks that can meet.
fn of_both(calls: &[Vec<CallEnd>], a: usize, b: usize) -> (Vec<CallEnd>, Vec<CallEnd>) {
    let classes = |rank: usize| calls[rank].iter().map(|call| call.class).collect::<FxHashSet<u32>>();
    let of_both = &classes(a) & &classes(b);
    let common = |rank: usize| -> Vec<CallEnd> {
        calls[rank].iter().copied().filter(|call| of_both.contains(&call.class)).collect()
    };
    (common(a), common(b))
}

/// The relation of two ranks. `unstated` are the classes of calls whose groups the trace does not
/// state.
fn edge(calls: &[Vec<CallEnd>], unstated: &FxHashSet<u32>, a: usize, b: usize) -> Option<RankPair> {
    let (others, own) = of_both(calls, a, b);
    // The rank with fewer calls is followed: the other one recorded what it met, but not the
    // reverse.
    let is_reverse = own.len() > others.len();
    let (few, many) = if is_reverse { (&others, &own) } else { (&own, &others) };
    let are_stated = own.iter().all(|call| !unstated.contains(&call.class));
    let shift = match shifts::found(few, many, are_stated) {
        PairShift::Nothing => return None,
        PairShift::Unclear => return Some(RankPair { a, b, hits: 0, is_certain: false, line: None }),
        PairShift::Shift(shift) => shift,
    };
    let mut points = follow(many, few, shift.middle, shift.shift_ps);
    let hits = points.len();
    let line = resistant(&mut points, 4e6)?;
    let line = if is_reverse { line.back() } else { line };
    Some(RankPair { a, b, hits, is_certain: shift.is_certain, line: Some(line) })
}

/// Pairs of calls that end together, from position `middle` of `b` in both directions.
fn follow(a: &[CallEnd], b: &[CallEnd], middle: usize, shift: i64) -> Vec<WeightedPoint> {
    let expected = b.get(middle).map_or(0, |call| call.end_ps.saturating_add(shift));
    let at = a.partition_point(|call| call.end_ps < expected.saturating_sub(BIN_PS * 2));
    // The vote is known to a bin. The first hits on both sides narrow it down.
    let mut points = walk(a[at..].iter(), b[middle..].iter(), shift, 1);
    points.extend(walk(a[..at].iter().rev(), b[..middle].iter().rev(), shift, -1));
    points
}

fn walk<'c>(
    a: impl Iterator<Item = &'c CallEnd>,
    b: impl Iterator<Item = &'c CallEnd>,
    shift: i64,
    direction: i64,
) -> Vec<WeightedPoint> {
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
            points.push(WeightedPoint { time_ps, difference_ps: difference, weight, group: 0 });
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
    use crate::analysis::matching::candidates::tests::calls_of_a_job;

    /// The calls of a job by a clock that is ahead. One in `lost` calls is lost.
    fn calls(ahead_ps: i64, lost: usize) -> Vec<CallEnd> {
        let some = calls_of_a_job(300).enumerate().filter(|(at, _)| at % lost != 3);
        some.map(|(_, call)| CallEnd { end_ps: call.end_ps + ahead_ps, ..call }).collect()
    }

    #[test]
    fn the_true_difference_gets_the_votes_although_calls_are_lost() {
        for shift in [0, 48_000_000_000, -31_234_567_890, 3_600_000_000_000_000] {
            let ranks = [calls(0, 11), calls(shift, 7)];
            let edge = edge(&ranks, &FxHashSet::default(), 0, 1).unwrap();
            assert!(edge.hits > 200, "{shift}: {} hits", edge.hits);
            let off = edge.line.unwrap().shift(ranks[1][5].end_ps) + shift as f64;
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
