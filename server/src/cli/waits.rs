//! `nprof ranks --over-time`: how long the ranks wait in steps of time.

use std::io::Write;

use nprof_engine::base::Interval;
use nprof_engine::base::time::short_duration;
use nprof_engine::exec::{Cancel, Work};
use nprof_engine::makers::job::over_time::{StepSpread, WaitsOverTime, over_time};
use nprof_engine::metrics::trace::span;
use nprof_engine::native::AllCores;
use serde_json::{Value, json};

use super::progress::watched;
use super::rank_cells as cells;
use super::size::{self, Align};
use super::table_format::TableFormat;
use crate::analysis::job_segment;
use crate::ingest::IngestError;
use crate::store::Profile;
use crate::work::{Meter, Stage};

/// Writes the table of steps.
pub(super) fn write(
    profile: &Profile,
    most_steps: u32,
    format: TableFormat,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    if !job_segment::is_for(profile) {
        anyhow::bail!("{} has one rank, which waits for no other", profile.manifest.slug());
    }
    let (waits, whole) = read(profile, most_steps)?;
    let spreads = waits.spreads();
    match format {
        TableFormat::Text => text(&waits, &spreads, whole, out),
        TableFormat::Csv => cells::csv(out, &rows(&waits, &spreads)),
        TableFormat::Json => {
            let shares = |(at, mut row): (usize, Value)| {
                row["shares"] = waits.ranks.iter().map(|rank| rank.shares[at]).collect();
                row
            };
            let steps: Vec<Value> = rows(&waits, &spreads).into_iter().enumerate().map(shares).collect();
            let ranks: Vec<u32> = waits.ranks.iter().map(|rank| rank.rank).collect();
            serde_json::to_writer_pretty(&mut *out, &json!({"ranks": ranks, "steps": steps}))?;
            Ok(writeln!(out)?)
        }
    }
}

/// The waiting of all ranks over the whole profile, and the recorded span.
fn read(profile: &Profile, most_steps: u32) -> anyhow::Result<(WaitsOverTime, Interval)> {
    let meter = Meter::default();
    meter.begin(Stage::Analysing, 0);
    let found = watched(&meter, || {
        let job = job_segment::of_profile(profile, Cancel::when(&|| meter.is_cancelled()))?;
        let is_cancelled = || meter.is_cancelled();
        let work = Work { exec: &AllCores, cancel: Cancel::when(&is_cancelled) };
        let whole = span(&job.segment);
        let waits = over_time(&job.segment, whole, most_steps, work)?;
        Ok::<_, anyhow::Error>((waits, whole))
    });
    match found {
        Err(_) if meter.is_cancelled() => Err(IngestError::Cancelled.into()),
        found => found,
    }
}

/// Start and end of a step, in picoseconds.
fn step_ps(waits: &WaitsOverTime, at: usize) -> (i64, i64) {
    let start_ps = waits.start_ps.saturating_add(waits.step_ps.saturating_mul(at as i64));
    (start_ps, start_ps.saturating_add(waits.step_ps))
}

fn rows(waits: &WaitsOverTime, spreads: &[StepSpread]) -> Vec<Value> {
    let row = |(at, spread): (usize, &StepSpread)| {
        let (start_ps, end_ps) = step_ps(waits, at);
        json!({
            "start_ns": start_ps as f64 / 1e3,
            "end_ns": end_ps as f64 / 1e3,
            "least": spread.least.0,
            "least_rank": spread.least.1,
            "median": spread.median,
            "most": spread.most.0,
            "most_rank": spread.most.1,
        })
    };
    spreads.iter().enumerate().map(row).collect()
}

fn text(
    waits: &WaitsOverTime,
    spreads: &[StepSpread],
    whole: Interval,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    writeln!(
        out,
        "waited share of steps of {}, from the first call on",
        short_duration(waits.step_ps as f64)
    )?;
    let mut table = vec![["FROM", "LEAST", "RANK", "MEDIAN", "MOST", "RANK"].map(str::to_owned).to_vec()];
    table.extend(spreads.iter().enumerate().map(|(at, spread)| {
        let from_ps = step_ps(waits, at).0.max(whole.start.0).saturating_sub(whole.start.0);
        vec![
            short_duration(from_ps as f64),
            cells::share(spread.least.0, 1.0),
            spread.least.1.to_string(),
            cells::share(spread.median, 1.0),
            cells::share(spread.most.0, 1.0),
            spread.most.1.to_string(),
        ]
    }));
    Ok(size::table(out, &[Align::Right; 6], &table)?)
}
