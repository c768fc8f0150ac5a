//! How the data of an operation move: which rank sends to which, and along which way.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::{Instances, Job, Report};
use crate::base::Time;
use crate::model::transfer::algorithm_of;
use crate::model::{TransferEnd, TransferStep};

/// Data that go from a rank to another one. Times are in picoseconds of the shared clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Passage {
    /// Position of the rank that sends.
    pub from: usize,
    /// Position of the rank that receives.
    pub to: usize,
    /// Start of the send.
    pub sent_ps: i64,
    /// End of the step that waits for the data.
    pub received_ps: i64,
    /// Rows of both steps in the segments of their ranks.
    pub rows: (u32, u32),
}

/// The steps of a call, ordered by start.
fn steps(job: &Job, rank: usize, call: usize) -> &[TransferStep] {
    let all = &job.ranks[rank].rest.transfers;
    let place = |of: usize| all.partition_point(|step| (step.call as usize) < of);
    &all[place(call)..place(call + 1)]
}

/// The steps of all members of an operation with the positions of their ranks, as far as the traces
/// state them.
fn of_members<'j>(
    job: &'j Job,
    instances: &'j Instances,
    at: usize,
) -> impl Iterator<Item = (usize, &'j TransferStep)> {
    let members = instances.members(at);
    members.flat_map(|one| steps(job, one.rank, one.call).iter().map(move |step| (one.rank, step)))
}

/// Key that a send and its receipt share: the ranks that send and receive, and the step's number.
type TransferKey = (u32, u32, u32);

/// The passages of an operation, by the start of their sends. A send whose receipt was not recorded
/// has none.
#[must_use]
pub fn passages(job: &Job, report: &Report, at: usize) -> Vec<Passage> {
    let number_of = |rank: usize| job.ranks[rank].rank;
    let mut waits: FxHashMap<TransferKey, VecDeque<(usize, &TransferStep)>> = FxHashMap::default();
    for (to, wait) in of_members(job, &report.instances, at) {
        if wait.end == TransferEnd::Receive {
            waits.entry((wait.peer, number_of(to), wait.number)).or_default().push_back((to, wait));
        }
    }
    let shared = |rank: usize, time_ps: i64| report.used[rank].to_shared(Time(time_ps)).0;
    let mut found = Vec::new();
    for (from, send) in of_members(job, &report.instances, at) {
        // Among equal steps, the first send belongs to the first receipt.
        let key = (number_of(from), send.peer, send.number);
        let of = waits.get_mut(&key).filter(|_| send.end == TransferEnd::Send);
        let Some((to, wait)) = of.and_then(VecDeque::pop_front) else { continue };
        found.push(Passage {
            from,
            to,
            sent_ps: shared(from, send.start_ps),
            received_ps: shared(to, wait.end_ps),
            rows: (send.row, wait.row),
        });
    }
    found.sort_by_key(|one| (one.sent_ps, one.from, one.to));
    found
}

/// The algorithm of an operation: the one that most of its calls state, else the one that its steps
/// show. `None` if neither is known.
#[must_use]
pub fn algorithm<'j>(job: &'j Job, report: &Report, at: usize) -> Option<&'j str> {
    let stated = &job.signatures[report.operations[at].signature as usize].algorithm;
    if !stated.is_empty() {
        return Some(stated);
    }
    let mut steps = of_members(job, &report.instances, at).peekable();
    steps.peek()?;
    let single = steps.filter(|(_, step)| !step.is_to_many);
    let ways = single.map(|(rank, step)| match step.end {
        TransferEnd::Send => (job.ranks[rank].rank, step.peer),
        TransferEnd::Receive => (step.peer, job.ranks[rank].rank),
    });
    Some(algorithm_of(ways.collect()))
}
