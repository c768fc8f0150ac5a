//! Instructions that change semaphores.

use rustc_hash::FxHashMap;

use super::history::{SemaphoreKey, SemaphoreValue};
use super::operand::SemaphoreStep;
use super::transfer::ChangeAuthor;
use crate::model::Certainty;

/// An instruction ends within this time of the change of its semaphore, in picoseconds.
const NEAR_PS: i64 = 100_000;

/// A change that an instruction makes at its end.
#[derive(Debug, Clone, Copy)]
pub(super) struct ChangeByInstruction {
    pub(super) end_ps: i64,
    pub(super) node: u32,
    pub(super) step: SemaphoreStep,
    /// The value that the instruction itself waited for in the same semaphore.
    pub(super) before: Option<i64>,
    /// Number of the name of the engine.
    pub(super) engine: Option<u32>,
}

impl ChangeByInstruction {
    /// Whether it can have led to a value.
    fn can_lead_to(&self, change: &SemaphoreValue) -> bool {
        let is_author = change.author.is_none() || self.engine.is_none() || change.author == self.engine;
        let leads = match self.step {
            SemaphoreStep::To(value) => value == change.value,
            SemaphoreStep::By(step) => {
                self.before.is_none_or(|before| before.saturating_add(step) == change.value)
            }
        };
        is_author && leads
    }
}

/// The changes by instructions, by semaphore.
#[derive(Debug, Default)]
pub(super) struct InstructionChanges {
    by_semaphore: FxHashMap<SemaphoreKey, Vec<ChangeByInstruction>>,
}

impl InstructionChanges {
    pub(super) fn push(&mut self, semaphore: SemaphoreKey, change: ChangeByInstruction) {
        self.by_semaphore.entry(semaphore).or_default().push(change);
    }

    /// Sorts the changes, once all are there.
    pub(super) fn sort(&mut self) {
        for of in self.by_semaphore.values_mut() {
            of.sort_unstable_by_key(|change| (change.end_ps, change.node));
        }
    }

    /// The instruction that made a change: of those that end near it and can have led to its value
    /// the nearest.
    pub(super) fn author(&self, semaphore: SemaphoreKey, change: &SemaphoreValue) -> Option<ChangeAuthor> {
        let of = self.by_semaphore.get(&semaphore)?;
        let first = of.partition_point(|one| one.end_ps < change.time_ps.saturating_sub(NEAR_PS));
        let near = of[first..].iter().take_while(|one| one.end_ps <= change.time_ps.saturating_add(NEAR_PS));
        let found = near
            .filter(|one| one.can_lead_to(change))
            .min_by_key(|one| one.end_ps.abs_diff(change.time_ps))?;
        Some(ChangeAuthor { node: found.node, certainty: Certainty::Recorded })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(changes: &[(i64, SemaphoreStep, Option<i64>)], value: i64, expected: Option<u32>) {
        let key = SemaphoreKey { core: 0, number: 2 };
        let mut known = InstructionChanges::default();
        for (node, &(end_ns, step, before)) in (0..).zip(changes) {
            let change = ChangeByInstruction { end_ps: end_ns * 1000, node, step, before, engine: None };
            known.push(key, change);
        }
        known.sort();
        let change = SemaphoreValue { time_ps: 1_000_000, value, author: None };
        assert_eq!(known.author(key, &change).map(|author| author.node), expected, "{changes:?}");
    }

    #[test]
    fn the_nearest_instruction_that_fits_made_a_change() {
        use SemaphoreStep::{By, To};
        check(&[(990, By(1), None), (1033, By(1), None)], 4, Some(0));
        check(&[(990, By(1), Some(4)), (1033, By(1), Some(3))], 4, Some(1));
        check(&[(990, To(0), Some(8))], 4, None);
        check(&[(990, To(0), Some(8))], 0, Some(0));
        check(&[(880, By(1), None), (1101, By(1), None)], 1, None);
    }
}
