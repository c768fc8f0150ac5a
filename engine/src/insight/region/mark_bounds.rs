//! Begins of steps where marks of the host do not tell them to the kernel.
//!
//! A host launches ahead, and its marks are drawn a little before or behind the launches of a step.
//! If the same two kernels do not stand at each begin, all begins move to the two that do so within
//! a few launches, with the longest pause between them.

use rustc_hash::FxHashSet;

use super::bound::{idle_before, median};
use super::program_order::ProgramOrder;
use crate::model::RankWork;

/// Launches by which a begin may be off.
const MOST_OFF: usize = 8;

/// The names before and behind a begin.
type Border = (u32, u32);

/// Begins of steps in an order of work, ascending, with the end of the last one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MarkBounds {
    pub(super) begins: Vec<usize>,
    pub(super) end: usize,
}

impl MarkBounds {
    /// The bounds at the border that all steps have, or the same bounds if there is none.
    pub(super) fn settled(self, work: &RankWork, order: &ProgramOrder) -> Self {
        let names = &order.names;
        let inner: Vec<usize> =
            self.begins.iter().copied().filter(|at| *at > 0 && *at < names.len()).collect();
        let borders: FxHashSet<Border> = inner.iter().map(|at| border(names, *at)).collect();
        if inner.len() < 2 || borders.len() == 1 {
            return self;
        }
        let Some(border) = best(&idle_before(work, order), names, &inner) else { return self };
        // Nothing is before the first launch.
        let begin = |at: &usize| if *at == 0 { 0 } else { moved(names, *at, border) };
        let begins = self.begins.iter().map(begin).collect();
        let end = match names.len() - self.end.min(names.len()) <= MOST_OFF && names.last() == Some(&border.0)
        {
            true => names.len(),
            false => moved(names, self.end, border),
        };
        Self { begins, end }
    }
}

fn border(names: &[u32], at: usize) -> Border {
    (names[at - 1], names[at])
}

/// Positions near one, the nearest first.
fn near(names: &[u32], at: usize) -> impl Iterator<Item = usize> + '_ {
    let both = (0..=MOST_OFF).flat_map(move |off| [at.checked_sub(off), at.checked_add(off)]);
    both.flatten().filter(|at| *at > 0 && *at < names.len())
}

/// The nearest place of a border. `None` if it is not near.
fn place(names: &[u32], at: usize, of: Border) -> Option<usize> {
    near(names, at).find(|at| border(names, *at) == of)
}

/// A begin at a border. A kernel of the border can be missing from a recording.
fn moved(names: &[u32], at: usize, of: Border) -> usize {
    let is_half = |at: &usize| {
        let (before, behind) = border(names, *at);
        before != behind && (before == of.0 || behind == of.1)
    };
    place(names, at, of).or_else(|| near(names, at).find(is_half)).unwrap_or(at)
}

/// The border with the longest pause among those that are near most begins and nowhere else.
fn best(idle_ps: &[i64], names: &[u32], begins: &[usize]) -> Option<Border> {
    let all: FxHashSet<Border> =
        begins.iter().flat_map(|at| near(names, *at)).map(|at| border(names, at)).collect();
    let pause = |of: Border| {
        let places: Vec<usize> = begins.iter().filter_map(|at| place(names, *at, of)).collect();
        let count = names.windows(2).filter(|pair| (pair[0], pair[1]) == of).count();
        let is_of_steps = places.len() * 2 > begins.len() && count <= begins.len() + 1;
        is_of_steps.then(|| (median(places.iter().map(|at| idle_ps[*at]).collect()), places.len()))
    };
    let known = all.into_iter().filter_map(|of| Some((pause(of)?, of)));
    known.max_by_key(|(pause, of)| (*pause, std::cmp::Reverse(*of))).map(|(_, of)| of)
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
        // Marks that agree are right, wherever they are.
        assert_eq!(of(&[0, 6, 11, 16], 20), (vec![0, 6, 11, 16], 20));
        assert_eq!(of(&[0, 4], 9), (vec![0, 4], 9));
    }
}
