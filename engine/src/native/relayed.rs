//! A builder on a thread of its own: the reader goes on while its events are taken in.

use std::sync::Mutex;

use crate::base::{Error, Result};
use crate::exec::{Feeder, Taker, conveyor};
use crate::ingest::{Batch, Builder, Built, Carrier, Player};
use crate::model::Warnings;

/// Batches that wait while others are played and filled: as many as a reader fills while the builder sorts a chunk.
const WAITING: usize = 8;

/// What goes to the builder.
enum Load {
    Batch(Batch),
    /// There is no more. Without it the reader has given up.
    End(Warnings),
}

/// The reader's end.
pub struct ToBuilder<'a> {
    feeder: Feeder<Load, Batch>,
    failure: &'a Failure,
}

/// The builder's end.
pub struct FromReader<'a> {
    taker: Taker<Load, Batch>,
    failure: &'a Failure,
}

/// Why the builder has stopped before its end: the reader asks.
#[derive(Default)]
pub struct Failure(Mutex<Option<Error>>);

/// Both ends of a line from a reader to a builder.
pub fn line(failure: &Failure) -> (ToBuilder<'_>, FromReader<'_>) {
    let (feeder, taker) = conveyor(WAITING);
    (ToBuilder { feeder, failure }, FromReader { taker, failure })
}

impl ToBuilder<'_> {
    fn put(&mut self, load: Load) -> Result<()> {
        if self.feeder.send(load) {
            return Ok(());
        }
        let why = self.failure.0.lock().ok().and_then(|failure| *failure);
        Err(why.unwrap_or(Error::Storage { what: "the building thread has stopped" }))
    }

    /// Says that there is no more.
    ///
    /// # Errors
    /// Those of the builder.
    pub fn end(mut self, warnings: Warnings) -> Result<()> {
        self.put(Load::End(warnings))
    }
}

impl Carrier for ToBuilder<'_> {
    fn carry(&mut self, batch: Batch) -> Result<Batch> {
        self.put(Load::Batch(batch))?;
        Ok(self.feeder.emptied())
    }
}

impl FromReader<'_> {
    /// Plays what comes and finishes the segment.
    ///
    /// # Errors
    /// Those of the builder; also where the reader gives up.
    pub fn build(self, builder: Builder<'_>) -> Result<Built> {
        let built = self.play(builder);
        if let (Err(error), Ok(mut failure)) = (&built, self.failure.0.lock()) {
            *failure = Some(*error);
        }
        // Only now does the line close: a reader that finds it closed finds the reason.
        drop(self.taker);
        built
    }

    fn play(&self, mut builder: Builder<'_>) -> Result<Built> {
        let mut player = Player::default();
        while let Some(load) = self.taker.take() {
            match load {
                Load::Batch(mut batch) => {
                    player.play(&mut batch, &mut builder)?;
                    self.taker.give_back(batch);
                }
                Load::End(warnings) => {
                    builder.warned(&warnings);
                    return builder.finish();
                }
            }
        }
        Err(Error::Storage { what: "the reader has given up" })
    }
}
