//! `nprof ranks`

use std::io::Write;

use clap::Args;
use nprof_engine::analysis::{Analysed, ClockVerdict};
use nprof_engine::makers::job::over_time::MOST_STEPS;
use nprof_engine::makers::job::schema::RankRow;
use nprof_engine::model::{OwnedValue, ValueTable};
use nprof_engine::wire::clock::Clock;
use nprof_engine::wire::rank_balance::RankBalance;

use super::answer::{CheckedOutput, CheckedTableFormat};
use super::failed_condition::{FailArgs, conclude};
use super::progress::analysing;
use super::rank_lines as lines;
use super::{StorePlace, balance_lines, waits_over_time};
use crate::analysis::graph::replayable;
use crate::analysis::late_ranks::LateRanks;
use crate::analysis::rank_balance::rank_balance;
use crate::analysis::{AnalysisError, json};
use crate::print::condition_report::ConditionReport;
use crate::print::{self, TableFormat, ViewColumn};
use crate::store::{Profile, Store};

const EXAMPLES: &str = "\
Examples:
  nprof ranks run-7                          clocks, waiting and blame of each rank
  nprof ranks run-7 --align                  the same, and use the clocks found from now on
  nprof ranks run-7 --output-format json | jq '.ranks[] | {rank, root_blame_ns}'
  nprof ranks run-7 --over-time              how long the ranks wait, step by step
  nprof ranks run-7 --fail-on 'wait > 10%'   exit with 3 if a rank waits for more than 10 % of its time
  nprof ranks run-7 --fail-on 'root-blame > 5 ms' --fail-on 'mismatches > 0'
  nprof ranks run-7 --fail-on 'wait > 10%' --output-format junit > ranks.xml
                                             a report for a CI system";

/// Show each rank of a profile: its clock, how long it waited, and who waited for it
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct RanksArgs {
    /// Name or id of a profile, as `nprof list` shows it
    profile: String,
    /// Store the clocks found with the profile. Clocks set with `nprof clock` stay
    #[arg(long)]
    align: bool,
    /// In which form
    #[arg(long, visible_alias = "format", value_enum, ignore_case = true, default_value = "text")]
    output_format: CheckedTableFormat,
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

impl RanksArgs {
    pub(super) fn run(self, place: &StorePlace, out: &mut dyn Write) -> anyhow::Result<()> {
        let store = if self.align { place.open()? } else { place.read()? };
        let mut profile = store.find(&self.profile)?;
        if let Some(most_steps) = self.over_time {
            let CheckedOutput::Answer(format) = self.output_format.into() else {
                anyhow::bail!("steps of time have no conditions; write --output-format text, csv or json");
            };
            return waits_over_time::write(&profile, most_steps, format, out);
        }
        let (of, late, balance) = analysing(|cancel| {
            let of = replayable(&profile, cancel)?;
            let late = LateRanks::of(&profile, &of, cancel)?;
            let balance = rank_balance(&profile, &of, usize::MAX, cancel)?;
            Ok::<_, AnalysisError>((of.analysed, late, balance))
        })?;
        if self.align {
            profile = align(&store, &profile, &of)?;
        }
        let checked = self.fail.checked(&profile, &of)?;
        let report =
            ConditionReport { command: "nprof ranks", answer: &lines::whole(&of), checked: &checked };
        CheckedOutput::from(self.output_format).write(&report, out, |format, out| {
            match format {
                TableFormat::Text => text(&of, &late, &balance, out)?,
                TableFormat::Csv => print::table(format, &of.ranks()?.without_empty_columns(), out)?,
                TableFormat::Json => json::write_ranks(&of, &late, &balance, &profile, out)?,
            }
            Ok(())
        })?;
        conclude(&checked, out)
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

fn text(of: &Analysed, late: &LateRanks, balance: &RankBalance, out: &mut dyn Write) -> anyhow::Result<()> {
    // The answer first: what would make the job shorter.
    let facts = [lines::verdict(of), lines::whole(of)];
    print::lines(lines::late(late).into_iter().chain(lines::recorded(of)).chain(facts), out)?;
    print::view(&with_bounds_from_offset(of.ranks()?), &columns(), out)?;
    print::lines(lines::findings(of).into_iter().chain(lines::unbounded(of)), out)?;
    Ok(balance_lines::write(balance, out)?)
}

/// Columns of the table of ranks. LOW and HIGH are what is certain, relative to the offset.
fn columns() -> [ViewColumn; 15] {
    let of = RankRow::by(|field| field.name);
    [
        ("RANK", of.rank),
        ("HOST", of.host),
        ("OFFSET", of.offset),
        ("LOW", of.low),
        ("HIGH", of.high),
        ("RESIDUAL", of.residual),
        ("CALLS", of.clock_calls),
        ("DRIFT PPM", of.drift_ppm),
        ("BUSY", of.busy),
        ("EXPOSED", of.exposed_share),
        ("OF IT WAITING", of.exposed_wait_share),
        ("WAITED", of.wait),
        ("LAST", of.last),
        ("BLAME", of.blame),
        ("ROOT BLAME", of.root_blame),
    ]
}

fn with_bounds_from_offset(mut table: ValueTable) -> ValueTable {
    let RankRow { offset: Some(offset), low: Some(low), high: Some(high), .. } =
        RankRow::by(|field| table.place_of(field.name))
    else {
        return table;
    };
    for row in &mut table.rows {
        let Some(OwnedValue::Int(offset)) = row[offset] else { continue };
        for bound in [low, high] {
            if let Some(OwnedValue::Int(bound)) = &mut row[bound] {
                *bound = bound.saturating_sub(offset);
            }
        }
    }
    table
}
