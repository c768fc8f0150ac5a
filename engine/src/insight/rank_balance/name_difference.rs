//! The time of work of one name on a rank, beside the median of the other ranks.
//!
//! A recording rather begins late than ends early, so the last slices are compared: as many as most
//! ranks have, or as the rank has. Calls of collective operations are no work: they last until the
//! last rank has come.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use crate::base::upper_median;
use crate::insight::graph::JobGraph;
use crate::insight::median_rank::MedianRank;

/// Work of a name on a rank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameDifference {
    /// Number of the rank.
    pub rank: u32,
    /// The name.
    pub name: String,
    /// Compared slices of the rank.
    pub count: usize,
    /// Their time, in picoseconds.
    pub time_ps: i64,
    /// The median of the time that as many slices take on the other ranks. 0 if at most half of
    /// them have the name.
    pub median_ps: i64,
}

impl NameDifference {
    /// The time beyond the median, in picoseconds.
    #[must_use]
    pub fn difference_ps(&self) -> i64 {
        self.time_ps.saturating_sub(self.median_ps)
    }
}

/// Slices of a name on the rank at a position.
#[derive(Debug, Clone, Copy)]
struct NodesOfName<'m> {
    rank: usize,
    nodes: &'m [u32],
}

/// Work of a name on the rank at a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::insight) struct WorkOfName {
    /// Position of the rank.
    pub(in crate::insight) rank: usize,
    count: usize,
    /// Time of the compared slices.
    pub(in crate::insight) time_ps: i64,
    /// The median of the others that have as many.
    pub(in crate::insight) median_ps: Option<i64>,
}

/// Work of a name on all ranks that have it.
#[derive(Debug)]
pub(in crate::insight) struct NameOnRanks<'g> {
    /// The name.
    pub(in crate::insight) name: &'g str,
    /// The ranks, by position.
    pub(in crate::insight) ranks: Vec<WorkOfName>,
}

/// The differences of all names and ranks, the largest first.
#[must_use]
pub fn name_differences(graph: &JobGraph) -> Vec<NameDifference> {
    if graph.ranks.len() < 2 {
        return Vec::new();
    }
    let median = MedianRank::new(graph);
    let mut all: Vec<NameDifference> = Vec::new();
    for of in names_on_ranks(graph, &median) {
        all.extend(of.differences(graph));
    }
    all.sort_by(|a, b| {
        let size = |of: &NameDifference| Reverse(of.difference_ps().saturating_abs());
        (size(a), a.rank, &a.name).cmp(&(size(b), b.rank, &b.name))
    });
    all
}

impl NameOnRanks<'_> {
    /// The differences of the ranks that have the name, and of those that lack it although most
    /// have it.
    fn differences(&self, graph: &JobGraph) -> Vec<NameDifference> {
        let others = graph.ranks.len().saturating_sub(1);
        let difference = |(at, rank): (usize, u32)| {
            let own = self.ranks.iter().find(|of| of.rank == at);
            let having = self.ranks.len() - usize::from(own.is_some());
            let of_most = || upper_median(self.ranks.iter().map(|of| of.time_ps).collect(), i64::cmp);
            let median_ps = match own {
                _ if having * 2 <= others => 0,
                Some(own) => own.median_ps.unwrap_or(0),
                None => of_most().unwrap_or(0),
            };
            let (count, time_ps) = own.map_or((0, 0), |own| (own.count, own.time_ps));
            NameDifference { rank, name: self.name.to_owned(), count, time_ps, median_ps }
        };
        let ranks = graph.ranks.iter().map(|rank| rank.rank).enumerate();
        ranks.map(difference).filter(|of| of.difference_ps() != 0).collect()
    }
}

/// The work of each name on the ranks, in the order of names.
pub(in crate::insight) fn names_on_ranks<'g>(
    graph: &'g JobGraph,
    median: &MedianRank<'g>,
) -> Vec<NameOnRanks<'g>> {
    let mut by_name: FxHashMap<&'g str, Vec<NodesOfName<'_>>> = FxHashMap::default();
    for (rank, names) in median.names().iter().enumerate() {
        for (name, nodes) in names {
            by_name.entry(name).or_default().push(NodesOfName { rank, nodes });
        }
    }
    let mut all: Vec<NameOnRanks<'g>> = by_name
        .into_iter()
        .filter_map(|(name, of)| Some(NameOnRanks { name, ranks: on_ranks(graph, &of)? }))
        .collect();
    all.sort_by_key(|of| of.name);
    all
}

/// The time of all compared work of the rank at a position, as a multiple of the median of the
/// other ranks. `None` without work that others have.
pub(in crate::insight) fn own_work(names: &[NameOnRanks<'_>], rank: usize) -> Option<f64> {
    let of_rank = names.iter().flat_map(|of| &of.ranks).filter(|of| of.rank == rank);
    let known = of_rank.filter_map(|of| Some((of.time_ps, of.median_ps?)));
    let (time_ps, median_ps) = known.fold((0.0, 0.0), |sum, of| (sum.0 + of.0 as f64, sum.1 + of.1 as f64));
    (median_ps > 0.0).then(|| time_ps / median_ps)
}

/// The work of one name on the ranks that have it.
fn on_ranks(graph: &JobGraph, works: &[NodesOfName<'_>]) -> Option<Vec<WorkOfName>> {
    let common = upper_median(works.iter().map(|of| of.nodes.len()).collect(), usize::cmp)?;
    let time_ps = |of: &NodesOfName<'_>, count: usize| {
        let nodes = &graph.ranks[of.rank].work.nodes;
        let last = &of.nodes[of.nodes.len() - count..];
        last.iter().map(|node| nodes[*node as usize].duration_ps).fold(0, i64::saturating_add)
    };
    let of_common: Vec<Option<i64>> =
        works.iter().map(|of| (of.nodes.len() >= common).then(|| time_ps(of, common))).collect();
    let median_ps = |at: usize, count: usize| {
        let others = works.iter().enumerate().filter(|(other, of)| *other != at && of.nodes.len() >= count);
        let times = others.filter_map(|(other, of)| match count == common {
            true => of_common[other],
            false => Some(time_ps(of, count)),
        });
        upper_median(times.collect(), i64::cmp)
    };
    let of_rank = |at: usize| {
        let count = works[at].nodes.len().min(common);
        let time_ps = of_common[at].unwrap_or_else(|| time_ps(&works[at], count));
        WorkOfName { rank: works[at].rank, count, time_ps, median_ps: median_ps(at, count) }
    };
    Some((0..works.len()).map(of_rank).collect())
}
