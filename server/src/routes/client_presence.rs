//! Tells whether a client still waits for its answer. When a client disconnects or asks another
//! question, its request is dropped and the work stops.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Held by a request while its client waits.
#[derive(Debug)]
pub(super) struct Waiting(Arc<AtomicBool>);

/// Held by the worker.
#[derive(Debug, Clone)]
pub(super) struct ClientInterest(Arc<AtomicBool>);

impl Waiting {
    pub(super) fn new() -> (Self, ClientInterest) {
        let flag = Arc::new(AtomicBool::new(true));
        (Self(Arc::clone(&flag)), ClientInterest(flag))
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

impl ClientInterest {
    /// Returns true while the client waits.
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
