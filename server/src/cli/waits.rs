//! `nprof waits`

use std::collections::BTreeMap;
use std::io::Write;

use clap::Args;
use nprof_engine::base::time::short_duration;
use nprof_engine::exec::Cancel;
use nprof_engine::insight::finding::{Coverage, Place, sentence};
use nprof_engine::insight::wait::{WaitKind, WaitRow, waits};
use nprof_engine::insight::walk::{CriticalPath, JobEdges};
use nprof_engine::insight::{JobGraph, RankGraph};
use nprof_engine::model::WaitCounts;
use nprof_engine::wire::page_link::place_in_page;
use serde_json::{Value, json};

use super::StorePlace;
use super::answer::{AnswerFormat, USUAL_LIMIT, name_of, with_work};
use super::failed_condition::{Failing, Undecided};
use super::limit::CostLimit;
use super::progress::analysing;
use crate::analysis::graph::{Replayable, replayable, source_lines};
use crate::analysis::on_all_cores;
use crate::print;
use crate::print::answer_keys::head;
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
    fail_on: Option<CostLimit>,
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
        let (of, found, length_ps) = analysing(|cancel| {
            let of = with_work(replayable(&profile, cancel)?)?;
            let edges = JobEdges::of(&of.graph, on_all_cores(cancel))?;
            let found = self.waits(&edges, cancel)?;
            let length_ps = self.fail_on.map_or(0, |_| CriticalPath::of(&edges).length_ps());
            Ok::<_, anyhow::Error>((of, found, length_ps))
        })?;
        match self.output_format {
            AnswerFormat::Json => print::json::document(&self.document(&profile, &of.graph, &found)?, out)?,
            AnswerFormat::Text => print::lines(self.lines(&of.graph, &found), out)?,
        }
        self.judge(&of, &found, length_ps, out)
    }

    /// Checks the limit after the output is complete.
    fn judge(
        &self,
        of: &Replayable,
        found: &[RankWaitRows],
        length_ps: i64,
        out: &mut dyn Write,
    ) -> anyhow::Result<()> {
        let Some(limit) = self.fail_on else { return Ok(()) };
        let limit_ps = limit.ps(length_ps);
        out.flush()?;
        let rows = ordered(found);
        let longest =
            rows.iter().find(|(_, row)| row.waiter.is_some()).filter(|(_, row)| row.wait_ps > limit_ps);
        if let Some((rank, row)) = longest {
            let wait = short_duration(row.wait_ps as f64);
            return Err(
                Failing(format!("rank {rank}: {} for {wait}", sentence(&of.graph, *rank, row))).into()
            );
        }
        let coverage = Coverage::of(&of.analysed.job, &of.analysed.report, &of.graph);
        match coverage.is_complete() {
            true => Ok(()),
            false => Err(Undecided(sentence::coverage(&coverage)).into()),
        }
    }

    fn waits(&self, edges: &JobEdges<'_>, cancel: Cancel<'_>) -> anyhow::Result<Vec<RankWaitRows>> {
        let ranks = (0_u32..).zip(&edges.graph().ranks);
        let wanted = ranks.filter(|(_, rank)| self.rank.is_none_or(|wanted| wanted == rank.rank));
        let wanted: Vec<(u32, &RankGraph)> = wanted.collect();
        let of_rank = |place: usize| {
            let (at, rank) = wanted[place];
            Ok(RankWaitRows { rank: rank.rank, rows: waits(edges, at, cancel)? })
        };
        let found = on_all_cores(cancel).gather(wanted.len(), of_rank)?;
        match self.rank.filter(|_| found.is_empty()) {
            Some(rank) => anyhow::bail!("{} has no rank {rank}", self.profile),
            None => Ok(found),
        }
    }

    fn document(&self, profile: &Profile, graph: &JobGraph, found: &[RankWaitRows]) -> anyhow::Result<Value> {
        let rows: Vec<(u32, &WaitRow)> = ordered(found);
        let shown = self.limit.shown(&rows);
        let lines = source_lines_of(profile, graph, shown)?;
        let mut document = head(profile, shown.len(), rows.len());
        if let Some(rank) = self.rank {
            document["scope"]["rank"] = json!(rank);
        }
        document.insert("wait_ps".to_owned(), json!(total_ps(found)));
        let WaitCounts { stated, fulfilled, charged } = stated_waits(graph, found);
        let counts = json!({"stated": stated, "fulfilled": fulfilled, "charged": charged});
        document.insert("stated_waits".to_owned(), counts);
        let dropped: u64 = graph.ranks.iter().map(RankGraph::dropped_edges).sum();
        document.insert("dropped_edges".to_owned(), json!(dropped));
        let row = |(rank, row): &(u32, &WaitRow)| {
            let name = |party: &Option<_>| party.as_ref().map(|party| name_of(graph, party));
            let longest = LongestNames::of(graph, *rank, row);
            let source = longest.row.and_then(|of| lines.get(&(*rank, of)));
            json!({
                "rank": rank,
                "waiter": name(&row.waiter),
                "awaited": name(&row.awaited),
                "kind": row.kind.name(),
                "wait_ps": row.wait_ps,
                "root": name(&row.root),
                "longest_ps": row.longest.map(|longest| longest.wait_ps),
                "semaphore": longest.semaphore,
                "instruction": longest.instruction,
                "layer": longest.layer,
                "source": source,
                "row": longest.row,
                "awaited_instruction": longest.awaited_instruction,
                "awaited_row": longest.awaited_row,
                "link": longest.place(*rank).as_ref().and_then(place_in_page),
            })
        };
        document.insert("rows".to_owned(), shown.iter().map(row).collect());
        Ok(Value::Object(document))
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
        let WaitCounts { stated, fulfilled, charged } = stated_waits(graph, found);
        if stated > 0 {
            lines.push(format!(
                "{stated} waits for semaphores are recorded, {fulfilled} with the change that ended them, \
                 {charged} with its author"
            ));
        }
        lines.extend(shown.iter().map(|(of, row)| {
            let rank =
                if self.rank.is_none() && found.len() > 1 { format!("rank {of}: ") } else { String::new() };
            format!("{:>8}  {rank}{}", time(row.wait_ps), sentence(graph, *of, row))
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

/// The counts of the waits that the recordings of these ranks state.
fn stated_waits(graph: &JobGraph, found: &[RankWaitRows]) -> WaitCounts {
    let is_shown = |rank: &&RankGraph| found.iter().any(|of| of.rank == rank.rank);
    graph.ranks.iter().filter(is_shown).fold(WaitCounts::default(), |sum, rank| sum.plus(rank.work.waits))
}

/// The names of the longest wait of a row.
#[derive(Debug, Default)]
struct LongestNames<'g> {
    semaphore: Option<&'g str>,
    instruction: Option<&'g str>,
    layer: Option<&'g str>,
    row: Option<u32>,
    awaited_instruction: Option<&'g str>,
    awaited_row: Option<u32>,
    /// First and last time of the instruction that waited, in picoseconds of the shared clock.
    span_ps: Option<(i64, i64)>,
}

impl<'g> LongestNames<'g> {
    /// The place of the longest wait.
    fn place(&self, rank: u32) -> Option<Place> {
        Some(Place { span_ps: Some(self.span_ps?), row: self.row, ..Place::of_rank(rank) })
    }

    fn of(graph: &'g JobGraph, rank: u32, row: &WaitRow) -> Self {
        let rank = graph.ranks.iter().find(|of| of.rank == rank);
        let (Some(rank), Some(longest)) = (rank, row.longest) else { return Self::default() };
        let node = &rank.work.nodes[longest.node as usize];
        let awaited = longest.awaited.map(|awaited| &rank.work.nodes[awaited as usize]);
        Self {
            semaphore: longest
                .semaphore
                .and_then(|of| rank.work.semaphores.get(of as usize))
                .map(|of| of.name.as_str()),
            instruction: Some(rank.name(node)),
            layer: rank.layer(node),
            row: rank.row_of(longest.node),
            awaited_instruction: awaited.map(|awaited| rank.name(awaited)),
            awaited_row: longest.awaited.and_then(|awaited| rank.row_of(awaited)),
            span_ps: Some((node.start_ps, node.end_ps())),
        }
    }
}

/// The lines of source of the longest waits, by rank and row.
fn source_lines_of(
    profile: &Profile,
    graph: &JobGraph,
    shown: &[(u32, &WaitRow)],
) -> anyhow::Result<BTreeMap<(u32, u32), String>> {
    let mut of_ranks: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (rank, row) in shown {
        of_ranks.entry(*rank).or_default().extend(LongestNames::of(graph, *rank, row).row);
    }
    let mut lines = BTreeMap::new();
    for (rank, rows) in of_ranks {
        for (row, line) in rows.iter().zip(source_lines(profile, rank, &rows)?) {
            lines.extend(line.map(|line| ((rank, *row), line)));
        }
    }
    Ok(lines)
}

fn sentence(graph: &JobGraph, rank: u32, row: &WaitRow) -> String {
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
        WaitKind::Semaphore | WaitKind::Transfer => match LongestNames::of(graph, rank, row).semaphore {
            Some(semaphore) => format!("{waiter} waited for {awaited} to change {semaphore}"),
            None => format!("{waiter} waited for {awaited}"),
        },
        WaitKind::Trigger => format!("{waiter} waited for a trigger by {awaited}"),
        WaitKind::Unknown => format!("{waiter} was idle"),
    };
    match name(&row.root) {
        Some(root) if root != awaited => format!("{how}, which {root} held back"),
        Some(_) => how,
        None => format!("{how}, while nothing ran there"),
    }
}
