//! Turns of heavy work. A question waits for its turn without a thread, and gives its turn back
//! when nobody waits for the answer any more.
//!
//! *Invariant.* Light questions (the list, kept answers) need no turn. So they wait for no other
//! question, whatever other clients ask.

use std::num::NonZero;
use std::sync::Arc;
use std::thread::available_parallelism;

pub use nprof_engine::wire::ask::Weight;

use super::error::ApiError;
use super::peer::Peer;
pub use super::queue::Turn;
use super::queue::TurnQueue;
use super::shares::{ResourceShare, Shares};
use super::unread_answers::MAX_UNREAD_BYTES;

/// Heavy questions at once, for each core. Two keep a core busy while one reads from disk.
const PER_CORE: usize = 2;
/// Downloads at once. Each occupies a thread, mostly waiting for its client, and has a turn of
/// heavy work while it does not wait.
const DOWNLOADS: u64 = 64;

/// Turns of all questions of a server.
#[derive(Debug)]
pub struct Turns {
    small: Arc<TurnQueue>,
    heavy: Arc<TurnQueue>,
    downloads: Arc<Shares>,
    unread: Arc<Shares>,
}

impl Turns {
    /// Turns for this machine.
    #[must_use]
    pub fn of_machine() -> Self {
        let cores = available_parallelism().map_or(1, NonZero::get);
        Self {
            small: TurnQueue::new(PER_CORE * cores),
            heavy: TurnQueue::new(PER_CORE * cores),
            downloads: Shares::of(DOWNLOADS),
            unread: Shares::of(MAX_UNREAD_BYTES),
        }
    }

    /// A place for a download, if this client may have one more.
    #[must_use]
    pub fn download(&self, peer: Peer) -> Option<ResourceShare> {
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
        match self.of(weight) {
            Some(queue) => queue.wait().await,
            None => Turn::LIGHT,
        }
    }

    /// Number of questions that wait for a turn.
    #[must_use]
    pub fn waiting(&self, weight: Weight) -> usize {
        self.of(weight).map_or(0, |queue| queue.waiting())
    }

    /// Returns true if a question of this weight would run at once.
    #[must_use]
    pub fn is_free(&self, weight: Weight) -> bool {
        self.of(weight).is_none_or(|queue| queue.is_free())
    }

    /// A turn, if one is free now.
    #[must_use]
    pub fn take(&self, weight: Weight) -> Option<Turn> {
        self.of(weight).map_or(Some(Turn::LIGHT), |queue| queue.take())
    }

    /// Runs work with a turn, on a thread where it may block. A dropped future gives its place in
    /// the order up.
    ///
    /// # Errors
    /// If the work panics, or the server ends.
    pub async fn run<T: Send + 'static>(
        &self,
        weight: Weight,
        work: impl FnOnce(&Turn) -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        let Some(queue) = self.of(weight) else {
            return Ok(tokio::task::spawn_blocking(move || work(&Turn::LIGHT)).await?);
        };
        let ended = || ApiError::Internal("the server ends".to_owned());
        queue.run(work).await.ok_or_else(ended)?.map_err(|_| ApiError::Panicked)
    }

    fn of(&self, weight: Weight) -> Option<&Arc<TurnQueue>> {
        match weight {
            Weight::Light => None,
            Weight::Small => Some(&self.small),
            Weight::Heavy => Some(&self.heavy),
        }
    }
}
