//! `nprof summary`

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use nprof_engine::exec::{Cancel, Work};
use nprof_engine::insight::finding::findings;
use nprof_engine::wire::summary::Summary;
use serde_json::{Map, Value, json};

use super::StorePlace;
use super::answer::{AnswerFormat, with_work};
use super::overview::{RunOverview, without_work};
use super::write::{STANDARD_OUTPUT, stored, write_answer};
use crate::analysis::findings::facts_of;
use crate::analysis::graph::replayable;
use crate::export::RanksOf;
use crate::export::requested_part::rank_of;
use crate::export::summary::{by_rank, summaries};
use crate::print;
use crate::print::answer_keys::head;
use crate::print::metric;
use crate::store::{Profile, RankFile};
use crate::terminal::visible;

const EXAMPLES: &str = "\
Examples:
  nprof summary run-7                        what it is, how long it takes, where the time goes
  nprof summary run-7 --all                  all metrics of all ranks
  nprof summary run-7 --rank 0               all metrics of rank 0
  nprof summary run-7 --rank 0 --output-format json
                                             their exact values";

/// Show what a profile is, how long its run takes, where the time goes, and what is wrong
///
/// One screen, unless all metrics are asked for. JSON has the exact values of all metrics.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct SummaryArgs {
    /// Name or id of a profile, as `nprof list` shows it
    profile: String,
    /// Show all metrics instead of one screen
    #[arg(long)]
    all: bool,
    /// Show all metrics of this rank
    #[arg(long)]
    rank: Option<u32>,
    /// As text or JSON
    #[arg(long, visible_alias = "format", value_enum, ignore_case = true, default_value = "text")]
    output_format: AnswerFormat,
    /// The file to write, `-` for standard output [default: -]
    #[arg(short = 'o', long, value_name = "FILE")]
    output_file: Option<PathBuf>,
}

impl SummaryArgs {
    pub(super) fn run(self, place: &StorePlace, out: &mut dyn Write) -> anyhow::Result<()> {
        let store = place.read()?;
        let profile = stored(&store, &self.profile)?;
        let ranks = match self.rank {
            Some(rank) => vec![rank_of(&profile, rank)?.clone()],
            None => profile.manifest.ranks.clone(),
        };
        let of = RanksOf::some(&profile, &ranks);
        let path = self.output_file.as_deref().unwrap_or(STANDARD_OUTPUT.as_ref());
        write_answer(&store, &profile, path, out, |cancel| {
            let work = Work { cancel, ..Work::IN_PLACE };
            let mut text = Vec::new();
            match self.output_format {
                AnswerFormat::Json => {
                    print::json::document(&document(&profile, self.rank, &summaries(of, work)?), &mut text)?;
                }
                AnswerFormat::Text if self.all || self.rank.is_some() => {
                    print::lines(all_metrics(&summaries(of, work)?), &mut text)?;
                }
                AnswerFormat::Text => print::lines(screen(&profile, cancel)?, &mut text)?,
            }
            Ok(text)
        })
    }
}

/// The first screen.
fn screen(profile: &Profile, cancel: Cancel<'_>) -> anyhow::Result<Vec<String>> {
    let of = replayable(profile, cancel)?;
    if of.graph().is_empty() {
        let work = Work { cancel, ..Work::IN_PLACE };
        // One rank is enough for a screen.
        let first = RanksOf::some(profile, &profile.manifest.ranks[..1]);
        let reason = with_work(of).err().map(|error| error.to_string()).unwrap_or_default();
        return Ok(without_work(profile, &reason, summaries(first, work)?.first()));
    }
    let facts = facts_of(profile, &of, cancel)?;
    let verdicts = findings(&facts)?;
    let overview = RunOverview {
        profile,
        analysed: &of.analysed,
        graph: of.graph(),
        path: facts.path(),
        verdicts: &verdicts,
        coverage: &facts.coverage,
    };
    Ok(overview.lines())
}

/// All metrics, with a heading for each rank if there are several.
fn all_metrics(ranks: &[(&RankFile, Summary)]) -> Vec<String> {
    let mut lines = Vec::new();
    for (at, (rank, summary)) in ranks.iter().enumerate() {
        if ranks.len() > 1 {
            lines.extend((at > 0).then(String::new));
            lines.push(format!("rank {} ({})", rank.rank, visible(&rank.id)));
        }
        lines.extend(metric::groups(summary));
    }
    lines
}

/// The exact values of all metrics. Times are in seconds.
fn document(profile: &Profile, rank: Option<u32>, ranks: &[(&RankFile, Summary)]) -> Map<String, Value> {
    let by_rank = by_rank(ranks);
    let metrics = || by_rank.values().filter_map(Value::as_object);
    let total = metrics().map(Map::len).sum();
    let all = ranks.iter().flat_map(|(_, summary)| &summary.groups).flat_map(|group| &group.metrics);
    let units: Map<String, Value> = all
        .filter(|metric| !metric.unit.is_empty())
        .map(|metric| (metric.name.clone(), json!(metric.unit)))
        .collect();
    let mut document = head(profile, total, total);
    document.insert("unit".to_owned(), json!("s"));
    if let Some(rank) = rank {
        document["scope"]["rank"] = json!(rank);
    }
    document.insert("units".to_owned(), Value::Object(units));
    document.extend(by_rank);
    document
}
