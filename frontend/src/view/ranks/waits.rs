//! Waiting of ranks over time as a plot: which ranks have a line, the span that is asked for, and
//! the shapes of the lines.
//!
//! Shapes are in steps from left to right, and in shares of the plot's height upwards from 0 to −1.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use nprof_engine::base::{Interval, signed};
use nprof_engine::tile::Level;
use nprof_engine::wire::rank_ref::RankRef;
use nprof_engine::wire::waits::WaitSteps;

use super::standing::{RankOrder, Standings};

/// Most ranks that have a line each. All others are within the range of all ranks.
pub const MOST_LINES: usize = 8;
/// Most steps of a plot.
pub const MOST_STEPS: u32 = 128;
/// A span begins and ends at multiples of so many steps, so that small moves ask for nothing.
const STEPS_AHEAD: i64 = 8;

/// The ranks that have a line, by number: all if they are few, else the shown ones, the latest ones
/// and those that waited longest.
#[must_use]
pub fn lines(ranks: &[u32], shown: &BTreeSet<RankRef>, known: &Standings) -> Vec<u32> {
    let sorted = |order| {
        let mut ranks = ranks.to_vec();
        known.sort(&mut ranks, order);
        ranks
    };
    let mut chosen = BTreeSet::new();
    let shown = ranks.iter().copied().filter(|rank| shown.contains(&RankRef::Number(*rank)));
    let latest = sorted(RankOrder::Late).into_iter().take(MOST_LINES / 2);
    for rank in shown.chain(latest).chain(sorted(RankOrder::Wait)) {
        if chosen.len() < MOST_LINES {
            chosen.insert(rank);
        }
    }
    chosen.into_iter().collect()
}

/// The span to ask for if this window is shown: the window and some steps beside it.
#[must_use]
pub fn asked_span(window: Interval) -> Interval {
    let steps = i64::from(MOST_STEPS) - 2 * STEPS_AHEAD;
    let level = Level::for_cell_ps(window.duration_ps() as f64 / steps as f64).coarser();
    let unit_ps = level.cell_ps().saturating_mul(STEPS_AHEAD);
    let down = |ps: i64| ps.div_euclid(unit_ps).saturating_mul(unit_ps);
    Interval::new(down(window.start.0), down(window.end.0.saturating_sub(1)).saturating_add(unit_ps))
}

/// The share at the top of the plot.
#[must_use]
pub fn top(steps: &WaitSteps) -> f32 {
    top_of(steps.most.iter().copied().fold(0.0, f32::max))
}

/// The end of a scale of shares up to the largest one: the smallest of 1, 2, 5, 10, 20, 50 and
/// 100 % that is no less.
#[must_use]
pub fn top_of(most: f32) -> f32 {
    const TOPS: [f32; 7] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0];
    TOPS.into_iter().find(|top| most <= *top).unwrap_or(1.0)
}

/// The span of a step.
#[must_use]
pub fn step(steps: &WaitSteps, at: usize) -> Interval {
    let at = signed(at);
    let start_ps = steps.start_ps.saturating_add(steps.step_ps.saturating_mul(at));
    Interval::new(start_ps, start_ps.saturating_add(steps.step_ps))
}

/// Position and width of a window, in steps.
#[must_use]
pub fn sight(steps: &WaitSteps, window: Interval) -> (f64, f64) {
    let step_ps = steps.step_ps.max(1) as f64;
    let start = window.start.0.saturating_sub(steps.start_ps) as f64 / step_ps;
    (start, (window.duration_ps() as f64 / step_ps).max(1e-9))
}

/// The line of shares.
#[must_use]
pub fn line(shares: &[f32], top: f32) -> String {
    let mut path = String::new();
    for (at, share) in shares.iter().enumerate() {
        let mark = if at == 0 { 'M' } else { 'L' };
        let height = height(*share, top);
        // A text takes everything.
        write!(path, "{mark}{at} {height:.4}H{}", at + 1).ok();
    }
    path
}

/// The area between two lines.
#[must_use]
pub fn area(low: &[f32], high: &[f32], top: f32) -> String {
    let mut path = line(high, top);
    for (at, share) in low.iter().enumerate().rev() {
        write!(path, "L{} {:.4}H{at}", at + 1, height(*share, top)).ok();
    }
    if !path.is_empty() {
        path.push('Z');
    }
    path
}

fn height(share: f32, top: f32) -> f32 {
    -(share / top).clamp(0.0, 1.0)
}

/// The rank of the line that is nearest to a share in a step. `is_drawn` tells which ranks have
/// their line.
#[must_use]
pub fn nearest(steps: &WaitSteps, at: usize, share: f32, is_drawn: impl Fn(u32) -> bool) -> Option<u32> {
    let drawn = steps.ranks.iter().filter(|rank| is_drawn(rank.rank));
    let near = drawn.filter_map(|rank| Some(((rank.shares.get(at)? - share).abs(), rank.rank)));
    near.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, rank)| rank)
}

#[cfg(test)]
mod tests {
    use nprof_engine::wire::waits::WaitShares;

    use super::*;

    fn steps(ranks: &[(u32, [f32; 2])]) -> WaitSteps {
        let most = (0..2).map(|at| ranks.iter().map(|(_, shares)| shares[at]).fold(0.0, f32::max));
        WaitSteps {
            start_ps: 1_024,
            step_ps: 512,
            most: most.collect(),
            ranks: ranks.iter().map(|(rank, of)| WaitShares { rank: *rank, shares: of.to_vec() }).collect(),
            ..WaitSteps::default()
        }
    }

    #[test]
    fn few_ranks_all_have_a_line() {
        let ranks: Vec<u32> = (0..12).collect();
        assert_eq!(lines(&ranks[..3], &BTreeSet::new(), &Standings::default()), [0, 1, 2]);
        let many = lines(&ranks, &[11.into()].into(), &Standings::default());
        assert_eq!(many, [0, 1, 2, 3, 4, 5, 6, 11]);
    }

    #[test]
    fn small_moves_ask_for_the_same_span() {
        for width_ps in [1_000, 1 << 20, 1_234_567_890, 1 << 45] {
            let window = Interval::new(width_ps / 3, width_ps / 3 + width_ps);
            let asked = asked_span(window);
            assert!(asked.start <= window.start && window.end <= asked.end);
            assert!(asked.duration_ps() <= 2 * width_ps + (64 << 10), "{asked:?} for {width_ps}");
        }
        let span = |start: i64| asked_span(Interval::new(start, start + (1 << 30)));
        let different: BTreeSet<i64> = (0..1_000).map(|at| span(at * 1_000).start.0).collect();
        assert!(different.len() < 3, "{different:?}");
    }

    #[test]
    fn shapes_are_in_steps_and_shares() {
        let two = steps(&[(3, [0.25, 0.5]), (9, [0.0, 0.125])]);
        assert_eq!(top(&two), 0.5);
        assert_eq!(line(&two.ranks[0].shares, 0.5), "M0 -0.5000H1L1 -1.0000H2");
        assert_eq!(
            area(&two.ranks[1].shares, &two.ranks[0].shares, 0.5),
            "M0 -0.5000H1L1 -1.0000H2L2 -0.2500H1L1 -0.0000H0Z"
        );
        assert_eq!(area(&[], &[], 1.0), "");
        assert_eq!(step(&two, 1), Interval::new(1_536, 2_048));
        assert_eq!(sight(&two, Interval::new(1_280, 2_304)), (0.5, 2.0));
    }

    #[test]
    fn the_nearest_drawn_line_is_pointed_at() {
        let two = steps(&[(3, [0.25, 0.5]), (9, [0.0, 0.125])]);
        assert_eq!(nearest(&two, 0, 0.2, |_| true), Some(3));
        assert_eq!(nearest(&two, 1, 0.2, |_| true), Some(9));
        assert_eq!(nearest(&two, 1, 0.2, |rank| rank == 3), Some(3));
        assert_eq!(nearest(&two, 2, 0.2, |_| true), None);
    }
}
