//! Compares nprof with alternatives on the same events, with the same questions, in one run.
//!
//! `cargo bench -p nprof-benches --bench peers --
//! [--events 10000000] [--wide] [--peers] [--json FILE]`
//!
//! Each store is filled and queried in separate processes, so that peak memory is its own. Its
//! answers are compared with those of a full scan. `--peers` adds the installed alternatives:
//! `influxd` if it is on PATH; DuckDB, ClickHouse (chdb) and Parquet (pyarrow) from PyPI, in an
//! environment under `target/`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a bench prints its figures")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use nprof_benches::figure::{AnswerSummary, Figure, FigureKind};
use nprof_benches::generate::{GeneratorSettings, Jitter, Meta, cache, generate};
use nprof_benches::process::{self, COLD_RUNS, ProcessStep, figures_of};
use nprof_benches::questions::{Questions, questions};
use nprof_benches::{reference, report};

/// Scripts of the alternatives.
const PEERS: [&str; 4] = ["duckdb_store", "parquet_store", "chdb_store", "influxdb_store"];

struct PeerArguments {
    settings: GeneratorSettings,
    peers: Vec<String>,
    json: Option<PathBuf>,
    /// Step to run, in a process that measures.
    step: Option<ProcessStep>,
}

fn main() -> Result<()> {
    let arguments = arguments()?;
    if let Some(step) = &arguments.step {
        return process::run(&arguments.settings, step);
    }
    let events = cache(&arguments.settings);
    let meta = generate(&events, &arguments.settings)?;
    let questions = questions(&meta);
    let answers = reference::answers(&events, &meta, &questions)?;
    let mut figures = process::nprof(&arguments.settings)?;
    figures.extend(process::nprof_from_memory(&arguments.settings)?);
    if !arguments.peers.is_empty() {
        figures.extend(peers(&arguments.peers, &events, &questions)?);
    }
    print!("{}", report::text(&meta, &figures, &answers));
    if let Some(path) = &arguments.json {
        write_json(path, &meta, &figures, &answers)?;
    }
    Ok(())
}

fn arguments() -> Result<PeerArguments> {
    let mut parsed = PeerArguments {
        settings: GeneratorSettings::standard(1_000_000),
        peers: Vec::new(),
        json: None,
        step: None,
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().with_context(|| format!("{word} needs a value"));
        match word.as_str() {
            "--events" => parsed.settings.events = value()?.parse().context("--events needs a number")?,
            "--wide" => parsed.settings.jitter = Jitter::Wide,
            "--peers" => parsed.peers = PEERS.map(str::to_owned).to_vec(),
            "--peer" => parsed.peers.push(format!("{}_store", value()?)),
            "--json" => parsed.json = Some(value()?.into()),
            "--step" => parsed.step = Some(ProcessStep { name: value()?, run: value()?.parse()? }),
            // Cargo passes this flag.
            "--bench" => {}
            _ => bail!("unknown argument {word}: --events N, --wide, --peers, --peer NAME, --json FILE"),
        }
    }
    Ok(parsed)
}

fn peers(scripts: &[String], events: &Path, questions: &Questions) -> Result<Vec<Figure>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers");
    let asked = events.join("questions.json");
    std::fs::write(&asked, serde_json::to_vec(questions)?)?;
    let python = match environment(&folder, events) {
        Ok(python) => python,
        Err(error) => {
            eprintln!("no peers: {error:#}");
            return Ok(Vec::new());
        }
    };
    let run = |script: &str, step: &str, run: usize| {
        let mut command = Command::new(&python);
        command.arg(folder.join(format!("{script}.py"))).args([step, &run.to_string()]).arg(events);
        eprintln!("{script} {step}");
        figures_of(&mut command)
    };
    run("events", "prepare", 0)?;
    let mut figures = Vec::new();
    for script in scripts {
        let steps = [("ingest", 0), ("query", 0)].into_iter().chain((0..COLD_RUNS).map(|at| ("cold", at)));
        for (step, at) in steps {
            let done = match step {
                "ingest" => process::ingests(|at| run(script, step, at)),
                _ => run(script, step, at),
            };
            match done {
                Ok(more) => figures.extend(more),
                Err(error) => {
                    let why = format!("{step}: {error:#}");
                    figures.push(Figure { store: script.clone(), content: FigureKind::Missing { why } });
                    break;
                }
            }
        }
    }
    Ok(figures)
}

/// The Python interpreter with the packages of the alternatives. Installs missing packages.
fn environment(folder: &Path, events: &Path) -> Result<PathBuf> {
    let target = events.ancestors().nth(2).context("the events are two folders below the target folder")?;
    let home = target.join("bench-peers");
    let python = home.join("bin/python");
    let check = |command: &mut Command| match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => bail!("{command:?}: {status}"),
        Err(error) => bail!("{command:?}: {error}"),
    };
    if !home.join("complete").exists() {
        check(Command::new("python3").args(["-m", "venv"]).arg(&home))?;
        let mut install = Command::new(&python);
        install
            .args(["-m", "pip", "install", "--quiet", "--requirement"])
            .arg(folder.join("requirements.txt"));
        check(&mut install)?;
        std::fs::write(home.join("complete"), "")?;
    }
    Ok(python)
}

fn write_json(
    path: &Path,
    meta: &Meta,
    figures: &[Figure],
    answers: &BTreeMap<String, AnswerSummary>,
) -> Result<()> {
    let whole =
        serde_json::json!({ "events": meta, "rows": meta.rows(), "answers": answers, "figures": figures });
    std::fs::write(path, serde_json::to_vec_pretty(&whole)?).with_context(|| path.display().to_string())
}
