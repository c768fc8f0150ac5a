//! Events as JSON text.

use std::io::Write;

use nprof_engine::model::Value;

use crate::formats::trace_event::layer::EventDocument;

const PS_PER_US: u128 = 1_000_000;

/// A list of events that are passed at once.
#[derive(Debug, Default)]
pub(super) struct EventList {
    bytes: Vec<u8>,
    is_first: bool,
    /// Offset in the file of the event that is written next.
    byte: u64,
    /// The beginnings of events from other places than those before, and these places.
    places: Vec<(u64, u64)>,
}

impl EventList {
    /// Length in bytes.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Notes where the events that follow come from: an offset in the file.
    pub(super) fn at(&mut self, byte: u64) {
        self.byte = byte;
    }

    /// The events as a document; `None` if there are none.
    pub(super) fn document(&mut self) -> Option<EventDocument<'_>> {
        if self.bytes.is_empty() {
            return None;
        }
        self.bytes.push(b']');
        Some(EventDocument { bytes: &self.bytes, places: &self.places })
    }

    /// Removes all events.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.places.clear();
    }

    /// Begins an event with its phase, its name and its time in picoseconds.
    pub(super) fn begin(&mut self, phase: &str, name: &str, time_ps: i128) {
        self.bytes.push(if self.bytes.is_empty() { b'[' } else { b',' });
        if self.places.last().is_none_or(|(_, byte)| *byte != self.byte) {
            self.places.push((self.bytes.len() as u64, self.byte));
        }
        self.bytes.push(b'{');
        self.is_first = true;
        self.text("ph", phase);
        self.text("name", name);
        self.us("ts", time_ps);
    }

    /// Ends the event.
    pub(super) fn end(&mut self) {
        self.bytes.extend_from_slice(b"}\n");
    }

    /// Begins the arguments of the event.
    pub(super) fn begin_arguments(&mut self) {
        self.key("args");
        self.bytes.push(b'{');
        self.is_first = true;
    }

    /// Ends the arguments.
    pub(super) fn end_arguments(&mut self) {
        self.bytes.push(b'}');
        self.is_first = false;
    }

    fn key(&mut self, key: &str) {
        if !std::mem::take(&mut self.is_first) {
            self.bytes.push(b',');
        }
        self.quoted(key);
        self.bytes.push(b':');
    }

    fn quoted(&mut self, text: &str) {
        // Writing into memory cannot fail.
        let _ = serde_json::to_writer(&mut self.bytes, text);
    }

    /// Adds a text.
    pub(super) fn text(&mut self, key: &str, text: &str) {
        self.key(key);
        self.quoted(text);
    }

    /// Adds a value that is written as it is.
    pub(super) fn member(&mut self, key: &str, written: &str) {
        self.key(key);
        self.bytes.extend_from_slice(written.as_bytes());
    }

    /// Adds a time in picoseconds as exact microseconds.
    pub(super) fn us(&mut self, key: &str, ps: i128) {
        self.key(key);
        let sign = if ps < 0 { "-" } else { "" };
        let ps = ps.unsigned_abs();
        let _ = write!(self.bytes, "{sign}{}.{:06}", ps / PS_PER_US, ps % PS_PER_US);
    }

    /// Adds a value of a field. `shared` is the text of a name.
    pub(super) fn value(&mut self, key: &str, value: Value<'_>, shared: &str) {
        match value {
            Value::Int(int) => self.member(key, &int.to_string()),
            Value::Uint(uint) => self.member(key, &uint.to_string()),
            Value::Bool(bool) => self.member(key, if bool { "true" } else { "false" }),
            Value::Float(float) if float.is_finite() => self.member(key, &format!("{float:?}")),
            Value::Float(float) => self.text(key, &float.to_string()),
            Value::Text(text) => self.text(key, text),
            Value::Name(_) => self.text(key, shared),
            Value::Json(json) => self.member(key, json),
        }
    }
}

#[cfg(test)]
mod tests {
    use nprof_engine::model::NameId;

    use super::*;

    #[test]
    fn events_are_json() {
        let mut piece = EventList::default();
        assert!(piece.document().is_none());
        piece.begin("X", "a \"b\"", -1_500_000);
        piece.us("dur", 12_000_001);
        piece.begin_arguments();
        piece.value("n", Value::Int(-3), "");
        piece.value("f", Value::Float(f64::NAN), "");
        piece.value("t", Value::Name(NameId(0)), "text");
        piece.value("j", Value::Json("[1]"), "");
        piece.end_arguments();
        piece.end();
        piece.at(700);
        piece.begin("i", "", 0);
        piece.end();
        let expected = concat!(
            r#"[{"ph":"X","name":"a \"b\"","ts":-1.500000,"dur":12.000001,"#,
            r#""args":{"n":-3,"f":"NaN","t":"text","j":[1]}}"#,
            "\n",
            r#",{"ph":"i","name":"","ts":0.000000}"#,
            "\n]",
        );
        let EventDocument { bytes: document, places } = piece.document().unwrap();
        assert_eq!(std::str::from_utf8(document).unwrap(), expected);
        let second = expected.find("\n,").unwrap() as u64 + 2;
        assert_eq!(places, [(1, 0), (second, 700)]);
        piece.clear();
        assert!(piece.document().is_none());
    }
}
