//! Begins of steps where marks of the host do not tell them to the kernel.
//!
//! A host launches ahead, and its marks are drawn a little before or behind the launches of a step.
//! If the same two kernels do not stand at each begin, all begins move to the two that do so within
//! a few launches, with the longest pause between them. Begins that agree move only to the longest
//! pause of the steps, from a place without one.

use rustc_hash::FxHashSet;

use super::bound::{idle_before, median};
use super::program_order::ProgramOrder;
use crate::model::RankWork;

/// Launches by which a begin may be off.
const MOST_OFF: usize = 8;
/// Times by which a pause has to be longer than that at begins that agree.
const CLEAR: i64 = 10;
/// Part of a step that such a pause has to take.
const LEAST_PAUSE: f64 = 0.005;

/// The names before and behind a begin.
type StepBorder = (u32, u32);

/// Begins of steps in an order of work, ascending, with the end of the last one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MarkBounds {
    pub(super) begins: Vec<usize>,
    pub(super) end: usize,
}

impl MarkBounds {
    /// The bounds at the border that all steps have, or the same bounds if there is none. The last
    /// launches of a recording belong to the last step.
    pub(super) fn settled(self, work: &RankWork, order: &ProgramOrder) -> Self {
        let names = &order.names;
        let inner: Vec<usize> =
            self.begins.iter().copied().filter(|at| *at > 0 && *at < names.len()).collect();
        let rest = names.len().saturating_sub(self.end);
        let end = if rest <= MOST_OFF { names.len() } else { self.end };
        let Some(border) = settled_border(work, order, &inner) else { return Self { end, ..self } };
        // Nothing is before the first launch.
        let begin = |at: &usize| if *at == 0 { 0 } else { moved(names, *at, border) };
        let end = if end == names.len() { end } else { moved(names, end, border) };
        Self { begins: self.begins.iter().map(begin).collect(), end }
    }
}

/// The border to which begins move. `None` if they stay.
fn settled_border(work: &RankWork, order: &ProgramOrder, begins: &[usize]) -> Option<StepBorder> {
    let (names, idle_ps) = (&order.names, idle_before(work, order));
    let stated: FxHashSet<StepBorder> = begins.iter().map(|at| border(names, *at)).collect();
    if begins.len() < 2 {
        return None;
    }
    let (pause_ps, found) = best(&idle_ps, names, begins)?;
    if stated.len() > 1 {
        return Some(found);
    }
    let own_ps = median(begins.iter().map(|at| idle_ps[*at]).collect());
    let start_ps = |at: usize| work.nodes[order.nodes[at] as usize].start_ps;
    let steps = begins.windows(2).map(|pair| start_ps(pair[1]).saturating_sub(start_ps(pair[0]))).collect();
    let longer = idle_ps.iter().filter(|ps| **ps > pause_ps).count();
    let is_clear = pause_ps >= own_ps.saturating_mul(CLEAR)
        && pause_ps as f64 >= LEAST_PAUSE * median(steps) as f64
        && longer <= begins.len();
    is_clear.then_some(found)
}

fn border(names: &[u32], at: usize) -> StepBorder {
    (names[at - 1], names[at])
}

/// Positions near one, the nearest first.
fn near(names: &[u32], at: usize) -> impl Iterator<Item = usize> + '_ {
    let both = (0..=MOST_OFF).flat_map(move |off| [at.checked_sub(off), at.checked_add(off)]);
    both.flatten().filter(|at| *at > 0 && *at < names.len())
}

/// The nearest place of a border. `None` if it is not near.
fn place(names: &[u32], at: usize, of: StepBorder) -> Option<usize> {
    near(names, at).find(|at| border(names, *at) == of)
}

/// A begin at a border. A kernel of the border can be missing from a recording.
fn moved(names: &[u32], at: usize, of: StepBorder) -> usize {
    let is_half = |at: &usize| {
        let (before, behind) = border(names, *at);
        before != behind && (before == of.0 || behind == of.1)
    };
    place(names, at, of).or_else(|| near(names, at).find(is_half)).unwrap_or(at)
}

/// The border with the longest pause among those that are near most begins and nowhere else.
fn best(idle_ps: &[i64], names: &[u32], begins: &[usize]) -> Option<(i64, StepBorder)> {
    let all: FxHashSet<StepBorder> =
        begins.iter().flat_map(|at| near(names, *at)).map(|at| border(names, at)).collect();
    let pause = |of: StepBorder| {
        let places: Vec<usize> = begins.iter().filter_map(|at| place(names, *at, of)).collect();
        let count = names.windows(2).filter(|pair| (pair[0], pair[1]) == of).count();
        let is_of_steps = places.len() * 2 > begins.len() && count <= begins.len() + 1;
        is_of_steps.then(|| (median(places.iter().map(|at| idle_ps[*at]).collect()), places.len()))
    };
    let known = all.into_iter().filter_map(|of| Some((pause(of)?, of)));
    known.max_by_key(|(pause, of)| (*pause, std::cmp::Reverse(*of))).map(|((ps, _), of)| (ps, of))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::insight::tests::{Drawn, work_of};

    /// Steps of five kernels, with a pause before each.
    fn steps(count: i64) -> (RankWork, ProgramOrder) {
        const NAMES: [&str; 5] = ["load", "gemm", "gemm", "adam", "adam"];
        let slice = |step: i64, at: usize| {
            let start = step * 100 + at as i64 * 10;
            Drawn(0, NAMES[at], start, start + 10)
        };
        let slices: Vec<Drawn> =
            (0..count).flat_map(|step| (0..NAMES.len()).map(move |at| slice(step, at))).collect();
        let work = work_of(&slices);
        let order = ProgramOrder::all(&work).remove(0);
        (work, order)
    }

    #[test]
    fn begins_move_to_the_pause_that_all_steps_have() {
        let (work, order) = steps(4);
        let of = |begins: &[usize], end: usize| {
            let bounds = MarkBounds { begins: begins.to_vec(), end }.settled(&work, &order);
            (bounds.begins, bounds.end)
        };
        assert_eq!(of(&[0, 4, 10, 13], 19), (vec![0, 5, 10, 15], 20));
        // The pause of half a step is the longest one.
        assert_eq!(of(&[0, 4, 9, 14], 19), (vec![0, 5, 10, 15], 20));
        assert_eq!(of(&[0, 4], 9), (vec![0, 4], 9));
    }

    #[test]
    fn begins_that_agree_stay_where_no_pause_is_much_longer() {
        let slices: Vec<Drawn> = (0..20)
            .map(|at| Drawn(0, ["a", "b", "c", "d"][at % 4], at as i64 * 11, at as i64 * 11 + 10))
            .collect();
        let work = work_of(&slices);
        let order = ProgramOrder::all(&work).remove(0);
        let bounds = MarkBounds { begins: vec![0, 5, 9, 13], end: 17 };
        assert_eq!(bounds.clone().settled(&work, &order).begins, bounds.begins);
    }
}
