//! `nprof collectives`

use std::io::Write;

use clap::{Args, ValueEnum};
use nprof_engine::analysis::StepReport;
use nprof_engine::analysis::job_segment::numbers;
use nprof_engine::analysis::table::{By, OperationGroup, RowKey, rows};
use nprof_engine::base::time::short_duration;
use nprof_engine::makers::CallIds;
use serde_json::{Value, json};

use super::rank_lines::{mismatches, recorded};
use super::ranks::{FailArgs, analysed};
use super::size::{self, Align};
use super::table_format::TableFormat;
use super::{StorePlace, rank_cells as cells};
use crate::analysis::json as analysis_json;

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
        let rows = rows(&of.job, &of.report, by);
        let steps = if by == By::Step { of.steps() } else { Vec::new() };
        let json_rows = || {
            let mut of_rows: Vec<Value> = rows.iter().map(|row| json_row(row, &steps)).collect();
            if know_algorithms(&rows) {
                for (of, row) in of_rows.iter_mut().zip(&rows) {
                    of["algorithm"] = json!(row.algorithms.join(", "));
                }
            }
            of_rows
        };
        match self.output_format {
            TableFormat::Text => {
                if rows.is_empty() {
                    writeln!(out, "this profile has no collective operations")?;
                } else if by == By::Step {
                    text_of_steps(&steps, out)?;
                } else {
                    text(by, &rows, out)?;
                }
                // A rank that is missing can hang the job: it must not need another command.
                let lines = recorded(&of).into_iter().chain(mismatches(&of, &numbers(&of.report)));
                for line in lines {
                    writeln!(out, "{line}")?;
                }
            }
            TableFormat::Csv => cells::csv(out, &json_rows())?,
            TableFormat::Json => {
                let rows = json_rows();
                serde_json::to_writer_pretty(&mut *out, &json!({ "rows": rows }))?;
                writeln!(out)?;
            }
        }
        self.fail.check(&of, out)
    }
}

/// Whether the algorithm of an operation is known.
fn know_algorithms(rows: &[OperationGroup]) -> bool {
    rows.iter().any(|row| !row.algorithms.is_empty())
}

fn text(by: By, rows: &[OperationGroup], out: &mut dyn Write) -> std::io::Result<()> {
    let key: &[&str] = match by {
        By::Kind => &["KIND"],
        By::Size => &["KIND", "BYTES", "RANKS"],
        By::Rank => &["LAST"],
        By::Step => &["STEP"],
    };
    let known_algorithms = know_algorithms(rows);
    let algorithm = known_algorithms.then_some("ALGORITHM");
    let rest = [
        "COUNT",
        "TRANSFER",
        "P95",
        "MAX",
        "WAIT",
        "P95",
        "MAX",
        "ALL WAITS",
        "ALG",
        "WITH WAIT",
        "BUS",
        "WITH WAIT",
        "SLOWEST",
    ];
    // The rank that came last is the key already.
    let columns = if by == By::Rank { &rest[..rest.len() - 1] } else { &rest[..] };
    let mut lines =
        vec![key.iter().chain(&algorithm).chain(columns).map(|&cell| cell.to_owned()).collect::<Vec<_>>()];
    lines.extend(rows.iter().map(|row| line(by, row, known_algorithms)));
    let mut align = vec![Align::Right; key.len() + usize::from(known_algorithms) + columns.len()];
    if known_algorithms {
        align[key.len()] = Align::Left;
    }
    if matches!(by, By::Kind | By::Size) {
        align[0] = Align::Left;
    }
    size::table(out, &align, &lines)
}

/// The cells of a row.
fn line(by: By, row: &OperationGroup, known_algorithms: bool) -> Vec<String> {
    let mut line = match row.key {
        RowKey::Kind(kind) => vec![kind.name().to_owned()],
        RowKey::Size(kind, bytes, ranks) => vec![kind.name().to_owned(), size::count(bytes), known(ranks)],
        RowKey::Rank(number) => vec![number.to_string()],
        RowKey::Step(number) => vec![shown(number)],
    };
    if known_algorithms {
        line.push(row.algorithms.join(", "));
    }
    line.push(size::count(row.count));
    for times in [row.transfer_ps, row.wait_ps] {
        let cell = |at: usize| times.map_or_else(|| "-".to_owned(), |of| short_duration(of[at] as f64));
        line.extend([0, 1, 2].map(cell));
    }
    line.push(short_duration(row.total_wait_ps as f64));
    line.extend([row.algorithm_rate, row.algorithm_rate_with_wait].map(cells::rate));
    line.extend([row.bus_rate, row.bus_rate_with_wait].map(cells::rate));
    if by != By::Rank {
        line.push(shown(row.slowest));
    }
    line
}

fn text_of_steps(steps: &[StepReport], out: &mut dyn Write) -> std::io::Result<()> {
    let heading = ["STEP", "COUNT", "START", "SPAN", "SKEW", "ALL WAITS", "SLOWEST", "IMBALANCE"];
    let mut lines = vec![heading.map(str::to_owned).to_vec()];
    lines.extend(steps.iter().map(|step| {
        let [start, span, skew, wait] =
            [step.start_ps, step.span_ps, step.skew_ps, step.wait_ps].map(|ps| short_duration(ps as f64));
        let imbalance = step.imbalance.map_or_else(|| "-".to_owned(), |part| cells::share(part, 1.0));
        let (number, count) = (step.number.to_string(), size::count(step.operations));
        vec![number, count, start, span, skew, wait, shown(step.slowest), imbalance]
    }));
    size::table(out, &[Align::Right; 8], &lines)
}

/// A number, or a dash.
fn shown(number: Option<u32>) -> String {
    number.map_or_else(|| "-".to_owned(), |number| number.to_string())
}

/// A number of ranks, or a dash.
fn known(ranks: u32) -> String {
    if ranks == 0 { "-".to_owned() } else { ranks.to_string() }
}

/// A row as JSON, with the facts about its step if it is one of `steps`.
fn json_row(row: &OperationGroup, steps: &[StepReport]) -> Value {
    let ns = |ps: i64| ps as f64 / 1e3;
    let mut object = match row.key {
        RowKey::Kind(kind) => json!({ "kind": kind.name() }),
        RowKey::Size(kind, bytes, ranks) => {
            json!({ "kind": kind.name(), "operation_bytes": bytes, "ranks": ranks })
        }
        RowKey::Rank(rank) => json!({ "last_rank": rank }),
        RowKey::Step(step) => json!({ "step": step }),
    };
    let [transfer, wait] =
        [row.transfer_ps, row.wait_ps].map(|of| [0, 1, 2].map(|at| of.map(|times| ns(times[at]))));
    let rest = json!({
        "count": row.count,
        "of_one_rank": row.alone,
        "bytes": row.bytes,
        "transfer_median_ns": transfer[0],
        "transfer_p95_ns": transfer[1],
        "transfer_max_ns": transfer[2],
        "wait_median_ns": wait[0],
        "wait_p95_ns": wait[1],
        "wait_max_ns": wait[2],
        "total_wait_ns": ns(row.total_wait_ps),
        "algorithm_bytes_per_s": row.algorithm_rate,
        "algorithm_bytes_per_s_with_wait": row.algorithm_rate_with_wait,
        "bus_bytes_per_s": row.bus_rate,
        "bus_bytes_per_s_with_wait": row.bus_rate_with_wait,
        "slowest_rank": row.slowest,
    });
    if let (Value::Object(object), Value::Object(rest)) = (&mut object, rest) {
        object.extend(rest);
    }
    if let RowKey::Step(number) = row.key {
        let step = steps.iter().find(|step| Some(step.number) == number);
        object["start_ns"] = json!(step.map(|step| ns(step.start_ps)));
        object["span_ns"] = json!(step.map(|step| ns(step.span_ps)));
        object["skew_ns"] = json!(step.map(|step| ns(step.skew_ps)));
        object["imbalance"] = json!(step.and_then(|step| step.imbalance));
        if let Some(step) = step {
            object["slowest_rank"] = json!(step.slowest);
        }
    }
    object
}
