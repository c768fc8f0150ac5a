//! A back that runs beside the front, on a thread of its own.

use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread::{Scope, ScopedJoinHandle};

use crate::base::{Error, Result};
use crate::codec::Texts;
use crate::ingest::{Back, Emptied, Line, TrackGroup};

/// Loads on their way: one waits while another is written and a third is filled.
const WAITING: usize = 1;

/// What goes to the back.
enum Load {
    Group(TrackGroup),
    Texts(Vec<Texts>),
}

/// The front's end of the line.
pub struct Beside<'scope> {
    loads: SyncSender<Load>,
    emptied: Receiver<Emptied>,
    back: Option<ScopedJoinHandle<'scope, Result<Back<'scope>>>>,
}

impl<'scope> Beside<'scope> {
    /// Starts the back.
    pub fn new(scope: &'scope Scope<'scope, '_>, mut back: Back<'scope>) -> Self {
        let (loads, taken) = sync_channel(WAITING);
        let (done, emptied) = channel();
        let back = scope.spawn(move || {
            for load in taken {
                match load {
                    // Who does not want the memory back has gone.
                    Load::Group(group) => drop(done.send(back.take(group)?)),
                    Load::Texts(chunks) => back.take_texts(&chunks),
                }
            }
            Ok(back)
        });
        Self { loads, emptied, back: Some(back) }
    }

    /// Waits for the back, which has stopped or will now that no more groups come.
    fn join(back: Option<ScopedJoinHandle<'scope, Result<Back<'scope>>>>) -> Result<Back<'scope>> {
        let stopped = Error::Storage { what: "the writing thread has stopped" };
        back.ok_or(stopped)?.join().map_err(|_| stopped)?
    }

    fn put(&mut self, load: Load) -> Result<()> {
        if self.loads.send(load).is_err() {
            // It has stopped with an error, which is the one to tell.
            Self::join(self.back.take())?;
        }
        Ok(())
    }
}

impl<'scope> Line<'scope> for Beside<'scope> {
    fn send(&mut self, group: TrackGroup) -> Result<Emptied> {
        self.put(Load::Group(group))?;
        Ok(self.emptied.try_recv().unwrap_or_default())
    }

    fn send_texts(&mut self, chunks: Vec<Texts>) -> Result<()> {
        self.put(Load::Texts(chunks))
    }

    fn end(self: Box<Self>) -> Result<Back<'scope>> {
        let Self { loads, back, .. } = *self;
        drop(loads);
        Self::join(back)
    }
}
