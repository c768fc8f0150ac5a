//! A consumer of a build that runs on a thread of its own, beside the producer.

use std::sync::Arc;
use std::thread::{Scope, ScopedJoinHandle};

use crate::base::{Error, Result};
use crate::codec::ColumnTexts;
use crate::exec::{Cancel, Feeder, conveyor};
use crate::ingest::{Consumer, EmptiedRows, Pipeline, SharedProgram, TrackGroup};
use crate::model::TableId;

/// Number of messages that can wait: one waits while another is written and a third is filled.
const WAITING: usize = 1;

/// Message to the consumer.
enum GroupMessage {
    Group(Box<TrackGroup>),
    Texts(Vec<ColumnTexts>),
    Program(TableId, Arc<SharedProgram>),
}

/// The producer's end of the pipeline.
pub struct ThreadPipeline<'scope> {
    cancel: Cancel<'scope>,
    feeder: Feeder<GroupMessage, EmptiedRows>,
    back: Option<ScopedJoinHandle<'scope, Result<Consumer<'scope>>>>,
}

impl<'scope> ThreadPipeline<'scope> {
    /// Starts the consumer. Every group is a place to cancel: very many short ones are held and
    /// written late.
    pub fn new(scope: &'scope Scope<'scope, '_>, mut back: Consumer<'scope>, cancel: Cancel<'scope>) -> Self {
        let (feeder, taker) = conveyor(WAITING);
        let back = scope.spawn(move || {
            while let Some(load) = taker.take() {
                cancel.check()?;
                match load {
                    GroupMessage::Group(group) => taker.give_back(back.take(*group)?),
                    GroupMessage::Texts(chunks) => back.take_texts(&chunks),
                    GroupMessage::Program(table, program) => back.take_program(table, program),
                }
            }
            Ok(back)
        });
        Self { cancel, feeder, back: Some(back) }
    }

    /// Waits for the consumer, which has stopped or stops because no more groups come.
    fn join(back: Option<ScopedJoinHandle<'scope, Result<Consumer<'scope>>>>) -> Result<Consumer<'scope>> {
        let stopped = Error::Storage { what: "the writing thread has stopped" };
        back.ok_or(stopped)?.join().map_err(|_| stopped)?
    }

    fn put(&mut self, load: GroupMessage) -> Result<()> {
        self.cancel.check()?;
        if !self.feeder.send(load) {
            // The consumer has stopped with an error: return that error.
            Self::join(self.back.take())?;
        }
        Ok(())
    }
}

impl<'scope> Pipeline<'scope> for ThreadPipeline<'scope> {
    fn send(&mut self, group: TrackGroup) -> Result<EmptiedRows> {
        self.put(GroupMessage::Group(Box::new(group)))?;
        Ok(self.feeder.emptied())
    }

    fn send_texts(&mut self, chunks: Vec<ColumnTexts>) -> Result<()> {
        self.put(GroupMessage::Texts(chunks))
    }

    fn send_program(&mut self, table: TableId, program: Arc<SharedProgram>) -> Result<()> {
        self.put(GroupMessage::Program(table, program))
    }

    fn end(self: Box<Self>) -> Result<Consumer<'scope>> {
        let Self { feeder, back, .. } = *self;
        drop(feeder);
        Self::join(back)
    }
}
