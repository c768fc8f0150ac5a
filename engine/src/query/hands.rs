//! Who works on a question, and whether it is still asked. The engine has no threads of its own: it says which parts a
//! question has.

use std::sync::OnceLock;

use crate::base::{Error, Result};

/// Works on the parts of a question, at the same time where it can.
pub trait Hands: Sync {
    /// Runs `part` for every number below `count` and returns when all are done.
    fn run(&self, count: usize, part: &(dyn Fn(usize) + Sync));

    /// Whether somebody still waits for the answer. Asked often, so it must be cheap.
    fn is_wanted(&self) -> bool;
}

/// Works right here, one part after the other, to the end.
#[derive(Debug, Clone, Copy, Default)]
pub struct OneHand;

impl Hands for OneHand {
    fn run(&self, count: usize, part: &(dyn Fn(usize) + Sync)) {
        (0..count).for_each(part);
    }

    fn is_wanted(&self) -> bool {
        true
    }
}

/// What the parts of a question give, in their order.
///
/// # Errors
/// That of the first part that failed; [`Error::Unwanted`] where nobody waits any more.
pub fn gather<T: Send + Sync>(
    hands: &dyn Hands,
    count: usize,
    part: impl Fn(usize) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let slots: Vec<OnceLock<Result<T>>> = (0..count).map(|_| OnceLock::new()).collect();
    hands.run(count, &|at| {
        if hands.is_wanted() {
            // Each number comes once: the slot is free.
            slots[at].set(part(at)).ok();
        }
    });
    slots.into_iter().map(|slot| slot.into_inner().unwrap_or(Err(Error::Unwanted))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Nobody;

    impl Hands for Nobody {
        fn run(&self, count: usize, part: &(dyn Fn(usize) + Sync)) {
            (0..count).rev().for_each(part);
        }

        fn is_wanted(&self) -> bool {
            false
        }
    }

    #[test]
    fn parts_come_in_order_and_the_first_failure_counts() {
        assert_eq!(gather(&OneHand, 3, |at| Ok(at * 2)), Ok(vec![0, 2, 4]));
        let failing = |at| if at > 0 { Err(Error::Missing { offset: at as u64, len: 1 }) } else { Ok(at) };
        assert_eq!(gather(&OneHand, 3, failing), Err(Error::Missing { offset: 1, len: 1 }));
        assert_eq!(gather(&Nobody, 1, Ok), Err(Error::Unwanted));
    }
}
