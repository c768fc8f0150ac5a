//! Parses events of an array ahead of the reader, on another thread, in batches.
//!
//! A batch ends before the first item that is not a plain event: damage, a closing bracket, or a
//! very long event. [`super::document`] handles such items. A trace therefore reads the same with
//! batches and without.

use nprof_engine::exec::{Exec, conveyor};

use super::event::{EventBytes, EventParts, Parser};
use super::tokens::{Tail, Tokens};
use crate::error::Error;
use crate::owners::Skips;

/// Most events of a batch. Together with the batches in flight they fit the processor's caches.
const BATCH_EVENTS: usize = 1024;

/// Most bytes of events of a batch.
const BATCH_LEN: usize = 1 << 20;

/// Most full batches that wait for the reader.
const MAX_WAITING: usize = 2;

/// Longest event that counts as plain. This bounds the memory of a batch.
const MAX_EVENT_LEN: usize = 64 << 10;

/// Most members that an event of a batch keeps memory for.
const MAX_SPARE_MEMBERS: usize = 64;

/// Parser of events ahead of the reader.
#[derive(Debug)]
pub(super) struct EventLookahead<'a> {
    /// The document's only parser, so that equal sequences of keys have equal numbers.
    pub(super) parser: Parser,
    /// Events that are left out.
    pub(super) skips: Skips<'a>,
    first: EventBatch,
}

impl Default for EventLookahead<'_> {
    fn default() -> Self {
        Self { parser: Parser::with_paths(), skips: Skips::default(), first: EventBatch::default() }
    }
}

impl EventLookahead<'_> {
    /// Passes the events that follow byte `start` of the input to `take`, as long as they are
    /// plain.
    ///
    /// # Errors
    /// If `take` fails. It is not called again then.
    pub(super) fn for_each(
        &mut self,
        exec: &dyn Exec,
        input: &[u8],
        start: usize,
        take: &mut dyn FnMut(&EventBatch) -> Result<(), Error>,
    ) -> Result<(), Error> {
        // The first batch is filled on this thread. If there is no more, a second thread would not
        // pay off.
        self.first.fill(&mut self.parser, &mut self.skips, input, start);
        take(&self.first)?;
        if !exec.is_parallel() {
            while self.first.is_full() {
                let start = self.first.end();
                self.first.fill(&mut self.parser, &mut self.skips, input, start);
                take(&self.first)?;
            }
        } else if self.first.is_full() {
            let start = self.first.end();
            return self.on_two_threads(exec, input, start, take);
        }
        Ok(())
    }

    fn on_two_threads(
        &mut self,
        exec: &dyn Exec,
        input: &[u8],
        mut start: usize,
        take: &mut dyn FnMut(&EventBatch) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let (parser, skips) = (&mut self.parser, &mut self.skips);
        let (feeder, taker) = conveyor::<EventBatch, EventBatch>(MAX_WAITING);
        // Each thread drops its end when it is done, which ends the other's wait.
        let (mut of_aside, mut of_here) = (Some(feeder), Some(taker));
        let mut result = Ok(());
        let mut aside = || {
            let Some(feeder) = of_aside.take() else { return };
            loop {
                let mut batch = feeder.emptied();
                batch.fill(parser, skips, input, start);
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

/// Consecutive events.
#[derive(Debug, Default)]
pub(super) struct EventBatch {
    /// The events. Entries beyond `spans.len()` are buffers for the next batch.
    events: Vec<EventParts>,
    /// Offset in the input and length of each event.
    spans: Vec<(usize, usize)>,
    /// Offset behind the last event.
    end: usize,
    is_full: bool,
}

impl EventBatch {
    /// Parses the events that follow byte `start` of the input.
    fn fill(&mut self, parser: &mut Parser, skips: &mut Skips<'_>, input: &[u8], start: usize) {
        self.spans.clear();
        self.end = start;
        while let Some((at, len)) = self.next(parser, skips, input) {
            self.spans.push((at, len));
            self.end = at + len;
            self.is_full = self.spans.len() == BATCH_EVENTS || self.end - start >= BATCH_LEN;
            if self.is_full {
                return;
            }
        }
        self.is_full = false;
    }

    /// Parses one event. Returns its offset and length, or `None` if there is no plain event.
    fn next(&mut self, parser: &mut Parser, skips: &mut Skips<'_>, input: &[u8]) -> Option<(usize, usize)> {
        // Events that are truncated by the limit or by the end of the input are left to the
        // document.
        let near = |at: usize| &input[at..input.len().min(at + MAX_EVENT_LEN)];
        let at = loop {
            let mut tokens = Tokens::new(near(self.end), Tail::Open);
            let (first, commas) = tokens.peek_item().ok()?;
            if first != b'{' || commas > 1 {
                return None;
            }
            let at = self.end + tokens.position();
            match skips.end_from(at as u64) {
                Some(end) => self.end = usize::try_from(end).map_or(input.len(), |end| end.min(input.len())),
                None => break at,
            }
        };
        let slot = self.spans.len();
        if slot == self.events.len() {
            self.events.push(EventParts::default());
        }
        let event = &mut self.events[slot];
        event.shrink_to(MAX_SPARE_MEMBERS);
        let mut tokens = Tokens::new(near(at), Tail::Open);
        parser.parse(event, &mut tokens).ok()?;
        Some((at, tokens.position()))
    }

    /// The events, with the bytes of the input that they were read from.
    pub(super) fn seen<'a>(&'a self, input: &'a [u8]) -> impl Iterator<Item = EventBytes<'a>> {
        self.events.iter().zip(&self.spans).map(|(event, &(at, len))| {
            let bytes = &input[at..at + len];
            EventBytes { event, bytes, offset: at as u64 }
        })
    }

    /// Offset behind the last event.
    pub(super) fn end(&self) -> usize {
        self.end
    }

    /// Whether more events can follow directly.
    fn is_full(&self) -> bool {
        self.is_full
    }
}
