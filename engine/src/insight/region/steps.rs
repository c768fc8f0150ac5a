//! The steps of a rank, from marks or from the order of its work.

use rustc_hash::FxHashMap;

use super::bound::begin;
use super::candidate::LEAST_REPETITIONS;
use super::likeness::is_beginning_of;
use super::pace::StepPace;
use super::program_order::{ProgramOrder, is_streamed};
use super::repetition::{Repeat, RepeatingOrder, outermost, repeats};
use super::step::{NoSteps, StepOrigin, StepShape, WorkStep, WorkSteps};
use super::step_marks::steps_of_marks;
use crate::base::{Interval, Result};
use crate::exec::Cancel;
use crate::model::{RankWork, WorkMark, WorkNode};

/// Work of an unlike step relative to that of a usual one, at least and at most.
const UNLIKE: std::ops::RangeInclusive<f64> = 0.5..=1.5;
/// Names by which the begin of an unlike step is found.
const FIRST_NAMES: usize = 3;

/// Part of the work of a usual step that a first one has to have.
const LEAST_COMMON: f64 = 0.6;

/// The same for a first step that has about as many kernels.
const LEAST_COMMON_AS_LONG: f64 = 0.3;
const AS_LONG: std::ops::RangeInclusive<f64> = 0.9..=1.1;

/// A step as positions in the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct StepPart {
    start: usize,
    end: usize,
    shape: StepShape,
}

/// The steps of a rank: those that `marks` tell, else those that the order of its work shows. All
/// times are those of the work.
pub fn steps(
    work: &RankWork,
    marks: &[WorkMark],
    cancel: Cancel<'_>,
) -> Result<std::result::Result<WorkSteps, NoSteps>> {
    match steps_of_marks(work, marks) {
        Some(found) => Ok(Ok(found)),
        None => steps_of_orders(work, &ProgramOrder::all(work), cancel),
    }
}

/// The steps that the orders of a part of a rank's work show.
pub(super) fn steps_of_orders(
    work: &RankWork,
    orders: &[ProgramOrder],
    cancel: Cancel<'_>,
) -> Result<std::result::Result<WorkSteps, NoSteps>> {
    let mut reason = NoSteps::NoKernels;
    for order in orders {
        let Some(found) = outermost(&order.names, cancel)? else {
            reason = NoSteps::NoRepetition;
            continue;
        };
        let begin = begin(work, order, &found);
        if !begin.is_of_steps {
            reason = NoSteps::OnlyLayers;
            continue;
        }
        match turned(order, &found, begin.offset) {
            Some(parts) => return Ok(Ok(made(work, order, &parts))),
            None => reason = NoSteps::NoRepetition,
        }
    }
    Ok(Err(reason))
}

/// The steps of repetitions that begin at an offset. `None` if they are too few.
fn turned(order: &ProgramOrder, found: &RepeatingOrder, offset: usize) -> Option<Vec<StepPart>> {
    let word = [&found.word[offset..], &found.word[..offset]].concat();
    let exact = found.repeats.iter().find(|one| one.difference == 0.0).or(found.repeats.first())?;
    // The last repetition can lack its end.
    let places = found.repeats.iter().map(|one| one.start + offset).filter(|place| *place <= order.len());
    let places: Vec<usize> = places.collect();
    let from = (exact.start + offset).min(order.len());
    let repeats = repeats(&order.names, &word, from, &places);
    let parts = parts(&order.names, &word, &repeats);
    let usual = parts.iter().filter(|part| part.shape == StepShape::Usual).count();
    (usual >= LEAST_REPETITIONS).then_some(parts)
}

fn parts(names: &[u32], word: &[u32], repeats: &[Repeat]) -> Vec<StepPart> {
    let (Some(first), Some(last)) = (repeats.first(), repeats.last()) else { return Vec::new() };
    let mut parts: Vec<StepPart> = head(names, word, first.start).into_iter().collect();
    let mut end = first.start;
    for repeat in repeats {
        let between = (repeat.start - end) as f64 / word.len() as f64;
        if UNLIKE.contains(&between) {
            parts.push(StepPart { start: end, end: repeat.start, shape: StepShape::Unlike });
        }
        parts.push(StepPart { start: repeat.start, end: repeat.end, shape: StepShape::Usual });
        end = repeat.end;
    }
    let rest = &names[last.end..];
    if !rest.is_empty() && rest.len() < word.len() && is_beginning_of(rest, word) {
        parts.push(StepPart { start: last.end, end: names.len(), shape: StepShape::Cut });
    }
    parts
}

/// The step before the first repetition, of which the recording can lack the begin.
fn head(names: &[u32], word: &[u32], end: usize) -> Option<StepPart> {
    let before = &names[..end];
    let reversed = |values: &[u32]| values.iter().rev().copied().collect::<Vec<u32>>();
    if before.is_empty() {
        return None;
    }
    if before.len() < word.len() && is_beginning_of(&reversed(before), &reversed(word)) {
        return Some(StepPart { start: 0, end, shape: StepShape::Cut });
    }
    let fits = |start: &usize| UNLIKE.contains(&((end - start) as f64 / word.len() as f64));
    let begins = |count: usize| {
        let windows = before.windows(count).enumerate();
        windows.filter(move |(_, window)| *window == &word[..count]).map(|(at, _)| at)
    };
    let known = (1..=word.len().min(FIRST_NAMES)).rev().find_map(|count| begins(count).find(fits));
    let start = known.or(Some(0).filter(fits))?;
    let common = common(&before[start..], word) as f64 / word.len() as f64;
    let is_as_long = AS_LONG.contains(&((end - start) as f64 / word.len() as f64));
    (common >= LEAST_COMMON || is_as_long && common >= LEAST_COMMON_AS_LONG).then_some(StepPart {
        start,
        end,
        shape: StepShape::Unlike,
    })
}

/// Names that two orders have in common, in any order.
fn common(one: &[u32], other: &[u32]) -> usize {
    let mut counts: FxHashMap<u32, usize> = FxHashMap::default();
    one.iter().for_each(|name| *counts.entry(*name).or_default() += 1);
    let mut is_common = |name: &&u32| match counts.get_mut(*name) {
        Some(count) if *count > 0 => {
            *count -= 1;
            true
        }
        _ => false,
    };
    other.iter().filter(&mut is_common).count()
}

fn made(work: &RankWork, order: &ProgramOrder, parts: &[StepPart]) -> WorkSteps {
    let node = |at: usize| &work.nodes[order.nodes[at] as usize];
    let starts: Vec<i64> = match order.is_part {
        true => parts.iter().map(|part| first_start_ps(work, order, part.start)).collect(),
        false => parts.iter().map(|part| node(part.start).start_ps).collect(),
    };
    let end_of = |part: &StepPart| (part.start..part.end).map(|at| node(at).end_ps()).max();
    let step = |(at, part): (usize, &StepPart)| {
        let next = parts.get(at + 1).filter(|next| next.start == part.end);
        let end_ps = next.map(|_| starts[at + 1]).or(end_of(part)).unwrap_or(starts[at]);
        WorkStep {
            name: format!("iteration {at}"),
            span: Interval::new(starts[at], end_ps),
            nodes: part.end - part.start,
            shape: part.shape,
            pace: StepPace::Unknown,
            mark: None,
        }
    };
    WorkSteps::new(StepOrigin::Order, parts.iter().enumerate().map(step).collect())
}

/// The start of a step whose order is that of one track: the first start on any track behind the
/// work before it.
fn first_start_ps(work: &RankWork, order: &ProgramOrder, at: usize) -> i64 {
    let first = &work.nodes[order.nodes[at] as usize];
    let before = at.checked_sub(1).map(|before| &work.nodes[order.nodes[before] as usize]);
    let end_ps = before.map_or(i64::MIN, WorkNode::end_ps);
    let from = work.nodes.partition_point(|node| node.start_ps < end_ps);
    let mut between = (from..work.nodes.len()).take_while(|&node| work.nodes[node].start_ps < first.start_ps);
    between.find(|&node| is_streamed(work, node)).map_or(first.start_ps, |node| work.nodes[node].start_ps)
}
