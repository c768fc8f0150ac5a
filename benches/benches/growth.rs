//! Growth of costs with the profile: ingest, size, a window and a full view. Sizes start at 1,000
//! events, in half decades.
//!
//! `cargo bench -p nprof-benches --bench growth -- [--largest 100000000] [--svg growth.svg]`, with
//! paths relative to this package. The default largest size is ten million. A window has the same
//! number of results at every size, so its line should stay level.
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use nprof_benches::chart::{Chart, svg};
use nprof_benches::figure::{Figure, FigureKind, percentile};
use nprof_benches::generate::{GeneratorSettings, cache, generate};
use nprof_benches::process::{self, ProcessStep};

const SMALLEST: u64 = 1_000;

struct GrowthArguments {
    largest: u64,
    svg: Option<PathBuf>,
    /// Number of events, in a process that measures.
    events: u64,
    step: Option<ProcessStep>,
}

/// Costs of one size.
struct Costs {
    events: f64,
    rows: f64,
    seconds: f64,
    peak_mib: f64,
    bytes: f64,
    window_ms: f64,
    view_ms: f64,
    cold_ms: f64,
}

fn main() -> Result<()> {
    let arguments = arguments()?;
    if let Some(step) = &arguments.step {
        return process::run(&GeneratorSettings::standard(arguments.events), step);
    }
    println!(
        "{:>12} {:>10} {:>12} {:>8} {:>8} {:>8} {:>8}",
        "rows", "ingest s", "bytes/event", "MiB in", "W1 ms", "Z1 ms", "cold ms"
    );
    let mut all = Vec::new();
    let decades = std::iter::successors(Some(SMALLEST), |events| events.checked_mul(10));
    // The square root of ten is half a decade.
    let halves = decades.flat_map(|events| [events, events * 316 / 100]);
    for events in halves.take_while(|events| *events <= arguments.largest) {
        let settings = GeneratorSettings::standard(events);
        let meta = generate(&cache(&settings), &settings)?;
        let costs = costs(events as f64, meta.rows() as f64, &process::nprof(&settings)?);
        println!(
            "{:>12} {:>10.2} {:>12.2} {:>8.0} {:>8.3} {:>8.3} {:>8.2}",
            costs.rows,
            costs.seconds,
            costs.bytes / costs.rows,
            costs.peak_mib,
            costs.window_ms,
            costs.view_ms,
            costs.cold_ms
        );
        all.push(costs);
    }
    if let Some(path) = &arguments.svg {
        std::fs::write(path, svg(&charts(&all))).with_context(|| path.display().to_string())?;
    }
    Ok(())
}

fn arguments() -> Result<GrowthArguments> {
    let mut parsed = GrowthArguments { largest: 10_000_000, svg: None, events: SMALLEST, step: None };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().with_context(|| format!("{word} needs a value"));
        match word.as_str() {
            "--largest" => parsed.largest = value()?.parse().context("--largest needs a number")?,
            "--svg" => parsed.svg = Some(value()?.into()),
            "--events" => parsed.events = value()?.parse().context("--events needs a number")?,
            "--step" => parsed.step = Some(ProcessStep { name: value()?, run: value()?.parse()? }),
            // Cargo passes this flag.
            "--bench" => {}
            _ => bail!("unknown argument {word}: --largest N, --svg FILE"),
        }
    }
    Ok(parsed)
}

fn costs(events: f64, rows: f64, figures: &[Figure]) -> Costs {
    let median = |wanted: &str| {
        let times: Vec<f64> = figures
            .iter()
            .filter_map(|figure| match &figure.content {
                FigureKind::Question { name, times_ms, .. } if name == wanted => Some(times_ms),
                _ => None,
            })
            .flatten()
            .copied()
            .collect();
        percentile(&times, 0.5)
    };
    let mut ingests = figures.iter().filter_map(|figure| match figure.content {
        FigureKind::Ingest { seconds, bytes, peak_mib } => Some((seconds, bytes as f64, peak_mib)),
        _ => None,
    });
    let seconds = percentile(&ingests.clone().map(|(seconds, ..)| seconds).collect::<Vec<_>>(), 0.5);
    let (_, bytes, peak_mib) = ingests.next_back().unwrap_or((f64::NAN, f64::NAN, f64::NAN));
    let (window_ms, view_ms, cold_ms) = (median("W1"), median("Z1"), median("cold"));
    Costs { events, rows, seconds, peak_mib, bytes, window_ms, view_ms, cold_ms }
}

fn charts(all: &[Costs]) -> Vec<Chart> {
    let chart = |title: &str, cost: fn(&Costs) -> f64| Chart {
        title: title.to_owned(),
        points: all.iter().map(|costs| (costs.events, cost(costs))).collect(),
    };
    vec![
        chart("Ingest, seconds", |costs| costs.seconds),
        chart("Size, bytes", |costs| costs.bytes),
        chart("Window of 2,000 results, ms", |costs| costs.window_ms),
        chart("Full view, 1,000 cells × 5 engines, ms", |costs| costs.view_ms),
    ]
}
