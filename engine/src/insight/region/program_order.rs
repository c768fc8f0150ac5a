//! The work of a device in the order in which its program asked for it.
//!
//! Streams run beside each other, so the order of starts differs from step to step. The order of
//! launches is that of the program, and repeats exactly in real traces. Without launches, the
//! starts on all tracks are tried, then those on each of the tracks with the most work.

use rustc_hash::FxHashMap;

use crate::base::Interval;
use crate::model::{MachineSide, RankWork, Role, TrackId};

/// Tracks that are tried one by one.
const TRACKS: usize = 3;

/// Nodes of a device in an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ProgramOrder {
    /// Positions of the nodes.
    pub(super) nodes: Vec<u32>,
    /// The number of the name of each node.
    pub(super) names: Vec<u32>,
    /// The start of the launch of each node, if launches are known.
    pub(super) launches_ps: Option<Vec<i64>>,
    /// Whether the nodes of other tracks are left out.
    pub(super) is_part: bool,
}

/// Whether a node is a kernel or a copy on a stream of a device.
pub(super) fn is_streamed(work: &RankWork, at: usize) -> bool {
    let queue = work.queue_of(&work.nodes[at]);
    queue.side == MachineSide::Device && queue.identity.role == Role::Kernels
}

impl ProgramOrder {
    /// The orders of a rank, the most telling first. Empty without kernels.
    pub(super) fn all(work: &RankWork) -> Vec<Self> {
        let nodes: Vec<u32> =
            (0_u32..).take(work.nodes.len()).filter(|&at| is_streamed(work, at as usize)).collect();
        if nodes.is_empty() {
            return Vec::new();
        }
        let launched = nodes.iter().filter(|&&at| work.launch(at).is_some()).count();
        if launched * 2 > nodes.len() {
            return vec![Self::by_launch(work, &nodes)];
        }
        let mut of_track: FxHashMap<TrackId, Vec<u32>> = FxHashMap::default();
        for &at in &nodes {
            of_track.entry(work.queue_of(&work.nodes[at as usize]).track).or_default().push(at);
        }
        let mut tracks: Vec<(TrackId, Vec<u32>)> = of_track.into_iter().collect();
        tracks.sort_by_key(|(track, nodes)| (std::cmp::Reverse(nodes.len()), *track));
        let is_many = tracks.len() > 1;
        let mut orders = vec![Self::of(work, nodes, None, false)];
        if is_many {
            let parts = tracks.into_iter().take(TRACKS).map(|(_, nodes)| Self::of(work, nodes, None, true));
            orders.extend(parts);
        }
        orders
    }

    /// The order of launches, if most are known.
    pub(super) fn launched(work: &RankWork) -> Option<Self> {
        Self::all(work).into_iter().next().filter(|order| order.launches_ps.is_some())
    }

    fn of(work: &RankWork, nodes: Vec<u32>, launches_ps: Option<Vec<i64>>, is_part: bool) -> Self {
        let name = |&at: &u32| work.classes[work.nodes[at as usize].class as usize].name;
        let names = nodes.iter().map(name).collect();
        Self { nodes, names, launches_ps, is_part }
    }

    /// A node without a launch comes with the one before it on its queue. One before all launches
    /// comes first: it was launched before the recording.
    fn by_launch(work: &RankWork, nodes: &[u32]) -> Self {
        let mut last: FxHashMap<u32, i64> = FxHashMap::default();
        let mut keyed: Vec<(i64, u32)> = Vec::with_capacity(nodes.len());
        for &at in nodes {
            let node = &work.nodes[at as usize];
            let queue = work.classes[node.class as usize].queue;
            let before_ps = last.entry(queue).or_insert(i64::MIN);
            if let Some(launch) = work.launching(at) {
                *before_ps = launch.start_ps;
            }
            keyed.push((*before_ps, at));
        }
        keyed.sort_unstable();
        let launches_ps = keyed.iter().map(|(launch_ps, _)| *launch_ps).collect();
        Self::of(work, keyed.into_iter().map(|(_, at)| at).collect(), Some(launches_ps), false)
    }

    /// The part of the order whose nodes start in a span.
    pub(super) fn within(&self, work: &RankWork, span: Interval) -> Self {
        let is_within = |at: &u32| {
            let start_ps = work.nodes[*at as usize].start_ps;
            start_ps >= span.start.0 && start_ps < span.end.0
        };
        let chosen: Vec<bool> = self.nodes.iter().map(is_within).collect();
        Self {
            nodes: chosen_of(&self.nodes, &chosen),
            names: chosen_of(&self.names, &chosen),
            launches_ps: self.launches_ps.as_ref().map(|launches| chosen_of(launches, &chosen)),
            is_part: self.is_part,
        }
    }

    /// Number of nodes.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }
}

fn chosen_of<T: Copy>(values: &[T], chosen: &[bool]) -> Vec<T> {
    values.iter().zip(chosen).filter(|(_, is_chosen)| **is_chosen).map(|(value, _)| *value).collect()
}
