//! A back that runs beside the front, on a thread of its own.

use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread::{Scope, ScopedJoinHandle};

use crate::base::{Error, Result};
use crate::ingest::{Back, Emptied, Line, TrackGroup};

/// Groups on their way: one waits while another is written and a third is filled.
const WAITING: usize = 1;

/// The front's end of the line.
pub struct Beside<'scope> {
    groups: SyncSender<TrackGroup>,
    emptied: Receiver<Emptied>,
    back: Option<ScopedJoinHandle<'scope, Result<Back<'scope>>>>,
}

impl<'scope> Beside<'scope> {
    /// Starts the back.
    pub fn new(scope: &'scope Scope<'scope, '_>, mut back: Back<'scope>) -> Self {
        let (groups, taken) = sync_channel::<TrackGroup>(WAITING);
        let (done, emptied) = channel();
        let back = scope.spawn(move || {
            for group in taken {
                // Who does not want the memory back has gone.
                let _ = done.send(back.take(group)?);
            }
            Ok(back)
        });
        Self { groups, emptied, back: Some(back) }
    }

    /// Waits for the back, which has stopped or will now that no more groups come.
    fn join(back: Option<ScopedJoinHandle<'scope, Result<Back<'scope>>>>) -> Result<Back<'scope>> {
        let stopped = Error::Storage { what: "the writing thread has stopped" };
        back.ok_or(stopped)?.join().map_err(|_| stopped)?
    }
}

impl<'scope> Line<'scope> for Beside<'scope> {
    fn send(&mut self, group: TrackGroup) -> Result<Emptied> {
        if self.groups.send(group).is_err() {
            // It has stopped with an error, which is the one to tell.
            Self::join(self.back.take())?;
        }
        Ok(self.emptied.try_recv().unwrap_or_default())
    }

    fn end(self: Box<Self>) -> Result<Back<'scope>> {
        let Self { groups, back, .. } = *self;
        drop(groups);
        Self::join(back)
    }
}
