//! Events of an array that are taken apart ahead of the reader, on another thread, in batches.
//!
//! A batch ends before the first thing that is not plainly an event: damage, a closing bracket, an
//! event that is very long. Such things are left to [`super::document`], which knows what to do with
//! each. So a trace reads the same with batches and without.

use nprof_engine::exec::{Exec, conveyor};

use super::event::{Event, Parser, Seen};
use super::tokens::{Tail, Tokens};
use crate::formats::Error;

/// Events of a full batch: together with those on their way they fit the processor's caches.
const BATCH_EVENTS: usize = 1024;

/// Bytes of events of a full batch.
const BATCH_LEN: usize = 1 << 20;

/// Batches that are full and wait for the reader.
const MAX_WAITING: usize = 2;

/// Longer events are not plain. It bounds the memory of a batch.
const MAX_EVENT_LEN: usize = 64 << 10;

/// Members that an event of a batch keeps storage for.
const MAX_SPARE_MEMBERS: usize = 64;

/// Takes events apart ahead of the reader.
#[derive(Debug, Default)]
pub(super) struct Ahead {
    parser: Parser,
    first: Batch,
}

impl Ahead {
    /// Hands over the events that follow the byte `start` of the input, as far as they are plain.
    ///
    /// # Errors
    /// That of `take`, which is called no more then.
    pub(super) fn for_each(
        &mut self,
        exec: &dyn Exec,
        (input, start): (&[u8], usize),
        take: &mut dyn FnMut(&Batch) -> Result<(), Error>,
    ) -> Result<(), Error> {
        // One batch on this thread: where there is no more, another would not be worth its start.
        self.first.fill(&mut self.parser, input, start);
        take(&self.first)?;
        if !exec.is_parallel() {
            while self.first.is_full() {
                let start = self.first.end();
                self.first.fill(&mut self.parser, input, start);
                take(&self.first)?;
            }
        } else if self.first.is_full() {
            let start = self.first.end();
            return self.on_two_threads(exec, (input, start), take);
        }
        Ok(())
    }

    fn on_two_threads(
        &mut self,
        exec: &dyn Exec,
        (input, mut start): (&[u8], usize),
        take: &mut dyn FnMut(&Batch) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let parser = &mut self.parser;
        let (feeder, taker) = conveyor::<Batch, Batch>(MAX_WAITING);
        // Each thread drops its end when it is done: that ends the other's wait.
        let (mut of_aside, mut of_here) = (Some(feeder), Some(taker));
        let mut result = Ok(());
        let mut aside = || {
            let Some(feeder) = of_aside.take() else { return };
            loop {
                let mut batch = feeder.emptied();
                batch.fill(parser, input, start);
                start = batch.end();
                let is_last = !batch.is_full();
                if !feeder.send(batch) || is_last {
                    return;
                }
            }
        };
        let mut here = || {
            let Some(taker) = of_here.take() else { return };
            while let Some(batch) = taker.take() {
                result = take(&batch);
                if result.is_err() {
                    return;
                }
                taker.give_back(batch);
            }
        };
        exec.beside(&mut aside, &mut here);
        result
    }
}

/// Some events that follow each other.
#[derive(Debug, Default)]
pub(super) struct Batch {
    /// Beyond `len` they are storage for the next batch.
    events: Vec<Event>,
    /// Where each begins in the input, and its length.
    spans: Vec<(usize, usize)>,
    /// Where the input goes on.
    end: usize,
    is_full: bool,
}

impl Batch {
    /// Takes apart what follows the byte `start` of the input.
    fn fill(&mut self, parser: &mut Parser, input: &[u8], start: usize) {
        self.spans.clear();
        self.end = start;
        while let Some((at, len)) = self.next(parser, input) {
            self.spans.push((at, len));
            self.end = at + len;
            self.is_full = self.spans.len() == BATCH_EVENTS || self.end - start >= BATCH_LEN;
            if self.is_full {
                return;
            }
        }
        self.is_full = false;
    }

    /// Takes apart one event: where it begins, and its length. `None` where there is none that is plain.
    fn next(&mut self, parser: &mut Parser, input: &[u8]) -> Option<(usize, usize)> {
        // The document reads events that the bound or the end of the input cuts.
        let near = |at: usize| &input[at..input.len().min(at + MAX_EVENT_LEN)];
        let mut tokens = Tokens::new(near(self.end), Tail::Open);
        let (first, commas) = tokens.peek_item().ok()?;
        if first != b'{' || commas > 1 {
            return None;
        }
        let at = self.end + tokens.position();
        let slot = self.spans.len();
        if slot == self.events.len() {
            self.events.push(Event::default());
        }
        let event = &mut self.events[slot];
        event.shrink_to(MAX_SPARE_MEMBERS);
        let mut tokens = Tokens::new(near(at), Tail::Open);
        parser.parse(event, &mut tokens).ok()?;
        Some((at, tokens.position()))
    }

    /// The events, with the bytes of the input that they were read from.
    pub(super) fn seen<'a>(&'a self, input: &'a [u8]) -> impl Iterator<Item = Seen<'a>> {
        self.events.iter().zip(&self.spans).map(|(event, &(at, len))| {
            let bytes = &input[at..at + len];
            Seen { event, bytes, offset: at as u64 }
        })
    }

    /// Where the input goes on.
    pub(super) fn end(&self) -> usize {
        self.end
    }

    /// Whether there may be more events right behind it.
    fn is_full(&self) -> bool {
        self.is_full
    }
}
