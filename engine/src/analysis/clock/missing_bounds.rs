//! Why nothing is certain of a clock.

use super::causality::Causality;
use crate::analysis::{Instances, Job};
use crate::base::Result;
use crate::exec::Cancel;

/// The reason why the offset of a rank has no bounds, or one only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unbounded {
    /// Its calls fit those of others at several steps of a job that repeats itself, or at none.
    SeveralSteps,
    /// Its operations contradict each other on any clock that runs straight.
    Contradiction,
    /// No operation has a call of it and one of the ranks whose clocks are known.
    Alone,
    /// The traces do not state which ranks belong to its operations.
    GroupsUnknown,
    /// Its operations are of kinds that guarantee no order.
    NoOrder,
}

impl Unbounded {
    /// All reasons. The position is the code in an overlay.
    pub const ALL: [Self; 5] =
        [Self::SeveralSteps, Self::Contradiction, Self::Alone, Self::GroupsUnknown, Self::NoOrder];

    /// The reason in words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::SeveralSteps => "unclear: the calls fit those of the others at several steps or at none",
            Self::Contradiction => "the operations contradict each other",
            Self::Alone => "no operation relates the clock to that of the others",
            Self::GroupsUnknown => "the traces do not state which ranks belong to an operation",
            Self::NoOrder => "the operations guarantee no order of times",
        }
    }

    /// Advice for the user.
    #[must_use]
    pub fn advice(self) -> &'static str {
        match self {
            Self::SeveralSteps => {
                "waits and blame can be those of another step; record all ranks from one step on, or \
                 with a PyTorch that numbers calls (`Seq`), or set the clock with `nprof clock`"
            }
            Self::Contradiction => {
                "the clock was set while it recorded, or calls were matched wrongly; record again"
            }
            Self::Alone => "record the ranks of a group at the same time",
            Self::GroupsUnknown => "PyTorch from 2.3 on states the groups",
            Self::NoOrder => "an all-reduce or a barrier of all ranks would bound it",
        }
    }
}

/// Operations that ranks have.
#[derive(Debug)]
pub(super) struct RankOperations {
    /// For each rank whether it has an operation with another rank, one of them in a stated group,
    /// and one with a certain order.
    of_ranks: Vec<(bool, bool, bool)>,
}

impl RankOperations {
    pub(super) fn of(job: &Job, instances: &Instances, cancel: Cancel<'_>) -> Result<Self> {
        let mut of_ranks = vec![(false, false, false); job.ranks.len()];
        for at in (0..instances.len()).filter(|&at| instances.count(at) > 1) {
            cancel.check()?;
            let is_stated = job.groups[instances.groups[at] as usize].is_stated();
            for one in instances.members(at) {
                let seen = &mut of_ranks[one.rank];
                (seen.0, seen.1) = (true, seen.1 | is_stated);
            }
        }
        for at in Causality::certain(job, instances, cancel)? {
            instances.members(at as usize).for_each(|one| of_ranks[one.rank].2 = true);
        }
        Ok(Self { of_ranks })
    }

    /// Why a rank has no bounds. `is_certain` tells for each rank whether its matches with the
    /// reference are certain.
    pub(super) fn why(
        &self,
        job: &Job,
        rank: usize,
        is_certain: &[bool],
        is_contradictory: bool,
    ) -> Unbounded {
        let mut members = job.ranks[rank].groups.iter().flat_map(|(group, _)| &job.members[*group as usize]);
        let is_unclear = !is_certain[rank] && members.any(|&other| is_certain[usize::from(other)]);
        match self.of_ranks[rank] {
            _ if is_unclear => Unbounded::SeveralSteps,
            _ if !is_certain[rank] => Unbounded::Alone,
            _ if is_contradictory => Unbounded::Contradiction,
            (false, ..) => Unbounded::Alone,
            (_, false, false) => Unbounded::GroupsUnknown,
            _ => Unbounded::NoOrder,
        }
    }
}
