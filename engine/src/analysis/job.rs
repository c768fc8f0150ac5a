//! The calls of all ranks with common numbers of groups and signatures.

use rustc_hash::FxHashMap;

use crate::base::{ClockFit, Result, narrow};
use crate::exec::Cancel;
use crate::model::collective::NO_NUMBER;
use crate::model::{CallList, CollectiveKind, Communicator, Membership, RankCalls, TimedBy};

/// A rank as the analysis takes it.
#[derive(Debug)]
pub struct RankInput {
    /// Number of the rank.
    pub rank: u32,
    /// The rank's calls.
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
    pub(super) fn has_common_size(&self) -> bool {
        !matches!(
            self.kind,
            CollectiveKind::AllToAll
                | CollectiveKind::Exchange
                | CollectiveKind::Gather
                | CollectiveKind::Scatter
                | CollectiveKind::Other
        )
    }

    /// Whether not all ranks of the group need to take part.
    pub(super) fn is_of_some(&self) -> bool {
        self.kind.is_pair() || matches!(self.kind, CollectiveKind::Exchange | CollectiveKind::Other)
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
    pub calls: CallList,
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
    /// For each rank the position of the first one with the same clock.
    pub(super) clocks: Vec<u16>,
    /// Calls of which nobody can tell to which of several groups they belong.
    pub unplaced: Vec<Unplaced>,
    /// Number of ranks of the job, as far as known.
    pub world: u32,
}

/// Calls of a rank that can belong to several groups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unplaced {
    /// Number of the rank.
    pub rank: u32,
    /// Number of calls.
    pub calls: u64,
    /// The groups that are possible. Empty if the trace does not state them.
    pub choices: Vec<Communicator>,
}

/// Most ranks of a job.
pub const MAX_RANKS: usize = 1 << 16;

impl Job {
    /// Fills in classes, members, and the calls of each group.
    pub(super) fn order(&mut self, cancel: Cancel<'_>) -> Result<()> {
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

    /// Whether all ranks are known to have one clock.
    #[must_use]
    pub fn has_one_clock(&self) -> bool {
        self.clocks.len() > 1 && self.clocks.iter().all(|clock| *clock == self.clocks[0])
    }

    /// Position of the rank with this number.
    #[must_use]
    pub fn position(&self, rank: u32) -> Option<usize> {
        self.ranks.binary_search_by_key(&rank, |one| one.rank).ok()
    }

    /// Whether these ranks are known to have one clock.
    pub(super) fn have_one_clock(&self, ranks: &[u16]) -> bool {
        let clock = |rank: &u16| self.clocks[usize::from(*rank)];
        ranks.windows(2).all(|pair| clock(&pair[0]) == clock(&pair[1]))
    }

    /// Whether threads of hosts have timed the calls of a rank.
    pub(super) fn is_timed_by_host(&self, rank: usize) -> bool {
        self.ranks[rank].rest.timed_by == TimedBy::Host
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
