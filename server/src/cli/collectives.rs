//! `nprof collectives`

use std::io::Write;

use clap::{Args, ValueEnum};
use nprof_engine::analysis::job_segment::numbers;
use nprof_engine::analysis::table::By;
use nprof_engine::makers::job::schema::SizeRow;
use nprof_engine::makers::{CallIds, FieldCell};
use serde_json::json;

use super::StorePlace;
use super::failed_condition::FailArgs;
use super::rank_lines::{mismatches, recorded};
use super::ranks::analysed;
use super::size;
use crate::analysis::json as analysis_json;
use crate::print::text::{self, Column, duration, rate, ratio, whole};
use crate::print::{self, TableFormat};

const EXAMPLES: &str = "\
Examples:
  nprof collectives run-7                        by kind
  nprof collectives run-7 --by size              by kind, bytes and number of ranks
  nprof collectives run-7 --output-format json   each operation with its ranks, clocks and causes
  nprof collectives run-7 --fail-on 'lost > 1%'";

/// Show the collective operations of all ranks: transfer, waiting and bandwidth
///
/// A transfer is the time from the last arrival to the last end. Algorithm and bus bandwidths are
/// those of nccl-tests, of the transfer alone and with all waiting. Operations with a call of one
/// rank only are counted, and are in no median.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct CollectivesArgs {
    /// Name or id of a profile, as `nprof list` shows it
    profile: String,
    /// Property that the operations of a row share. JSON lists every operation unless this is given
    #[arg(long, value_enum, ignore_case = true)]
    by: Option<ByArg>,
    /// As a table, CSV or JSON
    #[arg(long, visible_alias = "format", value_enum, ignore_case = true, default_value = "text")]
    output_format: TableFormat,
    #[command(flatten)]
    fail: FailArgs,
}

/// Property that the operations of a row share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ByArg {
    /// Kind of operation
    Kind,
    /// Kind, bytes, and number of ranks
    Size,
    /// The rank that came last
    Rank,
    /// Step or iteration
    Step,
}

impl CollectivesArgs {
    pub(super) fn run(self, place: &StorePlace, out: &mut dyn Write) -> anyhow::Result<()> {
        let profile = place.read()?.find(&self.profile)?;
        let is_whole = self.output_format == TableFormat::Json && self.by.is_none();
        let ids = if is_whole { CallIds::Read } else { CallIds::Skipped };
        let of = analysed(&profile, ids)?;
        if is_whole {
            analysis_json::write(&of, &profile, out)?;
            return self.fail.check(&of, out);
        }
        let by = match self.by.unwrap_or(ByArg::Kind) {
            ByArg::Kind => By::Kind,
            ByArg::Size => By::Size,
            ByArg::Rank => By::Rank,
            ByArg::Step => By::Step,
        };
        let table = of.operations_by(by)?;
        match self.output_format {
            TableFormat::Text => {
                let mut rows = SizeRow::of(&table);
                // Operations before the first step are in no step.
                rows.retain(|row| by != By::Step || row.step.int().is_some());
                if rows.is_empty() {
                    writeln!(out, "this profile has no collective operations")?;
                } else {
                    text::columns(out, &shown_columns(by, &rows), &rows)?;
                }
                // A rank that is missing can hang the job: it must not need another command.
                let lines = recorded(&of).into_iter().chain(mismatches(&of, &numbers(&of.report)));
                for line in lines {
                    writeln!(out, "{line}")?;
                }
            }
            TableFormat::Csv => print::table(TableFormat::Csv, &table, out)?,
            TableFormat::Json => {
                serde_json::to_writer_pretty(&mut *out, &json!({ "rows": print::json::rows(&table) }))?;
                writeln!(out)?;
            }
        }
        self.fail.check(&of, out)
    }
}

type OperationColumn = Column<SizeRow<FieldCell>>;

const KIND: OperationColumn = Column::of_text("KIND", |row| row.kind.text().unwrap_or("-").to_owned());
const BYTES: OperationColumn = Column::new("BYTES", |row| counted(&row.operation_bytes));
const RANKS: OperationColumn = Column::new("RANKS", |row| match row.ranks.int() {
    // Older traces do not tell the members of a group.
    None | Some(0) => "-".to_owned(),
    Some(ranks) => ranks.to_string(),
});
const LAST: OperationColumn = Column::new("LAST", |row| whole(row.last_rank.int()));
const STEP: OperationColumn = Column::new("STEP", |row| whole(row.step.int()));
const COUNT: OperationColumn = Column::new("COUNT", |row| counted(&row.count));
const ALGORITHM: OperationColumn =
    Column::of_text("ALGORITHM", |row| row.algorithm.text().unwrap_or_default().to_owned());
const ALL_WAITS: OperationColumn = Column::new("ALL WAITS", |row| duration(row.total_wait.float()));
const SLOWEST: OperationColumn = Column::new("SLOWEST", |row| whole(row.slowest_rank.int()));

/// Columns of times and bandwidths, of operations that have no step in common.
const TIMES: [OperationColumn; 11] = [
    Column::new("TRANSFER", |row| duration(row.transfer_median.float())),
    Column::new("P95", |row| duration(row.transfer_p95.float())),
    Column::new("MAX", |row| duration(row.transfer_max.float())),
    Column::new("WAIT", |row| duration(row.wait_median.float())),
    Column::new("P95", |row| duration(row.wait_p95.float())),
    Column::new("MAX", |row| duration(row.wait_max.float())),
    ALL_WAITS,
    Column::new("ALG", |row| rate(row.algorithm_rate.float())),
    Column::new("WITH WAIT", |row| rate(row.algorithm_rate_with_wait.float())),
    Column::new("BUS", |row| rate(row.bus_rate.float())),
    Column::new("WITH WAIT", |row| rate(row.bus_rate_with_wait.float())),
];

/// Columns of steps.
const STEPS: [OperationColumn; 8] = [
    STEP,
    COUNT,
    Column::new("START", |row| duration(row.start.float())),
    Column::new("SPAN", |row| duration(row.span.float())),
    Column::new("SKEW", |row| duration(row.skew.float())),
    ALL_WAITS,
    SLOWEST,
    Column::new("IMBALANCE", |row| ratio(row.imbalance.float())),
];

/// The columns of operations by a property.
fn shown_columns(by: By, rows: &[SizeRow<FieldCell>]) -> Vec<&'static OperationColumn> {
    let key: &[&OperationColumn] = match by {
        By::Kind => &[&KIND],
        By::Size => &[&KIND, &BYTES, &RANKS],
        By::Rank => &[&LAST],
        By::Step => return STEPS.iter().collect(),
    };
    let algorithm = rows.iter().any(|row| row.algorithm.text().is_some()).then_some(&ALGORITHM);
    // The rank that came last is the key already.
    let slowest = (by != By::Rank).then_some(&SLOWEST);
    key.iter().copied().chain(algorithm).chain([&COUNT]).chain(&TIMES).chain(slowest).collect()
}

/// A number with commas, or a dash.
fn counted(cell: &FieldCell) -> String {
    let count = cell.int().and_then(|count| u64::try_from(count).ok());
    count.map_or_else(|| "-".to_owned(), size::count)
}
