//! The calls of all ranks with common numbers of groups and signatures.

use rustc_hash::FxHashMap;

use crate::base::{ClockFit, Result, narrow};
use crate::exec::Cancel;
use crate::model::collective::NO_NUMBER;
use crate::model::{Calls, CollectiveKind, Communicator, Membership, RankCalls};

/// A rank as the analysis takes it.
#[derive(Debug)]
pub struct RankInput {
    /// Number of the rank.
    pub rank: u32,
    /// What it did.
    pub calls: RankCalls,
    /// A clock that the user has set. The analysis uses it and does not change it.
    pub given: Option<ClockFit>,
    /// Picoseconds from the rank's times to those of the other ranks, as the traces state them.
    pub stated_ps: i64,
}

/// A group of ranks that communicate: a communicator, or a pair within one.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Group {
    /// The communicator.
    pub communicator: Communicator,
    /// The two ranks of sends and receives, ascending.
    pub pair: Option<(u32, u32)>,
}

impl Group {
    /// Whether the trace states which ranks belong to the group.
    #[must_use]
    pub fn is_stated(&self) -> bool {
        self.communicator.membership == Membership::Stated
    }

    /// Number of members; 0 if it is not known.
    #[must_use]
    pub fn size(&self) -> u32 {
        if self.pair.is_some() { 2 } else { self.communicator.size }
    }

    /// Known members, ascending.
    #[must_use]
    pub fn ranks(&self) -> Vec<u32> {
        match self.pair {
            Some((low, high)) => vec![low, high],
            None => self.communicator.ranks.clone(),
        }
    }
}

/// Properties that equal calls of all ranks share.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct JobSignature {
    /// Number of the group.
    pub group: u32,
    /// Kind of operation. Both sides of a pair have the kind `Send`.
    pub kind: CollectiveKind,
    /// Type of the elements.
    pub dtype: String,
    /// Way of the data among the ranks; empty if it is not stated.
    pub algorithm: String,
    /// Elements that the rank puts in.
    pub count: u64,
    /// Bytes as nccl-tests counts them.
    pub bytes: u64,
    /// The root, if it is stated; of a pair the rank that sends.
    pub root: Option<u32>,
}

impl JobSignature {
    /// Whether sizes are a property of the operation and not of each rank.
    fn has_common_size(&self) -> bool {
        !matches!(
            self.kind,
            CollectiveKind::AllToAll
                | CollectiveKind::Exchange
                | CollectiveKind::Gather
                | CollectiveKind::Scatter
                | CollectiveKind::Other
        )
    }

    /// Whether two calls can be of one operation as far as kind, type and size tell.
    #[must_use]
    pub fn is_like(&self, other: &Self) -> bool {
        self.kind == other.kind
            && self.dtype == other.dtype
            && (!self.has_common_size() || self.count == other.count)
    }
}

/// A rank of the job.
#[derive(Debug)]
pub struct JobRank {
    /// Number of the rank.
    pub rank: u32,
    /// The calls. Signatures are numbers of [`Job::signatures`].
    pub calls: Calls,
    /// Everything but the calls.
    pub rest: RankCalls,
    /// A clock that the user has set. It maps the times of the calls.
    pub given: Option<ClockFit>,
    /// Picoseconds that were added to the rank's times, because the traces state them.
    pub stated_ps: i64,
    /// Positions of the calls by group, then by start.
    pub(super) by_group: Vec<u32>,
    /// Groups of the rank, and where their calls end in `by_group`.
    pub(super) groups: Vec<(u32, u32)>,
}

/// All ranks.
#[derive(Debug, Default)]
pub struct Job {
    /// The ranks, ascending by number.
    pub ranks: Vec<JobRank>,
    /// Groups of ranks.
    pub groups: Vec<Group>,
    /// Kinds of calls.
    pub signatures: Vec<JobSignature>,
    /// For each signature the number of its class. Signatures of a class are alike.
    pub(super) classes: Vec<u32>,
    /// For each group the positions of the ranks with calls.
    pub(super) members: Vec<Vec<u16>>,
    /// Number of ranks of the job, as far as known.
    pub world: u32,
}

/// Most ranks of a job.
pub const MAX_RANKS: usize = 1 << 16;

/// Joins ranks one after the other, so that what was read of a rank can be freed before the next
/// one is read.
#[derive(Debug, Default)]
pub struct JobBuilder {
    job: Job,
    groups: FxHashMap<Group, u32>,
    signatures: FxHashMap<JobSignature, u32>,
}

impl JobBuilder {
    /// Adds a rank. Ranks come ascending by number; ranks beyond [`MAX_RANKS`] are left out.
    pub fn add(&mut self, input: RankInput) {
        let RankInput { rank, mut calls, given, stated_ps } = input;
        debug_assert!(self.job.ranks.last().is_none_or(|last| last.rank <= rank), "ranks ascend");
        if self.job.ranks.len() == MAX_RANKS {
            return;
        }
        calls.move_by(stated_ps);
        let given = given.map(|clock| clock.of_moved(stated_ps));
        let map: Vec<u32> = (0..calls.signatures.len())
            .map(|at| {
                let signature = self.job.signature(rank, &calls, at, &mut self.groups);
                let next = narrow(self.job.signatures.len());
                *self.signatures.entry(signature).or_insert_with_key(|new| {
                    self.job.signatures.push(new.clone());
                    next
                })
            })
            .collect();
        // A copy has no spare room, and lies apart from what reading left behind.
        let mut own = calls.calls.clone();
        own.signatures.iter_mut().for_each(|signature| *signature = map[*signature as usize]);
        self.job.world = self.job.world.max(calls.world_size.unwrap_or(0));
        // Groups and signatures of the job stand for those of its ranks.
        let rest = RankCalls {
            communicators: Vec::new(),
            signatures: Vec::new(),
            calls: Calls::default(),
            covered_ps: calls.covered_ps.clone(),
            ..calls
        };
        let (by_group, groups) = (Vec::new(), Vec::new());
        self.job.ranks.push(JobRank { rank, calls: own, rest, given, stated_ps, by_group, groups });
    }

    /// The job.
    ///
    /// # Errors
    /// `Cancelled` if the work is cancelled.
    pub fn finish(self, cancel: Cancel<'_>) -> Result<Job> {
        let mut job = self.job;
        // A group has at most the ranks of the job, recorded or not.
        let groups = job.groups.iter().map(Group::size).filter(|size| *size as usize <= MAX_RANKS);
        let known = narrow(job.ranks.len());
        job.world = groups.fold(job.world.max(known), u32::max);
        job.order(cancel)?;
        Ok(job)
    }
}

impl Job {
    /// Joins the ranks. The result does not depend on their order.
    #[must_use]
    pub fn new(mut inputs: Vec<RankInput>) -> Self {
        inputs.sort_by_key(|input| input.rank);
        let mut job = JobBuilder::default();
        inputs.into_iter().for_each(|input| job.add(input));
        job.finish(Cancel::NEVER).expect("nobody cancels it")
    }

    fn signature(
        &mut self,
        rank: u32,
        calls: &RankCalls,
        at: usize,
        groups: &mut FxHashMap<Group, u32>,
    ) -> JobSignature {
        let own = &calls.signatures[at];
        let pair = own.peer.filter(|peer| own.kind.is_pair() && *peer != rank);
        let pair = pair.map(|peer| (rank.min(peer), rank.max(peer)));
        let communicator = calls.communicators[own.communicator as usize].clone();
        let next = narrow(self.groups.len());
        let group = *groups.entry(Group { communicator, pair }).or_insert_with_key(|new| {
            self.groups.push(new.clone());
            next
        });
        let (kind, root) = match own.kind {
            CollectiveKind::Send => (CollectiveKind::Send, pair.map(|_| rank)),
            CollectiveKind::Receive => (CollectiveKind::Send, own.peer.filter(|_| pair.is_some())),
            kind => (kind, own.peer),
        };
        let (dtype, algorithm) = (own.dtype.clone(), own.algorithm.clone());
        JobSignature { group, kind, dtype, algorithm, count: own.count, bytes: own.bytes, root }
    }

    /// Fills in classes, members, and the calls of each group.
    fn order(&mut self, cancel: Cancel<'_>) -> Result<()> {
        let mut classes: FxHashMap<(u32, CollectiveKind, &str, u64, Option<u32>), u32> = FxHashMap::default();
        for signature in &self.signatures {
            let count = if signature.has_common_size() { signature.count } else { 0 };
            // Two ranks can send to each other at once.
            let sender = signature.root.filter(|_| signature.kind.is_pair());
            let key = (signature.group, signature.kind, signature.dtype.as_str(), count, sender);
            let next = narrow(classes.len());
            self.classes.push(*classes.entry(key).or_insert(next));
        }
        self.members = vec![Vec::new(); self.groups.len()];
        for (at, rank) in (0_u16..).zip(&mut self.ranks) {
            cancel.check()?;
            let group_of = |call: &u32| self.signatures[rank.calls.signatures[*call as usize] as usize].group;
            let count = narrow(rank.calls.len());
            rank.by_group = (0..count).collect();
            rank.by_group.sort_by_key(group_of);
            let mut end = 0;
            for run in rank.by_group.chunk_by(|a, b| group_of(a) == group_of(b)) {
                end += u32::try_from(run.len()).unwrap_or(0);
                let group = group_of(&run[0]);
                rank.groups.push((group, end));
                self.members[group as usize].push(at);
            }
        }
        Ok(())
    }

    /// Calls of a rank in a group, ordered by start.
    pub(super) fn calls_in(&self, rank: usize, group: u32) -> &[u32] {
        let rank = &self.ranks[rank];
        let Ok(at) = rank.groups.binary_search_by_key(&group, |(group, _)| *group) else { return &[] };
        let start = at.checked_sub(1).map_or(0, |before| rank.groups[before].1);
        &rank.by_group[start as usize..rank.groups[at].1 as usize]
    }

    /// Signature of a call.
    #[must_use]
    pub fn signature_of(&self, rank: usize, call: usize) -> &JobSignature {
        &self.signatures[self.ranks[rank].calls.signatures[call] as usize]
    }

    /// Whether every call of a group has a number.
    pub(super) fn is_numbered(&self, group: u32) -> bool {
        let mut members = self.members[group as usize].iter().map(|&rank| usize::from(rank));
        members.all(|rank| {
            let numbers = &self.ranks[rank].calls.numbers;
            self.calls_in(rank, group).iter().all(|&call| numbers[call as usize] != NO_NUMBER)
        })
    }
}
