//! Compares the files of `nprof aiu` with those that acelyzer wrote for 44 inputs, if these lie
//! beside the project (`../shared/data/aiu`, or below `NPROF_SHARED`). `docs/aiu.md` lists the
//! cases, and says what is better where files are not equal.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::cli::run;

/// Files that are equal to acelyzer's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum File {
    Summary,
    Active,
    Cycles,
    Categories,
    /// Names, processes, starts and durations of the slices of the trace.
    Slices,
}

use File::*;

impl File {
    /// Ending and separator of a table.
    fn table(self) -> Option<(&'static str, char)> {
        match self {
            Summary => Some(("_summary.csv", '\t')),
            Active => Some(("_active.csv", '\t')),
            Cycles => Some(("_ts_analysis.csv", '\t')),
            Categories => Some(("_categories.csv", ',')),
            Slices => None,
        }
    }
}

/// All tables and slices.
const ALL: &[File] = &[Summary, Active, Cycles, Categories, Slices];
/// All but categories, which need files of the compiler.
const TIMES: &[File] = &[Summary, Active, Cycles, Slices];
/// All tables but the categories.
const TABLES: &[File] = &[Summary, Active, Cycles];
/// Ranks keep their own clocks.
const UNALIGNED: &[File] = &[Summary, Cycles];

/// The cases whose command nprof takes, and the files that must be equal.
const CASES: [(&str, &[File]); 37] = [
    ("driftA", TIMES),
    ("flexA_all", ALL),
    ("flexA_autopilot", TIMES),
    ("flexA_filter", TIMES),
    ("flexA_inductor", ALL),
    ("flexA_job1", ALL),
    ("flexA_keepprep", TIMES),
    ("flexA_twophase", TIMES),
    ("flexA_wrongfreq", TIMES),
    ("mixA_v100", UNALIGNED),
    ("overlapB_tid9", TABLES),
    ("own_allreduce_flow_v100", UNALIGNED),
    ("own_basic", TABLES),
    ("own_basic_drop", TABLES),
    ("own_basic_tb", TABLES),
    ("own_flex_cat", ALL),
    ("own_flex_cat_deffreq", ALL),
    ("own_flex_nostats", &[Slices]),
    ("own_flex_power3", TIMES),
    ("own_meta_only", TABLES),
    ("shiftA_fix", UNALIGNED),
    ("shiftA_nofix", TIMES),
    ("tiny_shift", TIMES),
    ("torchA", &[Cycles, Slices]),
    ("torchA_cat", &[Cycles, Categories, Slices]),
    ("torchA_tb", &[Cycles, Slices]),
    ("torchA_tp2", &[Cycles, Slices]),
    ("torchA_verify_bad", &[]),
    ("torchA_verify_ok", &[]),
    ("tp4_coll_v100", UNALIGNED),
    ("tp4_dmabw_v100", UNALIGNED),
    ("tp4_flow", UNALIGNED),
    ("tp4_noflow_keepprep", UNALIGNED),
    ("tp4_nosync", TIMES),
    ("tp4_tb", UNALIGNED),
    ("tp4x3_coll_v100", UNALIGNED),
    ("tp4x3_flow", UNALIGNED),
];

fn folder() -> Option<PathBuf> {
    let shared = std::env::var_os("NPROF_SHARED")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared"), PathBuf::from);
    let folder = shared.join("data/aiu");
    if folder.is_dir() {
        return Some(folder);
    }
    println!("skipped: {} is not there", folder.display());
    None
}

/// Runs the command of a case. Files go to `out` instead. Returns the exit code.
fn run_case(folder: &Path, case: &str, out: &Path) -> Option<i32> {
    let line = fs::read_to_string(folder.join("expected").join(case).join("cmd.txt")).unwrap();
    let (_, line) = line.split_once("acelyzer ").unwrap();
    let mut args = vec!["aiu".to_owned()];
    // Statistics of the power are lines of a log, and nprof refuses the option.
    for word in line.split_ascii_whitespace().filter(|word| *word != "--power-stats") {
        args.push(match word.strip_prefix(&format!("expected/{case}/")) {
            Some(name) => out.join(name).to_str().unwrap().to_owned(),
            None => word.to_owned(),
        });
    }
    if !args.iter().any(|arg| arg.starts_with("--freq")) {
        // acelyzer's default. That of nprof is the frequency of the counters.
        args.push("--freq=1000:1100".to_owned());
    }
    let args: Vec<String> = args
        .into_iter()
        .map(|arg| {
            let here = |part: &str| {
                let path = folder.join(part);
                if path.exists() && !part.is_empty() {
                    path.to_str().unwrap().to_owned()
                } else {
                    part.to_owned()
                }
            };
            arg.split(',').map(here).collect::<Vec<String>>().join(",")
        })
        .collect();
    let output = run(&out.join("store"), &args.iter().map(String::as_str).collect::<Vec<_>>());
    output.status.code()
}

/// The head and the sorted rows of a table.
fn rows(path: &Path, separator: char) -> (String, Vec<Vec<String>>) {
    let text = fs::read_to_string(path).unwrap_or_default();
    let mut lines = text.lines();
    let head = lines.next().unwrap_or_default().to_owned();
    let cells = |line: &str| line.split(separator).map(|cell| cell.trim().to_owned()).collect();
    let mut rows: Vec<Vec<String>> = lines.filter(|line| !line.trim().is_empty()).map(cells).collect();
    // Numbers can differ in their last digit, so rows are sorted by their words first.
    rows.sort_by_key(|row| {
        let is_word = |cell: &&String| cell.parse::<f64>().is_err();
        (row.iter().filter(is_word).cloned().collect::<Vec<String>>(), row.clone())
    });
    (head, rows)
}

fn same_cell((a, b): (&String, &String)) -> bool {
    let near = |(a, b): (f64, f64)| {
        // acelyzer cuts sums of cycles that it keeps as floats.
        let is_cut = a > 10_000.0 && a.fract() == 0.0 && b - a == 1.0;
        is_cut || (a - b).abs() <= f64::max(0.0015, a.abs() * 1e-12)
    };
    a == b || a.parse().ok().zip(b.parse().ok()).is_some_and(near)
}

fn same_table(expected: &Path, found: &Path, separator: char) -> Result<(), String> {
    let ((head, expected), (own, found)) = (rows(expected, separator), rows(found, separator));
    if head != own {
        return Err(format!("head {own:?}, expected {head:?}"));
    }
    if expected.len() != found.len() {
        return Err(format!("{} rows, expected {}", found.len(), expected.len()));
    }
    let is_same =
        |(a, b): &(&Vec<String>, &Vec<String>)| a.len() == b.len() && a.iter().zip(*b).all(same_cell);
    match expected.iter().zip(&found).find(|pair| !is_same(pair)) {
        Some((a, b)) => Err(format!("expected {a:?}, found {b:?}")),
        None => Ok(()),
    }
}

type Slice = (f64, f64);

/// Slices by process and name.
fn slices(path: &Path) -> BTreeMap<String, Vec<Slice>> {
    let document: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let mut slices: BTreeMap<String, Vec<Slice>> = BTreeMap::new();
    for event in document["traceEvents"].as_array().unwrap().iter().filter(|event| event["ph"] == "X") {
        let name = event["args"]["orig_name"].as_str().or(event["name"].as_str()).unwrap();
        let times = (event["ts"].as_f64().unwrap(), event["dur"].as_f64().unwrap());
        slices.entry(format!("{} {name}", event["pid"])).or_default().push(times);
    }
    slices.values_mut().for_each(|of| of.sort_by(|a, b| a.partial_cmp(b).unwrap()));
    slices
}

fn same_slices(expected: &Path, found: &Path) -> Result<(), String> {
    let (expected, found) = (slices(expected), slices(found));
    let near = |a: f64, b: f64| (a - b).abs() <= 0.0011;
    for (key, of) in &expected {
        let own = found.get(key).ok_or_else(|| format!("no slice {key}"))?;
        let differing = of.iter().zip(own).find(|(a, b)| !(near(a.0, b.0) && near(a.1, b.1)));
        if of.len() != own.len() || differing.is_some() {
            return Err(format!("{key}: {} of {}, {differing:?}", own.len(), of.len()));
        }
    }
    let more = found.keys().find(|key| !expected.contains_key(*key));
    more.map_or(Ok(()), |key| Err(format!("unexpected slice {key}")))
}

#[test]
fn the_files_are_those_of_acelyzer() {
    let Some(folder) = folder() else { return };
    let mut problems = Vec::new();
    for (case, files) in CASES {
        let out = tempfile::tempdir().unwrap();
        let code = run_case(&folder, case, out.path());
        let expected_code = i32::from(case == "torchA_verify_bad");
        if code != Some(expected_code) {
            problems.push(format!("{case}: exit code {code:?}"));
            continue;
        }
        let expected = folder.join("expected").join(case);
        for file in files {
            let result = match file.table() {
                Some((ending, separator)) => {
                    let name = format!("out{ending}");
                    same_table(&expected.join(&name), &out.path().join(&name), separator)
                }
                None => {
                    let names = ["out.json", "out.pt.trace.json"];
                    let name = names.iter().find(|name| expected.join(name).exists()).unwrap();
                    same_slices(&expected.join(name), &out.path().join(name))
                }
            };
            problems.extend(result.err().map(|why| format!("{case}: {file:?}: {why}")));
        }
        if case.starts_with("torchA_verify") {
            problems.extend(same_report(&expected, out.path()).err().map(|why| format!("{case}: {why}")));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Compares the findings of a report: kinds, counts, and the values that acelyzer states.
fn same_report(expected: &Path, found: &Path) -> Result<(), String> {
    let read = |folder: &Path| -> Value {
        serde_json::from_str(&fs::read_to_string(folder.join("out.json")).unwrap()).unwrap()
    };
    let (expected, found) = (read(expected), read(found));
    for key in ["version", "result", "test_results"] {
        if expected[key] != found[key] {
            return Err(format!("{key}: {} and {}", expected[key], found[key]));
        }
    }
    for key in ["errors", "warnings", "passed"] {
        let (a, b) = (expected[key].as_array().unwrap(), found[key].as_array().unwrap());
        let is_same = |(a, b): (&Value, &Value)| {
            let (instances, own) = (a["instances"].as_array().unwrap(), b["instances"].as_array().unwrap());
            let has =
                |(a, b): (&Value, &Value)| a.as_object().unwrap().iter().all(|(key, value)| b[key] == *value);
            a["finding"] == b["finding"]
                && a["is_error"] == b["is_error"]
                && a["count"] == b["count"]
                && instances.len() == own.len()
                && instances.iter().zip(own).all(has)
        };
        if a.len() != b.len() || !a.iter().zip(b).all(is_same) {
            return Err(format!("{key}: {} and {}", expected[key], found[key]));
        }
    }
    Ok(())
}
