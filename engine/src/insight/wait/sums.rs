//! The waits of a rank, summed up.

use rustc_hash::FxHashMap;

use super::super::walk::{JobEdges, PathKind, PathPart};
use super::each::{SingleWait, each_wait, parts};
use super::party::{Party, RankParties};
use super::{LongestWait, WaitKind, WaitRow};
use crate::base::Result;
use crate::exec::Work;

/// Key of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct WaitRowKey {
    waiter: Party,
    awaited: Option<Party>,
    kind: WaitKind,
    root: Option<Party>,
}

/// Waits with one key.
#[derive(Debug, Clone, Copy)]
struct WaitSum {
    wait_ps: i64,
    longest: LongestWait,
}

/// The waits of the rank at a position, the longest first. The waits for nothing known come last,
/// in one row.
pub fn waits(edges: &JobEdges<'_>, at: u32, work: Work<'_>) -> Result<Vec<WaitRow>> {
    let parties = RankParties::of(edges.graph, at);
    let parts = parts(edges, &parties, work)?;
    let of_parts = work.gather(parts.len(), |at| {
        let mut sums = WaitSums::new(edges, &parties);
        let rest_ps = each_wait(edges, &parties, &parts[at], &mut |wait| sums.add(&wait));
        Ok((sums.rows, rest_ps))
    })?;
    let (mut all, mut all_rest_ps) = (WaitSums::new(edges, &parties), 0_i64);
    for (rows, rest_ps) in of_parts {
        rows.into_iter().for_each(|(key, sum)| all.add_sum(key, sum));
        all_rest_ps = all_rest_ps.saturating_add(rest_ps);
    }
    Ok(all.finish(all_rest_ps))
}

/// Sums of waits.
pub(super) struct WaitSums<'e, 'g> {
    edges: &'e JobEdges<'g>,
    parties: &'e RankParties<'g>,
    rows: FxHashMap<WaitRowKey, WaitSum>,
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
        self.edges.each_back(place, wait.time_ps.start, |part| {
            let (root, ps) = (self.root(&part, wait.kind), part.duration_ps());
            match roots.iter_mut().find(|(known, _)| *known == root) {
                Some((_, sum_ps)) => *sum_ps = sum_ps.saturating_add(ps),
                None => roots.push((root, ps)),
            }
        });
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
        self.add_sum(key, WaitSum { wait_ps, longest });
    }

    /// Adds a sum of waits. The first of equally long waits counts as the longest one.
    fn add_sum(&mut self, key: WaitRowKey, WaitSum { wait_ps, longest }: WaitSum) {
        let known = self.rows.entry(key).or_insert(WaitSum { wait_ps: 0, longest });
        known.wait_ps = known.wait_ps.saturating_add(wait_ps);
        if known.longest.wait_ps < longest.wait_ps {
            known.longest = longest;
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
        let row = |(key, WaitSum { wait_ps, longest }): (WaitRowKey, WaitSum)| {
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
