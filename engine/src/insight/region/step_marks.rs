//! Steps from marks of the program.
//!
//! A mark of the host says when the host was in a step, and the device can be a step behind. So a
//! step begins on the device with the first work that was launched within the mark. Without
//! launches, marks on the device tell, else those of the host.

use super::mark_bounds::MarkBounds;
use super::program_order::ProgramOrder;
use super::step::{StepOrigin, StepShape, WorkStep, WorkSteps};
use crate::base::Interval;
use crate::model::{MachineSide, MarkKind, RankWork, WorkMark};

use super::pace::StepPace;

/// The steps that marks tell. `None` without marks of steps.
pub(super) fn steps_of_marks(work: &RankWork, marks: &[WorkMark]) -> Option<WorkSteps> {
    let of_side = |side: MachineSide| -> Vec<&WorkMark> {
        outermost(marks.iter().filter(|mark| mark.kind == MarkKind::Step && mark.side == side))
    };
    let (host, device) = (of_side(MachineSide::Host), of_side(MachineSide::Device));
    let order = ProgramOrder::launched(work);
    let all = match order.filter(|_| !host.is_empty()) {
        Some(order) => launched(work, &order, &host),
        None if device.is_empty() => host.iter().map(|mark| step(mark, mark.span, 0)).collect(),
        None => joined(&device),
    };
    (!all.is_empty()).then(|| WorkSteps::new(StepOrigin::Marks, all))
}

/// Marks that lie in no other one.
fn outermost<'m>(marks: impl Iterator<Item = &'m WorkMark>) -> Vec<&'m WorkMark> {
    let mut outer: Vec<&WorkMark> = Vec::new();
    for mark in marks {
        if outer.last().is_none_or(|last| mark.span.start >= last.span.end || mark.span.end > last.span.end) {
            outer.push(mark);
        }
    }
    outer
}

fn step(mark: &WorkMark, span: Interval, nodes: usize) -> WorkStep {
    WorkStep {
        name: mark.name.clone(),
        span,
        nodes,
        shape: StepShape::Usual,
        pace: StepPace::Unknown,
        mark: Some(mark.span),
    }
}

/// Steps with the work that was launched within their marks.
fn launched(work: &RankWork, order: &ProgramOrder, marks: &[&WorkMark]) -> Vec<WorkStep> {
    let launches = order.launches_ps.as_deref().unwrap_or(&[]);
    let place = |time_ps: i64| launches.partition_point(|launch| *launch < time_ps);
    let node = |at: usize| &work.nodes[order.nodes[at] as usize];
    let end = marks.last().map_or(0, |last| place(last.span.end.0));
    let begins = marks.iter().map(|mark| place(mark.span.start.0)).collect();
    let bounds = MarkBounds { begins, end }.settled(work, order);
    // Launches between two marks belong to the step before.
    let ends = bounds.begins.iter().skip(1).copied().chain([bounds.end]);
    let parts: Vec<(usize, usize)> = bounds.begins.iter().copied().zip(ends).collect();
    let start_of = |at: usize| {
        let (start, end) = *parts.get(at)?;
        (start < end).then(|| node(start).start_ps)
    };
    let one = |at: usize| {
        let (start, end) = parts[at];
        let Some(start_ps) = start_of(at) else { return step(marks[at], marks[at].span, 0) };
        let last_ps = (start..end).map(|at| node(at).end_ps()).max().unwrap_or(start_ps);
        let end_ps = start_of(at + 1).unwrap_or(last_ps);
        step(marks[at], Interval::new(start_ps, end_ps), end - start)
    };
    (0..marks.len()).map(one).collect()
}

/// Marks on several streams that have one name are one step.
fn joined(marks: &[&WorkMark]) -> Vec<WorkStep> {
    let mut all: Vec<WorkStep> = Vec::new();
    for mark in marks {
        match all.iter_mut().rev().take(2).find(|step| step.name == mark.name) {
            Some(step) => step.span = step.span.cover(mark.span),
            None => all.push(WorkStep { mark: None, ..step(mark, mark.span, 0) }),
        }
    }
    all
}
