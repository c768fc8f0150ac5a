//! Compares the files of `nprof aiu` with those that acelyzer wrote for 44 inputs, if these lie
//! beside the project (`../shared/data/aiu`, or below `NPROF_SHARED`). `docs/aiu.md` lists the
//! cases, and says what is better where files are not equal.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use self::better_columns::better;
use self::events::{Pair, differences, events};
use self::texts::{same_frame, same_lines, same_report, same_shares, same_table};
use crate::cli::run;

mod better_columns;
mod events;
mod texts;

/// Files that are equal to acelyzer's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum File {
    Summary,
    Active,
    Cycles,
    Categories,
    /// The categories for people.
    CategoryText,
    /// Times of kernels by rank.
    Shares,
    /// Names, processes, starts and durations of the slices of the trace. The other
    /// columns and the other events of all traces are compared, too.
    Slices,
    /// The same, but that each rank has a clock of its own.
    Shifted,
    /// Names and durations of slices. acelyzer makes one rank of four.
    OneRank,
    /// Rows of the table of slices.
    Frame,
    /// Arrows of collective operations: as many as acelyzer's, and all forward in time.
    Forward,
    /// Number and time of iterations in the log.
    Iterations,
    /// Statistics of the power in the log.
    Power,
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
            CategoryText => Some(("_categories.txt", ' ')),
            _ => None,
        }
    }
}

/// All tables and slices.
const ALL: &[File] = &[Summary, Active, Cycles, Categories, CategoryText, Slices, Iterations, Power];
/// All but categories, which need files of the compiler.
const TIMES: &[File] = &[Summary, Active, Cycles, Slices, Iterations];
/// All tables but the categories.
const TABLES: &[File] = &[Summary, Active, Cycles];
/// acelyzer moves ranks by one operation, nprof by all.
const ALIGNED: &[File] = &[Summary, Cycles, Shifted];

/// All cases, and what must be equal. `docs/aiu.md` says what is better.
const CASES: [(&str, &[File]); 44] = [
    ("driftA", TIMES),
    ("flexA_all", ALL),
    ("flexA_autopilot", TIMES),
    ("flexA_filter", TIMES),
    ("flexA_inductor", ALL),
    ("flexA_job1", ALL),
    ("flexA_keepprep", TIMES),
    ("flexA_limit", TIMES),
    ("flexA_twophase", TIMES),
    ("flexA_wrongfreq", TIMES),
    ("mixA_v100", &[Summary, Cycles, Iterations]),
    ("overlapB_tid9", TABLES),
    ("own_allreduce_flow", &[OneRank]),
    ("own_allreduce_flow_v100", ALIGNED),
    ("own_basic", TABLES),
    ("own_basic_async", &[]),
    ("own_basic_drop", TABLES),
    ("own_basic_pddf", &[Summary, Active, Cycles, Frame]),
    ("own_basic_tb", TABLES),
    ("own_flex_cat", ALL),
    ("own_flex_cat_deffreq", ALL),
    ("own_flex_nostats", &[Slices]),
    ("own_flex_power3", TIMES),
    ("own_meta_only", TABLES),
    ("shiftA_fix", &[Summary, Cycles]),
    ("shiftA_nofix", TIMES),
    ("tiny_shift", TIMES),
    ("torchA", &[Cycles, Slices, Iterations]),
    ("torchA_cat", &[Cycles, Categories, CategoryText, Slices, Iterations]),
    ("torchA_pddf", &[Cycles, Frame, Iterations]),
    ("torchA_tb", &[Cycles, Slices, Iterations]),
    ("torchA_tp2", &[Cycles, Slices, Iterations]),
    ("torchA_verify_bad", &[]),
    ("torchA_verify_ok", &[]),
    ("tp4_coll_v100", &[Summary, Cycles, Shifted, Shares]),
    ("tp4_dmabw_v100", ALIGNED),
    ("tp4_flow", &[Summary, Cycles, Shifted, Forward]),
    ("tp4_noflow_keepprep", ALIGNED),
    ("tp4_nosync", TIMES),
    ("tp4_summarize", ALIGNED),
    ("tp4_tb", ALIGNED),
    ("tp4x3_coll_v100", &[Summary, Cycles, Shifted, Shares]),
    ("tp4x3_flow", &[Summary, Cycles, Shifted, Forward]),
    ("tp4x3_sync2", &[Summary, Cycles, Shifted, Forward]),
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

/// Runs the command of a case. Files go to `out` instead. Returns the exit code and the messages.
fn run_case(folder: &Path, case: &str, out: &Path) -> (Option<i32>, String) {
    let line = fs::read_to_string(folder.join("expected").join(case).join("cmd.txt")).unwrap();
    let (_, line) = line.split_once("acelyzer ").unwrap();
    // Names are then acelyzer's, letter by letter.
    let mut args = vec!["aiu".to_owned(), "--compat".to_owned()];
    for word in line.split_ascii_whitespace() {
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
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

type Slice = (f64, f64);

/// Slices by process and name.
fn slices(path: &Path) -> BTreeMap<String, Vec<Slice>> {
    let mut slices: BTreeMap<String, Vec<Slice>> = BTreeMap::new();
    for event in events(path).iter().filter(|event| event["ph"] == "X") {
        let name = event["args"]["orig_name"].as_str().or(event["name"].as_str()).unwrap();
        let times = (event["ts"].as_f64().unwrap(), event["dur"].as_f64().unwrap());
        slices.entry(format!("{} {}", event["pid"], without_size(name))).or_default().push(times);
    }
    slices.values_mut().for_each(|of| of.sort_by(|a, b| a.partial_cmp(b).unwrap()));
    slices
}

/// A name without the bytes of a transfer, which acelyzer takes from names only with `--flow`.
fn without_size(name: &str) -> String {
    let size = name.find(" [").and_then(|at| Some((at, at + name[at..].find("B]")? + 2)));
    size.map_or_else(|| name.to_owned(), |(at, end)| format!("{}{}", &name[..at], &name[end..]))
}

/// Whether ranks share a clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Clocks {
    One,
    OfRanks,
}

/// Steps of the same operation can differ by this from acelyzer, which moves only slices of the
/// device, each by its counters, in microseconds.
const MOST_SHIFT: f64 = 60.0;

fn same_slices((expected, found): &Pair, clocks: Clocks) -> Result<(), String> {
    let (expected, found) = (slices(expected), slices(found));
    let shifts = match clocks {
        Clocks::One => BTreeMap::new(),
        Clocks::OfRanks => shifts(&expected, &found),
    };
    for (key, of) in &expected {
        let own = found.get(key).ok_or_else(|| format!("no slice {key}"))?;
        let rank = key.split(' ').next().unwrap_or_default();
        let (shift, most) = shifts.get(rank).map_or((0.0, 0.0011), |shift| (*shift, MOST_SHIFT));
        // A sum of steps ends its name with a blank. acelyzer takes starts of steps from counters.
        let longest = if key.ends_with(' ') { 0.5 } else { 0.0011 };
        let near =
            |(a, b): &(&Slice, &Slice)| (b.0 - a.0 - shift).abs() <= most && (a.1 - b.1).abs() <= longest;
        let differing = of.iter().zip(own).find(|pair| !near(pair));
        if of.len() != own.len() || differing.is_some() {
            return Err(format!("{key}: {} of {}, {differing:?}, {shifts:?}", own.len(), of.len()));
        }
    }
    let more = found.keys().find(|key| !expected.contains_key(*key));
    more.map_or(Ok(()), |key| Err(format!("unexpected slice {key}")))
}

/// Median distance of the slices of each process.
fn shifts(
    expected: &BTreeMap<String, Vec<Slice>>,
    found: &BTreeMap<String, Vec<Slice>>,
) -> BTreeMap<String, f64> {
    let mut all: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for (key, of) in expected {
        let own = found.get(key).map(Vec::as_slice).unwrap_or_default();
        let pid = key.split(' ').next().unwrap_or_default().to_owned();
        all.entry(pid).or_default().extend(of.iter().zip(own).map(|(a, b)| b.0 - a.0));
    }
    let median = |mut of: Vec<f64>| {
        of.sort_by(f64::total_cmp);
        of.get(of.len() / 2).copied().unwrap_or(0.0)
    };
    all.into_iter().map(|(pid, of)| (pid, median(of))).collect()
}

/// acelyzer's clocks let some arrows point backwards.
fn are_forward((expected, found): &Pair) -> Result<(), String> {
    let arrows = |path: &Path| -> BTreeMap<String, (f64, f64)> {
        let mut arrows: BTreeMap<String, (f64, f64)> = BTreeMap::new();
        for event in events(path) {
            let of = arrows.entry(event["id"].to_string());
            match event["ph"].as_str().unwrap() {
                "s" => of.or_default().0 = event["ts"].as_f64().unwrap(),
                "f" => of.or_default().1 = event["ts"].as_f64().unwrap(),
                _ => {}
            }
        }
        arrows
    };
    let (expected, found) = (arrows(expected), arrows(found));
    let back: Vec<&(f64, f64)> = found.values().filter(|(from, to)| to <= from).collect();
    if back.is_empty() && expected.len() == found.len() {
        return Ok(());
    }
    Err(format!("{} arrows of {}, backwards: {back:?}", found.len(), expected.len()))
}

/// Compares names and durations, whatever the rank.
fn same_durations((expected, found): &Pair) -> Result<(), String> {
    let durations = |path: &Path| {
        let mut all: Vec<(String, f64)> = slices(path)
            .into_iter()
            .flat_map(|(key, of)| {
                let name = key.split_once(' ').map_or(key.clone(), |(_, name)| name.to_owned());
                of.into_iter().map(move |(_, duration)| (name.clone(), duration))
            })
            .collect();
        all.sort_by(|a, b| a.partial_cmp(b).unwrap());
        all
    };
    let (expected, found) = (durations(expected), durations(found));
    let differing = expected.iter().zip(&found).find(|(a, b)| a.0 != b.0 || (a.1 - b.1).abs() > 0.0011);
    match differing {
        None if expected.len() == found.len() => Ok(()),
        _ => Err(format!("{} of {}: {differing:?}", found.len(), expected.len())),
    }
}

#[test]
fn the_files_are_those_of_acelyzer() {
    let Some(folder) = folder() else { return };
    let mut problems = Vec::new();
    for (case, files) in CASES {
        let out = tempfile::tempdir().unwrap();
        let (code, said) = run_case(&folder, case, out.path());
        let expected_code = i32::from(case == "torchA_verify_bad");
        if code != Some(expected_code) {
            problems.push(format!("{case}: exit code {code:?}: {said}"));
            continue;
        }
        let expected = folder.join("expected").join(case);
        for file in files {
            let beside = |name: &str| (expected.join(name), out.path().join(name));
            let trace = ["out.json", "out.pt.trace.json"].into_iter().find(|name| beside(name).0.exists());
            let traces = trace.map(beside).unwrap_or_default();
            let result = match (file, file.table()) {
                (_, Some((ending, separator))) => same_table(&beside(&format!("out{ending}")), separator),
                (Shares, _) => same_shares(&beside("out_stats_summary.csv")),
                (Frame, _) => same_frame(&beside("out.txt")),
                (Iterations, _) => same_lines(&expected, &said, "ITSTATS: "),
                (Power, _) => same_lines(&expected, &said, "Power with"),
                (Forward, _) => are_forward(&traces),
                (OneRank, _) => same_durations(&traces),
                (Shifted, _) => same_slices(&traces, Clocks::OfRanks),
                _ => same_slices(&traces, Clocks::One),
            };
            problems.extend(result.err().map(|why| format!("{case}: {file:?}: {why}")));
        }
        problems.extend(unlike(&expected, out.path(), case));
        if case.starts_with("torchA_verify") {
            problems.extend(same_report(&expected, out.path()).err().map(|why| format!("{case}: {why}")));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// The columns of the traces of a case that differ from acelyzer's, and that the list of what is
/// better does not name; and those that it names, but that are equal.
fn unlike(expected: &Path, found: &Path, case: &str) -> Vec<String> {
    let mut met = events::Differences::new();
    let mut names: Vec<String> = fs::read_dir(expected)
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    names.retain(|name| name.ends_with(".json") && !case.contains("verify"));
    for name in names {
        let pair = (expected.join(&name), found.join(&name));
        if pair.1.exists() {
            met.extend(differences(&pair));
        } else {
            met.insert(format!("no file {name}"), String::new());
        }
    }
    let stated = better(case);
    let unnamed = met.iter().filter(|(what, _)| !stated.iter().any(|(of, _)| of == *what));
    let mut problems: Vec<String> =
        unnamed.map(|(what, example)| format!("{case}: {what}: {example:.600}")).collect();
    let equal = stated.iter().filter(|(of, _)| !met.contains_key(of));
    problems.extend(equal.map(|(of, why)| format!("{case}: {of} is equal, so it is not better: {why}")));
    problems
}
