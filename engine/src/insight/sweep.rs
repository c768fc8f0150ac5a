//! A sweep: the changes that shorten a run most, one at a time.

use std::sync::OnceLock;

use super::edit::{Change, Edit, NameGlob, Subject};
use super::graph::{JobGraph, RankGraph};
use super::median_rank::MedianRank;
use super::names::{ClassName, all_names, longest_names, longest_of};
use super::prediction::{Prediction, Predictions};
use super::scenario::Scenario;
use crate::base::Result;
use crate::exec::Work;

/// Names of work that are tried.
const MOST_NAMES: usize = 16;
/// Ranks that are tried: those that work longest.
const MOST_RANKS: usize = 8;
/// The factor that is tried.
const TWICE_AS_FAST: f64 = 0.5;

/// A change with its prediction.
#[derive(Debug, Clone, PartialEq)]
pub struct SweptEdit {
    /// The change.
    pub edit: Edit,
    /// The run under it.
    pub prediction: Prediction,
}

/// Predicts the run if each name of work, engine, queue, layer and kind of transfer were twice as
/// fast, and each rank as fast as the median one. The largest saving comes first.
pub fn sweep(predictions: &Predictions<'_>, work: Work<'_>) -> Result<Vec<SweptEdit>> {
    let graph = predictions.graph();
    let edits = edits(graph);
    let median: OnceLock<MedianRank<'_>> = OnceLock::new();
    let prediction = |at: usize| {
        let edit: &Edit = &edits[at];
        let scenario = match (&edit.subject, edit.change) {
            (Subject::Rank(number), Change::Median) => {
                let at = graph.ranks.iter().position(|rank| rank.rank == *number);
                let Some(at) = at else { return Ok(None) };
                Scenario::with_median_rank(median.get_or_init(|| MedianRank::new(graph)), at)
            }
            _ => match Scenario::new(graph, std::slice::from_ref(edit)) {
                Ok(scenario) => scenario,
                Err(_) => return Ok(None),
            },
        };
        predictions.under(&scenario, work.cancel).map(Some)
    };
    let predictions = work.gather(edits.len(), prediction)?;
    let swept = edits.iter().cloned().zip(predictions);
    let mut swept: Vec<SweptEdit> =
        swept.filter_map(|(edit, prediction)| Some(SweptEdit { edit, prediction: prediction? })).collect();
    swept.sort_by_key(|one| std::cmp::Reverse(one.prediction.saving().middle_ps));
    Ok(swept)
}

fn edits(graph: &JobGraph) -> Vec<Edit> {
    let faster = |subject| Edit { subject, change: Change::Factor(TWICE_AS_FAST) };
    let mut edits = Vec::new();
    for (of, subject) in [
        (None, Subject::Kernel as fn(NameGlob) -> Subject),
        (Some(ClassName::Engine), Subject::Engine),
        (Some(ClassName::DmaQueue), Subject::DmaQueue),
        (Some(ClassName::Layer), Subject::Layer),
    ] {
        let all = all_names(graph, of);
        let longest = of.map_or_else(|| longest_names(graph), |of| longest_of(graph, of));
        let pattern = |name| NameGlob::only(name, all.iter().copied());
        edits.extend(longest.into_iter().take(MOST_NAMES).map(|name| faster(subject(pattern(name)))));
    }
    let mut kinds: Vec<&str> = graph.kinds.iter().map(|kind| kind.name()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    edits.extend(kinds.into_iter().map(|kind| faster(Subject::Transfer(kind.to_owned()))));
    if graph.ranks.len() > 1 {
        let work_ps = |rank: &RankGraph| {
            rank.device_work().fold(0_i64, |sum, (_, node)| sum.saturating_add(node.duration_ps))
        };
        let mut ranks: Vec<(i64, u32)> = graph.ranks.iter().map(|rank| (work_ps(rank), rank.rank)).collect();
        ranks.sort_unstable_by_key(|(work_ps, rank)| (std::cmp::Reverse(*work_ps), *rank));
        let late = ranks.into_iter().take(MOST_RANKS);
        edits.extend(late.map(|(_, rank)| Edit { subject: Subject::Rank(rank), change: Change::Median }));
    }
    edits
}
