//! `nprof critical-path`

use std::io::Write;

use clap::{Args, ValueEnum};
use nprof_engine::base::time::short_duration;
use nprof_engine::insight::JobGraph;
use nprof_engine::insight::finding::Place;
use nprof_engine::insight::path_sight::{layer_of_part, name_of_part, party_of_part};
use nprof_engine::insight::slack::JobSlack;
use nprof_engine::insight::walk::{CriticalPath, JobEdges, PathPart};
use nprof_engine::wire::page_link::place_in_page;
use nprof_engine::wire::run_path::answer;
use serde::Serialize;
use serde_json::{Value, json};

use super::StorePlace;
use super::answer::{AnswerFormat, USUAL_LIMIT, with_work};
use super::progress::analysing;
use super::slack;
use crate::analysis::graph::replayable;
use crate::analysis::on_all_cores;
use crate::print;
use crate::print::answer_keys::head;
use crate::print::row_limit::RowLimit;
use crate::print::text::share;
use crate::store::Profile;

const EXAMPLES: &str = "\
Examples:
  nprof critical-path run-7                  the work that made the run as long as it is
  nprof critical-path run-7 --by layer       the same by layer; by engine, rank or kind, too
  nprof critical-path run-7 --slack          by how much work off the path could take longer
  nprof critical-path run-7 --limit all --output-format json | jq '.by_rank'";

/// Rows that the text lists.
const SHOWN_ROWS: usize = 10;

/// A part of the run that the text has a row for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PathKey {
    /// A name of work
    Name,
    /// An engine, queue, stream or thread
    Engine,
    /// A layer of the model
    Layer,
    /// A rank
    Rank,
    /// A kind of activity: work, transfers, calls of hosts, hosts between calls, gaps
    Kind,
}

impl PathKey {
    /// The key of a part. `None` if the trace does not state it.
    fn of(self, graph: &JobGraph, part: &PathPart) -> Option<String> {
        match self {
            Self::Name => Some(name_of_part(graph, part)),
            Self::Engine => Some(party_of_part(graph, part).to_owned()),
            Self::Layer => layer_of_part(graph, part).map(str::to_owned),
            Self::Rank => Some(format!("rank {}", graph.ranks[part.rank as usize].rank)),
            Self::Kind => Some(part.kind.plural().to_owned()),
        }
    }

    fn plural(self) -> &'static str {
        match self {
            Self::Name => "names",
            Self::Engine => "engines, queues, streams or threads",
            Self::Layer => "layers",
            Self::Rank => "ranks",
            Self::Kind => "kinds",
        }
    }
}

/// Show the work that made a run as long as it is
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct CriticalPathArgs {
    /// Name or id of a profile, as `nprof list` shows it
    profile: String,
    /// List the work of devices by its slack, the least first: the time by which it could take
    /// longer before the run does
    #[arg(long)]
    slack: bool,
    /// The key by which the text adds up the time; JSON has all
    #[arg(long, value_enum, ignore_case = true, default_value = "name", conflicts_with = "slack")]
    by: PathKey,
    /// Most parts of the path, or most slices with --slack, or `all`
    #[arg(long, value_name = "N", default_value = USUAL_LIMIT)]
    limit: RowLimit,
    /// As text or JSON
    #[arg(long, visible_alias = "format", value_enum, ignore_case = true, default_value = "text")]
    output_format: AnswerFormat,
}

impl CriticalPathArgs {
    pub(super) fn run(self, place: &StorePlace, out: &mut dyn Write) -> anyhow::Result<()> {
        let profile = place.read()?.find(&self.profile)?;
        if self.slack {
            return self.write_slack(&profile, out);
        }
        let (graph, path) = analysing(|cancel| {
            let of = with_work(replayable(&profile, cancel)?)?;
            let path = CriticalPath::of(&JobEdges::of(of.graph(), on_all_cores(cancel))?);
            Ok::<_, anyhow::Error>((of.run.into_graph(), path))
        })?;
        match self.output_format {
            AnswerFormat::Json => print::json::document(&self.document(&profile, &graph, &path), out)?,
            AnswerFormat::Text => print::lines(lines(&graph, &path, self.by), out)?,
        }
        Ok(())
    }

    fn write_slack(&self, profile: &Profile, out: &mut dyn Write) -> anyhow::Result<()> {
        let (graph, slack) = analysing(|cancel| {
            let of = with_work(replayable(profile, cancel)?)?;
            let slack = JobSlack::of(of.graph(), cancel)?;
            Ok::<_, anyhow::Error>((of.run.into_graph(), slack))
        })?;
        match self.output_format {
            AnswerFormat::Json => {
                print::json::document(&slack::document(profile, &graph, &slack, self.limit), out)?;
            }
            AnswerFormat::Text => print::lines(slack::lines(&graph, &slack), out)?,
        }
        Ok(())
    }

    fn document(&self, profile: &Profile, graph: &JobGraph, path: &CriticalPath) -> Value {
        let shown = self.limit.shown(&path.parts);
        let mut document = head(profile, shown.len(), path.parts.len());
        let rank = |part: &PathPart| graph.ranks[part.rank as usize].rank;
        let name = |part: &PathPart| name_of(graph, part);
        let track = |part: &PathPart| track_of(graph, part);
        let by_kind = path.totals(|part| Some(part.kind.name()));
        for (key, value) in [
            ("length_ps", json!(path.length_ps())),
            ("start_ps", json!(path.span_ps.0)),
            ("by_kind", rows("kind", by_kind)),
            ("by_rank", rows("rank", path.totals(|part| Some(rank(part))))),
            ("by_track", rows("track", path.totals(|part| Some(track(part))))),
            ("by_engine", rows("engine", path.totals(|part| Some(party_of_part(graph, part))))),
            ("by_layer", rows("layer", path.totals(|part| layer_of_part(graph, part)))),
            ("by_name", rows("name", path.totals(|part| Some(name(part))))),
        ] {
            document.insert(key.to_owned(), value);
        }
        let part = |part: &PathPart| {
            let row = graph.ranks[part.rank as usize].row_of(part.node);
            let place =
                Place { span_ps: Some((part.start_ps, part.end_ps)), row, ..Place::of_rank(rank(part)) };
            json!({
                "rank": rank(part), "row": row, "link": place_in_page(&place), "track": track(part), "name": name(part),
                "kind": part.kind.name(), "start_ps": part.start_ps, "end_ps": part.end_ps,
            })
        };
        document.insert("slices".to_owned(), shown.iter().map(part).collect());
        Value::Object(document)
    }
}

/// The name of the work of a part. That of a gap is the work behind it.
fn name_of<'g>(graph: &'g JobGraph, part: &PathPart) -> &'g str {
    let rank = &graph.ranks[part.rank as usize];
    rank.name(&rank.work.nodes[part.node as usize])
}

pub(super) fn track_of<'g>(graph: &'g JobGraph, part: &PathPart) -> &'g str {
    graph.ranks[part.rank as usize].track_of(part.node)
}

/// Times by a key, as rows of a document.
fn rows(key: &str, totals: Vec<(impl Serialize, i64)>) -> Value {
    totals.into_iter().map(|(value, ps)| json!({key: value, "ps": ps})).collect()
}

/// The length and what it consists of, then the ranks and the rows by a key.
fn lines(graph: &JobGraph, path: &CriticalPath, by: PathKey) -> Vec<String> {
    let length_ps = path.length_ps() as f64;
    let with_share = |ps: i64| format!("{} ({})", short_duration(ps as f64), share(ps as f64, length_ps));
    let mut lines = vec![answer(path)];
    if graph.ranks.len() > 1 && by != PathKey::Rank {
        let ranks = path.totals(|part| PathKey::Rank.of(graph, part));
        let first = ranks.iter().take(SHOWN_ROWS);
        let first: Vec<String> = first.map(|(rank, ps)| format!("{rank} {}", with_share(*ps))).collect();
        lines.push(format!("on the path: {}", first.join(", ")));
    }
    let rows = path.totals(|part| by.of(graph, part));
    let (shown, rest) = rows.split_at(rows.len().min(SHOWN_ROWS));
    lines.extend(shown.iter().map(|(name, ps)| format!("{:>18}  {name}", with_share(*ps))));
    if !rest.is_empty() {
        let ps = rest.iter().map(|(_, ps)| ps).sum();
        let others = format!("{} other {}", rest.len(), by.plural());
        lines.push(format!("{:>18}  {others}; --output-format json lists all", with_share(ps)));
    }
    let known_ps: i64 = rows.iter().map(|(_, ps)| ps).sum();
    if known_ps < path.length_ps() {
        let rest = with_share(path.length_ps() - known_ps);
        lines.push(format!("{rest:>18}  work for which the trace states none of the {}", by.plural()));
    }
    lines
}
