//! One event: the places of its parts in the bytes it was read from.

use std::borrow::Cow;

use super::shape::{MAX_STEPS, NONE, NextItem, ObjectShape, StretchPaths};
use super::text::{bytes_of, text_of};
use super::tokens::{Raw, TokenStop, Tokens, ValueKind};

/// A key and its value.
#[derive(Debug, Clone, Copy)]
pub(super) struct EventMember {
    pub(super) key: Raw,
    pub(super) value: Raw,
    /// Number that usually stands for the key. See [`super::shape`].
    pub(super) hint: u32,
}

/// Parts of an event. If a key occurs twice, the last one counts.
#[derive(Debug)]
pub(super) struct EventParts {
    pub(super) name: Raw,
    /// Categories, separated by commas.
    pub(super) cat: Raw,
    pub(super) ph: Raw,
    /// Timestamp in microseconds.
    pub(super) ts: Raw,
    /// Duration in microseconds.
    pub(super) dur: Raw,
    /// Process id.
    pub(super) pid: Raw,
    /// Thread id.
    pub(super) tid: Raw,
    /// Id of a flow, an asynchronous slice, a counter, or an object.
    pub(super) id: Raw,
    /// An object with `local` or `global`: an id with the range in which it holds.
    pub(super) id2: Raw,
    /// Scope of the id.
    pub(super) scope: Raw,
    /// Scope of an instant.
    pub(super) s: Raw,
    /// Binding point of a flow.
    pub(super) bp: Raw,
    /// Id of a flow of the second kind.
    pub(super) bind_id: Raw,
    /// Whether the flow of `bind_id` enters here.
    pub(super) flow_in: Raw,
    /// Whether the flow of `bind_id` leaves here.
    pub(super) flow_out: Raw,
    /// The arguments as a whole.
    pub(super) args: Raw,
    /// The arguments one by one, if they are an object.
    pub(super) members: Vec<EventMember>,
    /// All other keys.
    pub(super) extras: Vec<EventMember>,
    /// Number of the sequence of keys, if the parser numbers them; otherwise [`NONE`].
    pub(super) path: u32,
}

impl Default for EventParts {
    fn default() -> Self {
        Self::with_lists(Vec::new(), Vec::new())
    }
}

impl Clone for EventParts {
    fn clone(&self) -> Self {
        let mut copy = Self::default();
        copy.clone_from(self);
        copy
    }

    /// Reuses the memory of both lists, because waiting events are copied one after the other.
    fn clone_from(&mut self, other: &Self) {
        let (mut members, mut extras) = (std::mem::take(&mut self.members), std::mem::take(&mut self.extras));
        members.clone_from(&other.members);
        extras.clone_from(&other.extras);
        *self = Self { members, extras, ..*other };
    }
}

/// Parser of events. It remembers the text between their values.
#[derive(Debug, Default)]
pub(super) struct Parser {
    shape: ObjectShape<EventKey>,
    argument_shape: ObjectShape<()>,
    /// Numbers of sequences of keys. Only one parser of a document numbers them.
    paths: Option<StretchPaths>,
}

/// Meaning of an event's key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EventKey {
    Name,
    Cat,
    Ph,
    Ts,
    Dur,
    Pid,
    Tid,
    Id,
    Id2,
    Scope,
    S,
    Bp,
    BindId,
    FlowIn,
    FlowOut,
    Args,
    Extra,
}

impl EventKey {
    fn of(key: &[u8]) -> Self {
        match key {
            b"name" => Self::Name,
            b"cat" => Self::Cat,
            b"ph" => Self::Ph,
            b"ts" => Self::Ts,
            b"dur" => Self::Dur,
            b"pid" => Self::Pid,
            b"tid" => Self::Tid,
            b"id" => Self::Id,
            b"id2" => Self::Id2,
            b"scope" => Self::Scope,
            b"s" => Self::S,
            b"bp" => Self::Bp,
            b"bind_id" => Self::BindId,
            b"flow_in" => Self::FlowIn,
            b"flow_out" => Self::FlowOut,
            b"args" => Self::Args,
            _ => Self::Extra,
        }
    }
}

impl Parser {
    /// A parser that numbers the sequences of keys.
    pub(super) fn with_paths() -> Self {
        Self { paths: Some(StretchPaths::default()), ..Self::default() }
    }

    /// Parses an object. The tokenizer is at the opening bracket. After an error the event has the
    /// parts before it.
    pub(super) fn parse(&mut self, event: &mut EventParts, tokens: &mut Tokens<'_>) -> Result<(), TokenStop> {
        event.clear();
        if tokens.peek()? != b'{' {
            return Err(TokenStop::Damaged("no object"));
        }
        tokens.advance();
        let mut path = if self.paths.is_some() { StretchPaths::START } else { NONE };
        while let NextItem::Value(part, key, hint) = self.shape.next(tokens, EventKey::of)? {
            path = self.step(path, hint);
            if part == EventKey::Args {
                path = self.arguments(event, tokens, path)?;
                continue;
            }
            let value = self.shape.value(hint, tokens)?;
            match event.slot(part) {
                Some(slot) => *slot = value,
                None => event.extras.push(EventMember { key, value, hint }),
            }
        }
        event.path = path;
        Ok(())
    }

    /// Parses the arguments. Returns the number of the sequence of keys so far.
    #[inline(always)]
    fn arguments(
        &mut self,
        event: &mut EventParts,
        tokens: &mut Tokens<'_>,
        mut path: u32,
    ) -> Result<u32, TokenStop> {
        event.members.clear();
        if tokens.peek()? != b'{' {
            event.args = tokens.value()?;
            return Ok(path);
        }
        // Only the kind of an object is of use: its members are kept one by one.
        event.args = Raw::without_extent(ValueKind::Object);
        tokens.advance();
        while let NextItem::Value((), key, hint) = self.argument_shape.next(tokens, |_| ())? {
            // Stretches between arguments are other than those between keys of events.
            path = self.step(path, if hint == NONE { NONE } else { hint + MAX_STEPS as u32 });
            let value = self.argument_shape.value(hint, tokens)?;
            event.members.push(EventMember { key, value, hint });
        }
        Ok(path)
    }

    #[inline(always)]
    fn step(&mut self, path: u32, hint: u32) -> u32 {
        self.paths.as_mut().map_or(NONE, |paths| paths.step(path, hint))
    }
}

impl EventParts {
    /// Frees memory for more than this many arguments, and as many other keys.
    pub(super) fn shrink_to(&mut self, members: usize) {
        for list in [&mut self.members, &mut self.extras] {
            if list.capacity() > members {
                *list = Vec::new();
            }
        }
    }

    fn clear(&mut self) {
        let (mut members, mut extras) = (std::mem::take(&mut self.members), std::mem::take(&mut self.extras));
        members.clear();
        extras.clear();
        *self = Self::with_lists(members, extras);
    }

    /// An event without parts.
    fn with_lists(members: Vec<EventMember>, extras: Vec<EventMember>) -> Self {
        let none = Raw::default();
        Self {
            name: none,
            cat: none,
            ph: none,
            ts: none,
            dur: none,
            pid: none,
            tid: none,
            id: none,
            id2: none,
            scope: none,
            s: none,
            bp: none,
            bind_id: none,
            flow_in: none,
            flow_out: none,
            args: none,
            members,
            extras,
            path: NONE,
        }
    }

    fn slot(&mut self, part: EventKey) -> Option<&mut Raw> {
        Some(match part {
            EventKey::Name => &mut self.name,
            EventKey::Cat => &mut self.cat,
            EventKey::Ph => &mut self.ph,
            EventKey::Ts => &mut self.ts,
            EventKey::Dur => &mut self.dur,
            EventKey::Pid => &mut self.pid,
            EventKey::Tid => &mut self.tid,
            EventKey::Id => &mut self.id,
            EventKey::Id2 => &mut self.id2,
            EventKey::Scope => &mut self.scope,
            EventKey::S => &mut self.s,
            EventKey::Bp => &mut self.bp,
            EventKey::BindId => &mut self.bind_id,
            EventKey::FlowIn => &mut self.flow_in,
            EventKey::FlowOut => &mut self.flow_out,
            EventKey::Args | EventKey::Extra => return None,
        })
    }

    /// The argument with this key; the last one if there are several.
    pub(super) fn argument(&self, bytes: &[u8], key: &str) -> Raw {
        let found = self.members.iter().rev().find(|member| *bytes_of(bytes, member.key) == *key.as_bytes());
        found.map_or_else(Raw::default, |member| member.value)
    }

    /// Whether the object has enough parts to be an event.
    pub(super) fn looks_like_one(&self) -> bool {
        let has_phase = matches!(self.ph.kind(), ValueKind::Text | ValueKind::Escaped | ValueKind::Word);
        has_phase || (self.ts.is_present() && (self.name.is_present() || self.pid.is_present()))
    }

    /// Whether there is an extra key of this name.
    pub(super) fn has_extra(&self, bytes: &[u8], key: &str) -> bool {
        self.extras.iter().any(|member| *bytes_of(bytes, member.key) == *key.as_bytes())
    }
}

/// An event with the bytes that it was read from.
#[derive(Debug, Clone, Copy)]
pub(super) struct EventBytes<'a> {
    /// Parts of the event.
    pub(super) event: &'a EventParts,
    /// Bytes of the event, which its parts are spans of.
    pub(super) bytes: &'a [u8],
    /// Offset of the event in the input.
    pub(super) offset: u64,
}

impl<'a> EventBytes<'a> {
    /// A value as text: strings with their escapes decoded, other values as written.
    pub(super) fn text(&self, raw: Raw) -> Cow<'a, str> {
        text_of(self.bytes, raw)
    }

    /// The categories as bytes, for comparison.
    pub(super) fn cat_bytes(&self) -> Cow<'a, [u8]> {
        match self.event.cat.kind() {
            ValueKind::Absent | ValueKind::Null => Cow::Borrowed(&[]),
            _ => bytes_of(self.bytes, self.event.cat),
        }
    }

    /// The phase.
    pub(super) fn phase(&self) -> Cow<'a, str> {
        self.text(self.event.ph)
    }

    /// The name; empty if there is none.
    pub(super) fn name(&self) -> Cow<'a, str> {
        match self.event.name.kind() {
            ValueKind::Absent | ValueKind::Null => Cow::Borrowed(""),
            _ => self.text(self.event.name),
        }
    }

    /// The categories; empty if there are none.
    pub(super) fn cat(&self) -> Cow<'a, str> {
        match self.event.cat.kind() {
            ValueKind::Absent | ValueKind::Null => Cow::Borrowed(""),
            _ => self.text(self.event.cat),
        }
    }

    /// Whether a value of this event is written like one of another event: then both are the same.
    pub(super) fn is_written_like(&self, raw: Raw, other: EventBytes<'_>, of_other: Raw) -> bool {
        raw.kind() == of_other.kind() && raw.of(self.bytes) == of_other.of(other.bytes)
    }

    /// An argument.
    pub(super) fn argument(&self, key: &str) -> Raw {
        self.event.argument(self.bytes, key)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tokens::Tail;
    use super::*;

    #[track_caller]
    fn parse(bytes: &[u8]) -> EventParts {
        let mut event = EventParts::default();
        Parser::default().parse(&mut event, &mut Tokens::new(bytes, Tail::Closed)).unwrap();
        event
    }

    #[test]
    fn the_last_of_equal_keys_counts() {
        let bytes = br#"{"name":"a","args":{"x":1},"name":"z","args":{"x":2,"x":3}}"#;
        let event = parse(bytes);
        let seen = EventBytes { event: &event, bytes, offset: 0 };
        assert_eq!(seen.name(), "z");
        assert_eq!(seen.text(seen.argument("x")), "3");
        assert_eq!(event.members.len(), 2);
    }

    #[test]
    fn commas_are_not_needed_and_keys_may_be_escaped() {
        let bytes = br#"{"\u0070h":"X" name:'a',, "ts" : 1,}"#;
        let event = parse(bytes);
        let seen = EventBytes { event: &event, bytes, offset: 0 };
        assert_eq!((seen.phase(), seen.name(), seen.text(event.ts)), ("X".into(), "a".into(), "1".into()));
    }

    #[test]
    fn what_was_seen_before_does_not_change_what_is_read() {
        let texts: [&[u8]; 13] = [
            br#"{"name":"a","args":{"x":1,"y":2},"ts":3}"#,
            br#"{"name":"b","args":{"x":1,"y":2},"ts":3}"#,
            br#"{"name":"b","args":{"x":1,"yy":2},"ts": 3, "n":1}"#,
            br#"{"name": "c", "args":{"x":1},"ts" :3}"#,
            br#"{"name":"c","args":{},"args":{"x" : /* , */ 1},"ts":3,}"#,
            br#"{"args":{"x":{"name":"q"}},"name":"d"}"#,
            // Values that begin alike, with enough behind them to be compared with the last ones.
            br#"{"ts":3,"name":"ab","cat":"a category that is long"}"#,
            br#"{"ts":35,"name":"a","cat":"a category that is long"}"#,
            br#"{"ts":3.5,"name":"ab\"c","cat":"a category that is long"}"#,
            br#"{"ts":3e5,"name":"ab","cat":"a category that is long"}"#,
            br#"{"ts":1234567890123456,"name":"abcdefghijklmn","cat":"long"}"#,
            br#"{"ts":123456789012345,"name":"abcdefghijklmno","cat":"long"}"#,
            br#"{"ts":null,"name":"abcdefghijklm","cat":"a category that is long"}"#,
        ];
        let (mut parser, mut event) = (Parser::default(), EventParts::default());
        for bytes in texts.iter().chain(texts.iter().rev()).chain(&texts) {
            parser.parse(&mut event, &mut Tokens::new(bytes, Tail::Closed)).unwrap();
            assert_eq!(shown(&event, bytes), shown(&parse(bytes), bytes));
        }
    }

    /// All contents of an event as text, for the test below.
    fn shown(event: &EventParts, bytes: &[u8]) -> String {
        let members = event.members.iter().chain(&event.extras);
        let members: Vec<_> =
            members.map(|member| [text_of(bytes, member.key), text_of(bytes, member.value)]).collect();
        let own = [event.name, event.ts].map(|raw| text_of(bytes, raw));
        format!("{own:?} {:?} {members:?}", event.args)
    }

    proptest! {
        /// The law of [`ObjectShape`]: an event reads the same with and without memory of other
        /// events, damage included.
        #[test]
        fn an_event_reads_the_same_whatever_came_before(
            parts in prop::collection::vec(prop::sample::select(&PARTS[..]), 0..24),
            cut in 0_usize..24,
        ) {
            let (mut parser, mut event) = (Parser::default(), EventParts::default());
            for text in [parts.concat(), parts[cut.min(parts.len())..].concat(), parts.concat()] {
                let bytes = format!("{{{text}");
                let mut fresh = EventParts::default();
                let [mut again, mut first] = [(); 2].map(|()| Tokens::new(bytes.as_bytes(), Tail::Closed));
                prop_assert_eq!(parser.parse(&mut event, &mut again), Parser::default().parse(&mut fresh, &mut first));
                prop_assert_eq!(again.position(), first.position());
                prop_assert_eq!(shown(&event, bytes.as_bytes()), shown(&fresh, bytes.as_bytes()));
            }
        }
    }

    /// Pieces of events. Whole keys make repetition likely.
    const PARTS: [&str; 16] = [
        "\"name\":",
        ",\n  \"ts\": ",
        "\"args\":{",
        ",\"x\":",
        "x:",
        "\"q\"",
        "1",
        ",",
        " ",
        "}",
        "/*c*/",
        "'",
        "\\",
        "[",
        "]",
        "null",
    ];

    #[test]
    fn unknown_keys_are_kept() {
        let event = parse(br#"{"tts":1,"cname":"x","args":7}"#);
        assert_eq!((event.extras.len(), event.args.kind()), (2, ValueKind::Number));
    }
}
