//! The certain order of times in an operation: which starts come before which ends.
//!
//! Data cannot arrive before it was sent, and no more than that holds for every library. The root
//! of a small broadcast can leave before the others come, and a sender before its receiver comes.
//! Their ends tell nothing of which calls belong together, so only numbers make them certain.
//! Exchanges do not state who sends to whom. Groups that the trace does not state are guesses, but
//! for one: if every rank of the job is there, and calls on one stream only, the ranks whose calls
//! end together time and again are one group. Nothing else could make them end together.

use crate::analysis::{InstanceCall, Instances, Job};
use crate::base::Result;
use crate::exec::Cancel;
use crate::model::CollectiveKind;
use crate::model::collective::NO_NUMBER;

/// A certain order of the times of an operation: every bound start comes before every bound end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Causality {
    /// All starts and all ends.
    All,
    /// The start of the rank at this position, and all ends.
    FromRoot(usize),
    /// All starts, and the end of the rank at this position.
    ToRoot(usize),
}

/// Operations of all ranks that show a stream to be that of one group.
const LEAST_SHARED: usize = 5;

/// The group of a job whose ranks all call on one stream only, although no trace states it. `None`
/// if there are several streams: groups behind a common one can run in lock-step.
fn shared_stream(job: &Job, instances: &Instances) -> Option<u32> {
    let ranks = job.ranks.len();
    let &(group, _) = job.ranks.first()?.groups.first()?;
    let is_only = job.ranks.iter().all(|rank| matches!(rank.groups[..], [(only, _)] if only == group));
    if !is_only || ranks < 2 || job.world as usize != ranks {
        return None;
    }
    let whole = (0..instances.len()).filter(|&at| instances.count(at) == ranks);
    (whole.count() >= LEAST_SHARED).then_some(group)
}

impl Causality {
    /// The instances with a certain order.
    pub(super) fn certain(job: &Job, instances: &Instances, cancel: Cancel<'_>) -> Result<Vec<u32>> {
        let mut certain = Vec::new();
        let shared = shared_stream(job, instances);
        for (number, at) in (0_u32..).zip(0..instances.len()) {
            cancel.check()?;
            if is_certain(job, instances, at, shared) {
                certain.push(number);
            }
        }
        Ok(certain)
    }

    /// The order of an instance that is one of [`Self::certain`]. `None` for others.
    pub(super) fn of(job: &Job, instances: &Instances, at: usize) -> Option<Self> {
        let first = instances.members(at).next()?;
        let signature = job.signature_of(first.rank, first.call);
        let root = || job.position(signature.root?);
        match signature.kind {
            CollectiveKind::AllReduce
            | CollectiveKind::AllGather
            | CollectiveKind::ReduceScatter
            | CollectiveKind::AllToAll
            | CollectiveKind::Barrier => Some(Self::All),
            CollectiveKind::Broadcast | CollectiveKind::Scatter => root().map(Self::FromRoot),
            CollectiveKind::Reduce | CollectiveKind::Gather => root().map(Self::ToRoot),
            CollectiveKind::Send | CollectiveKind::Receive => {
                let is_pair = job.groups[signature.group as usize].pair.is_some();
                root().filter(|_| is_pair).map(Self::FromRoot)
            }
            CollectiveKind::Exchange | CollectiveKind::Other => None,
        }
    }

    /// Whether the start of a rank comes before the bound ends.
    pub(super) fn binds_start(self, rank: usize) -> bool {
        match self {
            Self::All | Self::ToRoot(_) => true,
            Self::FromRoot(root) => rank == root,
        }
    }

    /// Whether the end of a rank comes after the bound starts.
    pub(super) fn binds_end(self, rank: usize) -> bool {
        match self {
            Self::All | Self::FromRoot(_) => true,
            Self::ToRoot(root) => rank == root,
        }
    }
}

/// Whether an instance has a certain order: its kind has one, its group is stated or shared by all
/// ranks, and its members agree.
fn is_certain(job: &Job, instances: &Instances, at: usize, shared: Option<u32>) -> bool {
    let group = &job.groups[instances.groups[at] as usize];
    let has_members = group.pair.is_some() || !group.communicator.ranks.is_empty();
    let is_known = group.is_stated() && has_members || shared == Some(instances.groups[at]);
    let Some(causality) = Causality::of(job, instances, at) else { return false };
    if !is_known || instances.count(at) < 2 {
        return false;
    }
    let has_number = |one: InstanceCall| job.ranks[one.rank].calls.numbers[one.call] != NO_NUMBER;
    if causality != Causality::All && !instances.members(at).all(has_number) {
        return false;
    }
    let signature = |one: InstanceCall| job.ranks[one.rank].calls.signatures[one.call];
    let mut members = instances.members(at);
    let Some(first) = members.next().map(signature) else { return false };
    let of_first = &job.signatures[first as usize];
    members.map(signature).filter(|&other| other != first).all(|other| {
        let of_other = &job.signatures[other as usize];
        // A rank that sends nothing holds nobody up.
        let both_send =
            of_first.kind != CollectiveKind::AllToAll || (of_first.count == 0) == (of_other.count == 0);
        job.classes[first as usize] == job.classes[other as usize]
            && of_first.root == of_other.root
            && both_send
    })
}
