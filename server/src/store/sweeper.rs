//! Clears leftovers of dead processes while a server runs.

use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use super::Store;

/// Time between two looks at the store. A look costs a listing of each directory.
const PERIOD: Duration = Duration::from_secs(60);

/// A thread that clears the store once a minute until it is dropped.
#[derive(Debug)]
pub struct Sweeper {
    /// Ends the thread when dropped.
    _end: Option<mpsc::Sender<()>>,
}

impl Sweeper {
    /// Starts the thread. A store that may only be read is not cleared.
    #[must_use]
    pub fn start(store: &Arc<Store>) -> Self {
        Self::every(PERIOD, store)
    }

    fn every(period: Duration, store: &Arc<Store>) -> Self {
        if store.is_read_only() {
            return Self { _end: None };
        }
        let (end, ended) = mpsc::channel::<()>();
        let store = Arc::clone(store);
        thread::spawn(move || {
            while ended.recv_timeout(period) == Err(mpsc::RecvTimeoutError::Timeout) {
                if let Err(error) = store.clear() {
                    tracing::warn!("cannot clear the store: {error}");
                }
            }
        });
        Self { _end: Some(end) }
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
        let sweeper = Sweeper::every(Duration::from_millis(5), &store);
        let dead = dir.path().join("tmp/dead");
        fs::create_dir(&dead).unwrap();
        let start = Instant::now();
        while dead.exists() && start.elapsed() < Duration::from_secs(60) {
            thread::sleep(Duration::from_millis(5));
        }
        assert!(!dead.exists());
        drop(sweeper);
        assert!(alive.profile_dir().is_dir());
    }
}
