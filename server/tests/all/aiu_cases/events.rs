//! Comparison of the events of a trace with acelyzer's, column by column.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

/// acelyzer's file and our own.
pub type Pair = (PathBuf, PathBuf);

/// The columns that differ, each with an example.
pub type Differences = BTreeMap<String, String>;

/// Times and other numbers that differ by less are equal: a step of a double since 1970 is 0.24 ns.
const NEAR: f64 = 0.001_1;
/// Relative distance of equal rates and shares.
const RELATIVE: f64 = 1e-6;
/// Time after the last sample of a counter, which acelyzer does not write, in microseconds.
const LAST_GAP: f64 = 0.5;
/// Steps of the times that acelyzer divides by, in microseconds.
const TIME_STEP: f64 = 0.001;

/// A trace as a document.
pub fn document(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// The events of a trace.
pub fn events(path: &Path) -> Vec<Value> {
    document(path)["traceEvents"].as_array().unwrap().clone()
}

/// Compares two traces. Events that the rules of comparing leave out do not count.
pub fn differences((expected, found): &Pair) -> Differences {
    let mut differences = Differences::new();
    let all = [expected, found].map(|path| events(path));
    let phases: BTreeSet<&str> = all.iter().flatten().filter_map(|event| event["ph"].as_str()).collect();
    for phase in phases.iter().filter(|phase| !matches!(**phase, "s" | "f")) {
        compare_phase(phase, &all, &mut differences);
    }
    compare_arrows(&all, &mut differences);
    let [a, b] = [expected, found].map(|path| document(path).as_object().unwrap().clone());
    for key in a.keys().chain(b.keys()) {
        let is_left_out = matches!(key.as_str(), "traceEvents" | "otherData" | "traceName");
        if !is_left_out && a.get(key) != b.get(key) {
            differences.insert(format!("key {key}"), format!("{:?} {:?}", a.get(key), b.get(key)));
        }
    }
    differences
}

/// Whether acelyzer writes the event for a process without slices.
fn is_default(event: &Value) -> bool {
    event["ph"] == "M" && event["ts"] == 0.0
}

/// Events with the same key are compared in the order of time.
fn key(event: &Value) -> String {
    let name = event["args"]["orig_name"].as_str().or(event["name"].as_str()).unwrap_or_default();
    let thread = if event["ph"] == "M" { &event["tid"] } else { &Value::Null };
    format!("{} {name} {thread}", event["pid"])
}

fn grouped<'e>(events: &'e [Value], phase: &str) -> BTreeMap<String, Vec<&'e Value>> {
    let mut groups: BTreeMap<String, Vec<&Value>> = BTreeMap::new();
    for event in events.iter().filter(|event| event["ph"] == phase && !is_default(event)) {
        groups.entry(key(event)).or_default().push(event);
    }
    let time = |event: &Value| event["ts"].as_f64().unwrap();
    groups.values_mut().for_each(|of| of.sort_by(|a, b| time(a).total_cmp(&time(b))));
    groups
}

fn compare_phase(phase: &str, all: &[Vec<Value>; 2], differences: &mut Differences) {
    let [expected, found] = [0, 1].map(|at: usize| grouped(&all[at], phase));
    let keys: BTreeSet<&String> = expected.keys().chain(found.keys()).collect();
    for key in keys {
        let [a, b] = [&expected, &found].map(|of| of.get(key).map(Vec::as_slice).unwrap_or_default());
        // Counters differ by name.
        let name = a.iter().chain(b).find_map(|event| event["name"].as_str()).unwrap_or_default();
        let what = if phase == "C" { format!("C {name}") } else { format!("{phase} count") };
        if a.len() != b.len() {
            differences.entry(what).or_insert(format!("{key}: {} of {}", b.len(), a.len()));
            continue;
        }
        for (at, (a_event, b_event)) in a.iter().zip(b).enumerate() {
            let gap = a
                .get(at + 1)
                .map_or(LAST_GAP, |next| next["ts"].as_f64().unwrap() - a_event["ts"].as_f64().unwrap());
            for column in columns(a_event, b_event, TIME_STEP / gap.max(TIME_STEP)) {
                let what = if phase == "C" { what.clone() } else { format!("{phase} {column}") };
                differences.entry(what).or_insert(format!("{key} {column}: {a_event} {b_event}"));
            }
        }
    }
}

/// The columns in which two events differ. `-` are those that the second one lacks, `+` those that
/// only it has.
fn columns(a: &Value, b: &Value, relative: f64) -> Vec<String> {
    let empty = Map::new();
    let [a, b] = [a, b].map(|event| event.as_object().unwrap());
    let mut columns = Vec::new();
    for key in a.keys().chain(b.keys().filter(|key| !a.contains_key(*key))) {
        let is_left_out = matches!(key.as_str(), "args" | "id");
        let (a, b) = (a.get(key), b.get(key));
        // A share of a time since 1970 is days long.
        let is_same = match (key.as_str(), a.and_then(Value::as_f64), b.and_then(Value::as_f64)) {
            ("ts" | "dur", Some(a), Some(b)) => (a - b).abs() <= NEAR,
            _ => is_same(a, b, relative),
        };
        if !is_left_out && !is_same {
            columns.push(key.clone());
        }
    }
    let [a, b] = [a, b].map(|event| event.get("args").and_then(Value::as_object).unwrap_or(&empty));
    for key in a.keys().chain(b.keys().filter(|key| !a.contains_key(*key))) {
        match (a.get(key), b.get(key)) {
            (Some(_), None) => columns.push(format!("args.-{key}")),
            (None, Some(_)) => columns.push(format!("args.+{key}")),
            (a, b) if !is_same(a, b, relative) => columns.push(format!("args.{key}")),
            _ => {}
        }
    }
    columns
}

fn is_same(a: Option<&Value>, b: Option<&Value>, relative: f64) -> bool {
    match (a, b) {
        // No category is an empty one.
        (None | Some(Value::Null), None | Some(Value::Null)) => true,
        (Some(Value::Number(a)), Some(Value::Number(b))) => {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            (a - b).abs() <= NEAR.max(a.abs() * relative.max(RELATIVE))
        }
        (Some(Value::Object(a)), Some(Value::Object(b))) => {
            a.len() == b.len() && a.iter().all(|(key, value)| is_same(Some(value), b.get(key), relative))
        }
        (Some(Value::String(a)), Some(Value::String(b))) => without_hash(a) == without_hash(b),
        (a, b) => a == b,
    }
}

/// A name of a job without the hash of its path.
fn without_hash(text: &str) -> &str {
    match text.rsplit_once('(') {
        Some((name, hash)) if hash.ends_with(')') && name.ends_with(".json") => name,
        _ => text,
    }
}

/// An arrow: names and places of its ends, and their times.
#[derive(Debug, Clone, PartialEq)]
pub struct Arrow {
    place: String,
    times: [f64; 2],
}

impl Arrow {
    fn is_near(&self, other: &Self) -> bool {
        let near = |at: usize| (self.times[at] - other.times[at]).abs() <= NEAR;
        self.place == other.place && near(0) && near(1)
    }
}

/// The arrows of a trace: pairs of points with the same number. acelyzer writes some twice, and
/// numbers of several ranks can be the same.
fn arrows(events: &[Value]) -> Vec<Arrow> {
    let mut by_id: BTreeMap<String, [Option<&Value>; 2]> = BTreeMap::new();
    for event in events {
        let at = match event["ph"].as_str() {
            Some("s") => 0,
            Some("f") => 1,
            _ => continue,
        };
        by_id.entry(event["id"].to_string()).or_default()[at].get_or_insert(event);
    }
    let arrow = |[from, to]: [Option<&Value>; 2]| {
        let place = |event: Option<&Value>| {
            event.map_or_else(String::new, |of| {
                format!("{} {} {} {}", of["pid"], of["tid"], of["name"], of["cat"])
            })
        };
        let time = |event: Option<&Value>| event.and_then(|of| of["ts"].as_f64()).unwrap_or(0.0);
        Arrow { place: format!("{} to {}", place(from), place(to)), times: [time(from), time(to)] }
    };
    let mut arrows: Vec<Arrow> = by_id.into_values().map(arrow).collect();
    arrows.sort_by(|a, b| {
        let times = |of: &Arrow| of.times.map(|time| (time * 100.0).round() as i64);
        (times(a), &a.place).cmp(&(times(b), &b.place))
    });
    arrows.dedup_by(|a, b| a.is_near(b));
    arrows
}

fn compare_arrows(all: &[Vec<Value>; 2], differences: &mut Differences) {
    let [expected, found] = [0, 1].map(|at: usize| arrows(&all[at]));
    let is_in = |arrow: &&Arrow, others: &[Arrow]| others.iter().any(|other| other.is_near(arrow));
    let lost = expected.iter().find(|arrow| !is_in(arrow, &found));
    let more = found.iter().find(|arrow| !is_in(arrow, &expected));
    for (what, arrow) in [("arrows -", lost), ("arrows +", more)] {
        differences.extend(arrow.map(|arrow| (what.to_owned(), format!("{arrow:?}"))));
    }
}
