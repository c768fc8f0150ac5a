//! The waits of a rank, summed up.

use rustc_hash::FxHashMap;

use super::super::walk::{JobEdges, PathKind, PathPart};
use super::each::{SingleWait, each_wait};
use super::party::{Party, RankParties};
use super::{LongestWait, WaitKind, WaitRow};
use crate::base::Result;
use crate::exec::Cancel;

/// Key of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct WaitRowKey {
    waiter: Party,
    awaited: Option<Party>,
    kind: WaitKind,
    root: Option<Party>,
}

/// The waits of the rank at a position, the longest first. The waits for nothing known come last,
/// in one row.
pub fn waits(edges: &JobEdges<'_>, at: u32, cancel: Cancel<'_>) -> Result<Vec<WaitRow>> {
    let parties = RankParties::of(edges.graph, at);
    let mut sums = WaitSums::new(edges, &parties);
    let rest_ps = each_wait(edges, &parties, cancel, &mut |wait| sums.add(&wait))?;
    Ok(sums.finish(rest_ps))
}

/// Sums of waits.
pub(super) struct WaitSums<'e, 'g> {
    edges: &'e JobEdges<'g>,
    parties: &'e RankParties<'g>,
    rows: FxHashMap<WaitRowKey, (i64, LongestWait)>,
    /// Space for the roots of a wait.
    roots: Vec<(Option<Party>, i64)>,
}

impl<'e, 'g> WaitSums<'e, 'g> {
    pub(super) fn new(edges: &'e JobEdges<'g>, parties: &'e RankParties<'g>) -> Self {
        Self { edges, parties, rows: FxHashMap::default(), roots: Vec::new() }
    }

    /// Adds a wait. The parts of the walk back from its place are its roots, each for as long as it
    /// lasts.
    pub(super) fn add(&mut self, wait: &SingleWait) {
        let Some(place) = wait.place else {
            self.part(wait, None, wait.time_ps.end.saturating_sub(wait.time_ps.start));
            return;
        };
        let mut roots = std::mem::take(&mut self.roots);
        for part in self.edges.back(place, wait.time_ps.start) {
            let (root, ps) = (self.root(&part, wait.kind), part.duration_ps());
            match roots.iter_mut().find(|(known, _)| *known == root) {
                Some((_, sum_ps)) => *sum_ps = sum_ps.saturating_add(ps),
                None => roots.push((root, ps)),
            }
        }
        roots.drain(..).for_each(|(root, ps)| self.part(wait, root, ps));
        self.roots = roots;
    }

    fn part(&mut self, wait: &SingleWait, root: Option<Party>, wait_ps: i64) {
        if wait_ps <= 0 {
            return;
        }
        let SingleWait { waiter, awaited, kind, node, awaited_node, semaphore, .. } = *wait;
        let key = WaitRowKey { waiter, awaited, kind, root };
        let longest = LongestWait { node, awaited: awaited_node, semaphore, wait_ps };
        let (sum_ps, known) = self.rows.entry(key).or_insert((0, longest));
        *sum_ps = sum_ps.saturating_add(wait_ps);
        if known.wait_ps < wait_ps {
            *known = longest;
        }
    }

    /// The party that worked in a part: a rank if another one was awaited, else a queue.
    fn root(&self, part: &PathPart, kind: WaitKind) -> Option<Party> {
        if part.kind == PathKind::Gap {
            return None;
        }
        if kind == WaitKind::Operation || part.rank != self.parties.rank {
            return Some(Party::Rank(part.rank));
        }
        Some(self.parties.of_node(part.node))
    }

    /// The rows, with the idle time for which nothing is known.
    pub(super) fn finish(self, rest_ps: i64) -> Vec<WaitRow> {
        let row = |(key, (wait_ps, longest)): (WaitRowKey, (i64, LongestWait))| {
            let WaitRowKey { waiter, awaited, kind, root } = key;
            WaitRow { waiter: Some(waiter), awaited, kind, wait_ps, root, longest: Some(longest) }
        };
        let mut rows: Vec<WaitRow> = self.rows.into_iter().map(row).collect();
        rows.sort_by(|a, b| {
            let order = |row: &WaitRow| (row.waiter, row.awaited, row.kind, row.root);
            b.wait_ps.cmp(&a.wait_ps).then_with(|| order(a).cmp(&order(b)))
        });
        if rest_ps > 0 {
            let (waiter, awaited, root, longest) = (None, None, None, None);
            let (kind, wait_ps) = (WaitKind::Unknown, rest_ps);
            rows.push(WaitRow { waiter, awaited, kind, wait_ps, root, longest });
        }
        rows
    }
}
