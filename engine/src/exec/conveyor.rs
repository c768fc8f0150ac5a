//! A conveyor between two threads. Full buffers go to the consumer; emptied ones come back to be
//! filled again.

use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};

/// Producer's end of a conveyor.
#[derive(Debug)]
pub struct Feeder<F, E = F> {
    full: SyncSender<F>,
    emptied: Receiver<E>,
}

/// Consumer's end of a conveyor.
#[derive(Debug)]
pub struct ConveyorEnd<F, E = F> {
    full: Receiver<F>,
    emptied: Sender<E>,
}

/// Creates both ends of a conveyor on which at most `waiting` full buffers wait.
#[must_use]
pub fn conveyor<F, E>(waiting: usize) -> (Feeder<F, E>, ConveyorEnd<F, E>) {
    let (full, taken) = sync_channel(waiting);
    let (done, emptied) = channel();
    (Feeder { full, emptied }, ConveyorEnd { full: taken, emptied: done })
}

impl<F, E: Default> Feeder<F, E> {
    /// Sends a full buffer; blocks while too many are waiting. `false` if the other end is dropped.
    #[must_use]
    pub fn send(&self, full: F) -> bool {
        self.full.send(full).is_ok()
    }

    /// Returns an emptied buffer, or a new one if none has come back.
    #[must_use]
    pub fn emptied(&self) -> E {
        self.emptied.try_recv().unwrap_or_default()
    }
}

impl<F, E> ConveyorEnd<F, E> {
    /// Returns the next full buffer; blocks until there is one. `None` if the other end is dropped.
    #[must_use]
    pub fn take(&self) -> Option<F> {
        self.full.recv().ok()
    }

    /// Returns an emptied buffer to the producer. If the other end is dropped, the buffer is
    /// dropped too.
    pub fn give_back(&self, emptied: E) {
        let _ = self.emptied.send(emptied);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_go_around() {
        let (feeder, taker) = conveyor::<Vec<u8>, Vec<u8>>(1);
        std::thread::scope(|scope| {
            scope.spawn(move || {
                while let Some(mut full) = taker.take() {
                    full.clear();
                    taker.give_back(full);
                }
            });
            for _ in 0..100 {
                let mut buffer = feeder.emptied();
                assert!(buffer.is_empty());
                buffer.push(1);
                assert!(feeder.send(buffer));
            }
            drop(feeder);
        });
    }

    #[test]
    fn each_end_learns_that_the_other_is_gone() {
        let (feeder, taker) = conveyor::<Vec<u8>, Vec<u8>>(1);
        drop(taker);
        assert!(!feeder.send(Vec::new()));
        let (feeder, taker) = conveyor::<Vec<u8>, Vec<u8>>(1);
        assert!(feeder.send(vec![1]));
        drop(feeder);
        assert_eq!((taker.take(), taker.take()), (Some(vec![1]), None));
        taker.give_back(Vec::new());
    }
}
