//! Shares of what a server has little of: connections, downloads, memory for answers that were not
//! read yet.
//!
//! *Invariant.* No client takes what others need: one gets at most a quarter, and all but the user
//! of the server together seven eighths.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::peer::Peer;

/// An amount, and the share of it that each client has taken.
#[derive(Debug)]
pub struct Shares {
    whole: u64,
    taken: Mutex<HashMap<Peer, u64>>,
}

/// A share, free again when it is dropped.
#[derive(Debug)]
pub struct ResourceShare {
    of: Arc<Shares>,
    peer: Peer,
    amount: u64,
}

impl Shares {
    /// Nothing is taken.
    #[must_use]
    pub fn of(whole: u64) -> Arc<Self> {
        Arc::new(Self { whole, taken: Mutex::default() })
    }

    /// Takes an amount, if this client may have it now.
    #[must_use]
    pub fn take(self: &Arc<Self>, peer: Peer, amount: u64) -> Option<ResourceShare> {
        let mut taken = self.taken();
        let all = taken.values().sum::<u64>().saturating_add(amount);
        let own = taken.get(&peer).copied().unwrap_or_default().saturating_add(amount);
        let is_free = match peer {
            Peer::SameUser => all <= self.whole,
            _ => own <= self.whole / 4 && all <= self.whole - self.whole / 8,
        };
        is_free.then(|| {
            taken.insert(peer, own);
            ResourceShare { of: Arc::clone(self), peer, amount }
        })
    }

    /// Amount that all have taken.
    #[must_use]
    pub fn in_use(&self) -> u64 {
        self.taken().values().sum()
    }

    fn taken(&self) -> MutexGuard<'_, HashMap<Peer, u64>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ResourceShare {
    fn drop(&mut self) {
        let mut taken = self.of.taken();
        if let Some(own) = taken.get_mut(&self.peer) {
            *own = own.saturating_sub(self.amount);
            if *own == 0 {
                taken.remove(&self.peer);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_user_of_the_server_always_finds_a_place() {
        let slots = Shares::of(16);
        let take = |peer, count| (0..count).filter_map(|_| slots.take(peer, 1)).collect::<Vec<_>>();
        let user = |uid| Peer::Local(Some(uid));
        let mut others: Vec<ResourceShare> = (1..9).flat_map(|uid| take(user(uid), 16)).collect();
        assert_eq!(others.len(), 14, "seven eighths");
        assert_eq!(others.iter().filter(|slot| slot.peer == user(1)).count(), 4, "a quarter each");
        let own = take(Peer::SameUser, 16);
        assert_eq!(own.len(), 2);
        others.truncate(10);
        assert_eq!(take(Peer::SameUser, 16).len(), 4);
        drop((others, own));
        assert_eq!(slots.in_use(), 0);
    }

    #[test]
    fn large_amounts_are_given_back_whole() {
        let bytes = Shares::of(1_000);
        let other = Peer::Local(None);
        assert!(bytes.take(other, 251).is_none(), "more than a quarter");
        let share = bytes.take(other, 250).unwrap();
        assert!(bytes.take(other, 1).is_none());
        assert!(bytes.take(Peer::SameUser, u64::MAX).is_none());
        assert_eq!(bytes.in_use(), 250);
        drop(share);
        assert!(bytes.take(other, 250).is_some());
    }
}
