//! The slack of the work of a run, for `nprof critical-path --slack`.

use nprof_engine::base::time::short_duration;
use nprof_engine::insight::JobGraph;
use nprof_engine::insight::finding::Place;
use nprof_engine::insight::slack::{JobSlack, NameSlack, SliceSlack};
use nprof_engine::wire::page_link::place_in_page;
use serde_json::{Value, json};

use super::size::counted;
use crate::print::answer_keys::head;
use crate::print::fit::fitted;
use crate::print::row_limit::RowLimit;
use crate::print::text::share;
use crate::store::Profile;

/// Names that the text lists.
const SHOWN_NAMES: usize = 20;
/// Columns of a name: a line has a hundred.
const NAME_WIDTH: usize = 65;

/// The answer as JSON: each name with its least slack, then slices.
pub(super) fn document(profile: &Profile, graph: &JobGraph, slack: &JobSlack, limit: RowLimit) -> Value {
    let all = slack.slices(graph);
    let shown = limit.shown(&all);
    let mut document = head(profile, shown.len(), all.len());
    let slice = |of: &SliceSlack| {
        let rank = &graph.ranks[of.rank as usize];
        let node = &rank.work.nodes[of.node as usize];
        let row = rank.row_of(of.node);
        let place = Place { span_ps: Some((node.start_ps, node.end_ps())), row, ..Place::of_rank(rank.rank) };
        json!({
            "rank": rank.rank, "row": row, "link": place_in_page(&place), "track": rank.track_of(of.node),
            "name": rank.name(node), "start_ps": node.start_ps, "end_ps": node.end_ps(),
            "slack_ps": of.slack_ps,
        })
    };
    let name = |of: &NameSlack<'_>| {
        let rank = &graph.ranks[of.least.rank as usize];
        json!({
            "name": of.name, "slices": of.slices, "ps": of.time_ps, "ps_without_slack": of.tight_ps,
            "slack_ps": of.least.slack_ps, "median_slack_ps": of.median_ps,
            "rank": rank.rank, "row": rank.row_of(of.least.node),
        })
    };
    let names = JobSlack::by_name(graph, &all);
    document.insert("by_name".to_owned(), names.iter().map(name).collect());
    document.insert("slices".to_owned(), shown.iter().map(slice).collect());
    Value::Object(document)
}

/// The part of the work without slack, then the names, those with the most time without it first.
pub(super) fn lines(graph: &JobGraph, slack: &JobSlack) -> Vec<String> {
    let all = slack.slices(graph);
    let time = |ps: i64| short_duration(ps as f64);
    let time_ps = |of: &SliceSlack| graph.ranks[of.rank as usize].work.nodes[of.node as usize].duration_ps;
    let sum = |of: &mut dyn Iterator<Item = &SliceSlack>| of.map(time_ps).fold(0_i64, i64::saturating_add);
    let tight_ps = sum(&mut all.iter().filter(|of| of.slack_ps == 0));
    let whole_ps = sum(&mut all.iter());
    let mut lines = vec![format!(
        "{} of the work of all devices has no slack: {} of {}",
        share(tight_ps as f64, whole_ps as f64),
        time(tight_ps),
        time(whole_ps)
    )];
    let names = JobSlack::by_name(graph, &all);
    if !names.is_empty() {
        lines.push(format!("{:>9} {:>9} {:>13}  name", "time", "no slack", "median slack"));
    }
    let (shown, rest) = names.split_at(names.len().min(SHOWN_NAMES));
    let texts: Vec<&str> = shown.iter().map(|of| of.name).collect();
    let line = |(of, name): (&NameSlack<'_>, String)| {
        format!("{:>9} {:>9} {:>13}  {name}", time(of.time_ps), time(of.tight_ps), time(of.median_ps))
    };
    lines.extend(shown.iter().zip(fitted(&texts, NAME_WIDTH)).map(line));
    if !rest.is_empty() {
        let others = counted(rest.len() as u64, "name");
        lines.push(format!("{others} with more slack; --output-format json lists all"));
    }
    lines
}
