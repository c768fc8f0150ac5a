//! A dependency graph as bytes: what the segments of a job and its analysis tell about it. Edges
//! that follow from these facts are searched again when it is read.
//!
//! It is a pure function of the segments, so it can be lost and made again.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::absent_call::AbsentCall;
use super::int_columns::{DAMAGED, IntColumnReader, IntColumnWriter};
use super::job::{GraphPart, JobGraph, calls_by_row};
use super::meeting::Meeting;
use super::rank::RankGraph;
use super::work_columns;
use crate::base::{ClockFit, Result};
use crate::exec::{CallerThread, Work};
use crate::model::{CollectiveKind, RankWork, WaitCounts, WorkClass, WorkQueue, WorkSemaphore};
use crate::query::RowTime;
use crate::spill::NoShelf;

/// A dependency graph as bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GraphOverlay {
    kinds: Vec<CollectiveKind>,
    meetings: Vec<Meeting>,
    unrecorded_ps: i64,
    ranks: Vec<RankOverlay>,
}

/// The times of rows of the segment of the rank with this number. The rows ascend.
pub type TimesOfRows<'r> = &'r (dyn Fn(u32, &[u32]) -> Result<Vec<RowTime>> + Sync);

/// The part of a rank.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RankOverlay {
    rank: u32,
    clock: OverlayClock,
    queues: Vec<WorkQueue>,
    classes: Vec<WorkClass>,
    queue_names: Vec<String>,
    parties: Vec<String>,
    is_stated: Vec<bool>,
    semaphores: Vec<WorkSemaphore>,
    waits: WaitCounts,
    names: BTreeMap<u32, String>,
    absent: Vec<AbsentCall>,
    /// Number of calls that the trace has, and of nodes.
    calls: u32,
    nodes: u32,
    /// The rows of the calls, their meetings, then the nodes and edges. Times are those of the
    /// segment, which has them in full.
    columns: Vec<u8>,
}

/// The clock of a rank's segment. Times are in picoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct OverlayClock {
    at_ps: i64,
    offset_ps: i64,
    drift_ppb: i32,
}

impl RankOverlay {
    /// The part of a rank. `work` is read anew from its segment, and has the times of its clock.
    /// `row_times` gives the times of rows of the segment.
    pub fn of(
        rank: &RankGraph,
        work: RankWork,
        clock: &ClockFit,
        row_times: impl FnOnce(&[u32]) -> Result<Vec<RowTime>>,
    ) -> Result<Self> {
        let mut columns = IntColumnWriter::default();
        let recorded = rank.calls.iter().filter_map(|call| Some((rank.row_of(call.node)?, call.meeting)));
        let mut calls: Vec<(u32, u32)> = recorded.collect();
        calls.sort_unstable();
        columns.ints(&calls.iter().map(|(row, _)| i64::from(*row)).collect::<Vec<_>>());
        columns.ints(&calls.iter().map(|(_, meeting)| i64::from(*meeting)).collect::<Vec<_>>());
        let times = row_times(&work_columns::rows_of(&work))?;
        work_columns::write(&work, &times, &mut columns);
        Ok(Self {
            rank: rank.rank,
            clock: OverlayClock {
                at_ps: clock.at_ps(),
                offset_ps: clock.offset_ps(),
                drift_ppb: clock.drift_ppb(),
            },
            absent: absent_calls(rank),
            calls: calls.len() as u32,
            nodes: work.nodes.len() as u32,
            columns: columns.bytes,
            queues: work.queues,
            classes: work.classes,
            queue_names: work.queue_names,
            parties: work.parties,
            is_stated: work.is_stated,
            semaphores: work.semaphores,
            waits: work.waits,
            names: work.names.into_iter().collect(),
        })
    }

    /// Whether a call that the trace lacks fits to the rest.
    fn is_possible(&self, call: &AbsentCall, meetings: usize) -> bool {
        (call.class as usize) < self.classes.len()
            && (call.meeting as usize) < meetings
            && call.start_ps <= call.end_ps
    }

    /// The part of the graph. `meetings` is the number of all meetings.
    fn part(&self, meetings: usize, row_times: TimesOfRows<'_>) -> Result<GraphPart> {
        let queues = self.queues.len();
        let are_heads_right = self.queue_names.len() == queues
            && self.calls <= self.nodes
            && [self.parties.len(), self.is_stated.len()].iter().all(|len| [0, queues].contains(len))
            && self.classes.iter().all(|class| (class.queue as usize) < queues)
            && self.absent.iter().all(|call| self.is_possible(call, meetings));
        if !are_heads_right {
            return Err(DAMAGED);
        }
        let mut work = RankWork {
            queues: self.queues.clone(),
            classes: self.classes.clone(),
            queue_names: self.queue_names.clone(),
            parties: self.parties.clone(),
            is_stated: self.is_stated.clone(),
            semaphores: self.semaphores.clone(),
            waits: self.waits,
            names: self.names.iter().map(|(number, name)| (*number, name.clone())).collect(),
            ..RankWork::default()
        };
        let mut columns = IntColumnReader::new(&self.columns);
        let rows = columns.numbers(self.calls as usize, usize::MAX)?;
        let of_calls = columns.numbers(self.calls as usize, meetings)?;
        let of_nodes = work_columns::read_rows(self.nodes as usize, &mut columns)?;
        let times = row_times(self.rank, &of_nodes)?;
        work_columns::read(&mut work, &of_nodes, &times, &mut columns)?;
        columns.finish()?;
        let OverlayClock { at_ps, offset_ps, drift_ppb } = self.clock;
        work.sort(&CallerThread);
        work.to_shared_clock(&ClockFit::new(at_ps, offset_ps, drift_ppb, None)?);
        let meetings: FxHashMap<u32, u32> = rows.into_iter().zip(of_calls).collect();
        let calls = calls_by_row(&work, &meetings);
        Ok(GraphPart { rank: self.rank, work, calls, absent: self.absent.clone() })
    }
}

/// The calls that the trace of a rank lacks, in the order in which they were added.
fn absent_calls(rank: &RankGraph) -> Vec<AbsentCall> {
    let mut absent: Vec<(u32, AbsentCall)> = Vec::new();
    for call in rank.calls.iter().filter(|call| rank.row_of(call.node).is_none()) {
        let node = &rank.work.nodes[call.node as usize];
        let of = AbsentCall {
            meeting: call.meeting,
            class: node.class,
            start_ps: node.start_ps,
            end_ps: node.end_ps(),
            arrives: call.arrives,
        };
        absent.push((node.row, of));
    }
    absent.sort_unstable_by_key(|(row, _)| *row);
    absent.into_iter().map(|(_, call)| call).collect()
}

impl GraphOverlay {
    /// A graph with the parts of all its ranks.
    #[must_use]
    pub fn of(graph: &JobGraph, ranks: Vec<RankOverlay>) -> Self {
        let meetings = graph.meetings.iter().map(|meeting| Meeting { calls: 0, ..*meeting });
        Self {
            kinds: graph.kinds.clone(),
            meetings: meetings.collect(),
            unrecorded_ps: graph.unrecorded_ps,
            ranks,
        }
    }

    /// Number of nodes.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.ranks.iter().map(|rank| u64::from(rank.nodes)).sum()
    }

    /// Whether there are no nodes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The graph. `row_times` gives the times of rows of a rank's segment.
    pub fn graph(&self, row_times: TimesOfRows<'_>, work: Work<'_>) -> Result<JobGraph> {
        let are_meetings_right = self.meetings.iter().all(|meeting| {
            (meeting.signature as usize) < self.kinds.len()
                && meeting.most_transfer_ps >= 0
                && meeting.root.is_none_or(|root| (root as usize) < self.ranks.len())
        });
        if !are_meetings_right {
            return Err(DAMAGED);
        }
        let part = |at: usize| {
            work.cancel.check()?;
            self.ranks[at].part(self.meetings.len(), row_times)
        };
        let parts = work.gather(self.ranks.len(), part)?;
        let graph = JobGraph::of_parts(parts, self.meetings.clone(), &NoShelf, work)?;
        Ok(JobGraph { kinds: self.kinds.clone(), unrecorded_ps: self.unrecorded_ps, ..graph })
    }
}
