//! The critical path of a run, as the page draws it.

use serde::{Deserialize, Serialize};

use super::message_times::{TimeField, Timed};
use crate::base::Interval;
use crate::base::time::short_duration;
use crate::insight::JobGraph;
use crate::insight::finding::sentence::of_run;
use crate::insight::path_sight::{SeenPart, layer_of_part, name_of_part, party_of_part};
use crate::insight::walk::{CriticalPath, PathKind};

/// The work that made a run as long as it is. Its parts follow each other without a gap, in
/// picoseconds of the clock that all ranks share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunPath {
    /// The answer in a sentence.
    pub answer: String,
    /// Start of the run.
    pub start_ps: i64,
    /// Length of the run.
    pub length_ps: i64,
    /// The time of each kind of part, the longest first. Together they are the run.
    pub by_kind: Vec<PathShare>,
    /// The time on each rank, the longest first.
    pub by_rank: Vec<PathShare>,
    /// The names of work with the most time, the longest first.
    pub by_name: Vec<PathShare>,
    /// Number of names, also of those that `by_name` leaves out.
    pub names: u64,
    /// The engines, queues, streams and threads with the most time, the longest first. A gap is on
    /// that of the work behind it.
    pub by_engine: Vec<PathShare>,
    /// The layers with the most time, the longest first, and the time of work whose layer is not
    /// known. Empty if the trace states none.
    pub by_layer: Vec<PathShare>,
    /// The parts within the requested span, in the order of time.
    pub parts: Vec<PathEntry>,
}

/// A part of the run by a key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PathShare {
    /// The kind, rank or name.
    pub name: String,
    /// Its time in picoseconds.
    pub ps: i64,
}

/// A part of a critical path, or several short ones that follow each other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PathEntry {
    /// Number of the rank.
    pub rank: u32,
    /// Number of the track.
    pub track: u32,
    /// Name of the track.
    pub track_name: String,
    /// Line of the track.
    pub lane: u32,
    /// Row of the slice in the segment of the rank. `None` for a call that the trace lacks.
    pub row: Option<u32>,
    /// Name of the work; of several parts that of the longest one.
    pub name: String,
    /// The activity.
    pub kind: PathKindEntry,
    /// Start in picoseconds.
    pub start_ps: i64,
    /// End in picoseconds.
    pub end_ps: i64,
    /// Number of parts.
    pub count: u32,
}

/// The activity of a part of a critical path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum PathKindEntry {
    /// Work of a device.
    Work,
    /// A transfer, from its last arrival on.
    Transfer,
    /// A call of a host.
    Call,
    /// A thread of a host between its calls.
    Host,
    /// Time between work and what it waited for last.
    Gap,
}

/// Names that the message has, and layers and engines.
const MOST_NAMES: usize = 200;
/// The time of work whose layer is not known.
const NO_LAYER: &str = "no layer stated";

impl RunPath {
    /// The message about a path: its parts within a span, at most `most`.
    #[must_use]
    pub fn of(graph: &JobGraph, path: &CriticalPath, span: Option<Interval>, most: usize) -> Self {
        let span = span.unwrap_or(Interval::new(path.span_ps.0, path.span_ps.1));
        let mut by_name = shares(path.totals(|part| Some(name_of_part(graph, part))));
        let names = by_name.len() as u64;
        by_name.truncate(MOST_NAMES);
        Self {
            answer: answer(path),
            start_ps: path.span_ps.0,
            length_ps: path.length_ps(),
            by_kind: shares(
                path.totals(|part| Some(part.kind)).into_iter().map(|(kind, ps)| (kind.name(), ps)),
            ),
            by_rank: shares(path.totals(|part| Some(graph.ranks[part.rank as usize].rank))),
            by_name,
            names,
            by_engine: first(path.totals(|part| Some(party_of_part(graph, part)))),
            by_layer: layers(graph, path),
            parts: path.seen(span, most).iter().map(|seen| PathEntry::of(graph, seen)).collect(),
        }
    }

    /// The message with its parts within a span, of those that it has.
    #[must_use]
    pub fn within(mut self, span: Option<Interval>) -> Self {
        if let Some(span) = span {
            self.parts.retain(|part| part.end_ps > span.start.0 && part.start_ps < span.end.0);
        }
        self
    }
}

fn shares(totals: impl IntoIterator<Item = (impl ToString, i64)>) -> Vec<PathShare> {
    totals.into_iter().map(|(name, ps)| PathShare { name: name.to_string(), ps }).collect()
}

fn first(totals: Vec<(&str, i64)>) -> Vec<PathShare> {
    shares(totals.into_iter().take(MOST_NAMES))
}

fn layers(graph: &JobGraph, path: &CriticalPath) -> Vec<PathShare> {
    let totals = path.totals(|part| Some(layer_of_part(graph, part)));
    let has_layers = totals.iter().any(|(layer, _)| layer.is_some());
    let named = totals.into_iter().map(|(layer, ps)| (layer.unwrap_or(NO_LAYER), ps));
    if has_layers { first(named.collect()) } else { Vec::new() }
}

/// The length of a run and the kinds of the parts of its path, in a sentence.
#[must_use]
pub fn answer(path: &CriticalPath) -> String {
    let length_ps = path.length_ps();
    let time = |ps: i64| short_duration(ps as f64);
    let mut kinds = path.totals(|part| Some(part.kind));
    kinds.sort_unstable_by_key(|(kind, _)| *kind);
    let words =
        |(kind, ps): (PathKind, i64)| format!("{} ({}) {}", time(ps), of_run(ps, length_ps), kind.plural());
    let kinds: Vec<String> = kinds.into_iter().map(words).collect();
    format!("the run takes {}: {}", time(length_ps), kinds.join(", "))
}

impl PathEntry {
    fn of(graph: &JobGraph, seen: &SeenPart) -> Self {
        let SeenPart { part, count } = *seen;
        let rank = &graph.ranks[part.rank as usize];
        let queue = rank.work.queue_of(&rank.work.nodes[part.node as usize]);
        Self {
            rank: rank.rank,
            track: queue.track.0,
            track_name: rank.track_of(part.node).to_owned(),
            lane: queue.lane,
            row: rank.row_of(part.node),
            name: name_of_part(graph, &part),
            kind: part.kind.into(),
            start_ps: part.start_ps,
            end_ps: part.end_ps,
            count,
        }
    }
}

impl From<PathKind> for PathKindEntry {
    fn from(of: PathKind) -> Self {
        match of {
            PathKind::Work => Self::Work,
            PathKind::Transfer => Self::Transfer,
            PathKind::Call => Self::Call,
            PathKind::Host => Self::Host,
            PathKind::Gap => Self::Gap,
        }
    }
}

/// A path has shared times.
impl Timed for RunPath {
    fn each_time(&mut self, _: &mut dyn FnMut(TimeField<'_>)) {}
}
