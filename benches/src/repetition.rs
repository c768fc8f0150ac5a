//! Enlarges real Trace Event JSON: a trace's events repeat, later and with new ids in each turn.
//!
//! Keys, white space, arguments and unbound flows stay unchanged. Metadata events occur once.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use nprof_capture::archive::{FileBytes, InMemory, open};
use serde::Deserialize;
use serde_json::value::RawValue;

/// Traces of different shapes: their names here, and their paths in the folder of real traces.
const TRACES: [(&str, &str); 9] = [
    ("pytorch-2022-stacks", "kineto/trace_diff/control/control.json.gz"),
    ("pytorch-2021-strings", "kineto/resnet50_num_workers_0_worker0.1623143089861.pt.trace.json.gz"),
    ("pytorch-2023-us", "kineto/resnet_kineto.json.gz"),
    ("pytorch-2024-ns", "kineto/rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz"),
    ("pytorch-2025-h100", "kineto/h100_Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz"),
    ("mtia-inference", "kineto/mtia_inference_rank_0.json.gz"),
    ("one-line", "kineto/vision_2_ranks/sampled_rank-0.json.gz"),
    ("chrome-begin-end", "chrome/thread_time_visualisation.json.gz"),
    ("chrome-flows", "chrome/flow.json"),
];

/// Keys whose numbers distinguish events.
const ID_KEYS: [&str; 10] = [
    "id",
    "bind_id",
    "correlation",
    "External id",
    "external id",
    "Ev Idx",
    "Profiler Event Index",
    "Python id",
    "Python parent id",
    "Sequence number",
];

/// Times further than this from the median are outliers, which do not count for the trace's length.
const LONGEST_US: f64 = 86_400e6;

/// Maximum change of ids per turn, however large they are: some are addresses.
const LARGEST_STEP: u64 = 1 << 32;

/// The name and the file of each shape whose file exists.
pub fn shapes() -> Result<Vec<(&'static str, PathBuf)>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data");
    let folder = folder.canonicalize().context("../shared/data, the folder of real traces, is not there")?;
    Ok(TRACES
        .iter()
        .map(|&(name, file)| (name, folder.join(file)))
        .filter(|(_, file)| file.exists())
        .collect())
}

#[derive(Deserialize)]
struct RawTrace<'a> {
    #[serde(borrow, rename = "traceEvents")]
    events: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
struct EventTurn<'a> {
    #[serde(borrow)]
    ph: Option<&'a str>,
    ts: Option<f64>,
    dur: Option<f64>,
}

/// A number that changes from turn to turn.
#[derive(Debug)]
enum TurnNumber {
    /// A time: its digits before the decimal point.
    Time(i128),
    /// An id: the value, its key, and its base.
    Id { value: u64, key: &'static str, is_hexadecimal: bool },
}

/// An event, or the text between two events.
#[derive(Debug)]
struct EventTemplate {
    /// Bytes that do not change. A changing number follows each, except the last.
    texts: Vec<Range<usize>>,
    moved: Vec<TurnNumber>,
    is_metadata: bool,
}

/// A parsed trace.
pub struct Repeated {
    text: String,
    head: Range<usize>,
    events: Vec<EventTemplate>,
    tail: Range<usize>,
    /// Offset between turns in microseconds.
    turn_us: i128,
    steps: BTreeMap<&'static str, u64>,
}

impl Repeated {
    /// Parses a trace from a file, plain or gzip.
    pub fn open(path: &Path) -> Result<Self> {
        let mut text = String::new();
        let file = FileBytes::new(Arc::new(std::fs::read(path)?));
        let opened = open("trace", file, &InMemory);
        opened.leaves.first().context("no file")?.reader().read_to_string(&mut text)?;
        let raw: Vec<Range<usize>> = {
            let array = || serde_json::from_str::<Vec<&RawValue>>(&text);
            let events = serde_json::from_str::<RawTrace<'_>>(&text).map(|document| document.events);
            let events = events.or_else(|_| array()).with_context(|| path.display().to_string())?;
            let start = |event: &RawValue| event.get().as_ptr() as usize - text.as_ptr() as usize;
            events.iter().map(|event| start(event)..start(event) + event.get().len()).collect()
        };
        let (first, last) = raw.first().zip(raw.last()).context("no events")?;
        let (head, tail) = (0..first.start, last.end..text.len());
        let mut whole = Self { head, tail, events: Vec::new(), turn_us: 0, steps: BTreeMap::new(), text };
        whole.turn_us = whole.length_us(&raw);
        let mut before = whole.head.end;
        for event in raw {
            let is_metadata = whole.times(&event).is_some_and(|times| times.ph == Some("M"));
            let part = whole.part(before..event.end, is_metadata);
            before = event.end;
            whole.events.push(part);
        }
        Ok(whole)
    }

    fn times(&self, event: &Range<usize>) -> Option<EventTurn<'_>> {
        serde_json::from_str(&self.text[event.clone()]).ok()
    }

    /// Time from the first event to the end of the last, rounded up.
    #[expect(clippy::cast_possible_truncation, reason = "days at most")]
    fn length_us(&self, events: &[Range<usize>]) -> i128 {
        let times = events.iter().filter_map(|event| {
            let times = self.times(event).filter(|times| times.ph != Some("M"))?;
            Some((times.ts?, times.dur.unwrap_or(0.0)))
        });
        let mut times: Vec<(f64, f64)> = times.collect();
        times.sort_by(|a, b| a.0.total_cmp(&b.0));
        let Some(&(median, _)) = times.get(times.len() / 2) else { return 1 };
        times.retain(|(start, _)| (start - median).abs() < LONGEST_US);
        let first = times.first().map_or(median, |(start, _)| *start);
        let end = times.iter().map(|(start, length)| start + length).fold(first, f64::max);
        (end - first).ceil() as i128 + 1
    }

    /// Parses a part of the text, and records the largest ids.
    fn part(&mut self, range: Range<usize>, is_metadata: bool) -> EventTemplate {
        let mut found: Vec<(Range<usize>, TurnNumber)> = Vec::new();
        let bytes = &self.text.as_bytes()[range.clone()];
        for (at, _) in bytes.iter().enumerate().filter(|(_, byte)| **byte == b'"') {
            let rest = &self.text[range.start + at + 1..range.end];
            let Some(key) = ID_KEYS.iter().chain(&["ts"]).find(|key| {
                rest.strip_prefix(**key)
                    .is_some_and(|rest| rest.starts_with("\":") || rest.starts_with("\" :"))
            }) else {
                continue;
            };
            let value = rest[key.len() + 1..].trim_start_matches([' ', ':', '\n', '"']);
            let start = range.end - value.len();
            let digits = |text: &str, radix| text.find(|c: char| !c.is_digit(radix)).unwrap_or(text.len());
            let hexadecimal = value.strip_prefix("0x");
            let len = hexadecimal.map_or_else(|| digits(value, 10), |value| digits(value, 16));
            let start = start + if hexadecimal.is_some() { 2 } else { 0 };
            let number = &self.text[start..start + len];
            let moved = match (*key, hexadecimal) {
                ("ts", _) => number.parse().ok().map(TurnNumber::Time),
                (_, None) => {
                    number.parse().ok().map(|value| TurnNumber::Id { value, key, is_hexadecimal: false })
                }
                (_, Some(_)) => u64::from_str_radix(number, 16).ok().map(|value| TurnNumber::Id {
                    value,
                    key,
                    is_hexadecimal: true,
                }),
            };
            found.extend(moved.map(|moved| (start..start + len, moved)));
        }
        let mut part = EventTemplate { texts: Vec::new(), moved: Vec::new(), is_metadata };
        let mut before = range.start;
        for (number, moved) in found {
            if let TurnNumber::Id { value, key, .. } = moved {
                let step = self.steps.entry(key).or_default();
                *step = (*step).max(value.saturating_add(1).min(LARGEST_STEP));
            }
            part.texts.push(before..number.start);
            part.moved.push(moved);
            before = number.end;
        }
        part.texts.push(before..range.end);
        part
    }

    /// Writes the trace with enough turns for about this many bytes.
    pub fn write(&self, size_bytes: u64, out: &mut impl Write) -> io::Result<()> {
        let text = |range: &Range<usize>| &self.text.as_bytes()[range.clone()];
        out.write_all(text(&self.head))?;
        let (mut written, mut line) = (self.head.len() as u64, Vec::new());
        let mut turn = 0_u64;
        while turn == 0 || written < size_bytes {
            for (at, event) in
                self.events.iter().enumerate().filter(|(_, event)| turn == 0 || !event.is_metadata)
            {
                line.clear();
                if at == 0 && turn > 0 {
                    line.extend_from_slice(b",\n");
                }
                for (index, stays) in event.texts.iter().enumerate() {
                    line.extend_from_slice(text(stays));
                    match event.moved.get(index) {
                        Some(TurnNumber::Time(us)) => {
                            write!(line, "{}", us + i128::from(turn) * self.turn_us)?
                        }
                        Some(&TurnNumber::Id { value, key, is_hexadecimal }) => {
                            let step = self.steps.get(key).copied().unwrap_or_default();
                            let value = value.wrapping_add(step.wrapping_mul(turn));
                            if is_hexadecimal { write!(line, "{value:x}")? } else { write!(line, "{value}")? }
                        }
                        None => {}
                    }
                }
                out.write_all(&line)?;
                written += line.len() as u64;
            }
            turn += 1;
        }
        out.write_all(text(&self.tail))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_turn_is_later_and_has_ids_of_its_own() {
        let trace = r#"{"x":1,"traceEvents":[{"ph":"M","name":"a"},
 {"ph":"X","ts":10.5,"dur":2,"args":{"id" : 3}}, {"ph":"s","id":"0xf","ts": "11"}],"y":[]}"#;
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), trace).unwrap();
        let repeated = Repeated::open(file.path()).unwrap();
        let mut out = Vec::new();
        repeated.write(1, &mut out).unwrap();
        assert_eq!(std::str::from_utf8(&out).unwrap(), trace);
        out.clear();
        repeated.write(trace.len() as u64, &mut out).unwrap();
        let twice = std::str::from_utf8(&out).unwrap();
        assert!(twice.starts_with(trace.strip_suffix(r#"],"y":[]}"#).unwrap()), "{twice}");
        let (_, second) = twice.split_once(r#""ts": "11"}"#).unwrap();
        assert_eq!(
            second,
            ",\n {\"ph\":\"X\",\"ts\":13.5,\"dur\":2,\"args\":{\"id\" : 19}}, {\"ph\":\"s\",\"id\":\"0x1f\",\"ts\": \"14\"}],\"y\":[]}"
        );
    }
}
