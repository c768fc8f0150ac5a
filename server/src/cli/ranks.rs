//! `nprof ranks`

use std::io::Write;

use clap::{Args, ValueEnum};
use nprof_engine::analysis::ClockVerdict;
use nprof_engine::exec::Cancel;
use nprof_engine::vendor::CallIds;
use nprof_engine::vendor::joint::over_time::MOST_STEPS;
use nprof_engine::wire::clock::Clock;

use super::failing::Failing;
use super::progress::watched;
use super::size::{self, Align};
use super::{StorePlace, rank_cells as cells, waits};
use crate::analysis::condition::Condition;
use crate::analysis::{Analysed, analyse, json};
use crate::ingest::IngestError;
use crate::store::{Profile, Store};
use crate::work::{Meter, Stage};

const EXAMPLES: &str = "\
Examples:
  nprof ranks run-7                          clocks, waiting and blame of each rank
  nprof ranks run-7 --align                  the same, and use the clocks found from now on
  nprof ranks run-7 --output-format json | jq '.ranks[] | {rank, root_blame_ns}'
  nprof ranks run-7 --over-time              how long the ranks wait, step by step
  nprof ranks run-7 --fail-on 'wait > 10%'   exit with 3 if a rank waits for more than 10 % of its time";

/// Show each rank of a profile: its clock, how long it waited, and who waited for it
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct RanksArgs {
    /// Name or id of a profile, as `nprof list` shows it
    profile: String,
    /// Store the clocks found with the profile. Clocks set with `nprof clock` stay
    #[arg(long)]
    align: bool,
    /// As a table, CSV or JSON
    #[arg(long, visible_alias = "format", value_enum, ignore_case = true, default_value = "text")]
    output_format: TableFormat,
    /// Show how long the ranks wait in at most this many steps of time
    #[arg(
        long,
        value_name = "STEPS",
        num_args = 0..=1,
        default_missing_value = "32",
        conflicts_with_all = ["align", "fail_on"],
        value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_STEPS))
    )]
    over_time: Option<u32>,
    #[command(flatten)]
    fail: FailArgs,
}

/// Form of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum TableFormat {
    /// Aligned columns with units
    Text,
    /// Comma-separated values, times in nanoseconds
    Csv,
    /// JSON, times in nanoseconds
    Json,
}

/// Conditions that make the command fail.
#[derive(Debug, Args)]
pub(super) struct FailArgs {
    /// Exit with 3 if this holds, such as `wait > 10%`, `blame > 5ms`, `lost > 1%` or
    /// `mismatches > 0`; can be repeated
    #[arg(long, value_name = "CONDITION")]
    fail_on: Vec<Condition>,
}

impl FailArgs {
    /// Checks the conditions after the output is complete.
    pub(super) fn check(&self, of: &Analysed, out: &mut dyn Write) -> anyhow::Result<()> {
        let broken: Vec<String> = self
            .fail_on
            .iter()
            .filter_map(|condition| condition.broken_by(of))
            .map(|broken| broken.to_string())
            .collect();
        if broken.is_empty() {
            return Ok(());
        }
        out.flush()?;
        Err(Failing(broken.join("; ")).into())
    }
}

/// Analyses a profile and shows the progress.
pub(super) fn analysed(profile: &Profile, ids: CallIds) -> anyhow::Result<Analysed> {
    let meter = Meter::default();
    meter.begin(Stage::Analysing, 0);
    let is_cancelled = || meter.is_cancelled();
    let analysed = watched(&meter, || analyse(profile, ids, Cancel::when(&is_cancelled)));
    match analysed {
        Err(_) if meter.is_cancelled() => Err(IngestError::Cancelled.into()),
        other => Ok(other?),
    }
}

impl RanksArgs {
    pub(super) fn run(self, place: &StorePlace, out: &mut dyn Write) -> anyhow::Result<()> {
        let store = if self.align { place.open()? } else { place.read()? };
        let mut profile = store.find(&self.profile)?;
        if let Some(most_steps) = self.over_time {
            return waits::write(&profile, most_steps, self.output_format, out);
        }
        let of = analysed(&profile, CallIds::Skipped)?;
        if self.align {
            profile = align(&store, &profile, &of)?;
        }
        match self.output_format {
            TableFormat::Text => text(&of, &profile, out)?,
            TableFormat::Csv => cells::csv(out, &json::ranks(&of, &profile))?,
            TableFormat::Json => json::write_ranks(&of, &profile, out)?,
        }
        self.fail.check(&of, out)
    }
}

/// Stores the clocks found. Ranks that are not moved get none.
fn align(store: &Store, profile: &Profile, of: &Analysed) -> anyhow::Result<Profile> {
    let is_moved = of.report.clocks.verdict == ClockVerdict::Aligned;
    let ranks = of.job.ranks.iter().zip(of.report.clocks_of_segments(&of.job));
    let clocks: Vec<(u32, Option<Clock>)> = ranks
        .map(|(rank, fit)| {
            let is_same = fit.offset_ps() == 0 && fit.drift_ppb() == 0;
            (rank.rank, (is_moved && !is_same).then_some(Clock(fit)))
        })
        .collect();
    Ok(store.align(&profile.manifest.id, &clocks)?)
}

/// What the clocks of the job are, in a sentence.
fn verdict(of: &Analysed) -> String {
    let clocks = &of.report.clocks;
    let calls = clocks.ranks.iter().map(|clock| clock.calls).max().unwrap_or(0);
    let residual = clocks.ranks.iter().map(|clock| clock.residual_ps).max().unwrap_or(0);
    let reference = of.job.ranks.get(clocks.reference).map_or(0, |rank| rank.rank);
    match clocks.verdict {
        ClockVerdict::Unknown => "clocks: no operation has two ranks, so nothing is known".to_owned(),
        ClockVerdict::Agree => format!(
            "clocks: unmoved; they agree within {} ({})",
            cells::time(residual as f64),
            size::counted(calls.into(), "operation")
        ),
        ClockVerdict::Aligned => format!(
            "clocks: aligned with rank {reference} by {}; ends differ by {}",
            size::counted(calls.into(), "operation"),
            cells::time(residual as f64)
        ),
    }
}

fn text(of: &Analysed, profile: &Profile, out: &mut dyn Write) -> anyhow::Result<()> {
    writeln!(out, "{}", verdict(of))?;
    table(of, profile, out)?;
    for finding in findings(of) {
        writeln!(out, "{finding}")?;
    }
    Ok(())
}

/// Headings of the table of ranks.
const HEADING: [&str; 11] = [
    "RANK",
    "OFFSET",
    "±",
    "DRIFT",
    "BUSY",
    "EXPOSED",
    "OF IT WAITING",
    "WAITED",
    "LAST",
    "BLAME",
    "ROOT BLAME",
];

/// Writes a row for each rank. Hosts have a column if any is known.
fn table(of: &Analysed, profile: &Profile, out: &mut dyn Write) -> anyhow::Result<()> {
    let has_hosts = profile.manifest.ranks.iter().any(|rank| rank.host.is_some());
    let mut rows = vec![HEADING.map(str::to_owned).to_vec()];
    let ranks = of.report.ranks.iter().zip(of.report.clocks_of_segments(&of.job));
    rows.extend(ranks.map(|(rank, fit)| {
        let span = rank.span_ps as f64;
        let busy = rank.compute_ps + rank.exposed_ps;
        vec![
            rank.rank.to_string(),
            cells::time(fit.offset_ps() as f64),
            fit.bound_ps().map_or_else(|| "-".to_owned(), |bound| cells::time(bound as f64)),
            cells::drift(fit.drift_ppb()),
            cells::share(busy as f64, span),
            cells::share(rank.exposed_ps as f64, span),
            cells::share(rank.exposed_wait_ps as f64, span),
            cells::time(rank.wait_ps as f64),
            rank.last.to_string(),
            cells::time(rank.blame_ps),
            cells::time(rank.root_blame_ps),
        ]
    }));
    let mut align = vec![Align::Right; HEADING.len()];
    if has_hosts {
        align.insert(1, Align::Left);
        let hosts = of.report.ranks.iter().map(|rank| profile.manifest.host_of(rank.rank).unwrap_or("-"));
        for (row, host) in rows.iter_mut().zip(std::iter::once("HOST").chain(hosts)) {
            row.insert(1, host.to_owned());
        }
    }
    Ok(size::table(out, &align, &rows)?)
}

/// The main causes of waiting, in sentences.
fn findings(of: &Analysed) -> Vec<String> {
    /// Shown causes.
    const MOST: usize = 5;
    /// Smaller shares of all waiting are not named.
    const LEAST: f64 = 0.05;
    let total: f64 = of.report.ranks.iter().map(|rank| rank.wait_ps as f64).sum();
    let uncertain = of.report.clocks.verdict == ClockVerdict::Unknown;
    let ranks = of.report.ranks.iter().map(|rank| (rank.root_blame_ps, format!("rank {}", rank.rank)));
    let links = of.report.links.iter().map(|link| {
        let ranks: Vec<String> =
            of.job.groups[link.group as usize].ranks().iter().map(u32::to_string).collect();
        (link.root_blame_ps, format!("slow transfers among ranks {}", ranks.join(", ")))
    });
    let mut causes: Vec<(f64, String)> = ranks.chain(links).collect();
    causes.sort_by(|a, b| b.0.total_cmp(&a.0));
    let named = causes.iter().filter(|(ps, _)| !uncertain && *ps > LEAST * total && *ps > 0.0).take(MOST);
    let cause = |(ps, who): &(f64, String)| {
        format!(
            "{who}: others waited {} for it, {} of all waiting",
            cells::time(*ps),
            cells::share(*ps, total)
        )
    };
    let mut lines: Vec<String> = named.map(cause).collect();
    for finding in of.report.findings.iter().take(MOST) {
        let rank = of.job.ranks[finding.rank as usize].rank;
        lines.push(format!("rank {rank}: {} in operation {}", finding.what.name(), finding.instance));
    }
    let more = of.report.findings.len().saturating_sub(MOST);
    if more > 0 {
        lines
            .push(format!("{} more; --output-format json lists all", size::counted(more as u64, "mismatch")));
    }
    lines
}
