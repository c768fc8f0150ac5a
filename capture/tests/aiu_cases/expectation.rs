//! A case: the command, and the files that acelyzer wrote.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// The part of a command line that the reader knows.
#[derive(Debug, Default)]
pub struct Command {
    pub inputs: Vec<String>,
    pub compiler: Option<String>,
    pub soc_mhz: f64,
    pub core_mhz: f64,
    pub fixes_jobs: bool,
}

/// An event of the output.
#[derive(Debug, Clone)]
pub struct Event {
    pub phase: String,
    pub name: String,
    pub rank: i64,
    pub ts: f64,
    pub dur: f64,
    pub args: Value,
}

/// A case.
#[derive(Debug)]
pub struct Case {
    pub command: Command,
    pub events: Vec<Event>,
    folder: PathBuf,
}

impl Command {
    fn parse(line: &str) -> Self {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let mut command = Self { soc_mhz: 1000.0, core_mhz: 1100.0, ..Self::default() };
        for (at, word) in words.iter().enumerate() {
            let (flag, inside) = word.split_once('=').map_or((*word, None), |(a, b)| (a, Some(b)));
            let value = inside.or_else(|| words.get(at + 1).copied()).unwrap_or_default();
            match flag {
                "-i" => command.inputs = value.split(',').map(str::to_owned).collect(),
                "-c" => command.compiler = Some(value.to_owned()),
                "--freq" => {
                    let mut parts = value.split(':').map(|part| part.parse().unwrap());
                    command.soc_mhz = parts.next().unwrap();
                    command.core_mhz = parts.next().unwrap_or(1100.0);
                }
                "--flex_ts_fix" => command.fixes_jobs = true,
                _ => {}
            }
        }
        command
    }
}

impl Case {
    pub fn open(folder: &Path, case: &str) -> Self {
        let folder = folder.join("expected").join(case);
        let line = fs::read_to_string(folder.join("cmd.txt")).unwrap();
        let is_trace = |path: &PathBuf| {
            let name = path.file_name().unwrap().to_string_lossy();
            name.starts_with("out") && name.ends_with(".json") && !name.contains("worker")
        };
        let mut traces: Vec<PathBuf> =
            fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).filter(is_trace).collect();
        traces.sort();
        let events =
            traces.first().map(|path| events(&fs::read_to_string(path).unwrap())).unwrap_or_default();
        Self { command: Command::parse(&line), events, folder }
    }

    /// The cells of a file with this separator, without its head.
    pub fn rows(&self, file: &str, separator: char) -> Option<Vec<Vec<String>>> {
        let text = fs::read_to_string(self.folder.join(file)).ok()?;
        let cells = |line: &str| line.split(separator).map(|cell| cell.trim().to_owned()).collect();
        Some(text.lines().skip(1).filter(|line| !line.trim().is_empty()).map(cells).collect())
    }
}

fn events(text: &str) -> Vec<Event> {
    let trace: Value = serde_json::from_str(text).unwrap();
    let Some(events) = trace["traceEvents"].as_array() else { return Vec::new() };
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let event = |event: &Value| {
        let pid = event["pid"].as_i64().unwrap_or(-1);
        let rank = event["args"]["rank"].as_i64();
        Event {
            phase: text(&event["ph"]),
            name: text(&event["name"]),
            rank: rank.unwrap_or(if pid >= 1000 { pid - 1000 } else { pid }),
            ts: event["ts"].as_f64().unwrap_or_default(),
            dur: event["dur"].as_f64().unwrap_or_default(),
            args: event["args"].clone(),
        }
    };
    events.iter().map(event).collect()
}
