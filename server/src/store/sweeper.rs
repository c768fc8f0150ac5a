//! Looks after a store while a server runs: lets go of what was removed, and clears leftovers of
//! dead processes.

use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use super::Store;

/// Time between two calls of the server's own function. A removed profile keeps its space on the
/// disk until then.
const TICK: Duration = Duration::from_secs(5);
/// Ticks between two looks at the store. A look costs a listing of each directory.
const TICKS: u32 = 12;

/// A thread that looks after the store until it is dropped.
#[derive(Debug)]
pub struct Sweeper {
    /// Ends the thread when dropped.
    _end: mpsc::Sender<()>,
}

impl Sweeper {
    /// Starts the thread. It calls `let_go`, which must close what was removed from the store. A
    /// store that may only be read is not cleared.
    #[must_use]
    pub fn start(store: &Arc<Store>, let_go: impl Fn() + Send + 'static) -> Self {
        Self::every(TICK, store, let_go)
    }

    fn every(tick: Duration, store: &Arc<Store>, let_go: impl Fn() + Send + 'static) -> Self {
        let (end, ended) = mpsc::channel::<()>();
        let store = Arc::clone(store);
        let started = thread::Builder::new().spawn(move || {
            let mut ticks = 0_u32;
            while ended.recv_timeout(tick) == Err(mpsc::RecvTimeoutError::Timeout) {
                let_go();
                ticks = ticks.wrapping_add(1);
                if ticks.is_multiple_of(TICKS)
                    && !store.is_read_only()
                    && let Err(error) = store.clear()
                {
                    tracing::warn!("cannot clear the store: {error}");
                }
            }
        });
        if let Err(error) = started {
            tracing::warn!("no thread looks after the store while the server runs: {error}");
        }
        Self { _end: end }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::Instant;

    use super::*;

    #[test]
    fn leftovers_go_while_the_store_is_open() {
        let dir = tempfile::tempdir().unwrap();
        let store = Arc::new(Store::open(dir.path()).unwrap());
        let alive = store.stage().unwrap();
        let (told, calls) = mpsc::channel();
        let sweeper = Sweeper::every(Duration::from_millis(5), &store, move || {
            let _ = told.send(());
        });
        let dead = dir.path().join("tmp/dead");
        fs::create_dir(&dead).unwrap();
        let start = Instant::now();
        while dead.exists() && start.elapsed() < Duration::from_secs(60) {
            thread::sleep(Duration::from_millis(5));
        }
        assert!(!dead.exists());
        assert!(calls.try_iter().count() >= TICKS as usize);
        drop(sweeper);
        assert!(alive.profile_dir().is_dir());
    }
}
