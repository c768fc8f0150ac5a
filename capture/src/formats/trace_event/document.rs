//! The document around the events: an array, an object with `traceEvents`, a line per event, or a part of one of these.
//!
//! What cannot be read is kept as text and counted, and reading goes on at the next thing that is an event.

use nprof_engine::model::WarningKind;

use super::event::{Event, Seen, text_of};
use super::metadata::Metadata;
use super::reader::Reader;
use super::scan::{Attempt, MAX_ITEM_LEN, Scan};
use super::tokens::{Kind, Raw, Stop, Tail};
use crate::formats::Error;

/// An object that is not over by then is no single event but the document itself.
const MAX_LONE_EVENT_LEN: usize = 1 << 20;

/// When looking for the next event after damage, one longer than this is not recognised.
const MAX_RECOVERY_LEN: usize = 1 << 20;

/// Bytes of damaged text that are kept.
const MAX_KEPT_LEN: usize = 64 << 10;

/// What is wrong where the input ends too early.
const TRUNCATED: &str = "the trace ends in the middle; all whole events are kept";

/// Whether there is more to read in the part at hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flow {
    /// There is.
    On,
    /// The input is.
    End,
}

/// Which kind of document the events are in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Container {
    /// `[event, …`, whose last bracket is optional.
    Array,
    /// `{"traceEvents": [event, …`.
    Object,
}

/// The document.
pub(super) struct Document<'s, 'i> {
    scan: Scan<'i>,
    reader: Reader<'s>,
    event: Event,
    /// Whether anything was found that makes it a trace.
    is_trace: bool,
}

impl<'s, 'i> Document<'s, 'i> {
    /// From the start of the input.
    pub(super) fn new(scan: Scan<'i>, reader: Reader<'s>) -> Self {
        Self { scan, reader, event: Event::default(), is_trace: false }
    }

    /// Reads it to its end.
    pub(super) fn read(mut self) -> Result<(), Error> {
        self.scan.fill()?;
        self.reader.out().clock.guess(self.scan.window());
        while self.top_level()? == Flow::On {}
        if !self.is_trace {
            let what =
                if self.scan.offset() == 0 { "the file is empty" } else { "there are no trace events in it" };
            return Err(not_a_trace(what, self.scan.offset()));
        }
        if self.reader.event_count() == 0 {
            self.reader.out().warn(WarningKind::MissingData, "the trace has no events", self.scan.offset());
        }
        Ok(self.reader.finish()?)
    }

    /// One value of the document; usually there is only one.
    fn top_level(&mut self) -> Result<Flow, Error> {
        let first = match self.scan.attempt(MAX_ITEM_LEN, |tokens| tokens.peek_item())? {
            Attempt::Done((first, _), len) => {
                self.scan.consume(len);
                first
            }
            Attempt::Truncated => {
                self.scan.consume(usize::MAX >> 1);
                return Ok(Flow::End);
            }
            Attempt::Damaged(_) | Attempt::TooLong => b'/',
        };
        match first {
            b'[' => {
                self.is_trace = true;
                self.scan.consume(1);
                self.events(Container::Array)
            }
            b'{' => self.object(),
            _ if !self.is_trace => Err(not_a_trace("this is no JSON", self.scan.offset())),
            b']' | b'}' => {
                self.warn_here(WarningKind::DamagedRecord, "a closing bracket without its opening one");
                self.scan.consume(1);
                Ok(Flow::On)
            }
            _ => {
                self.warn_here(WarningKind::DamagedRecord, "text after the end of the trace; not read");
                Ok(Flow::End)
            }
        }
    }

    fn warn_here(&mut self, kind: WarningKind, what: &str) {
        let offset = self.scan.offset();
        self.reader.out().warn(kind, what, offset);
    }

    fn truncated(&mut self) -> Flow {
        self.warn_here(WarningKind::TruncatedInput, TRUNCATED);
        Flow::End
    }

    /// An object at the top: an event on its own (as in a file with a line per event), or the document.
    fn object(&mut self) -> Result<Flow, Error> {
        let event = &mut self.event;
        let attempt = self.scan.attempt(MAX_LONE_EVENT_LEN, |tokens| event.parse(tokens))?;
        let is_container = self.event.has_extra(self.scan.window(), "traceEvents");
        match attempt {
            Attempt::Done((), len) if !is_container && self.event.looks_like_one() => {
                self.is_trace = true;
                self.take_event(len)?;
                Ok(Flow::On)
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

    /// Hands over the event at the start of the window.
    fn take_event(&mut self, len: usize) -> Result<(), Error> {
        let offset = self.scan.offset();
        let bytes = &self.scan.window()[..len];
        self.reader.event(Seen { event: &self.event, bytes, offset })?;
        self.scan.consume(len);
        Ok(())
    }

    /// Events up to the closing bracket.
    fn events(&mut self, container: Container) -> Result<Flow, Error> {
        loop {
            let (first, commas) = match self.scan.attempt(MAX_ITEM_LEN, |tokens| tokens.peek_item())? {
                Attempt::Done(item, len) => {
                    self.scan.consume(len);
                    item
                }
                // The closing bracket of an array is optional: a writer may be killed at any time.
                Attempt::Truncated if container == Container::Array => return Ok(Flow::End),
                Attempt::Truncated => return Ok(self.truncated()),
                damaged => {
                    if self.recover(damaged)? == Flow::End {
                        return Ok(Flow::End);
                    }
                    continue;
                }
            };
            if commas > 1 {
                self.warn_here(WarningKind::DamagedRecord, "an empty element between two commas; skipped");
            }
            match first {
                b'{' => {
                    let event = &mut self.event;
                    match self.scan.attempt(MAX_ITEM_LEN, |tokens| event.parse(tokens))? {
                        Attempt::Done((), len) => self.take_event(len)?,
                        damaged => {
                            if self.recover(damaged)? == Flow::End {
                                return Ok(Flow::End);
                            }
                        }
                    }
                }
                b']' => {
                    self.scan.consume(1);
                    return Ok(Flow::On);
                }
                b'}' => {
                    self.warn_here(WarningKind::DamagedRecord, "`}` where the array of events should end");
                    if container == Container::Object {
                        return Ok(Flow::On);
                    }
                    self.scan.consume(1);
                }
                _ => {
                    if self.element()? == Flow::End {
                        return Ok(Flow::End);
                    }
                }
            }
        }
    }

    /// An element that is no object.
    fn element(&mut self) -> Result<Flow, Error> {
        match self.scan.attempt(MAX_ITEM_LEN, |tokens| tokens.value())? {
            Attempt::Done(_, len) => {
                let offset = self.scan.offset();
                let bytes = &self.scan.window()[..len];
                self.reader.unread("an element that is no object", bytes, offset)?;
                self.scan.consume(len);
                Ok(Flow::On)
            }
            damaged => self.recover(damaged),
        }
    }

    /// The document as an object: `traceEvents` and other keys.
    fn container(&mut self) -> Result<Flow, Error> {
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
                    return Ok(Flow::On);
                }
                Attempt::Done(Some((key, first)), len) => {
                    let key = text_of(self.scan.window(), key).into_owned();
                    self.scan.consume(len);
                    (key, first)
                }
                Attempt::Truncated => return Ok(self.truncated()),
                damaged => {
                    // Somewhere in what follows there may be events: read it as if it were their array.
                    if self.recover(damaged)? == Flow::End {
                        return Ok(Flow::End);
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
            if flow == Flow::End {
                return Ok(Flow::End);
            }
        }
    }

    /// A key beside `traceEvents`, whose value comes next.
    fn member(&mut self, key: &str) -> Result<Flow, Error> {
        self.is_trace |= key == "traceEvents";
        self.each_value(|document, raw, len| {
            let offset = document.scan.offset();
            let bytes = &document.scan.window()[..len];
            Ok(document.reader.metadata(key, (raw, bytes), offset)?)
        })
    }

    /// Reads one value, hands it over, and leaves it behind.
    fn each_value(
        &mut self,
        take: impl FnOnce(&mut Self, Raw, usize) -> Result<(), Error>,
    ) -> Result<Flow, Error> {
        match self.scan.attempt(MAX_ITEM_LEN, |tokens| tokens.value())? {
            Attempt::Done(raw, len) => {
                take(self, raw, len)?;
                self.scan.consume(len);
                Ok(Flow::On)
            }
            Attempt::Truncated => Ok(self.truncated()),
            Attempt::TooLong => {
                self.warn_here(WarningKind::AdjustedValue, "a value of more than 24 MiB; not kept");
                if self.scan.skip_value()? { Ok(Flow::On) } else { Ok(self.truncated()) }
            }
            damaged @ Attempt::Damaged(_) => self.recover(damaged),
        }
    }

    /// `{"id": {…}, …}`.
    fn stack_frames(&mut self) -> Result<Flow, Error> {
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
                    return Ok(Flow::On);
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
                Ok(Metadata::stack_frame(document.reader.out(), &key, (raw, bytes))?)
            })?;
            if flow == Flow::End {
                return Ok(Flow::End);
            }
        }
    }

    /// `[{…}, …]`.
    fn samples(&mut self) -> Result<Flow, Error> {
        self.scan.consume(1);
        loop {
            match self.scan.attempt(MAX_ITEM_LEN, |tokens| tokens.peek_item())? {
                Attempt::Done((b']', _), len) => {
                    self.scan.consume(len + 1);
                    return Ok(Flow::On);
                }
                Attempt::Done(_, len) => self.scan.consume(len),
                Attempt::Truncated => return Ok(self.truncated()),
                damaged => return self.recover(damaged),
            }
            let flow = self.each_value(|document, raw, len| {
                let bytes = &document.scan.window()[..len];
                Ok(Metadata::sample(document.reader.out(), (raw, bytes))?)
            })?;
            if flow == Flow::End {
                return Ok(Flow::End);
            }
        }
    }

    /// After damage: goes on where the damaged value ends, if its brackets tell, else at the next event. What lies
    /// between is kept as text.
    fn recover<T>(&mut self, damage: Attempt<T>) -> Result<Flow, Error> {
        let (what, truncated) = match damage {
            Attempt::Damaged(what) => (what, false),
            Attempt::TooLong => ("an event of more than 24 MiB", false),
            Attempt::Truncated | Attempt::Done(..) => (TRUNCATED, true),
        };
        let offset = self.scan.offset();
        if !truncated && let Some(len) = self.damaged_len()? {
            let bytes = &self.scan.window()[..len];
            self.reader.unread(what, bytes, offset)?;
            self.scan.consume(len);
            return Ok(Flow::On);
        }
        let (kept, is_found) = self.skip_to_event()?;
        if is_found || !truncated {
            self.is_trace |= is_found;
            let what = if truncated { "an event whose end is missing" } else { what };
            self.reader.unread(what, &kept, offset)?;
        }
        if is_found {
            return Ok(Flow::On);
        }
        self.reader.out().warn(WarningKind::TruncatedInput, TRUNCATED, offset);
        Ok(Flow::End)
    }

    /// The length of the damaged value, where its brackets match and something sensible follows.
    fn damaged_len(&mut self) -> Result<Option<usize>, Error> {
        let mut extent = 0;
        let attempt = self.scan.attempt(MAX_RECOVERY_LEN, |tokens| {
            let raw = tokens.value()?;
            extent = tokens.position();
            if !matches!(raw.kind(), Kind::Object | Kind::Array) {
                return Err(Stop::Damaged("no brackets"));
            }
            match tokens.peek() {
                Ok(b',' | b']' | b'{') | Err(Stop::Incomplete) => Ok(()),
                _ => Err(Stop::Damaged("something else follows")),
            }
        })?;
        if !matches!(attempt, Attempt::Done(..)) {
            return Ok(None);
        }
        // With a quote missing the brackets may match far away: then there is another event inside.
        let phases = memchr::memmem::find_iter(&self.scan.window()[..extent], b"\"ph\"").take(2).count();
        Ok((phases < 2).then_some(extent))
    }

    /// Moves to the next thing that is an event; what was left behind, and whether one was found.
    fn skip_to_event(&mut self) -> Result<(Vec<u8>, bool), Error> {
        let mut kept = Vec::new();
        // The first byte is that of the damaged value itself.
        self.leave(1, &mut kept);
        loop {
            let Some(at) = memchr::memchr(b'{', self.scan.window()) else {
                self.leave(self.scan.window().len(), &mut kept);
                if self.scan.tail() == Tail::Closed {
                    return Ok((kept, false));
                }
                self.scan.fill()?;
                continue;
            };
            self.leave(at, &mut kept);
            let before = kept.iter().rev().find(|byte| !byte.is_ascii_whitespace());
            if matches!(before, Some(b',' | b'[' | b']' | b'}' | b'{') | None) || kept.last() == Some(&b'\n')
            {
                let event = &mut self.event;
                let attempt = self.scan.attempt(MAX_RECOVERY_LEN, |tokens| event.parse(tokens))?;
                if matches!(attempt, Attempt::Done(..)) && self.event.ph.is_present() {
                    kept.truncate(MAX_KEPT_LEN);
                    return Ok((kept, true));
                }
            }
            self.leave(1, &mut kept);
        }
    }

    /// Leaves bytes behind; of many only the first and the last few are kept.
    fn leave(&mut self, len: usize, kept: &mut Vec<u8>) {
        /// Enough to see what stands before a bracket.
        const LOOK_BACK_LEN: usize = 64;
        let window = self.scan.window();
        let len = len.min(window.len());
        if kept.len() + len > MAX_KEPT_LEN + LOOK_BACK_LEN {
            let room = MAX_KEPT_LEN.saturating_sub(kept.len()).min(len);
            kept.extend_from_slice(&window[..room]);
            kept.truncate(MAX_KEPT_LEN);
            kept.extend_from_slice(&window[len.saturating_sub(LOOK_BACK_LEN)..len]);
        } else {
            kept.extend_from_slice(&window[..len]);
        }
        self.scan.consume(len);
    }
}

fn not_a_trace(what: &str, offset: u64) -> Error {
    Error::format(
        what,
        format!("byte {offset}"),
        "expected Trace Event JSON: an object with `traceEvents`, an array of events, or a line per event",
    )
}
