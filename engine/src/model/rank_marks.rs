//! Marks that a program drew over its work: steps, layers, phases. [`crate::makers::marks`] reads
//! them.

use crate::base::Interval;

use super::MachineSide;

/// The meaning of a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MarkKind {
    /// A step, such as that of a training loop.
    Step,
    /// A layer of the model.
    Layer,
    /// Any other span that the program names.
    Phase,
}

/// A mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkMark {
    /// The meaning.
    pub kind: MarkKind,
    /// The name as in the trace.
    pub name: String,
    /// Its times on the clock of the rank.
    pub span: Interval,
    /// The side of the machine whose times the mark has.
    pub side: MachineSide,
}

/// Sorts marks by start, the longer one first.
pub fn sort_marks(marks: &mut [WorkMark]) {
    marks.sort_by(|a, b| {
        let key = |mark: &WorkMark| (mark.span.start, std::cmp::Reverse(mark.span.end), mark.kind);
        key(a).cmp(&key(b)).then_with(|| a.name.cmp(&b.name))
    });
}
