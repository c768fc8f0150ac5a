//! Matching of calls whose ends tell nothing, such as broadcasts: the root leaves early. They match
//! by their order between the operations that were matched before.

use rustc_hash::FxHashMap;

use super::cluster::Cluster;
use super::is_anchor;
use crate::analysis::Job;
use crate::analysis::clock::line::ClockLine;
use crate::base::Result;
use crate::exec::Cancel;

/// The calls of one operation, and where it stands in the order of the group.
#[derive(Debug)]
struct OrderedCalls {
    class: u32,
    /// Matched operation that follows.
    before: usize,
    /// Position among the slots of this class before that operation.
    ordinal: usize,
    start_ps: i64,
    end_ps: i64,
    members: Vec<(u16, u32)>,
}

/// A call between two matched operations of its rank.
#[derive(Debug, Clone, Copy)]
struct Between {
    rank: u16,
    call: u32,
    class: u32,
    /// Matched operations that can follow: the first, and the last.
    follows: (usize, usize),
    ordinal: usize,
    start_ps: i64,
    end_ps: i64,
}

/// The members of each instance.
pub(super) fn matched(
    job: &Job,
    group: u32,
    ranks: &[u16],
    lines: &[ClockLine],
    clusters: &[Cluster],
    cancel: Cancel<'_>,
) -> Result<Vec<Vec<(u16, u32)>>> {
    let mut cluster_of: FxHashMap<(u16, u32), usize> = FxHashMap::default();
    let has_rooted = ranks
        .iter()
        .any(|&rank| job.calls_in(rank.into(), group).iter().any(|&call| !is_anchor(job, rank.into(), call)));
    if !has_rooted {
        return Ok(Vec::new());
    }
    for (at, cluster) in clusters.iter().enumerate() {
        cluster_of.extend(cluster.members.iter().map(|&member| (member, at)));
    }
    let mut calls = Vec::new();
    for &rank in ranks {
        cancel.check()?;
        between(job, group, rank, &lines[usize::from(rank)], &cluster_of, clusters.len(), &mut calls);
    }
    // Calls with a known place come first. They make the slots that the others choose from.
    calls.sort_by_key(|call| (call.follows.1 - call.follows.0, call.start_ps, call.rank));
    let mut slots: Vec<OrderedCalls> = Vec::new();
    let mut by_place: FxHashMap<(u32, usize), Vec<usize>> = FxHashMap::default();
    for call in calls {
        cancel.check()?;
        let is_free = |slot: &OrderedCalls| slot.members.iter().all(|(rank, _)| *rank != call.rank);
        let near = (call.follows.0..=call.follows.1).filter_map(|place| by_place.get(&(call.class, place)));
        let free = near.flatten().copied().filter(|&at| is_free(&slots[at]));
        let is_settled = call.follows.0 == call.follows.1;
        let best = if is_settled {
            free.min_by_key(|&at| (slots[at].ordinal.abs_diff(call.ordinal), slots[at].distance(&call)))
        } else {
            free.min_by_key(|&at| (slots[at].distance(&call), 0))
        };
        match best.filter(|&at| !is_settled || slots[at].ordinal == call.ordinal) {
            Some(at) => slots[at].add(&call),
            None => {
                by_place.entry((call.class, call.follows.1)).or_default().push(slots.len());
                slots.push(OrderedCalls::new(&call));
            }
        }
    }
    slots.sort_by_key(|slot| (slot.before, slot.start_ps));
    Ok(slots.into_iter().map(|slot| slot.members).collect())
}

/// Adds the calls of a rank that are not matched, each between the matched ones.
fn between(
    job: &Job,
    group: u32,
    rank: u16,
    line: &ClockLine,
    cluster_of: &FxHashMap<(u16, u32), usize>,
    clusters: usize,
    out: &mut Vec<Between>,
) {
    let own = &job.ranks[usize::from(rank)].calls;
    let mut first = 0;
    let mut waiting = out.len();
    for &call in job.calls_in(rank.into(), group) {
        if let Some(&at) = cluster_of.get(&(rank, call)) {
            for between in &mut out[waiting..] {
                between.follows.1 = at.max(between.follows.0);
            }
            (first, waiting) = (at + 1, out.len());
        } else if !is_anchor(job, rank.into(), call) {
            let at = call as usize;
            let class = job.classes[own.signatures[at] as usize];
            let ordinal = out[waiting..].iter().filter(|other| other.class == class).count();
            let follows = (first, clusters.max(first));
            let (start_ps, end_ps) = (line.shared(own.starts_ps[at]), line.shared(own.end_ps(at)));
            out.push(Between { rank, call, class, follows, ordinal, start_ps, end_ps });
        }
    }
}

impl OrderedCalls {
    fn new(call: &Between) -> Self {
        let members = vec![(call.rank, call.call)];
        let Between { class, follows, ordinal, start_ps, end_ps, .. } = *call;
        Self { class, before: follows.1, ordinal, start_ps, end_ps, members }
    }

    fn add(&mut self, call: &Between) {
        debug_assert_eq!(self.class, call.class);
        self.start_ps = self.start_ps.min(call.start_ps);
        self.end_ps = self.end_ps.max(call.end_ps);
        self.members.push((call.rank, call.call));
    }

    /// Time between the slot and a call; 0 if they overlap.
    fn distance(&self, call: &Between) -> i64 {
        call.start_ps.saturating_sub(self.end_ps).max(self.start_ps.saturating_sub(call.end_ps)).max(0)
    }
}
