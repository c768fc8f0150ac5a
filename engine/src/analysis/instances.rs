//! Matched operations: which calls of which ranks belong together.

/// Instances in columns. Each has a group and its members, ordered by rank.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Instances {
    /// Number of the group.
    pub groups: Vec<u32>,
    /// Where the members of each instance end.
    ends: Vec<u32>,
    /// Positions of the ranks.
    ranks: Vec<u16>,
    /// Positions of the calls in their ranks.
    calls: Vec<u32>,
}

/// One call of an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Member {
    /// Position of the rank in the job.
    pub rank: usize,
    /// Position of the call in the rank.
    pub call: usize,
}

impl Instances {
    /// Number of instances.
    #[must_use]
    pub fn len(&self) -> usize {
        self.groups.len()
    }

    /// Whether there are no instances.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Adds an instance.
    pub(super) fn push(&mut self, group: u32, members: &mut [(u16, u32)]) {
        members.sort_unstable();
        for &(rank, call) in members.iter() {
            self.ranks.push(rank);
            self.calls.push(call);
        }
        self.groups.push(group);
        self.ends.push(u32::try_from(self.ranks.len()).unwrap_or(u32::MAX));
    }

    /// Members of an instance, ordered by rank.
    pub fn members(&self, at: usize) -> impl ExactSizeIterator<Item = Member> + '_ {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        let range = start..self.ends[at] as usize;
        let ranks = self.ranks[range.clone()].iter();
        ranks
            .zip(&self.calls[range])
            .map(|(&rank, &call)| Member { rank: usize::from(rank), call: call as usize })
    }

    /// Number of members of an instance.
    #[must_use]
    pub fn count(&self, at: usize) -> usize {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        (self.ends[at] - start) as usize
    }
}
