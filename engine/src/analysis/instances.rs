//! Matched operations: which calls of which ranks belong together.

use super::Job;
use crate::base::narrow;

/// Instances in columns. Each has a group and its members, ordered by rank.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Instances {
    /// Number of the group.
    pub groups: Vec<u32>,
    /// End of the members of each instance.
    ends: Vec<u32>,
    /// Positions of the ranks.
    ranks: Vec<u16>,
    /// Positions of the calls in their ranks.
    calls: Vec<u32>,
}

/// One call of an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InstanceCall {
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
        self.ends.push(narrow(self.ranks.len()));
    }

    /// Members of an instance, ordered by rank.
    pub fn members(&self, at: usize) -> impl ExactSizeIterator<Item = InstanceCall> + '_ {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        let range = start..self.ends[at] as usize;
        let ranks = self.ranks[range.clone()].iter();
        ranks
            .zip(&self.calls[range])
            .map(|(&rank, &call)| InstanceCall { rank: usize::from(rank), call: call as usize })
    }

    /// Number of members of an instance.
    #[must_use]
    pub fn count(&self, at: usize) -> usize {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        (self.ends[at] - start) as usize
    }

    /// For each rank and call the number of its instance.
    pub(super) fn by_call(&self, job: &Job) -> Vec<Vec<u32>> {
        let mut numbers: Vec<Vec<u32>> = job.ranks.iter().map(|rank| vec![0; rank.calls.len()]).collect();
        for (number, at) in (0_u32..).zip(0..self.len()) {
            for one in self.members(at) {
                numbers[one.rank][one.call] = number;
            }
        }
        numbers
    }

    /// The `count` instances that calls with these numbers make. The numbers of a rank are in the
    /// order of its calls by group. `None` if a number has no call, or calls of several groups.
    pub(super) fn of_numbers(job: &Job, of_ranks: &[Vec<u32>], count: usize) -> Option<Self> {
        const UNKNOWN: u32 = u32::MAX;
        let mut groups = vec![UNKNOWN; count];
        // First the number of members, then where the next one goes.
        let mut ends = vec![0_u32; count];
        for (at, (rank, numbers)) in job.ranks.iter().zip(of_ranks).enumerate() {
            for (&call, &number) in rank.by_group.iter().zip(numbers) {
                let of = job.signature_of(at, call as usize).group;
                let group = groups.get_mut(number as usize)?;
                if *group != UNKNOWN && *group != of {
                    return None;
                }
                *group = of;
                ends[number as usize] += 1;
            }
        }
        let mut sum = 0;
        for end in &mut ends {
            (*end, sum) = (sum, sum + *end);
        }
        let (mut ranks, mut calls) = (vec![0_u16; sum as usize], vec![0_u32; sum as usize]);
        for (at, (rank, numbers)) in (0_u16..).zip(job.ranks.iter().zip(of_ranks)) {
            for (&call, &number) in rank.by_group.iter().zip(numbers) {
                let place = &mut ends[number as usize];
                (ranks[*place as usize], calls[*place as usize]) = (at, call);
                *place += 1;
            }
        }
        groups.iter().all(|group| *group != UNKNOWN).then_some(Self { groups, ends, ranks, calls })
    }
}
