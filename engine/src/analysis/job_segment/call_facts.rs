//! Facts that follow from the arrivals at an operation: who came when and waited how long, how late
//! a call was, how much waiting the call caused, and which calls it waited for. A job segment
//! does not store these facts, because they would double its size. They are computed for the slice
//! that is asked for, which reads a block or two of each rank.

use super::awaited_rank::awaited_of;
use super::finder::{OperationSend, RankParts, WholeOperation, operation_at, ranks_of, sends_of};
use crate::analysis::InstanceCall;
use crate::analysis::arrival::{Arrival, judge};
use crate::analysis::clock::line::rounded;
use crate::base::Result;
use crate::makers::job::rank_of;
use crate::segment::{Bytes, Segment};

/// Facts about a slice of a job segment. Times are in picoseconds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Derived {
    /// For a call its part in the waiting.
    pub call: Option<CallWaits>,
    /// For a wait of a call the row of the call that ended it.
    pub awaited: Option<u32>,
    /// For the call that ended waits their rows.
    pub waiting: Vec<u32>,
    /// The calls of the operation, in the order of ranks' rows.
    pub members: Vec<MemberCall>,
    /// The transfers of the operation. Empty if the traces tell none.
    pub sends: Vec<OperationSend>,
    /// For a call the algorithm of its operation; empty if it is not known.
    pub algorithm: String,
}

/// The part of a call in the waiting at its operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallWaits {
    /// Time from the first arrival at the operation to this one.
    pub late_ps: i64,
    /// Time that the rank waited.
    pub wait_ps: i64,
    /// Waiting of other ranks for this one, shared among all that had not come.
    pub blame_ps: i64,
}

/// A call of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemberCall {
    /// Number of the rank.
    pub rank: u32,
    /// Row of the slice of its transfer.
    pub row: u32,
    /// Row of the call in the timeline of its rank.
    pub call: u32,
    /// The time when the rank came.
    pub start_ps: i64,
    /// Time that it waited.
    pub wait_ps: i64,
    /// The time when the call ended.
    pub end_ps: i64,
    /// Whether the others waited for this rank.
    pub is_awaited: bool,
}

/// The derived facts about a row. `None` for rows that belong to no operation.
pub fn of_row<B: Bytes>(segment: &Segment<B>, row: u32) -> Result<Option<Derived>> {
    let Some(operation) = operation_at(segment, row)? else { return Ok(None) };
    let rank = segment.track_of(row).and_then(|track| rank_of(segment.footer(), track));
    let ranks = ranks_of(segment, &operation)?;
    let sends = sends_of(segment, &operation)?;
    let algorithm = if rank.is_some() { operation.algorithm.clone() } else { String::new() };
    Ok(Some(Derived { sends, algorithm, ..derived(&ranks, &operation, rank, row) }))
}

fn derived(ranks: &[RankParts], operation: &WholeOperation, rank: Option<u32>, row: u32) -> Derived {
    let mut arrivals: Vec<Arrival> = (0..)
        .zip(ranks)
        .map(|(at, of)| Arrival {
            member: InstanceCall { rank: at, call: 0 },
            start_ps: of.parts.iter().map(|part| part.start_ps).min().unwrap_or_default(),
            end_ps: of.parts.iter().map(|part| part.end_ps).max().unwrap_or_default(),
            wait_ps: 0,
            blame_ps: 0.0,
        })
        .collect();
    let root = ranks.iter().position(|of| Some(of.rank) == operation.root);
    judge(&mut arrivals, operation.kind, root);
    let awaited = awaited_of(&arrivals, operation.kind, root);
    let members = ranks.iter().zip(&arrivals).enumerate().filter_map(|(at, (of, one))| {
        let part = of.parts.last()?;
        Some(MemberCall {
            rank: of.rank,
            row: part.row,
            call: part.call,
            start_ps: one.start_ps,
            wait_ps: one.wait_ps,
            end_ps: one.end_ps,
            is_awaited: awaited == Some(at),
        })
    });
    let mut derived = Derived { members: members.collect(), ..Derived::default() };
    let first_ps = arrivals.iter().map(|other| other.start_ps).min().unwrap_or_default();
    let Some(own) = ranks.iter().position(|of| Some(of.rank) == rank) else { return derived };
    let one = &arrivals[own];
    derived.call = Some(CallWaits {
        late_ps: one.start_ps.saturating_sub(first_ps),
        wait_ps: one.wait_ps,
        blame_ps: rounded(one.blame_ps),
    });
    let wait_of = |of: &RankParts| match of.parts[..] {
        [wait, _] => Some(wait.row),
        _ => None,
    };
    if let Some(awaited) = awaited {
        let cause = ranks[awaited].parts.last().map(|part| part.row);
        if wait_of(&ranks[own]) == Some(row) {
            derived.awaited = cause;
        } else if cause == Some(row) {
            derived.waiting = ranks.iter().filter_map(wait_of).collect();
        }
    }
    derived
}
