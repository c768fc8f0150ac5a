//! `nprof waits`

use std::io::Write;

use clap::Args;
use nprof_engine::base::time::short_duration;
use nprof_engine::insight::JobGraph;
use nprof_engine::insight::finding::{Coverage, sentence};
use nprof_engine::insight::wait::AskedWaits;
use nprof_engine::insight::walk::{CriticalPath, JobEdges};
use nprof_engine::wire::run_waits::{WaitEntry, WaitTable};
use serde_json::{Map, Value, json};

use super::StorePlace;
use super::answer::{AnswerFormat, USUAL_LIMIT, with_work};
use super::failed_condition::{Failing, Undecided};
use super::limit::CostLimit;
use super::progress::analysing;
use crate::analysis::graph::{Replayable, replayable};
use crate::analysis::on_all_cores;
use crate::analysis::run_waits::{run_waits, unknown_rank};
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

impl WaitsArgs {
    pub(super) fn run(self, place: &StorePlace, out: &mut dyn Write) -> anyhow::Result<()> {
        let profile = place.read()?.find(&self.profile)?;
        let (of, table, length_ps) = analysing(|cancel| {
            let of = with_work(replayable(&profile, cancel)?)?;
            let ranks: Option<Vec<u32>> = self.rank.map(|rank| vec![rank]);
            if let Some(reason) = ranks.as_deref().and_then(|ranks| unknown_rank(of.graph(), ranks)) {
                anyhow::bail!("{}: {reason}", self.profile);
            }
            let edges = JobEdges::of(of.graph(), on_all_cores(cancel))?;
            let asked = AskedWaits { ranks: ranks.as_deref(), span: None, most: 0 };
            let waits = run_waits(&profile, &edges, &asked, self.limit.most(), cancel)?;
            let length_ps = self.fail_on.map_or(0, |_| CriticalPath::of(&edges).length_ps());
            Ok::<_, anyhow::Error>((of, waits.table, length_ps))
        })?;
        match self.output_format {
            AnswerFormat::Json => print::json::document(&self.document(&profile, &table), out)?,
            AnswerFormat::Text => print::lines(self.lines(of.graph(), &table), out)?,
        }
        self.judge(&of, &table, length_ps, out)
    }

    /// Checks the limit after the output is complete.
    fn judge(
        &self,
        of: &Replayable,
        table: &WaitTable,
        length_ps: i64,
        out: &mut dyn Write,
    ) -> anyhow::Result<()> {
        let Some(limit) = self.fail_on else { return Ok(()) };
        out.flush()?;
        let is_known = |entry: &&WaitEntry| entry.waiter.is_some() && entry.wait_ps > limit.ps(length_ps);
        if let Some(WaitEntry { rank, wait_ps, text, .. }) = table.rows.first().filter(is_known) {
            let wait = short_duration(*wait_ps as f64);
            return Err(Failing(format!("rank {rank}: {text} for {wait}")).into());
        }
        let coverage = Coverage::of(&of.analysed.job, &of.analysed.report, of.graph());
        match coverage.is_complete() {
            true => Ok(()),
            false => Err(Undecided(sentence::coverage(&coverage)).into()),
        }
    }

    /// The document: the message that a server gives, behind the keys of all commands.
    fn document(&self, profile: &Profile, table: &WaitTable) -> Map<String, Value> {
        let mut document = head(profile, table.rows.len(), table.total as usize);
        if let Some(rank) = self.rank {
            document["scope"]["rank"] = json!(rank);
        }
        if let Value::Object(message) = json!(table) {
            document.extend(message);
        }
        document
    }

    /// The sum, then a line a row.
    fn lines(&self, graph: &JobGraph, table: &WaitTable) -> Vec<String> {
        let mut lines = vec![table.answer.clone()];
        lines.extend(table.stated_waits.sentence());
        let are_several = self.rank.is_none() && graph.ranks.len() > 1;
        lines.extend(table.rows.iter().map(|row| {
            let rank = if are_several { format!("rank {}: ", row.rank) } else { String::new() };
            format!("{:>8}  {rank}{}", short_duration(row.wait_ps as f64), row.text)
        }));
        let left_out = table.total - table.rows.len() as u64;
        if left_out > 0 {
            lines.push(format!("{left_out} more rows; --limit all shows them"));
        }
        lines
    }
}
