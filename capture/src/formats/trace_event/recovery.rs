//! Recovery after damage: reading continues at the end of the damaged value, or else at the next
//! event.

use nprof_engine::model::WarningKind;

use super::document::{DocumentState, TRUNCATED, TraceDocument};
use super::events::EventReceiver;
use super::scan::Attempt;
use super::tokens::{Tail, TokenStop, ValueKind};
use crate::error::Error;

/// Longest event that is recognised in the search for the next event after damage.
const MAX_RECOVERY_LEN: usize = 1 << 20;

/// Most bytes of damaged text that are kept.
const MAX_KEPT_LEN: usize = 64 << 10;

impl<'s, R: EventReceiver<'s>> TraceDocument<'s, '_, R> {
    /// Continues after damage: at the end of the damaged value if its brackets tell the end, else
    /// at the next event. The text between is kept.
    pub(super) fn recover<T>(&mut self, damage: Attempt<T>) -> Result<DocumentState, Error> {
        let (what, truncated) = match damage {
            Attempt::Damaged(what) => (what, false),
            Attempt::TooLong => ("an event of more than 24 MiB", false),
            Attempt::Truncated | Attempt::Done(..) => (TRUNCATED, true),
        };
        self.note_line();
        let offset = self.scan.offset();
        if !truncated && let Some(len) = self.damaged_len()? {
            let bytes = &self.scan.window()[..len];
            self.reader.unread(what, bytes, offset)?;
            self.consume(len);
            return Ok(DocumentState::On);
        }
        let (kept, is_found) = self.skip_to_event()?;
        if is_found || !truncated {
            self.is_trace |= is_found;
            let what = if truncated { "an event without its end" } else { what };
            self.reader.unread(what, &kept, offset)?;
        }
        if is_found {
            return Ok(DocumentState::On);
        }
        self.reader.out().warn(WarningKind::TruncatedInput, TRUNCATED, offset);
        Ok(DocumentState::End)
    }

    /// Length of the damaged value, if its brackets match and something sensible follows.
    fn damaged_len(&mut self) -> Result<Option<usize>, Error> {
        let mut extent = 0;
        let attempt = self.scan.attempt(MAX_RECOVERY_LEN, |tokens| {
            let raw = tokens.value()?;
            extent = tokens.position();
            if !matches!(raw.kind(), ValueKind::Object | ValueKind::Array) {
                return Err(TokenStop::Damaged("no brackets"));
            }
            match tokens.peek() {
                Ok(b',' | b']' | b'{') | Err(TokenStop::Incomplete) => Ok(()),
                _ => Err(TokenStop::Damaged("something else follows")),
            }
        })?;
        if !matches!(attempt, Attempt::Done(..)) {
            return Ok(None);
        }
        // If a quote is missing, brackets can match far away. Then there is another event inside.
        let phases = memchr::memmem::find_iter(&self.scan.window()[..extent], b"\"ph\"").take(2).count();
        Ok((phases < 2).then_some(extent))
    }

    /// Moves to the next event. Returns the skipped text, and whether an event was found.
    pub(super) fn skip_to_event(&mut self) -> Result<(Vec<u8>, bool), Error> {
        let mut kept = Vec::new();
        // The first byte belongs to the damaged value itself.
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
                let (parser, event) = (&mut self.ahead.parser, &mut self.event);
                let attempt = self.scan.attempt(MAX_RECOVERY_LEN, |tokens| parser.parse(event, tokens))?;
                if matches!(attempt, Attempt::Done(..)) && self.event.ph.is_present() {
                    kept.truncate(MAX_KEPT_LEN);
                    return Ok((kept, true));
                }
            }
            self.leave(1, &mut kept);
        }
    }

    /// Skips bytes. If they are many, only the first and the last few are kept.
    fn leave(&mut self, len: usize, kept: &mut Vec<u8>) {
        /// Enough bytes to find the one before a bracket.
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
        self.consume(len);
    }
}
