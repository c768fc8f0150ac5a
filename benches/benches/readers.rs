//! Readers of traces: into a sink that only counts, and through the whole store.
//!
//! `cargo bench -p nprof-benches --bench readers -- [MEGABYTES] [json] [ntff] [real]` (256 MB and
//! all of them by default). `real` repeats real traces of `../shared` and says so if they are
//! missing.
//! - `ingest NPROF …` writes each trace to a file and runs the binary `NPROF ingest` on it.
//! - `write NAME PATH` writes a trace: `json`, `ntff`, or a shape of `real`.
//! - `segment TRACE PATH` turns a file into a segment, as an ingest of one rank does.
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use nprof_benches::repetition::{self, Repeated};
use nprof_benches::tally::Tally;
use nprof_benches::traces;
use nprof_benches::usage::{self, Usage};
use nprof_capture::formats::{ntff, trace_event};
use nprof_capture::importer::claims;
use nprof_capture::probe::HEAD_LEN;
use nprof_engine::exec::Cancel;
use nprof_engine::ingest::BuildOptions;
use nprof_engine::native::{Taking, write_segment_while};
use nprof_engine::spill::{MemoryScratch, Space};

/// Number of runs of each trace. The fastest counts.
const RUNS: usize = 3;

/// Generated traces, beside the shapes of real ones.
const MADE: [&str; 2] = ["json", "ntff"];

fn main() -> Result<()> {
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let megabytes = arguments.iter().find_map(|argument| argument.parse::<u64>().ok()).unwrap_or(256);
    let size_bytes = megabytes * 1_000_000;
    let rest: Vec<&str> =
        arguments.iter().map(String::as_str).filter(|argument| argument.parse::<u64>().is_err()).collect();
    match rest[..] {
        ["write", name, path] => make(name, size_bytes, &mut BufWriter::new(File::create(path)?)),
        ["segment", trace, path] => segment(Path::new(trace), Path::new(path)),
        ["ingest", nprof, ref names @ ..] => {
            wanted(names)?.into_iter().try_for_each(|name| ingest(Path::new(nprof), name, size_bytes))
        }
        ref names => wanted(names)?.into_iter().try_for_each(|name| read(name, size_bytes)),
    }
}

/// The named traces; all if none is named.
fn wanted(names: &[&str]) -> Result<Vec<&'static str>> {
    let shapes = match repetition::shapes() {
        Ok(shapes) => shapes.into_iter().map(|(name, _)| name).collect(),
        Err(error) => {
            println!("real traces are left out: {error}");
            Vec::new()
        }
    };
    let is_real = |name: &str| !MADE.contains(&name);
    let all = MADE.into_iter().chain(shapes);
    let is_wanted =
        |name: &&str| names.is_empty() || names.contains(name) || (names.contains(&"real") && is_real(name));
    Ok(all.filter(is_wanted).collect())
}

/// Writes a trace of about this many bytes.
fn make(name: &str, size_bytes: u64, out: &mut impl Write) -> Result<()> {
    match name {
        "json" => drop(traces::kineto(size_bytes, out)?),
        "ntff" => out.write_all(&traces::ntff(size_bytes))?,
        shape => {
            let shapes = repetition::shapes()?;
            let found = shapes.iter().find(|(name, _)| *name == shape);
            let (_, path) = found.with_context(|| format!("there is no trace called {shape}"))?;
            Repeated::open(path)?.write(size_bytes, out)?;
        }
    }
    Ok(out.flush()?)
}

/// Reads a trace from memory.
fn read(name: &str, size_bytes: u64) -> Result<()> {
    let mut trace = Vec::new();
    make(name, size_bytes, &mut trace)?;
    let (mut tally, mut result) = (Tally::default(), Ok(()));
    let runs = (0..RUNS).map(|_| {
        tally = Tally::default();
        usage::of_work(|| {
            let scratch = MemoryScratch::default();
            result = match name {
                "ntff" => ntff::read(&trace, None, Space::new(&scratch), &mut tally, &mut |_| {}),
                _ => {
                    trace_event::read_bytes(&trace, trace_event::Context::default(), &mut tally, &mut |_| {})
                }
            };
        })
    });
    let best = quickest(runs);
    result?;
    let rest = format!("{:.1} fields/event", tally.fields as f64 / tally.events as f64);
    report(name, "read", trace.len() as u64, tally.events, best, &rest);
    Ok(())
}

/// Ingests a trace from a file into an empty store, with another binary.
fn ingest(nprof: &Path, name: &str, size_bytes: u64) -> Result<()> {
    let directory = tempfile::tempdir()?;
    let (trace, store) = (directory.path().join("trace"), directory.path().join("store"));
    make(name, size_bytes, &mut BufWriter::new(File::create(&trace)?))?;
    let mut runs = Vec::new();
    for _ in 0..RUNS {
        let mut command = Command::new(nprof);
        runs.push(usage::of_command(
            command.arg("ingest").arg(&trace).arg("--force").arg("--store").arg(&store),
        )?);
    }
    let most_mib = runs.iter().map(|usage| usage.own_mib).max().unwrap_or(0);
    let manifest = nprof_manifest(&store)?;
    let events = manifest["ranks"][0]["events"].as_u64().unwrap_or(0);
    let bytes = manifest["ranks"][0]["size_bytes"].as_u64().unwrap_or(0);
    let rest = format!("{:.2} bytes/event, own memory {most_mib} MiB", bytes as f64 / events as f64);
    report(name, "ingest", trace.metadata()?.len(), events, quickest(runs), &rest);
    Ok(())
}

/// Reads a file into a segment, with the builder on a thread of its own.
fn segment(trace: &Path, path: &Path) -> Result<()> {
    let bytes = std::fs::read(trace)?;
    let claims = claims(&bytes[..bytes.len().min(HEAD_LEN)]);
    let is_ntff = claims.first().context("this is no trace")?.importer.name == "ntff";
    let mut built = None;
    let usage = usage::of_work(|| {
        let written = write_segment_while(
            path,
            BuildOptions::default(),
            Taking::Beside,
            Cancel::NEVER,
            |sink, space| {
                if is_ntff {
                    ntff::read(&bytes, None, space, sink, &mut |_| {})
                } else {
                    trace_event::read_bytes(&bytes, trace_event::Context::default(), sink, &mut |_| {})
                }
            },
        );
        built = Some(written);
    });
    let Some(Ok(built)) = built else { anyhow::bail!("{}: {built:?}", trace.display()) };
    let name = trace.file_name().unwrap_or_default().to_string_lossy();
    let rest = format!("{:.2} bytes/event", built.bytes as f64 / built.events as f64);
    report(&name, "segment", bytes.len() as u64, built.events, usage, &rest);
    Ok(())
}

/// The manifest of the only profile of a store.
fn nprof_manifest(store: &Path) -> Result<serde_json::Value> {
    for entry in std::fs::read_dir(store.join("profiles")).or_else(|_| std::fs::read_dir(store))? {
        let path = entry?.path().join("manifest.json");
        if path.exists() {
            return Ok(serde_json::from_slice(&std::fs::read(path)?)?);
        }
    }
    anyhow::bail!("no profile in {}", store.display())
}

fn quickest(runs: impl IntoIterator<Item = Usage>) -> Usage {
    runs.into_iter().min_by(|a, b| a.wall_s.total_cmp(&b.wall_s)).unwrap_or_default()
}

fn report(name: &str, what: &str, size_bytes: u64, events: u64, usage: Usage, rest: &str) {
    let Usage { wall_s, processor_s, .. } = usage;
    let megabytes = size_bytes as f64 / 1e6;
    println!(
        "{what:<6} {name:<22} {:6.0} MB/s {:6.0} MB a processor second {:12.0} events/s {:10} events, {rest}",
        megabytes / wall_s,
        megabytes / processor_s,
        events as f64 / wall_s,
        events,
    );
}
