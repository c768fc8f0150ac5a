//! An event of Trace Event JSON.

use std::io::{self, Write};

use serde_json::Value as Json;

use super::args::Args;
use super::error::Result;

/// Process of the host of rank 0.
pub const HOST: i64 = 1_000;

/// Receiver of events.
pub type Each<'e> = dyn FnMut(&Event) -> Result<()> + 'e;

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
    /// Id that the events of an arrow or of a pair share.
    pub id: Option<Json>,
    /// Scope of an instant: `t` a thread, `p` a process, `g` all.
    pub scope: Option<char>,
    /// Arguments.
    pub args: Args,
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
            scope: None,
            args: Args::default(),
        }
    }

    /// Writes the event as an object.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut line = Vec::with_capacity(LINE);
        self.put(&mut line)?;
        out.write_all(&line)
    }

    fn put(&self, out: &mut Vec<u8>) -> io::Result<()> {
        out.extend_from_slice(b"{\"name\":");
        serde_json::to_writer(&mut *out, &self.name)?;
        if let Some(category) = &self.category {
            out.extend_from_slice(b",\"cat\":");
            serde_json::to_writer(&mut *out, category)?;
        }
        write!(out, ",\"ph\":\"{}\",\"ts\":", self.phase)?;
        microseconds(self.time_ps, out)?;
        if let Some(duration_ps) = self.duration_ps {
            out.extend_from_slice(b",\"dur\":");
            microseconds(i128::from(duration_ps), out)?;
        }
        out.extend_from_slice(b",\"pid\":");
        serde_json::to_writer(&mut *out, &self.pid)?;
        if !self.tid.is_null() {
            out.extend_from_slice(b",\"tid\":");
            serde_json::to_writer(&mut *out, &self.tid)?;
        }
        if let Some(id) = &self.id {
            write!(out, ",\"id\":{id}")?;
        }
        if let Some(scope) = self.scope {
            write!(out, ",\"s\":\"{scope}\"")?;
        }
        if self.phase == 'f' {
            // An arrow ends at the slice that encloses its end.
            out.extend_from_slice(b",\"bp\":\"e\"");
        }
        let mut separator: &[u8] = b",\"args\":{";
        for (key, value) in self.args.iter() {
            out.extend_from_slice(separator);
            separator = b",";
            serde_json::to_writer(&mut *out, key)?;
            out.push(b':');
            serde_json::to_writer(&mut *out, value)?;
        }
        let end: &[u8] = if separator == b"," { b"}}" } else { b"}" };
        out.extend_from_slice(end);
        Ok(())
    }
}

/// Room for a usual event in bytes.
const LINE: usize = 512;

/// Picoseconds as exact microseconds.
fn microseconds(ps: i128, out: &mut Vec<u8>) -> io::Result<()> {
    let sign = if ps < 0 { "-" } else { "" };
    let (whole, rest) = (ps.unsigned_abs() / 1_000_000, ps.unsigned_abs() % 1_000_000);
    write!(out, "{sign}{whole}.{rest:06}")?;
    let zeros = out.iter().rev().take(DIGITS - 1).take_while(|digit| **digit == b'0').count();
    out.truncate(out.len() - zeros);
    Ok(())
}

/// Digits of a picosecond in microseconds.
const DIGITS: usize = 6;

/// An id as JSON: a number if it is one.
#[must_use]
pub fn id(text: &str) -> Json {
    let number = text.parse::<i64>().map(Json::from).or_else(|_| text.parse::<u64>().map(Json::from));
    // `007`, `-0` and `+1` are texts.
    let is_number =
        text == "0" || !text.trim_start_matches('-').starts_with(['0', '+']) && !text.starts_with('+');
    number.ok().filter(|_| is_number).unwrap_or_else(|| Json::from(text))
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
        event.id = Some(Json::from(7));
        let mut out = Vec::new();
        event.write(&mut out).unwrap();
        let read: Json = serde_json::from_slice(&out).unwrap();
        let expected = serde_json::json!(
            {"name": "a \"b\"", "ph": "f", "ts": 2.0, "pid": 0, "tid": "x", "id": 7, "bp": "e"}
        );
        assert_eq!(read, expected);
    }
}
