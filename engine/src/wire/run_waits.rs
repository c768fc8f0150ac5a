//! The waits of a run: who waited for whom, and what a picture shows of it. [`WaitTable::of`] alone
//! makes the rows, so the command line, the API, the page and HTML files give the same answer.

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};

use super::message_times::{TimeField, Timed};
use super::page_link::place_in_page;
use crate::base::Interval;
use crate::base::time::short_duration;
use crate::insight::finding::Place;
use crate::insight::wait::sentence::wait_sentence;
use crate::insight::wait::sight::SeenWait;
use crate::insight::wait::{Party, WaitRow, WaitsOfRank};
use crate::insight::{JobGraph, RankGraph};
use crate::model::WaitCounts;

/// The waits of the queues and threads of some ranks, in picoseconds of the clock that all ranks
/// share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunWaits {
    /// The sums.
    pub table: WaitTable,
    /// The single waits within the requested span, in the order of ranks and times. Short ones can
    /// be left out.
    pub waits: Vec<WaitSpan>,
    /// Number of waits that are left out.
    pub left_out: u64,
    /// Their sum.
    pub left_out_ps: i64,
}

/// Waits, summed by waiter, awaited one, kind and root.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WaitTable {
    /// The answer in a sentence.
    pub answer: String,
    /// All waited time, in picoseconds, summed over queues and threads.
    pub wait_ps: i64,
    /// The waits that the recordings state.
    pub stated_waits: StatedWaits,
    /// Stated dependencies that the clock contradicts.
    pub dropped_edges: u64,
    /// Number of rows, also of those that a limit left out.
    pub total: u64,
    /// The rows, the longest first. A last one of each rank is idle time for which nothing is
    /// known.
    pub rows: Vec<WaitEntry>,
}

/// Numbers of waits that recordings state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StatedWaits {
    /// All of them.
    pub stated: u64,
    /// Those with the change that ended them.
    pub fulfilled: u64,
    /// Those with the author of that change.
    pub charged: u64,
}

/// The waits of a queue or thread for another one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WaitEntry {
    /// Number of the rank.
    pub rank: u32,
    /// The queue, engine or thread that waited. `None` for the rest.
    pub waiter: Option<String>,
    /// The awaited one; `None` if nobody is known.
    pub awaited: Option<String>,
    /// The reason: `stream`, `launch`, `operation`, `synchronization`, `semaphore`, `dma`,
    /// `trigger` or `unknown`.
    pub kind: String,
    /// Time waited, in picoseconds.
    pub wait_ps: i64,
    /// The one that worked meanwhile; `None` if nobody did.
    pub root: Option<String>,
    /// The row in a sentence, without its time.
    pub text: String,
    /// The longest single wait, in picoseconds.
    pub longest_ps: Option<i64>,
    /// Name of the semaphore of the longest wait.
    pub semaphore: Option<String>,
    /// The work that waited longest.
    pub instruction: Option<String>,
    /// Its layer of the model.
    pub layer: Option<String>,
    /// Its line of source.
    pub source: Option<String>,
    /// Its row in the segment of the rank.
    pub row: Option<u32>,
    /// The work that it waited for.
    pub awaited_instruction: Option<String>,
    /// The row of that work.
    pub awaited_row: Option<u32>,
    /// The place of the longest wait in the page of the profile, as the rest of its address.
    pub link: Option<String>,
}

/// A single wait.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WaitSpan {
    /// Number of the rank.
    pub rank: u32,
    /// Number of the track.
    pub track: u32,
    /// Line of the track.
    pub lane: u32,
    /// Start in picoseconds.
    pub start_ps: i64,
    /// End in picoseconds.
    pub end_ps: i64,
    /// The awaited one; `None` if nobody is known.
    pub awaited: Option<String>,
    /// Row of the slice that waited. `None` for a call that the trace lacks.
    pub row: Option<u32>,
    /// Whether the wait is a part of the slice, rather than the time before it.
    pub is_within: bool,
}

impl RunWaits {
    /// The message about the waits of some ranks, with at most `most` rows.
    #[must_use]
    pub fn of(graph: &JobGraph, found: &[WaitsOfRank], most: usize) -> Self {
        let spans = |of: &WaitsOfRank| {
            let rank = &graph.ranks[of.at as usize];
            of.sight.waits.iter().map(|wait| WaitSpan::of(graph, rank, wait)).collect::<Vec<_>>()
        };
        Self {
            table: WaitTable::of(graph, found, most),
            waits: found.iter().flat_map(spans).collect(),
            left_out: found.iter().map(|of| of.sight.left_out).sum(),
            left_out_ps: found.iter().map(|of| of.sight.left_out_ps).fold(0, i64::saturating_add),
        }
    }

    /// The message with the longest single waits within a span, of those that it has.
    #[must_use]
    pub fn within(&self, span: Option<Interval>, most: usize) -> Self {
        let is_in_sight =
            |wait: &&WaitSpan| span.is_none_or(|span| span.overlaps(wait.start_ps, wait.end_ps));
        let mut waits: Vec<(usize, &WaitSpan)> = self.waits.iter().filter(is_in_sight).enumerate().collect();
        // The first ones of equally long waits stay: the sort keeps their order.
        waits.sort_by_key(|(_, wait)| Reverse(wait.duration_ps()));
        let left_out = waits.split_off(waits.len().min(most));
        waits.sort_unstable_by_key(|(place, _)| *place);
        let left_out_ps = left_out.iter().map(|(_, wait)| wait.duration_ps()).fold(0, i64::saturating_add);
        Self {
            table: self.table.clone(),
            waits: waits.into_iter().map(|(_, wait)| wait.clone()).collect(),
            left_out: self.left_out + left_out.len() as u64,
            left_out_ps: self.left_out_ps.saturating_add(left_out_ps),
        }
    }
}

impl WaitTable {
    /// The rows of some ranks, at most `most`.
    #[must_use]
    pub fn of(graph: &JobGraph, found: &[WaitsOfRank], most: usize) -> Self {
        let of_rank = |of: &WaitsOfRank| graph.ranks[of.at as usize].rank;
        let mut rows: Vec<(u32, WaitRow)> =
            found.iter().flat_map(|of| of.rows.iter().map(|row| (of_rank(of), *row))).collect();
        rows.sort_by_key(|(_, row)| (row.waiter.is_none(), Reverse(row.wait_ps)));
        let wait_ps = rows.iter().map(|(_, row)| row.wait_ps).fold(0, i64::saturating_add);
        let ranks = found.iter().map(|of| &graph.ranks[of.at as usize]);
        let whose = match found {
            [_] if graph.ranks.len() == 1 => "the run".to_owned(),
            [one] => format!("rank {}", of_rank(one)),
            _ => format!("{} ranks", found.len()),
        };
        Self {
            answer: format!(
                "queues and threads of {whose} waited {}, summed over them",
                short_duration(wait_ps as f64)
            ),
            wait_ps,
            stated_waits: StatedWaits::of(ranks.clone()),
            dropped_edges: ranks.map(RankGraph::dropped_edges).sum(),
            total: rows.len() as u64,
            rows: rows.iter().take(most).map(|(rank, row)| WaitEntry::of(graph, *rank, row)).collect(),
        }
    }
}

impl StatedWaits {
    fn of<'g>(ranks: impl Iterator<Item = &'g RankGraph>) -> Self {
        let WaitCounts { stated, fulfilled, charged } =
            ranks.fold(WaitCounts::default(), |sum, rank| sum.plus(rank.work.waits));
        Self { stated, fulfilled, charged }
    }

    /// The numbers in a sentence. `None` if no recording states waits.
    #[must_use]
    pub fn sentence(self) -> Option<String> {
        let Self { stated, fulfilled, charged } = self;
        (stated > 0).then(|| {
            format!(
                "{stated} waits for semaphores are recorded, {fulfilled} with the change that ended them, \
                 {charged} with its author"
            )
        })
    }
}

impl WaitEntry {
    fn of(graph: &JobGraph, rank: u32, row: &WaitRow) -> Self {
        let name = |party: Option<Party>| party.map(|party| party.name(graph));
        let of = row.rank(graph).zip(row.longest);
        let waited = of.map(|(of, longest)| (of, &of.work.nodes[longest.node as usize]));
        let awaited = of.and_then(|(of, longest)| Some((of, longest.awaited?)));
        let slice = of.and_then(|(of, longest)| of.row_of(longest.node));
        let place = waited.map(|(_, node)| Place {
            span_ps: Some((node.start_ps, node.end_ps())),
            row: slice,
            ..Place::of_rank(rank)
        });
        Self {
            rank,
            waiter: name(row.waiter),
            awaited: name(row.awaited),
            kind: row.kind.name().to_owned(),
            wait_ps: row.wait_ps,
            root: name(row.root),
            text: wait_sentence(graph, row),
            longest_ps: row.longest.map(|longest| longest.wait_ps),
            semaphore: row.semaphore(graph).map(str::to_owned),
            instruction: waited.map(|(of, node)| of.name(node).to_owned()),
            layer: waited.and_then(|(of, node)| of.layer(node)).map(str::to_owned),
            source: None,
            row: slice,
            awaited_instruction: awaited.map(|(of, node)| of.name(&of.work.nodes[node as usize]).to_owned()),
            awaited_row: awaited.and_then(|(of, node)| of.row_of(node)),
            link: place.as_ref().and_then(place_in_page),
        }
    }
}

impl WaitSpan {
    /// Length in picoseconds.
    #[must_use]
    pub fn duration_ps(&self) -> i64 {
        self.end_ps.saturating_sub(self.start_ps)
    }

    fn of(graph: &JobGraph, rank: &RankGraph, wait: &SeenWait) -> Self {
        let queue = rank.work.queue_of(&rank.work.nodes[wait.node as usize]);
        Self {
            rank: rank.rank,
            track: queue.track.0,
            lane: queue.lane,
            start_ps: wait.start_ps,
            end_ps: wait.end_ps,
            awaited: wait.awaited.map(|party| party.name(graph)),
            row: rank.row_of(wait.node),
            is_within: wait.is_within,
        }
    }
}

/// Waits have shared times.
impl Timed for RunWaits {
    fn each_time(&mut self, _: &mut dyn FnMut(TimeField<'_>)) {}
}
