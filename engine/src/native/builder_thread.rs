//! A builder on a thread of its own. The reader continues while its events are processed.

use std::sync::Mutex;

use crate::base::{Error, Result};
use crate::exec::{ConveyorEnd, Feeder, conveyor};
use crate::ingest::{Builder, Built, CallBatch, Carrier, Player};
use crate::model::Warnings;

/// Number of batches that can wait. A reader fills about that many while the builder sorts a chunk.
const WAITING: usize = 8;

/// Message to the builder.
enum BatchMessage {
    Batch(CallBatch),
    /// All events were sent. If this message is missing, the reader has failed.
    End(Warnings),
}

/// The reader's end of the pipeline.
pub struct ToBuilder<'a> {
    feeder: Feeder<BatchMessage, CallBatch>,
    failure: &'a EarlyFailure,
}

/// The builder's end of the pipeline.
pub struct FromReader<'a> {
    taker: ConveyorEnd<BatchMessage, CallBatch>,
    failure: &'a EarlyFailure,
}

/// Error that stopped the builder early. The reader returns it.
#[derive(Default)]
pub struct EarlyFailure(Mutex<Option<Error>>);

/// Creates both ends of a pipeline from a reader to a builder.
pub fn line(failure: &EarlyFailure) -> (ToBuilder<'_>, FromReader<'_>) {
    let (feeder, taker) = conveyor(WAITING);
    (ToBuilder { feeder, failure }, FromReader { taker, failure })
}

impl ToBuilder<'_> {
    fn put(&mut self, load: BatchMessage) -> Result<()> {
        if self.feeder.send(load) {
            return Ok(());
        }
        let why = self.failure.0.lock().ok().and_then(|failure| *failure);
        Err(why.unwrap_or(Error::Storage { what: "the building thread has stopped" }))
    }

    /// Sends the warnings and ends the events.
    pub fn end(mut self, warnings: Warnings) -> Result<()> {
        self.put(BatchMessage::End(warnings))
    }
}

impl Carrier for ToBuilder<'_> {
    fn carry(&mut self, batch: CallBatch) -> Result<CallBatch> {
        self.put(BatchMessage::Batch(batch))?;
        Ok(self.feeder.emptied())
    }
}

impl FromReader<'_> {
    /// Plays all batches and finishes the segment.
    ///
    /// # Errors
    /// If the builder fails, or the reader stops before the end.
    pub fn build(self, builder: Builder<'_>) -> Result<Built> {
        let built = self.play(builder);
        if let (Err(error), Ok(mut failure)) = (&built, self.failure.0.lock()) {
            *failure = Some(*error);
        }
        // Close the pipeline only now: a reader that finds it closed then also finds the error.
        drop(self.taker);
        built
    }

    fn play(&self, mut builder: Builder<'_>) -> Result<Built> {
        let mut player = Player::default();
        while let Some(load) = self.taker.take() {
            match load {
                BatchMessage::Batch(mut batch) => {
                    player.play(&mut batch, &mut builder)?;
                    self.taker.give_back(batch);
                }
                BatchMessage::End(warnings) => {
                    builder.warned(&warnings);
                    return builder.finish();
                }
            }
        }
        Err(Error::Storage { what: "the reader has stopped" })
    }
}
