//! A consumer of a build that runs on a thread of its own, beside the producer.

use std::thread::{Scope, ScopedJoinHandle};

use crate::base::{Error, Result};
use crate::codec::Texts;
use crate::exec::{Feeder, conveyor};
use crate::ingest::{Back, Emptied, Line, TrackGroup};

/// Number of messages that can wait: one waits while another is written and a third is filled.
const WAITING: usize = 1;

/// Message to the consumer.
enum Load {
    Group(Box<TrackGroup>),
    Texts(Vec<Texts>),
}

/// The producer's end of the pipeline.
pub struct Beside<'scope> {
    feeder: Feeder<Load, Emptied>,
    back: Option<ScopedJoinHandle<'scope, Result<Back<'scope>>>>,
}

impl<'scope> Beside<'scope> {
    /// Starts the consumer.
    pub fn new(scope: &'scope Scope<'scope, '_>, mut back: Back<'scope>) -> Self {
        let (feeder, taker) = conveyor(WAITING);
        let back = scope.spawn(move || {
            while let Some(load) = taker.take() {
                match load {
                    Load::Group(group) => taker.give_back(back.take(*group)?),
                    Load::Texts(chunks) => back.take_texts(&chunks),
                }
            }
            Ok(back)
        });
        Self { feeder, back: Some(back) }
    }

    /// Waits for the consumer, which has stopped or stops because no more groups come.
    fn join(back: Option<ScopedJoinHandle<'scope, Result<Back<'scope>>>>) -> Result<Back<'scope>> {
        let stopped = Error::Storage { what: "the writing thread has stopped" };
        back.ok_or(stopped)?.join().map_err(|_| stopped)?
    }

    fn put(&mut self, load: Load) -> Result<()> {
        if !self.feeder.send(load) {
            // The consumer has stopped with an error: return that error.
            Self::join(self.back.take())?;
        }
        Ok(())
    }
}

impl<'scope> Line<'scope> for Beside<'scope> {
    fn send(&mut self, group: TrackGroup) -> Result<Emptied> {
        self.put(Load::Group(Box::new(group)))?;
        Ok(self.feeder.emptied())
    }

    fn send_texts(&mut self, chunks: Vec<Texts>) -> Result<()> {
        self.put(Load::Texts(chunks))
    }

    fn end(self: Box<Self>) -> Result<Back<'scope>> {
        let Self { feeder, back } = *self;
        drop(feeder);
        Self::join(back)
    }
}
