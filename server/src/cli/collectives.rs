//! `nprof collectives`

use std::io::Write;

use clap::{Args, ValueEnum};
use nprof_engine::analysis::Analysed;
use nprof_engine::analysis::job_segment::numbers;
use nprof_engine::analysis::table::By;
use nprof_engine::makers::CallIds;
use nprof_engine::makers::job::schema::SizeRow;
use serde_json::json;

use super::StorePlace;
use super::answer::{CheckedOutput, CheckedTableFormat};
use super::failed_condition::{FailArgs, conclude};
use super::progress::analysing;
use super::rank_lines::{mismatches, operations, recorded};
use crate::analysis::{self, analyse};
use crate::print::condition_report::ConditionReport;
use crate::print::{self, TableFormat, ViewColumn};
use crate::store::Profile;

const EXAMPLES: &str = "\
Examples:
  nprof collectives run-7                        by kind
  nprof collectives run-7 --by size              by kind, bytes and number of ranks
  nprof collectives run-7 --output-format json   each operation with its ranks, clocks and causes
  nprof collectives run-7 --fail-on 'lost > 1%'
  nprof collectives run-7 --fail-on 'lost > 1%' --output-format junit > collectives.xml
                                             a report for a CI system";

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
    /// In which form
    #[arg(long, visible_alias = "format", value_enum, ignore_case = true, default_value = "text")]
    output_format: CheckedTableFormat,
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
        let is_whole = self.output_format == CheckedTableFormat::Json && self.by.is_none();
        let ids = if is_whole { CallIds::Read } else { CallIds::Skipped };
        let of = analysing(|cancel| analyse(&profile, ids, cancel))?;
        let checked = self.fail.checked(&profile, &of)?;
        let report =
            ConditionReport { command: "nprof collectives", answer: &operations(&of), checked: &checked };
        CheckedOutput::from(self.output_format)
            .write(&report, out, |format, out| self.write(&profile, &of, format, out))?;
        conclude(&checked, out)
    }

    fn write(
        &self,
        profile: &Profile,
        of: &Analysed,
        format: TableFormat,
        out: &mut dyn Write,
    ) -> anyhow::Result<()> {
        if format == TableFormat::Json && self.by.is_none() {
            return analysis::json::write(of, profile, out);
        }
        let by = match self.by.unwrap_or(ByArg::Kind) {
            ByArg::Kind => By::Kind,
            ByArg::Size => By::Size,
            ByArg::Rank => By::Rank,
            ByArg::Step => By::Step,
        };
        let mut table = of.operations_by(by)?;
        match format {
            TableFormat::Text => {
                // Operations before the first step are in no step.
                if by == By::Step {
                    let step = table.place_of(SizeRow::by(|field| field.name).step);
                    table.rows.retain(|row| step.is_some_and(|step| row[step].is_some()));
                }
                if table.rows.is_empty() {
                    writeln!(out, "this profile has no collective operations")?;
                } else {
                    print::view(&table, &columns(by), out)?;
                }
                // A rank that is missing can hang the job: it must not need another command.
                let lines = recorded(of).into_iter().chain(mismatches(of, &numbers(&of.report)));
                print::lines(lines, out)?;
            }
            TableFormat::Csv => print::table(TableFormat::Csv, &table, out)?,
            TableFormat::Json => print::json::document(&json!({ "rows": print::json::rows(&table) }), out)?,
        }
        Ok(())
    }
}

/// The columns of operations by a property. Those of other properties have no value.
fn columns(by: By) -> Vec<ViewColumn> {
    let of = SizeRow::by(|field| field.name);
    let times = [
        ("TRANSFER", of.transfer_median),
        ("P95", of.transfer_p95),
        ("MAX", of.transfer_max),
        ("WAIT", of.wait_median),
        ("P95", of.wait_p95),
        ("MAX", of.wait_max),
    ];
    let rates = [
        ("ALG", of.algorithm_rate),
        ("WITH WAIT", of.algorithm_rate_with_wait),
        ("BUS", of.bus_rate),
        ("WITH WAIT", of.bus_rate_with_wait),
    ];
    let key = [
        ("KIND", of.kind),
        ("BYTES", of.operation_bytes),
        ("RANKS", of.ranks),
        ("LAST", of.last_rank),
        ("STEP", of.step),
        ("ALGORITHM", of.algorithm),
        ("COUNT", of.count),
        ("START", of.start),
        ("SPAN", of.span),
        ("SKEW", of.skew),
    ];
    let wait = [("ALL WAITS", of.total_wait)];
    let end = [("SLOWEST", of.slowest_rank), ("IMBALANCE", of.imbalance)];
    match by {
        By::Kind | By::Size => [&key[..], &times, &wait, &rates, &end].concat(),
        // The rank that came last is the key already.
        By::Rank => [&key[..], &times, &wait, &rates].concat(),
        // Operations of a step have no size in common.
        By::Step => [&key[..], &wait, &end].concat(),
    }
}
