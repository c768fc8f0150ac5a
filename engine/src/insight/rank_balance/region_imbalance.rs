//! How unequal the work of the ranks is in a region that all of them have.
//!
//! The work is the time in which the devices of a rank work at something else than collective
//! operations, each moment once. The imbalance is that of [`crate::analysis::StepReport`]: the most
//! over the mean, minus 1.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::base::Interval;
use crate::insight::graph::{JobGraph, RankGraph};
use crate::insight::region::{RankRegion, RankRegions, RegionKind, StepOrigin, StepShape};
use crate::makers::Union;

/// The work of all ranks in the regions of a name.
#[derive(Debug, Clone, PartialEq)]
pub struct RegionImbalance {
    /// The meaning of the regions.
    pub kind: RegionKind,
    /// Their name, on the first rank.
    pub name: String,
    /// Regions of the name on each rank that are compared: the last ones.
    pub count: usize,
    /// Number of the rank that works longest in them.
    pub most_rank: u32,
    /// Its time, in picoseconds.
    pub most_ps: i64,
    /// The mean of all ranks.
    pub mean_ps: i64,
}

impl RegionImbalance {
    /// The most over the mean, minus 1.
    #[must_use]
    pub fn imbalance(&self) -> f64 {
        self.most_ps as f64 / self.mean_ps.max(1) as f64 - 1.0
    }

    /// The time that would be saved if all ranks worked equally long, in picoseconds.
    #[must_use]
    pub fn beyond_mean_ps(&self) -> i64 {
        self.most_ps.saturating_sub(self.mean_ps)
    }
}

/// Tells the regions of ranks that belong together.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum RegionKey<'r> {
    /// Those of a mark have a name.
    Named(RegionKind, &'r str),
    /// Steps that repeat have numbers from the first one of the rank on. A recording rather begins
    /// late than ends early, so they count from the end.
    FromEnd(usize),
}

/// The imbalance of all regions that all ranks have, the largest time beyond the mean first. `all`
/// has those of the ranks of the graph, in its order and on its clock.
#[must_use]
pub fn region_imbalances(graph: &JobGraph, all: &[&RankRegions]) -> Vec<RegionImbalance> {
    let works: Vec<RankIntervals> = graph.ranks.iter().map(RankIntervals::of).collect();
    let of_ranks: Vec<BTreeMap<RegionKey<'_>, Vec<&RankRegion>>> = all.iter().copied().map(by_key).collect();
    let Some((first, others)) = of_ranks.split_first().filter(|(_, others)| !others.is_empty()) else {
        return Vec::new();
    };
    let mut found: Vec<RegionImbalance> = first
        .iter()
        .filter_map(|(key, regions)| {
            let of_others = others.iter().map(|other| other.get(key)).collect::<Option<Vec<_>>>()?;
            let lists: Vec<&Vec<&RankRegion>> = std::iter::once(regions).chain(of_others).collect();
            imbalance(&works, &lists)
        })
        .collect();
    found.sort_by(|a, b| {
        let order = |of: &RegionImbalance| (Reverse(of.beyond_mean_ps()), of.kind);
        order(a).cmp(&order(b)).then_with(|| a.name.cmp(&b.name))
    });
    found
}

/// The steps of a rank that are whole, and its layers. Other phases are mostly those of the host,
/// beside which the devices work at something else.
fn by_key(of: &RankRegions) -> BTreeMap<RegionKey<'_>, Vec<&RankRegion>> {
    let is_whole = |region: &&RankRegion| {
        let is_of_program = matches!(region.kind, RegionKind::Iteration | RegionKind::Layer);
        let step = region.step.and_then(|at| of.steps.as_ref().ok()?.all.get(at));
        is_of_program && step.is_none_or(|step| step.shape != StepShape::Cut)
    };
    let whole = || of.all.iter().filter(is_whole);
    let is_counted =
        |region: &RankRegion| region.kind == RegionKind::Iteration && region.origin == StepOrigin::Order;
    let counted = whole().filter(|region| is_counted(region)).count();
    let (mut by_key, mut before): (BTreeMap<_, Vec<_>>, usize) = (BTreeMap::new(), 0);
    for region in whole() {
        let key = match is_counted(region) {
            true => {
                before += 1;
                RegionKey::FromEnd(counted - before)
            }
            false => RegionKey::Named(region.kind, region.name.as_str()),
        };
        by_key.entry(key).or_default().push(region);
    }
    by_key
}

/// The imbalance of regions that belong together. `lists` has those of each rank.
fn imbalance(works: &[RankIntervals], lists: &[&Vec<&RankRegion>]) -> Option<RegionImbalance> {
    let count = lists.iter().map(|list| list.len()).min()?;
    let time_ps = |(work, list): (&RankIntervals, &&Vec<&RankRegion>)| {
        let last = &list[list.len() - count..];
        last.iter().map(|region| work.within(region.span)).fold(0, i64::saturating_add)
    };
    let times_ps: Vec<i64> = works.iter().zip(lists).map(time_ps).collect();
    let (most, most_ps) = times_ps.iter().copied().enumerate().max_by_key(|(at, ps)| (*ps, Reverse(*at)))?;
    let sum_ps = times_ps.iter().map(|ps| i128::from(*ps)).sum::<i128>();
    let mean_ps = i64::try_from(sum_ps / times_ps.len() as i128).unwrap_or(i64::MAX);
    let first = lists.first()?.first()?;
    let name = first.name.clone();
    let most_rank = works[most].rank;
    (most_ps > 0).then_some(RegionImbalance { kind: first.kind, name, count, most_rank, most_ps, mean_ps })
}

/// The times in which the devices of a rank work.
struct RankIntervals {
    /// Number of the rank.
    rank: u32,
    /// Disjoint, ascending.
    parts: Vec<(i64, i64)>,
    /// For each part the length of those before it.
    before_ps: Vec<i64>,
}

impl RankIntervals {
    fn of(rank: &RankGraph) -> Self {
        let mut union = Union::default();
        let work = rank.device_work().filter(|(_, node)| !rank.classes[node.class as usize].waits);
        work.for_each(|(_, node)| union.add(node.start_ps, node.end_ps()));
        let parts = union.settled();
        let mut sum_ps = 0_i64;
        let before = |(start, end): &(i64, i64)| {
            let before_ps = sum_ps;
            sum_ps = sum_ps.saturating_add(end.saturating_sub(*start));
            before_ps
        };
        let before_ps = parts.iter().map(before).collect();
        Self { rank: rank.rank, parts, before_ps }
    }

    /// The length of the parts within a span.
    fn within(&self, span: Interval) -> i64 {
        self.until(span.end.0).saturating_sub(self.until(span.start.0))
    }

    /// The length of the parts before a time.
    fn until(&self, ps: i64) -> i64 {
        let after = self.parts.partition_point(|part| part.0 < ps);
        let Some(last) = after.checked_sub(1) else { return 0 };
        let (start, end) = self.parts[last];
        self.before_ps[last].saturating_add(end.min(ps).saturating_sub(start))
    }
}
