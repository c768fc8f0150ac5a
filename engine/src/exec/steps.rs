//! Steps of loops over what a trace has brought before: open slices, lanes, fields. Tests count
//! them, because unlike seconds they do not depend on the machine. Other builds count nothing.

#[cfg(any(test, feature = "fixture"))]
pub use counted::{step, steps};

/// Counts nothing.
#[cfg(not(any(test, feature = "fixture")))]
#[inline]
pub fn step(_: usize) {}

#[cfg(any(test, feature = "fixture"))]
mod counted {
    use std::cell::Cell;

    thread_local!(static STEPS: Cell<u64> = const { Cell::new(0) });

    /// Counts some steps of this thread.
    #[inline]
    pub fn step(count: usize) {
        STEPS.set(STEPS.get() + count as u64);
    }

    /// All steps of this thread so far.
    pub fn steps() -> u64 {
        STEPS.get()
    }
}
