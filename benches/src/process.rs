//! Steps that run in separate processes, so that the memory of each is its own. A bench starts
//! itself again with `--step`.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::figure::{Figure, FigureKind};
use crate::generate::{GeneratorSettings, Jitter, cache, generate};
use crate::questions::questions;
use crate::store;

/// Number of starts with nothing in memory.
pub const COLD_RUNS: usize = 5;
/// Number of ingests, if the first one takes no longer than [`INGEST_PATIENCE_S`].
const INGEST_RUNS: usize = 5;
const INGEST_PATIENCE_S: f64 = 10.0;
/// Maximum number of events for ingest from memory. Beyond it there is memory for the store, but
/// not also for the events.
const FROM_MEMORY_MAX: u64 = 20_000_000;
const SEGMENT: &str = "rank_0.nseg";

/// A step for a process to run.
#[derive(Debug, Clone)]
pub struct ProcessStep {
    /// `ingest`, `ingest-from-memory`, `query` or `cold`.
    pub name: String,
    /// Number of earlier runs.
    pub run: usize,
}

/// Runs a step in this process and prints its figures.
#[expect(clippy::print_stdout, reason = "the process that waits reads the lines")]
pub fn run(settings: &GeneratorSettings, step: &ProcessStep) -> Result<()> {
    let events = cache(settings);
    let meta = generate(&events, settings)?;
    let questions = questions(&meta);
    let segment = events.join(SEGMENT);
    let figures = match step.name.as_str() {
        "ingest" => store::ingest(&events, &segment)?,
        "ingest-from-memory" => store::ingest_from_memory(&events, &segment)?,
        "query" => store::query(&segment, &questions)?,
        "cold" => store::cold(&segment, &questions, step.run)?,
        other => bail!("there is no step {other}: ingest, ingest-from-memory, query, cold"),
    };
    for figure in figures {
        println!("{}", serde_json::to_string(&figure)?);
    }
    Ok(())
}

/// Runs all steps of nprof on the events of `settings`, each in a process of its own.
pub fn nprof(settings: &GeneratorSettings) -> Result<Vec<Figure>> {
    let mut figures = ingests(|at| start(settings, "ingest", at))?;
    figures.extend(start(settings, "query", 0)?);
    for at in 0..COLD_RUNS {
        evict(&cache(settings).join(SEGMENT))?;
        figures.extend(start(settings, "cold", at)?);
    }
    Ok(figures)
}

/// Runs ingests of events in memory, each in a process of its own; none if there are too many
/// events.
pub fn nprof_from_memory(settings: &GeneratorSettings) -> Result<Vec<Figure>> {
    let runs = if settings.events <= FROM_MEMORY_MAX { INGEST_RUNS } else { 0 };
    let figures = (0..runs).map(|at| start(settings, "ingest-from-memory", at));
    Ok(figures.collect::<Result<Vec<_>>>()?.concat())
}

/// Runs an ingest, and repeats a short one, because other work of the machine can change it by a
/// second. Later runs contribute only time and memory.
pub fn ingests(mut run: impl FnMut(usize) -> Result<Vec<Figure>>) -> Result<Vec<Figure>> {
    let seconds = |figure: &Figure| match figure.content {
        FigureKind::Ingest { seconds, .. } => Some(seconds),
        _ => None,
    };
    let mut figures = run(0)?;
    if figures.iter().filter_map(seconds).any(|seconds| seconds <= INGEST_PATIENCE_S) {
        for at in 1..INGEST_RUNS {
            figures.extend(run(at)?.into_iter().filter(|figure| seconds(figure).is_some()));
        }
    }
    Ok(figures)
}

fn start(settings: &GeneratorSettings, step: &str, run: usize) -> Result<Vec<Figure>> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["--events", &settings.events.to_string()]);
    if settings.jitter == Jitter::Wide {
        command.arg("--wide");
    }
    figures_of(command.args(["--step", step, &run.to_string()]))
}

/// Runs a process that measures, and parses its lines.
pub fn figures_of(command: &mut Command) -> Result<Vec<Figure>> {
    let output = command.stderr(Stdio::inherit()).output().with_context(|| format!("{command:?}"))?;
    let text = String::from_utf8(output.stdout)?;
    let figures = text.lines().map(|line| serde_json::from_str(line).with_context(|| line.to_owned()));
    let figures = figures.collect::<Result<Vec<_>>>()?;
    if output.status.success() { Ok(figures) } else { bail!("{command:?}: {}", output.status) }
}

/// Evicts a file's pages from memory, so that the next reader waits for the disk.
fn evict(path: &Path) -> Result<()> {
    let file = std::fs::File::open(path)?;
    file.sync_all()?;
    rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed)?;
    Ok(())
}
