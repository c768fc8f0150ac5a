//! `nprof waits`

use std::io::Write;

use clap::Args;
use nprof_engine::base::time::short_duration;
use nprof_engine::exec::Cancel;
use nprof_engine::insight::JobGraph;
use nprof_engine::insight::finding::Facts;
use nprof_engine::insight::wait::{WaitKind, WaitRow, waits};
use nprof_engine::insight::walk::JobEdges;
use serde_json::{Value, json};

use super::StorePlace;
use super::answer::{AnswerFormat, USUAL_LIMIT, head, name_of, with_work};
use super::failed_condition::{Failing, Undecided};
use super::limit::TimeLimit;
use super::progress::analysing;
use crate::analysis::graph::{Replayable, replayable};
use crate::print;
use crate::print::finding::coverage_line;
use crate::print::row_limit::RowLimit;
use crate::store::Profile;

const EXAMPLES: &str = "\
Examples:
  nprof waits run-7                          who waited for whom, on all ranks
  nprof waits run-7 --rank 3                 the queues and threads of rank 3
  nprof waits run-7 --fail-on 20%            exit with 3 if one waits for a fifth of the run
  nprof waits run-7 --rank 3 --limit all --output-format json | jq '.rows[0]'";

/// Show which queues and threads waited, for whom, and where the waiting began
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct WaitsArgs {
    /// Name or id of a profile, as `nprof list` shows it
    profile: String,
    /// Only this rank [default: all]
    #[arg(long)]
    rank: Option<u32>,
    /// Most rows, or `all`
    #[arg(long, value_name = "N", default_value = USUAL_LIMIT)]
    limit: RowLimit,
    /// Exit with 3 if a queue or thread waits for another one for more than this, such as `20%` of
    /// the run or `5 ms`; with 4 if the recording lacks parts that can hide such a wait
    #[arg(long, value_name = "WAIT")]
    fail_on: Option<TimeLimit>,
    /// As text or JSON
    #[arg(long, visible_alias = "format", value_enum, ignore_case = true, default_value = "text")]
    output_format: AnswerFormat,
}

/// Rows of a rank.
struct RankWaitRows {
    rank: u32,
    rows: Vec<WaitRow>,
}

impl WaitsArgs {
    pub(super) fn run(self, place: &StorePlace, out: &mut dyn Write) -> anyhow::Result<()> {
        let profile = place.read()?.find(&self.profile)?;
        let (of, found) = analysing(|cancel| {
            let of = with_work(replayable(&profile, cancel)?)?;
            let found = self.waits(&of, cancel)?;
            Ok::<_, anyhow::Error>((of, found))
        })?;
        match self.output_format {
            AnswerFormat::Json => print::json::document(&self.document(&profile, &of.graph, &found), out)?,
            AnswerFormat::Text => print::lines(self.lines(&of.graph, &found), out)?,
        }
        self.judge(&of, &found, out)
    }

    /// Checks the limit after the output is complete.
    fn judge(&self, of: &Replayable, found: &[RankWaitRows], out: &mut dyn Write) -> anyhow::Result<()> {
        let Some(limit) = self.fail_on else { return Ok(()) };
        let facts = Facts::new(&of.analysed.job, &of.analysed.report, &of.graph, Cancel::NEVER)?;
        let limit_ps = limit.ps(facts.length_ps());
        out.flush()?;
        let rows = ordered(found);
        let longest =
            rows.iter().find(|(_, row)| row.waiter.is_some()).filter(|(_, row)| row.wait_ps > limit_ps);
        if let Some((rank, row)) = longest {
            let wait = short_duration(row.wait_ps as f64);
            return Err(Failing(format!("rank {rank}: {} for {wait}", sentence(&of.graph, row))).into());
        }
        match facts.coverage.is_complete() {
            true => Ok(()),
            false => Err(Undecided(coverage_line(&facts.coverage)).into()),
        }
    }

    fn waits(&self, of: &Replayable, cancel: Cancel<'_>) -> anyhow::Result<Vec<RankWaitRows>> {
        let edges = JobEdges::of(&of.graph, cancel)?;
        let ranks = (0_u32..).zip(&of.graph.ranks);
        let wanted = ranks.filter(|(_, rank)| self.rank.is_none_or(|wanted| wanted == rank.rank));
        let found: Vec<RankWaitRows> = wanted
            .map(|(at, rank)| Ok(RankWaitRows { rank: rank.rank, rows: waits(&edges, at, cancel)? }))
            .collect::<anyhow::Result<_>>()?;
        match self.rank.filter(|_| found.is_empty()) {
            Some(rank) => anyhow::bail!("{} has no rank {rank}", self.profile),
            None => Ok(found),
        }
    }

    fn document(&self, profile: &Profile, graph: &JobGraph, found: &[RankWaitRows]) -> Value {
        let rows: Vec<(u32, &WaitRow)> = ordered(found);
        let shown = self.limit.shown(&rows);
        let mut document = head(profile, shown.len(), rows.len());
        if let Some(rank) = self.rank {
            document["scope"]["rank"] = json!(rank);
        }
        document.insert("wait_ps".to_owned(), json!(total_ps(found)));
        let row = |(rank, row): &(u32, &WaitRow)| {
            let name = |party: &Option<_>| party.as_ref().map(|party| name_of(graph, party));
            json!({
                "rank": rank,
                "waiter": name(&row.waiter),
                "awaited": name(&row.awaited),
                "kind": row.kind.name(),
                "wait_ps": row.wait_ps,
                "root": name(&row.root),
            })
        };
        document.insert("rows".to_owned(), shown.iter().map(row).collect());
        Value::Object(document)
    }

    /// The sum, then a line a row.
    fn lines(&self, graph: &JobGraph, found: &[RankWaitRows]) -> Vec<String> {
        let rows = ordered(found);
        let shown = self.limit.shown(&rows);
        let time = |ps: i64| short_duration(ps as f64);
        let of = match self.rank {
            Some(rank) => format!("rank {rank}"),
            None if found.len() == 1 => "the run".to_owned(),
            None => format!("{} ranks", found.len()),
        };
        let mut lines =
            vec![format!("queues and threads of {of} waited {}, summed over them", time(total_ps(found)))];
        lines.extend(shown.iter().map(|(rank, row)| {
            let rank =
                if self.rank.is_none() && found.len() > 1 { format!("rank {rank}: ") } else { String::new() };
            format!("{:>8}  {rank}{}", time(row.wait_ps), sentence(graph, row))
        }));
        if shown.len() < rows.len() {
            lines.push(format!("{} more rows; --limit all shows them", rows.len() - shown.len()));
        }
        lines
    }
}

/// All rows, the longest first, and those without a waiter last.
fn ordered(found: &[RankWaitRows]) -> Vec<(u32, &WaitRow)> {
    let mut rows: Vec<(u32, &WaitRow)> =
        found.iter().flat_map(|of| of.rows.iter().map(|row| (of.rank, row))).collect();
    rows.sort_by_key(|(_, row)| (row.waiter.is_none(), std::cmp::Reverse(row.wait_ps)));
    rows
}

fn total_ps(found: &[RankWaitRows]) -> i64 {
    let waits = found.iter().flat_map(|of| &of.rows).map(|row| row.wait_ps);
    waits.fold(0, i64::saturating_add)
}

fn sentence(graph: &JobGraph, row: &WaitRow) -> String {
    let name = |party: &Option<_>| party.as_ref().map(|party| name_of(graph, party));
    let Some(waiter) = name(&row.waiter) else {
        return "idle, and nothing is known that it waited for".to_owned();
    };
    let awaited = name(&row.awaited).unwrap_or_else(|| "nobody known".to_owned());
    let how = match row.kind {
        WaitKind::Stream => format!("{waiter} waited for {awaited}"),
        WaitKind::Launch => format!("{waiter} waited for a launch by {awaited}"),
        WaitKind::Operation => format!("{waiter} waited in operations for {awaited}"),
        WaitKind::Synchronization => format!("{waiter} waited until {awaited} was done"),
        WaitKind::Unknown => format!("{waiter} was idle"),
    };
    match name(&row.root) {
        Some(root) if root != awaited => format!("{how}, which {root} held back"),
        Some(_) => how,
        None => format!("{how}, while nothing ran there"),
    }
}
