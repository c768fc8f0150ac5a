//! Real traces against an independent count: the same file through serde_json and a few lines of arithmetic.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a test and its helpers")]

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use nprof_capture::formats::input::Input;
use nprof_capture::formats::trace_event;
use nprof_engine::fixture::Recorder;
use nprof_engine::model::{Form, OwnedValue};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// An event; of equal keys the last counts.
type Event<'a> = BTreeMap<String, &'a RawValue>;

/// The value of a key, if it is there.
fn value(event: &Event<'_>, key: &str) -> Option<Value> {
    serde_json::from_str(event.get(key)?.get()).ok()
}

/// What is compared.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    slices: usize,
    instants: usize,
    samples: usize,
    flow_points: usize,
    /// Picoseconds of all slices that begin and end, by `pid/tid`.
    busy_ps: BTreeMap<String, i128>,
    /// The same of asynchronous slices together.
    async_ps: i128,
}

/// Microseconds with up to six decimals, as picoseconds.
fn ps(number: Option<&RawValue>) -> Option<i128> {
    let text = number?.get().trim_matches('"');
    if text.contains(['e', 'E']) {
        let value: f64 = text.parse().ok()?;
        #[expect(clippy::cast_possible_truncation, reason = "small round numbers")]
        return Some((value * 1e6) as i128);
    }
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let sign = if whole.starts_with('-') { -1 } else { 1 };
    let fraction: i128 = format!("{fraction:0<6}").get(..6)?.parse().ok()?;
    Some(whole.parse::<i128>().ok()? * 1_000_000 + sign * fraction)
}

fn text(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => "not given".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

fn is_number(value: &Value) -> bool {
    match value {
        Value::Number(_) | Value::Bool(_) => true,
        Value::String(text) => text.parse::<f64>().is_ok(),
        _ => false,
    }
}

/// Asynchronous begins and ends that belong together: when, and whether it is an end.
type Asyncs = BTreeMap<String, Vec<(i128, bool)>>;

fn count(events: &[Box<RawValue>]) -> Counts {
    let mut counts = Counts::default();
    let mut open: BTreeMap<String, Vec<i128>> = BTreeMap::new();
    let mut asyncs = Asyncs::new();
    for raw in events {
        let Ok(event) = serde_json::from_str::<Event<'_>>(raw.get()) else { continue };
        let get = |key: &str| text(value(&event, key).as_ref());
        let Some(Value::String(ph)) = value(&event, "ph") else { continue };
        let Some(ts) = ps(event.get("ts").copied()) else { continue };
        let thread = format!("{}/{}", get("pid"), get("tid"));
        let is_on = |key: &str| value(&event, key).is_some_and(|flag| flag != Value::Bool(false));
        let rides = event.contains_key("bind_id") && (is_on("flow_in") || is_on("flow_out"));
        match ph.as_str() {
            "M" => continue,
            "X" => {
                counts.slices += 1;
                *counts.busy_ps.entry(thread).or_default() += ps(event.get("dur").copied()).unwrap_or(0);
            }
            "B" => open.entry(thread).or_default().push(ts),
            "E" => match open.get_mut(&thread).and_then(Vec::pop) {
                Some(start) => {
                    counts.slices += 1;
                    *counts.busy_ps.entry(thread).or_default() += ts - start;
                }
                None => counts.instants += 1,
            },
            "b" | "S" | "e" | "F" => {
                let family = if matches!(ph.as_str(), "b" | "e") { "new" } else { "old" };
                let key = format!("{family} {} {} {}", get("cat"), get("id"), get("name"));
                asyncs.entry(key).or_default().push((ts, matches!(ph.as_str(), "e" | "F")));
            }
            "C" => {
                let Some(Value::Object(args)) = value(&event, "args") else { continue };
                counts.samples += args.values().filter(|value| is_number(value)).count();
            }
            "s" | "t" | "f" => counts.flow_points += 1,
            _ => counts.instants += 1,
        }
        counts.flow_points += usize::from(rides);
    }
    counts.slices += open.values().map(Vec::len).sum::<usize>();
    count_asyncs(asyncs, &mut counts);
    counts.busy_ps.retain(|_, busy| *busy != 0);
    counts
}

/// Processes write these from several threads: in the file they need not be in the order of time.
fn count_asyncs(asyncs: Asyncs, counts: &mut Counts) {
    for (_, mut events) in asyncs {
        events.sort_unstable();
        let mut open = Vec::new();
        for (ts, is_end) in events {
            match (is_end, open.last().copied()) {
                (false, _) => open.push(ts),
                (true, None) => counts.instants += 1,
                (true, Some(start)) => {
                    open.pop();
                    counts.slices += 1;
                    counts.async_ps += ts - start;
                }
            }
        }
        counts.slices += open.len();
    }
}

/// The independent count, where serde_json can read the file.
fn expected(bytes: &[u8]) -> Option<Counts> {
    #[derive(Deserialize)]
    struct Document {
        #[serde(rename = "traceEvents")]
        events: Vec<Box<RawValue>>,
    }
    let events = serde_json::from_slice::<Document>(bytes).map(|document| document.events);
    events.or_else(|_| serde_json::from_slice(bytes)).ok().map(|events| count(&events))
}

fn found(recorder: &Recorder) -> Counts {
    let mut counts = Counts { samples: recorder.samples.len(), ..Counts::default() };
    counts.flow_points = recorder.flow_points.len();
    let mut thread_of = BTreeMap::new();
    for row in recorder.rows_of("track") {
        let column = |name: &str| row.iter().find(|(key, _)| key == name).map(|(_, value)| value);
        if let (Some(OwnedValue::Int(track)), Some(OwnedValue::Text(pid)), Some(OwnedValue::Text(tid))) =
            (column("track"), column("pid"), column("tid"))
        {
            thread_of.insert(*track, format!("{pid}/{tid}"));
        }
    }
    for slice in &recorder.slices {
        match slice.form {
            Form::Instant => counts.instants += 1,
            Form::Unfinished => counts.slices += 1,
            Form::Complete => {
                counts.slices += 1;
                match thread_of.get(&i64::from(slice.track.0)) {
                    Some(thread) => {
                        *counts.busy_ps.entry(thread.clone()).or_default() += i128::from(slice.duration_ps)
                    }
                    None => counts.async_ps += i128::from(slice.duration_ps),
                }
            }
        }
    }
    counts.busy_ps.retain(|_, busy| *busy != 0);
    counts
}

fn check(path: &Path) {
    let mut bytes = Vec::new();
    Input::new(File::open(path).unwrap()).unwrap().read_to_end(&mut bytes).unwrap();
    let mut recorder = Recorder::default();
    let result = trace_event::read(&mut bytes.as_slice(), &mut recorder, &mut |_| {});
    if bytes.is_empty() {
        assert!(result.is_err());
        return;
    }
    result.unwrap();
    let warnings: Vec<String> =
        recorder.warnings().iter().map(|warning| format!("{} x {}", warning.count, warning.what)).collect();
    println!("{}: {} slices, {warnings:?}", path.display(), recorder.slices.len());
    match expected(&bytes) {
        Some(expected) => assert_eq!(found(&recorder), expected, "{}", path.display()),
        None => println!("  no independent count: not plain JSON"),
    }
}

/// All files of a folder and those below.
fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = folder.read_dir() else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.into_iter().flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

fn check_folder(name: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data").join(name);
    let paths = files(&folder);
    if paths.is_empty() {
        println!("skipped: {} is not here", folder.display());
    }
    paths.iter().for_each(|path| check(path));
}

#[test]
fn pytorch_traces() {
    check_folder("kineto");
}

#[test]
fn chrome_traces() {
    check_folder("chrome");
}

#[test]
fn oddities() {
    check_folder("chrome_edge");
}
