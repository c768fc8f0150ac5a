//! Cycles: traces that one process wrote one after another. A profiler with a schedule writes a
//! file for each of its cycles, so several files are one rank.
//!
//! Traces are cycles if they tell the same rank or the same process, their paths differ by numbers
//! only, no fact contradicts, and none begins before the one before it has ended.

use std::collections::{HashMap, HashSet};

use nprof_engine::base::order::sort_by_key;

use super::Candidate;
use super::name_order::{pattern, runs};
use super::rank::rank_of;
use crate::importer::{FileCount, FileRole};
use crate::probe::process::EventSpan;

/// Words before the number of a cycle.
const CYCLES: [&str; 9] = ["iteration", "iter", "step", "cycle", "epoch", "batch", "exec", "pass", "repeat"];

/// Words before a number that tells runs apart.
const RUNS: [&str; 10] =
    ["run", "trial", "attempt", "experiment", "exp", "job", "version", "v", "seed", "try"];

/// Words before the number of a machine.
const MACHINES: [&str; 3] = ["node", "host", "machine"];

/// Ending of the name that PyTorch gives a trace: `HOST_PID.TIME.pt.trace.json`.
const PYTORCH: &str = ".pt.trace.json";

/// The traces of each process in the order of their times: the cycles of a rank together, all
/// others alone. In the order of the first file of each.
#[must_use]
pub fn units(candidates: &[Candidate], ranks: &[Option<u32>]) -> Vec<Vec<usize>> {
    let cycles: Vec<Vec<usize>> =
        alike(candidates, ranks).into_iter().filter_map(|files| in_time(candidates, &files)).collect();
    let is_one: HashSet<usize> = cycles.iter().flatten().copied().collect();
    let alone = (0..candidates.len()).filter(|file| !is_one.contains(file)).map(|file| vec![file]);
    let mut units: Vec<Vec<usize>> = alone.chain(cycles).collect();
    sort_by_key(&mut units, |unit| unit.iter().min().copied());
    units
}

/// Files that are cycles of one process if their times do not overlap. Each list has several.
#[must_use]
pub fn alike(candidates: &[Candidate], ranks: &[Option<u32>]) -> Vec<Vec<usize>> {
    let mut alike: HashMap<CycleProcess<'_>, Vec<usize>> = HashMap::new();
    for (file, candidate) in candidates.iter().enumerate() {
        if let Some(process) = CycleProcess::of(candidate, ranks[file]) {
            alike.entry(process).or_default().push(file);
        }
    }
    let mut alike: Vec<Vec<usize>> = alike.into_values().filter(|files| files.len() > 1).collect();
    sort_by_key(&mut alike, |files| files[0]);
    alike
}

/// Whether a path has a number of a cycle, such as `iteration_10/rank0.json`.
#[must_use]
pub fn is_of_cycle(path: &str) -> bool {
    numbers(path).any(|(word, _)| CYCLES.contains(&word.as_str()))
}

/// The span of the traces of a process.
#[must_use]
pub fn span(candidates: &[Candidate], unit: &[usize]) -> Option<EventSpan> {
    unit.iter().map(|&file| candidates[file].facts.span).reduce(|a, b| Some(a?.cover(b?))).flatten()
}

/// The files in the order of their times, if none begins before the one before it has ended.
fn in_time(candidates: &[Candidate], files: &[usize]) -> Option<Vec<usize>> {
    let mut spans = files
        .iter()
        .map(|&file| Some((candidates[file].facts.span?, file)))
        .collect::<Option<Vec<(EventSpan, usize)>>>()?;
    sort_by_key(&mut spans, |(span, file)| (span.first_ns, *file));
    let is_apart = spans.windows(2).all(|pair| pair[0].0.is_before(&pair[1].0));
    is_apart.then(|| spans.into_iter().map(|(_, file)| file).collect())
}

/// Everything by which traces of one process are alike.
#[derive(Debug, PartialEq, Eq, Hash)]
struct CycleProcess<'c> {
    importer: &'static str,
    rank: Option<u32>,
    world_size: Option<u32>,
    job: Option<&'c str>,
    host: Option<&'c str>,
    process: Option<u64>,
    path: String,
}

impl<'c> CycleProcess<'c> {
    /// The process of a trace, if its format has cycles and anything tells the process.
    fn of(candidate: &'c Candidate, rank: Option<u32>) -> Option<Self> {
        let claim = candidate.claim(FileRole::Trace)?;
        let has_cycles = claim.importer.takes[0].number == FileCount::Cycles;
        let facts = &candidate.facts;
        let worker = worker(&candidate.path);
        let is_told = rank.is_some() || facts.process.is_some() || worker.is_some();
        (has_cycles && is_told).then(|| Self {
            importer: claim.importer.name,
            rank,
            world_size: facts.world_size,
            job: facts.job.as_deref(),
            host: facts.host.as_deref(),
            process: facts.process,
            path: worker.map_or_else(|| of_process(&candidate.path), str::to_owned),
        })
    }
}

/// The path up to the process id, of a name that PyTorch gave: `node7_4000` of
/// `node7_4000.1694128201557.pt.trace.json.gz`. Names with a rank have other numbers there.
fn worker(path: &str) -> Option<&str> {
    let name = path.strip_suffix(".gz").unwrap_or(path).strip_suffix(PYTORCH)?;
    let (worker, time) = name.rsplit_once('.')?;
    let (host, pid) = worker.rsplit_once('_')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_worker = is_number(time) && is_number(pid) && !host.is_empty();
    (is_worker && rank_of(path).is_none()).then_some(worker)
}

/// The pattern of a path, with the numbers that tell runs and machines apart.
pub(super) fn of_process(path: &str) -> String {
    pattern(path) + &numbers_after(path, &RUNS) + &numbers_after(path, &MACHINES)
}

/// The machine of a trace: the host that it states, else the numbers of machines in its path. Empty
/// if nothing tells it.
pub(super) fn machine(candidate: &Candidate) -> String {
    candidate.facts.host.clone().unwrap_or_else(|| numbers_after(&candidate.path, &MACHINES))
}

/// The numbers of a path after these words.
fn numbers_after(path: &str, words: &[&str]) -> String {
    let told = numbers(path).filter(|(word, _)| words.contains(&word.as_str()));
    told.map(|(word, number)| format!(" {word}{number}")).collect()
}

/// Each number of a path with the word before it.
pub(super) fn numbers(path: &str) -> impl Iterator<Item = (String, &str)> {
    let mut word = String::new();
    runs(path).filter_map(move |run| {
        if run.starts_with(char::is_alphanumeric) && !run.starts_with(|sign: char| sign.is_ascii_digit()) {
            word = run.to_lowercase();
        }
        let is_number = run.starts_with(|sign: char| sign.is_ascii_digit());
        is_number.then(|| (std::mem::take(&mut word), run))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_tell_processes_apart() {
        assert_eq!(of_process("a/iteration_10/rank0.json"), of_process("a/iteration_20/rank0.json"));
        assert_ne!(of_process("run_1/rank0.json"), of_process("run_2/rank0.json"));
        assert_ne!(of_process("node0/rank0.json"), of_process("node1/rank0.json"));
        assert_ne!(of_process("before/rank0.json"), of_process("after/rank0.json"));
        assert_eq!(worker("t/node7_40.16941.pt.trace.json.gz"), Some("t/node7_40"));
        assert_eq!(worker("t/rank-0.Apr_03.1102.pt.trace.json"), None);
        assert!(is_of_cycle("profile_rank_0_exec_2.ntff") && is_of_cycle("Iteration-10/a.json"));
        assert!(!is_of_cycle("iteration/rank0.json") && !is_of_cycle("node0/rank_0.json"));
    }
}
