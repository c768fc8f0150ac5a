//! The dependency graph of all ranks of a job.

use std::sync::Mutex;

use rustc_hash::{FxHashMap, FxHashSet};

use super::absent_call::{AbsentCall, absent_calls, usual_transfers_ps};
use super::evidence::{RankStarts, StartEvidence};
use super::meeting::{Meeting, MeetingCall};
use super::observed_work::ObservedWork;
use super::rank::{ABSENT_ROW, ClassQueues, RankGraph, by_ends, communicating_classes};
use crate::analysis::{Job, Passage, Report, passages};
use crate::base::{Result, narrow};
use crate::exec::{Exec, Work};
use crate::model::{CollectiveKind, MachineSide, RankWork, WaitingRanks, WorkNode};
use crate::spill::Shelf;

/// The dependency graph of all ranks.
#[derive(Debug, Default)]
pub struct JobGraph {
    /// The ranks in the order of the job.
    pub ranks: Vec<RankGraph>,
    pub(in crate::insight) meetings: Vec<Meeting>,
    /// For each signature of the job the kind of its operations.
    pub(in crate::insight) kinds: Vec<CollectiveKind>,
    /// The most time that a rank was at work before its recording began and that others felt, in
    /// picoseconds: what they waited for it, and its time from the last operation to its first
    /// work.
    pub(in crate::insight) unrecorded_ps: i64,
}

impl JobGraph {
    /// The graph of a job. `works` has the work of each rank in the order of the job, with the
    /// times of the shared clock. The graph keeps its long lists on the shelf.
    pub fn new(
        job: &Job,
        report: &Report,
        works: Vec<RankWork>,
        shelf: &dyn Shelf,
        work: Work<'_>,
    ) -> Result<Self> {
        let transfers = usual_transfers_ps(job, report);
        let meeting = |one: &crate::analysis::InstanceReport| Meeting {
            calls: 0,
            waiting: job.signatures[one.signature as usize].kind.waiting(),
            root: one.root,
            signature: one.signature,
            most_transfer_ps: i64::MAX,
            is_step: false,
        };
        let mut meetings: Vec<Meeting> = report.operations.iter().map(meeting).collect();
        let mut calls = calls_of(job, report, &works, work)?;
        let absent = absent_calls(job, report, &transfers, &works, &calls, work.cancel)?;
        for absent in absent.iter().flatten().filter(|absent| !absent.arrives) {
            let meeting = &mut meetings[absent.meeting as usize];
            meeting.most_transfer_ps = transfers[meeting.signature as usize];
        }
        add_steps(job, report, &works, &mut meetings, &mut calls);
        let numbers = job.ranks.iter().map(|rank| rank.rank);
        let parts = works.into_iter().zip(calls).zip(absent).zip(numbers);
        let part = |(((work, calls), absent), rank)| GraphPart { rank, work, calls, absent };
        let kinds = job.signatures.iter().map(|signature| signature.kind).collect();
        let mut graph = Self::of_parts(parts.map(part).collect(), meetings, shelf, work)?;
        let unrecorded = graph.ranks.iter().map(|rank| unrecorded_ps(rank, &graph.meetings, report));
        graph.unrecorded_ps = unrecorded.max().unwrap_or(0);
        Ok(Self { kinds, ..graph })
    }

    /// The graph of these parts. The calls of the meetings are counted.
    pub(super) fn of_parts(
        parts: Vec<GraphPart>,
        mut meetings: Vec<Meeting>,
        shelf: &dyn Shelf,
        work: Work<'_>,
    ) -> Result<Self> {
        let (mut numbers, mut works, mut of_ranks) = (Vec::new(), Vec::new(), Vec::new());
        for GraphPart { rank, work: mut of_rank, mut calls, absent } in parts {
            work.cancel.check()?;
            if !absent.is_empty() {
                calls = add_absent(&mut of_rank, &calls, &absent, work.exec);
                of_rank.shelve(shelf, work.exec)?;
            }
            for call in &calls {
                meetings[call.meeting as usize].calls += u32::from(call.arrives);
            }
            numbers.push(rank);
            works.push(of_rank);
            of_ranks.push(calls);
        }
        Ok(Self { ranks: ranks(numbers, works, of_ranks, shelf, work)?, meetings, ..Self::default() })
    }

    /// Whether a call is only a step of an operation. Its ranks send or receive, so they have
    /// nothing in common.
    pub(in crate::insight) fn is_step(&self, call: &MeetingCall) -> bool {
        self.meetings[call.meeting as usize].is_step
    }

    /// The positions of the rank with this number and of its node with this row.
    #[must_use]
    pub fn node_at(&self, rank: u32, row: u32) -> Option<(u32, u32)> {
        let (rank, of) = (0_u32..).zip(&self.ranks).find(|(_, of)| of.rank == rank)?;
        let (node, _) = (0_u32..).zip(&of.work.nodes).find(|(_, node)| node.row == row)?;
        Some((rank, node))
    }

    /// Number of nodes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ranks.iter().map(|rank| rank.work.nodes.len()).sum()
    }

    /// Whether there are no nodes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The part of a rank in a graph, before its edges are searched.
pub(super) struct GraphPart {
    /// Number of the rank.
    pub(super) rank: u32,
    /// Its work on the shared clock.
    pub(super) work: RankWork,
    /// Its calls that the trace has.
    pub(super) calls: Vec<MeetingCall>,
    /// Those that the trace lacks.
    pub(super) absent: Vec<AbsentCall>,
}

/// The graphs of ranks with these numbers, works on the shared clock, and calls.
pub(in crate::insight) fn ranks(
    numbers: Vec<u32>,
    works: Vec<RankWork>,
    calls: Vec<Vec<MeetingCall>>,
    shelf: &dyn Shelf,
    work: Work<'_>,
) -> Result<Vec<RankGraph>> {
    let (mut ends, mut awaited) = (Ok(Vec::new()), Ok(Vec::new()));
    work.exec.beside(
        &mut || ends = work.gather(works.len(), |at| Ok(by_ends(&works[at], work.exec))),
        &mut || awaited = awaited_queues(&works, &calls, work),
    );
    let parts = works.into_iter().zip(ends?).zip(awaited?).zip(calls).zip(numbers);
    // Each task takes its own part.
    let parts: Vec<_> = parts.map(|part| Mutex::new(Some(part))).collect();
    let rank = |at: usize| {
        let part = parts[at].lock().ok().and_then(|mut part| part.take());
        let ((((of_rank, ends), awaited), calls), number) = part.expect("every task is run once");
        let mut graph = RankGraph::new(number, of_rank, ends, awaited);
        graph.calls = calls;
        graph.find_core_waits();
        graph.shelve(shelf, work.exec)?;
        Ok(graph)
    };
    work.gather(parts.len(), rank)
}

/// For each rank the queues that have a bit, and for each class the queues that it waits for.
fn awaited_queues(
    works: &[RankWork],
    calls: &[Vec<MeetingCall>],
    work: Work<'_>,
) -> Result<Vec<ClassQueues>> {
    let communicates: Vec<Vec<bool>> =
        works.iter().zip(calls).map(|(work, calls)| communicating_classes(work, calls)).collect();
    let observed = |(work, communicates)| ObservedWork { work, communicates, first_absent_row: ABSENT_ROW };
    let observed: Vec<ObservedWork<'_>> =
        works.iter().zip(communicates.iter().map(Vec::as_slice)).map(observed).collect();
    let mut evidence = StartEvidence::default();
    let starts = work.gather(observed.len(), |at| Ok(RankStarts::of(observed[at])))?;
    for (of, starts) in observed.iter().zip(&starts) {
        evidence.add(*of, starts);
    }
    let awaited = |at: usize| {
        let of: ObservedWork<'_> = observed[at];
        Ok(ClassQueues { queues: of.told_apart(), of_classes: evidence.awaited_queues(of) })
    };
    work.gather(observed.len(), awaited)
}

/// Time that a rank was at work before its recording began and that others felt, in picoseconds.
fn unrecorded_ps(rank: &RankGraph, meetings: &[Meeting], report: &Report) -> i64 {
    let before: Vec<&MeetingCall> = rank.calls.iter().filter(|call| !call.arrives).collect();
    let Some(last) = before.last() else { return 0 };
    let waited_ps = |call: &&MeetingCall| {
        let of = &report.operations[call.meeting as usize];
        of.transfer_ps().saturating_sub(meetings[call.meeting as usize].most_transfer_ps).max(0)
    };
    let first =
        rank.work.nodes.iter().find(|node| {
            rank.is_recorded(node) && rank.classes[node.class as usize].side == MachineSide::Device
        });
    let left_ps = rank.work.nodes[last.node as usize].end_ps();
    let gap_ps = first.map_or(0, |first| first.start_ps.saturating_sub(left_ps).max(0));
    before.iter().map(waited_ps).fold(gap_ps, i64::saturating_add)
}

/// The calls of each rank in operations that others share, or should share.
fn calls_of(job: &Job, report: &Report, works: &[RankWork], work: Work<'_>) -> Result<Vec<Vec<MeetingCall>>> {
    let by_call = report.by_call(job);
    let of = |at: usize| {
        let meetings = by_call[at].iter().copied();
        Ok(calls_by_row(&works[at], &job.ranks[at].calls.rows.iter().copied().zip(meetings).collect()))
    };
    work.gather(works.len(), of)
}

/// Adds the steps of operations whose senders and receivers the traces state. Each send is a
/// meeting of its own, and the ranks that receive its data wait for it.
fn add_steps(
    job: &Job,
    report: &Report,
    works: &[RankWork],
    meetings: &mut Vec<Meeting>,
    calls: &mut [Vec<MeetingCall>],
) {
    if job.ranks.iter().all(|rank| rank.rest.transfers.is_empty()) {
        return;
    }
    let mut of_rows: Vec<FxHashMap<u32, u32>> = vec![FxHashMap::default(); works.len()];
    for (at, operation) in report.operations.iter().enumerate() {
        for Passage { from, to, rows: (sent, received), .. } in passages(job, report, at) {
            let meeting = *of_rows[from].entry(sent).or_insert_with(|| {
                meetings.push(Meeting {
                    calls: 0,
                    waiting: WaitingRanks::ForRoot,
                    root: Some(narrow(from)),
                    signature: operation.signature,
                    most_transfer_ps: i64::MAX,
                    is_step: true,
                });
                narrow(meetings.len() - 1)
            });
            of_rows[to].entry(received).or_insert(meeting);
        }
    }
    for ((work, calls), of_rows) in works.iter().zip(calls).zip(&of_rows) {
        let known: FxHashSet<u32> = calls.iter().map(|call| call.node).collect();
        let steps = calls_by_row(work, of_rows).into_iter().filter(|step| !known.contains(&step.node));
        calls.extend(steps);
        calls.sort_unstable_by_key(|call| call.node);
    }
}

/// The calls of a rank. `meetings` has their operations by row.
pub(super) fn calls_by_row(work: &RankWork, meetings: &FxHashMap<u32, u32>) -> Vec<MeetingCall> {
    let call = |(node, of): (u32, &WorkNode)| {
        Some(MeetingCall { node, meeting: *meetings.get(&of.row)?, arrives: true })
    };
    (0_u32..).zip(&work.nodes).filter_map(call).collect()
}

/// Adds nodes for the calls that a trace lacks. Returns all calls.
fn add_absent(
    work: &mut RankWork,
    calls: &[MeetingCall],
    absent: &[AbsentCall],
    exec: &dyn Exec,
) -> Vec<MeetingCall> {
    let mut of_row: FxHashMap<u32, MeetingCall> =
        calls.iter().map(|call| (work.nodes[call.node as usize].row, *call)).collect();
    for (row, one) in (ABSENT_ROW..).zip(absent) {
        work.nodes.make_mut().push(one.node(row));
        of_row.insert(row, MeetingCall { node: 0, meeting: one.meeting, arrives: one.arrives });
    }
    work.sort(exec);
    let nodes = (0_u32..).zip(&work.nodes);
    nodes.filter_map(|(node, of)| Some(MeetingCall { node, ..*of_row.get(&of.row)? })).collect()
}
