//! Whether somebody still waits for an answer. A client that goes away, or asks something else instead, drops its
//! request, and with it the work.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Held by a request for as long as its client waits.
#[derive(Debug)]
pub(super) struct Waiting(Arc<AtomicBool>);

/// Held by the work.
#[derive(Debug, Clone)]
pub(super) struct Wanted(Arc<AtomicBool>);

impl Waiting {
    pub(super) fn new() -> (Self, Wanted) {
        let flag = Arc::new(AtomicBool::new(true));
        (Self(Arc::clone(&flag)), Wanted(flag))
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

impl Wanted {
    /// Whether the client still waits.
    pub(super) fn is_wanted(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_ends_with_its_request() {
        let (waiting, wanted) = Waiting::new();
        assert!(wanted.is_wanted());
        drop(waiting);
        assert!(!wanted.is_wanted());
    }
}
