//! The document around the events: an array, an object with `traceEvents`, a line per event, or a
//! part of one of these.
//!
//! Unreadable text is kept and counted, and reading continues at the next event.

use nprof_engine::exec::Work;
use nprof_engine::model::WarningKind;

use super::event::{EventBytes, EventParts};
use super::events::EventReceiver;
use super::lookahead::{EventBatch, EventLookahead};
use super::metadata::Metadata;
use super::scan::{Attempt, MAX_ITEM_LEN, Scan};
use super::text::text_of;
use super::tokens::Raw;
use super::value::WrittenValue;
use crate::error::Error;
use crate::owners::Skips;

/// Most bytes of an event on its own. A longer object is the document itself.
const MAX_LONE_EVENT_LEN: usize = 1 << 20;

/// Message for an input that ends too early.
pub(super) const TRUNCATED: &str = "the trace ends in the middle of an event; all complete events are kept";

/// Whether the current part has more to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DocumentState {
    /// There is more to read.
    On,
    /// The input has ended.
    End,
}

/// Kind of document around the events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Container {
    /// `[event, …`. The last bracket is optional.
    Array,
    /// `{"traceEvents": [event, …`.
    Object,
}

/// Reader of a document.
pub(super) struct TraceDocument<'s, 'i, R> {
    pub(super) scan: Scan<'i>,
    pub(super) reader: R,
    pub(super) event: EventParts,
    /// True once a trace has been recognised.
    pub(super) is_trace: bool,
    /// Elements that are no events, before the first event.
    strays: usize,
    /// Line at the start of the window, from 1. Lines are counted while each event has its own.
    line: u64,
    is_by_line: bool,
    work: Work<'s>,
    /// See [`Self::placed`].
    places: &'i [(u64, u64)],
    pub(super) ahead: EventLookahead<'i>,
}

/// A document that begins with this many elements that are no events is no trace.
const MAX_STRAYS: usize = 1000;

impl<'s, 'i, R: EventReceiver<'s>> TraceDocument<'s, 'i, R> {
    /// A reader at the start of the input.
    pub(super) fn new(scan: Scan<'i>, reader: R, work: Work<'s>) -> Self {
        Self {
            scan,
            reader,
            event: EventParts::default(),
            is_trace: false,
            strays: 0,
            line: 1,
            is_by_line: true,
            work,
            places: &[],
            ahead: EventLookahead::default(),
        }
    }

    /// Leaves events out.
    pub(super) fn without(mut self, skips: Skips<'i>) -> Self {
        self.ahead.skips = skips;
        self
    }

    /// States the places of events in the file that the input is made of: the offset in the input
    /// from which on they hold, ascending, and the offset in the file.
    pub(super) fn placed(self, places: &'i [(u64, u64)]) -> Self {
        Self { places, ..self }
    }

    /// The offset in the file of a place in the input.
    fn place(&self, offset: u64) -> u64 {
        let at = self.places.partition_point(|(from, _)| *from <= offset);
        at.checked_sub(1).map_or(offset, |at| self.places[at].1)
    }

    /// Reads the document to its end.
    pub(super) fn read(mut self) -> Result<(), Error> {
        self.scan.fill()?;
        self.reader.out().clock.begin(self.scan.window());
        // This document's parser numbers sequences of keys from the start.
        self.reader.out().forget_paths();
        while self.top_level()? == DocumentState::On {}
        self.reader.out().line = None;
        if !self.is_trace {
            let what = if self.scan.offset() == 0 { "the file is empty" } else { NO_EVENTS };
            return Err(not_a_trace(what, self.scan.offset()));
        }
        if self.reader.event_count() == 0 {
            self.reader.out().warn(WarningKind::MissingData, "the trace has no events", self.scan.offset());
        }
        Ok(self.reader.finish()?)
    }

    /// Reads one value of the document. Usually there is only one.
    fn top_level(&mut self) -> Result<DocumentState, Error> {
        let first = match self.scan.attempt(MAX_ITEM_LEN, |tokens| tokens.peek_item())? {
            Attempt::Done((first, _), len) => {
                self.consume(len);
                first
            }
            Attempt::Truncated => {
                self.scan.consume(usize::MAX >> 1);
                return Ok(DocumentState::End);
            }
            Attempt::Damaged(_) | Attempt::TooLong => b'/',
        };
        match first {
            b'[' => {
                self.is_by_line = false;
                self.scan.consume(1);
                self.events(Container::Array)
            }
            b'{' => self.object(),
            _ if !self.is_trace => Err(not_a_trace("this is not JSON", self.scan.offset())),
            b']' | b'}' => {
                self.warn_here(WarningKind::DamagedRecord, "a closing bracket without its opening one");
                self.scan.consume(1);
                Ok(DocumentState::On)
            }
            _ if self.is_by_line => self.stray_text(),
            _ => {
                self.warn_here(WarningKind::DamagedRecord, "text after the end of the trace; ignored");
                Ok(DocumentState::End)
            }
        }
    }

    /// Skips text between events that have a line each. Reading continues behind it.
    fn stray_text(&mut self) -> Result<DocumentState, Error> {
        self.note_line();
        let offset = self.scan.offset();
        let (kept, is_found) = self.skip_to_event()?;
        self.reader.unread(
            "text that is not an event; reading continues at the next event",
            &kept,
            offset,
        )?;
        Ok(if is_found { DocumentState::On } else { DocumentState::End })
    }

    /// Drops the first bytes of the window.
    pub(super) fn consume(&mut self, len: usize) {
        if self.is_by_line {
            let window = self.scan.window();
            let left = &window[..len.min(window.len())];
            self.line += memchr::memchr_iter(b'\n', left).count() as u64;
        }
        self.scan.consume(len);
    }

    /// Sets the line of warnings to that of the window's start, if lines are counted.
    pub(super) fn note_line(&mut self) {
        let place = self.is_by_line.then(|| (self.scan.offset(), self.line));
        self.reader.out().line = place;
    }

    fn warn_here(&mut self, kind: WarningKind, what: &str) {
        self.note_line();
        let offset = self.place(self.scan.offset());
        self.reader.out().warn(kind, what, offset);
    }

    fn truncated(&mut self) -> DocumentState {
        self.warn_here(WarningKind::TruncatedInput, TRUNCATED);
        DocumentState::End
    }

    /// An object at the top: an event on its own (as in a file with a line per event), or the
    /// document.
    fn object(&mut self) -> Result<DocumentState, Error> {
        self.note_line();
        let (parser, event) = (&mut self.ahead.parser, &mut self.event);
        let attempt = self.scan.attempt(MAX_LONE_EVENT_LEN, |tokens| parser.parse(event, tokens))?;
        let is_container = self.event.has_extra(self.scan.window(), "traceEvents");
        match attempt {
            Attempt::Done((), len) if !is_container && self.event.looks_like_one() => {
                self.is_trace = true;
                self.take_event(len)?;
                Ok(DocumentState::On)
            }
            Attempt::Done((), _) | Attempt::TooLong => self.container(),
            Attempt::Truncated | Attempt::Damaged(_) => {
                let near = &self.scan.window()[..self.scan.window().len().min(MAX_LONE_EVENT_LEN)];
                let is_lone = self.event.ph.is_present() && !is_container;
                if is_lone && memchr::memmem::find(near, b"\"traceEvents\"").is_none() {
                    self.is_trace = true;
                    return self.recover(attempt);
                }
                self.container()
            }
        }
    }

    /// Passes the event at the start of the window to the reader.
    fn take_event(&mut self, len: usize) -> Result<(), Error> {
        let offset = self.place(self.scan.offset());
        let bytes = &self.scan.window()[..len];
        self.reader.event(EventBytes { event: &self.event, bytes, offset })?;
        if !self.is_trace {
            self.is_trace = self.event.looks_like_one();
            self.stray(offset)?;
        }
        self.consume(len);
        Ok(())
    }

    /// Passes the events that follow to the reader, as long as they are plain. The whole input must
    /// be in memory.
    fn plain_events(&mut self) -> Result<(), Error> {
        let Some(input) = self.scan.whole() else { return Ok(()) };
        let mut ahead = std::mem::take(&mut self.ahead);
        let start = self.scan.offset() as usize;
        let result = ahead.for_each(self.work.exec, input, start, &mut |batch| {
            self.work.cancel.check()?;
            self.take_events(batch, input)?;
            self.scan.go_to(batch.end());
            Ok(())
        });
        self.ahead = ahead;
        result
    }

    fn take_events(&mut self, batch: &EventBatch, input: &[u8]) -> Result<(), Error> {
        for seen in batch.seen(input) {
            let seen = EventBytes { offset: self.place(seen.offset), ..seen };
            self.reader.event(seen)?;
            if !self.is_trace {
                self.is_trace = seen.event.looks_like_one();
                self.stray(seen.offset)?;
            }
        }
        Ok(())
    }

    /// Counts an element that is no event, unless a trace has been recognised.
    fn stray(&mut self, offset: u64) -> Result<(), Error> {
        self.strays += usize::from(!self.is_trace);
        if self.strays < MAX_STRAYS { Ok(()) } else { Err(not_a_trace(NO_EVENTS, offset)) }
    }

    /// Reads events up to the closing bracket.
    fn events(&mut self, container: Container) -> Result<DocumentState, Error> {
        loop {
            self.work.cancel.check()?;
            self.plain_events()?;
            let (first, commas) = match self.scan.attempt(MAX_ITEM_LEN, |tokens| tokens.peek_item())? {
                Attempt::Done(item, len) => {
                    self.scan.consume(len);
                    item
                }
                // The closing bracket of an array is optional, because a writer can be killed at
                // any time.
                Attempt::Truncated if container == Container::Array => return Ok(DocumentState::End),
                Attempt::Truncated => return Ok(self.truncated()),
                damaged => {
                    if self.recover(damaged)? == DocumentState::End {
                        return Ok(DocumentState::End);
                    }
                    continue;
                }
            };
            if commas > 1 {
                self.warn_here(WarningKind::DamagedRecord, "an empty element between two commas; skipped");
            }
            match first {
                b'{' => {
                    let offset = self.scan.offset();
                    if let Some(end) = self.ahead.skips.end_from(offset) {
                        self.scan.skip(end - offset)?;
                        continue;
                    }
                    let (parser, event) = (&mut self.ahead.parser, &mut self.event);
                    match self.scan.attempt(MAX_ITEM_LEN, |tokens| parser.parse(event, tokens))? {
                        Attempt::Done((), len) => self.take_event(len)?,
                        damaged => {
                            if self.recover(damaged)? == DocumentState::End {
                                return Ok(DocumentState::End);
                            }
                        }
                    }
                }
                b']' => {
                    self.scan.consume(1);
                    return Ok(DocumentState::On);
                }
                b'}' => {
                    self.warn_here(WarningKind::DamagedRecord, "`}` where the array of events should end");
                    if container == Container::Object {
                        return Ok(DocumentState::On);
                    }
                    self.scan.consume(1);
                }
                _ => {
                    if self.element()? == DocumentState::End {
                        return Ok(DocumentState::End);
                    }
                }
            }
        }
    }

    /// Reads an element that is not an object.
    fn element(&mut self) -> Result<DocumentState, Error> {
        match self.scan.attempt(MAX_ITEM_LEN, |tokens| tokens.value())? {
            Attempt::Done(_, len) => {
                let offset = self.scan.offset();
                let (bytes, offset) = (&self.scan.window()[..len], self.place(offset));
                self.reader.unread("an element that is not an object", bytes, offset)?;
                self.scan.consume(len);
                self.stray(offset)?;
                Ok(DocumentState::On)
            }
            damaged => self.recover(damaged),
        }
    }

    /// Reads the document as an object: `traceEvents` and other keys.
    fn container(&mut self) -> Result<DocumentState, Error> {
        self.is_by_line = false;
        self.scan.consume(1);
        loop {
            let head = self.scan.attempt(MAX_ITEM_LEN, |tokens| {
                if tokens.peek_item()?.0 == b'}' {
                    tokens.advance();
                    return Ok(None);
                }
                let key = tokens.key()?;
                Ok(Some((key, tokens.peek()?)))
            })?;
            let (key, first) = match head {
                Attempt::Done(None, len) => {
                    self.scan.consume(len);
                    return Ok(DocumentState::On);
                }
                Attempt::Done(Some((key, first)), len) => {
                    let key = text_of(self.scan.window(), key).into_owned();
                    self.scan.consume(len);
                    (key, first)
                }
                Attempt::Truncated => return Ok(self.truncated()),
                damaged => {
                    // Events can follow somewhere, so the rest is read like their array.
                    if self.recover(damaged)? == DocumentState::End {
                        return Ok(DocumentState::End);
                    }
                    self.is_trace = true;
                    return self.events(Container::Object);
                }
            };
            let flow = match (&*key, first) {
                ("traceEvents", b'[') => {
                    self.is_trace = true;
                    self.scan.consume(1);
                    self.events(Container::Object)?
                }
                ("stackFrames", b'{') => self.stack_frames()?,
                ("samples", b'[') => self.samples()?,
                _ => self.member(&key)?,
            };
            if flow == DocumentState::End {
                return Ok(DocumentState::End);
            }
        }
    }

    /// Reads the value of a key beside `traceEvents`.
    fn member(&mut self, key: &str) -> Result<DocumentState, Error> {
        self.is_trace |= key == "traceEvents";
        self.each_value(|document, raw, len| {
            let offset = document.scan.offset();
            let bytes = &document.scan.window()[..len];
            Ok(document.reader.metadata(key, WrittenValue { raw, bytes }, offset)?)
        })
    }

    /// Reads one value, passes it to `take`, and drops it from the window.
    fn each_value(
        &mut self,
        take: impl FnOnce(&mut Self, Raw, usize) -> Result<(), Error>,
    ) -> Result<DocumentState, Error> {
        match self.scan.attempt(MAX_ITEM_LEN, |tokens| tokens.value())? {
            Attempt::Done(raw, len) => {
                take(self, raw, len)?;
                self.scan.consume(len);
                Ok(DocumentState::On)
            }
            Attempt::Truncated => Ok(self.truncated()),
            Attempt::TooLong => {
                self.warn_here(WarningKind::AdjustedValue, "a value of more than 24 MiB; dropped");
                if self.scan.skip_value()? { Ok(DocumentState::On) } else { Ok(self.truncated()) }
            }
            damaged @ Attempt::Damaged(_) => self.recover(damaged),
        }
    }

    /// Reads `{"id": {…}, …}`.
    fn stack_frames(&mut self) -> Result<DocumentState, Error> {
        self.scan.consume(1);
        loop {
            let head = self.scan.attempt(MAX_ITEM_LEN, |tokens| {
                if tokens.peek_item()?.0 == b'}' {
                    tokens.advance();
                    return Ok(None);
                }
                tokens.key().map(Some)
            })?;
            let key = match head {
                Attempt::Done(None, len) => {
                    self.scan.consume(len);
                    return Ok(DocumentState::On);
                }
                Attempt::Done(Some(key), len) => {
                    let key = text_of(self.scan.window(), key).into_owned();
                    self.scan.consume(len);
                    key
                }
                Attempt::Truncated => return Ok(self.truncated()),
                damaged => return self.recover(damaged),
            };
            let flow = self.each_value(|document, raw, len| {
                let bytes = &document.scan.window()[..len];
                Ok(Metadata::stack_frame(document.reader.out(), &key, WrittenValue { raw, bytes })?)
            })?;
            if flow == DocumentState::End {
                return Ok(DocumentState::End);
            }
        }
    }

    /// Reads `[{…}, …]`.
    fn samples(&mut self) -> Result<DocumentState, Error> {
        self.scan.consume(1);
        loop {
            match self.scan.attempt(MAX_ITEM_LEN, |tokens| tokens.peek_item())? {
                Attempt::Done((b']', _), len) => {
                    self.scan.consume(len + 1);
                    return Ok(DocumentState::On);
                }
                Attempt::Done(_, len) => self.scan.consume(len),
                Attempt::Truncated => return Ok(self.truncated()),
                damaged => return self.recover(damaged),
            }
            let flow = self.each_value(|document, raw, len| {
                let bytes = &document.scan.window()[..len];
                Ok(Metadata::sample(document.reader.out(), WrittenValue { raw, bytes })?)
            })?;
            if flow == DocumentState::End {
                return Ok(DocumentState::End);
            }
        }
    }
}

/// Message for JSON that is no trace.
const NO_EVENTS: &str = "there are no trace events in it";

fn not_a_trace(what: &str, offset: u64) -> Error {
    Error::format(
        what,
        format!("byte {offset}"),
        "expected Trace Event JSON, which is an object with `traceEvents`, an array of events, or one \
         event per line; an event is an object with a phase `ph`",
    )
}
