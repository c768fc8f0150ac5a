//! Where lost time began: ranks that came late and links that were slow, in one list.

use super::joint::members;
use super::{Job, Report};

/// A rank or a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Culprit {
    /// The rank with this number.
    Rank(u32),
    /// The link among the ranks of the group with this number.
    Link(u32),
}

/// Cost of a culprit, in picoseconds summed over the ranks that lose it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cost {
    /// The culprit.
    pub culprit: Culprit,
    /// Waiting of other ranks that began here.
    pub root_blame_ps: f64,
    /// Time that a link's own ranks spent in slow transfers beyond the usual, without computation.
    /// It is no waiting, so no part of the blame.
    pub excess_ps: f64,
}

impl Culprit {
    /// Name for people.
    #[must_use]
    pub fn name(self, job: &Job) -> String {
        match self {
            Self::Rank(rank) => format!("rank {rank}"),
            Self::Link(group) => format!("slow transfers among {}", members(&job.groups[group as usize])),
        }
    }
}

impl Cost {
    /// All that is lost.
    #[must_use]
    pub fn whole_ps(&self) -> f64 {
        self.root_blame_ps + self.excess_ps
    }
}

/// All culprits, the largest cost first.
#[must_use]
pub fn costs(report: &Report) -> Vec<Cost> {
    let ranks = report.ranks.iter().map(|rank| Cost {
        culprit: Culprit::Rank(rank.rank),
        root_blame_ps: rank.root_blame_ps,
        excess_ps: 0.0,
    });
    let links = report.links.iter().map(|link| Cost {
        culprit: Culprit::Link(link.group),
        root_blame_ps: link.root_blame_ps,
        excess_ps: link.excess_ps,
    });
    let mut costs: Vec<Cost> = ranks.chain(links).filter(|cost| cost.whole_ps() > 0.0).collect();
    costs.sort_by(|a, b| b.whole_ps().total_cmp(&a.whole_ps()));
    costs
}
