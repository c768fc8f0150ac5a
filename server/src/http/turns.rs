//! Turns of heavy work. A question waits for its turn without a thread, and gives its turn back
//! when nobody waits for the answer any more.
//!
//! *Invariant.* Light questions (the list, kept answers) need no turn. So they wait for no other
//! question, whatever other clients ask.

use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::available_parallelism;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::peer::Peer;
use super::shares::{Share, Shares};
use super::unread::MAX_UNREAD_BYTES;

/// Heavy questions at once, for each core. Two keep a core busy while one reads from disk.
const PER_CORE: usize = 2;
/// Downloads at once. Each occupies a thread, mostly waiting for its client, and has a turn of
/// heavy work while it does not wait.
const DOWNLOADS: u64 = 64;

/// Weight of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// Reads what is kept.
    Light,
    /// Reads a few blocks: a tile, a slice, a counter.
    Small,
    /// Can read every row.
    Heavy,
}

/// Turns of all questions of a server.
#[derive(Debug)]
pub struct Turns {
    small: Queue,
    heavy: Queue,
    downloads: Arc<Shares>,
    unread: Arc<Shares>,
}

/// The turns of one weight.
#[derive(Debug)]
struct Queue {
    free: Arc<Semaphore>,
    waiting: AtomicUsize,
}

/// Counts a question while it waits.
struct Waits<'a>(&'a AtomicUsize);

/// A turn. It ends when it is dropped.
#[derive(Debug)]
pub struct Turn(#[expect(dead_code, reason = "it is held, not read")] Option<OwnedSemaphorePermit>);

impl Turns {
    /// Turns for this machine.
    #[must_use]
    pub fn of_machine() -> Self {
        let cores = available_parallelism().map_or(1, NonZero::get);
        let at_once = |count| Queue { free: Arc::new(Semaphore::new(count)), waiting: AtomicUsize::new(0) };
        Self {
            small: at_once(PER_CORE * cores),
            heavy: at_once(PER_CORE * cores),
            downloads: Shares::of(DOWNLOADS),
            unread: Shares::of(MAX_UNREAD_BYTES),
        }
    }

    /// A place for a download, if this client may have one more.
    #[must_use]
    pub fn download(&self, peer: Peer) -> Option<Share> {
        self.downloads.take(peer, 1)
    }

    /// Memory for answers that clients have not read yet.
    #[must_use]
    pub fn unread(&self) -> Arc<Shares> {
        Arc::clone(&self.unread)
    }

    /// Waits for a turn. Turns come in the order of the calls; a dropped future gives its place in
    /// the order up.
    pub async fn wait(&self, weight: Weight) -> Turn {
        let Some(queue) = self.of(weight) else { return Turn(None) };
        queue.waiting.fetch_add(1, Ordering::Relaxed);
        let _waits = Waits(&queue.waiting);
        // Nobody closes a semaphore of turns.
        Turn(Arc::clone(&queue.free).acquire_owned().await.ok())
    }

    /// Number of questions that wait for a turn.
    #[must_use]
    pub fn waiting(&self, weight: Weight) -> usize {
        self.of(weight).map_or(0, |queue| queue.waiting.load(Ordering::Relaxed))
    }

    /// A turn, if one is free now.
    #[must_use]
    pub fn take(&self, weight: Weight) -> Option<Turn> {
        match self.of(weight) {
            Some(queue) => Arc::clone(&queue.free).try_acquire_owned().ok().map(|permit| Turn(Some(permit))),
            None => Some(Turn(None)),
        }
    }

    fn of(&self, weight: Weight) -> Option<&Queue> {
        match weight {
            Weight::Light => None,
            Weight::Small => Some(&self.small),
            Weight::Heavy => Some(&self.heavy),
        }
    }
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
