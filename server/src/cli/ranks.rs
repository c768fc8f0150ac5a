//! `nprof ranks`

use std::io::Write;

use clap::Args;
use nprof_engine::analysis::ClockVerdict;
use nprof_engine::makers::job::over_time::MOST_STEPS;
use nprof_engine::makers::job::schema::RankRow;
use nprof_engine::makers::{CallIds, FieldCell};
use nprof_engine::wire::clock::Clock;

use super::failed_condition::FailArgs;
use super::progress::analysing;
use super::rank_lines as lines;
use super::{StorePlace, waits};
use crate::analysis::{Analysed, analyse, json};
use crate::print::text::{self, Column, duration, ratio, whole};
use crate::print::{self, TableFormat};
use crate::store::{Profile, Store};

const EXAMPLES: &str = "\
Examples:
  nprof ranks run-7                          clocks, waiting and blame of each rank
  nprof ranks run-7 --align                  the same, and use the clocks found from now on
  nprof ranks run-7 --output-format json | jq '.ranks[] | {rank, root_blame_ns}'
  nprof ranks run-7 --over-time              how long the ranks wait, step by step
  nprof ranks run-7 --fail-on 'wait > 10%'   exit with 3 if a rank waits for more than 10 % of its time
  nprof ranks run-7 --fail-on 'root-blame > 5 ms' --fail-on 'mismatches > 0'";

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

/// Analyses a profile and shows the progress.
pub(super) fn analysed(profile: &Profile, ids: CallIds) -> anyhow::Result<Analysed> {
    analysing(|cancel| analyse(profile, ids, cancel))
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
            TableFormat::Text => text(&of, out)?,
            TableFormat::Csv => print::table(TableFormat::Csv, &of.ranks()?.without_empty_columns(), out)?,
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

fn text(of: &Analysed, out: &mut dyn Write) -> anyhow::Result<()> {
    let before = std::iter::once(lines::verdict(of)).chain(lines::recorded(of)).chain(lines::whole(of));
    for line in before {
        writeln!(out, "{line}")?;
    }
    let rows = RankRow::of(&of.ranks()?);
    let has_hosts = rows.iter().any(|row| row.host.text().is_some());
    let shown = COLUMNS.iter().filter(|column| has_hosts || column.heading != HOST);
    text::columns(out, &shown.collect::<Vec<_>>(), &rows)?;
    for line in lines::findings(of).into_iter().chain(lines::unbounded(of)) {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// Heading of a column that is shown if any host is known.
const HOST: &str = "HOST";

/// Columns of the table of ranks. LOW and HIGH are what is certain, relative to the offset.
const COLUMNS: [Column<RankRow<FieldCell>>; 15] = [
    Column::new("RANK", |row| whole(row.rank.int())),
    Column::of_text(HOST, |row| row.host.text().unwrap_or("-").to_owned()),
    Column::new("OFFSET", |row| duration(row.offset.float())),
    Column::new("LOW", |row| from_offset(row, &row.low)),
    Column::new("HIGH", |row| from_offset(row, &row.high)),
    Column::new("RESIDUAL", |row| duration(row.residual.float())),
    Column::new("CALLS", |row| whole(row.clock_calls.int())),
    Column::new("DRIFT", |row| drift(row.drift_ppm.float())),
    Column::new("BUSY", |row| part(row, &row.busy)),
    Column::new("EXPOSED", |row| part(row, &row.exposed_share)),
    Column::new("OF IT WAITING", |row| part(row, &row.exposed_wait_share)),
    Column::new("WAITED", |row| duration(row.wait.float())),
    Column::new("LAST", |row| whole(row.last.int())),
    Column::new("BLAME", |row| duration(row.blame.float())),
    Column::new("ROOT BLAME", |row| duration(row.root_blame.float())),
];

fn from_offset(row: &RankRow<FieldCell>, bound: &FieldCell) -> String {
    duration(bound.float().zip(row.offset.float()).map(|(bound, offset)| bound - offset))
}

/// A drift in parts per million, or a dash.
fn drift(ppm: Option<f64>) -> String {
    ppm.filter(|ppm| *ppm != 0.0).map_or_else(|| "-".to_owned(), |ppm| format!("{ppm:.2} ppm"))
}

/// A share of the rank's time, or a dash if it has none.
fn part(row: &RankRow<FieldCell>, cell: &FieldCell) -> String {
    let has_time = row.span.int().is_some_and(|span| span > 0);
    ratio(cell.float().filter(|_| has_time))
}
