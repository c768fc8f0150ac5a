//! An event of Trace Event JSON.

use std::io::{self, Write};

use serde_json::{Map, Value as Json};

/// An event.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Letter of the phase.
    pub phase: char,
    /// Name.
    pub name: String,
    /// Category.
    pub category: Option<String>,
    /// Time in picoseconds on the trace's own clock.
    pub time_ps: i128,
    /// Duration in picoseconds.
    pub duration_ps: Option<i64>,
    /// Process id, a number or a text.
    pub pid: Json,
    /// Thread id; null if the event is of a process.
    pub tid: Json,
    /// Number that the events of an arrow or of a pair share.
    pub id: Option<u64>,
    /// Arguments.
    pub args: Map<String, Json>,
}

impl Event {
    /// An event of a process without arguments.
    #[must_use]
    pub fn new(phase: char, name: &str, time_ps: i128, pid: Json) -> Self {
        Self {
            phase,
            name: name.to_owned(),
            category: None,
            time_ps,
            duration_ps: None,
            pid,
            tid: Json::Null,
            id: None,
            args: Map::new(),
        }
    }

    /// Writes the event as an object.
    ///
    /// # Errors
    /// If the output cannot be written.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        write!(out, "{{\"name\":{}", quoted(&self.name))?;
        if let Some(category) = &self.category {
            write!(out, ",\"cat\":{}", quoted(category))?;
        }
        write!(out, ",\"ph\":\"{}\",\"ts\":", self.phase)?;
        microseconds(self.time_ps, out)?;
        if let Some(duration_ps) = self.duration_ps {
            write!(out, ",\"dur\":")?;
            microseconds(i128::from(duration_ps), out)?;
        }
        write!(out, ",\"pid\":{}", self.pid)?;
        if !self.tid.is_null() {
            write!(out, ",\"tid\":{}", self.tid)?;
        }
        if let Some(id) = self.id {
            write!(out, ",\"id\":{id}")?;
        }
        if self.phase == 'f' {
            // An arrow ends at the slice that encloses its end.
            write!(out, ",\"bp\":\"e\"")?;
        }
        if !self.args.is_empty() {
            write!(out, ",\"args\":")?;
            serde_json::to_writer(&mut *out, &self.args)?;
        }
        write!(out, "}}")
    }
}

fn quoted(text: &str) -> Json {
    Json::from(text)
}

/// Picoseconds as exact microseconds.
fn microseconds(ps: i128, out: &mut dyn Write) -> io::Result<()> {
    let sign = if ps < 0 { "-" } else { "" };
    let (whole, rest) = (ps.unsigned_abs() / 1_000_000, ps.unsigned_abs() % 1_000_000);
    let digits = format!("{rest:06}");
    let digits = digits.trim_end_matches('0');
    write!(out, "{sign}{whole}.{}", if digits.is_empty() { "0" } else { digits })
}

/// An id as JSON: a number if it is one.
#[must_use]
pub fn id(text: &str) -> Json {
    text.parse::<i64>().map_or_else(|_| Json::from(text), Json::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_exact() {
        for (ps, expected) in [
            (0, "0.0"),
            (1_700_011_000_200_585_000_123, "1700011000200585.000123"),
            (-1_500_000, "-1.5"),
            (-1, "-0.000001"),
        ] {
            let mut out = Vec::new();
            microseconds(ps, &mut out).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
    }

    #[test]
    fn an_event_is_an_object() {
        let mut event = Event::new('f', "a \"b\"", 2_000_000, id("0"));
        event.tid = id("x");
        event.id = Some(7);
        let mut out = Vec::new();
        event.write(&mut out).unwrap();
        let read: Json = serde_json::from_slice(&out).unwrap();
        let expected = serde_json::json!(
            {"name": "a \"b\"", "ph": "f", "ts": 2.0, "pid": 0, "tid": "x", "id": 7, "bp": "e"}
        );
        assert_eq!(read, expected);
    }
}
