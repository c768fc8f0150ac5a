//! The dependency graph of one rank.

use super::evidence::AwaitedQueues;
use super::meeting::MeetingCall;
use super::stated_edges::StatedEdges;
use crate::base::narrow;
use crate::model::rank_work::NO_LAUNCH;
use crate::model::{MachineSide, RankWork, WorkNode, is_wait};

/// The longest time from the start of a launch to the start of its work that counts as the cost of
/// the launch itself, in picoseconds. Later work waited for something else.
const LONGEST_LAUNCH_PS: i64 = 20_000_000;
/// A launch is ahead of its device if its work starts this much later than it could, in
/// picoseconds.
const AHEAD_PS: i64 = 20_000_000;

/// The lowest number of a row that no segment has. Nodes of calls that a trace lacks have such
/// rows.
pub(super) const ABSENT_ROW: u32 = 0xC000_0000;

/// Facts about a class that the replay needs.
#[derive(Debug, Clone, Copy)]
pub(in crate::insight) struct ClassFacts {
    pub(in crate::insight) queue: u32,
    pub(in crate::insight) side: MachineSide,
    /// Queues that the slices wait for, as bits of [`RankGraph::told_apart`].
    pub(in crate::insight) awaited: AwaitedQueues,
    /// Whether the slices only wait, and nothing states for what: calls of a host for its device,
    /// instructions for others.
    pub(in crate::insight) waits: bool,
}

/// A call of the host that launches or awaits work.
#[derive(Debug, Clone, Copy)]
pub(in crate::insight) struct HostCall {
    /// Time in which the thread worked since its call before, in picoseconds.
    pub(in crate::insight) busy_ps: i64,
    /// Whether the launch came long before its work could start. When it came is then no cause of
    /// anything; only the work of the thread bounds it.
    pub(in crate::insight) is_ahead: bool,
}

/// The queues that the classes of a rank wait for.
#[derive(Debug)]
pub(super) struct ClassQueues {
    /// Queues that have a bit.
    pub(super) queues: Vec<u32>,
    pub(super) of_classes: Vec<AwaitedQueues>,
}

/// The work of a rank on the shared clock.
#[derive(Debug)]
pub struct RankGraph {
    /// Number of the rank.
    pub rank: u32,
    /// The work. Times are those of the shared clock.
    pub work: RankWork,
    /// Positions of the nodes, ascending by end.
    pub(in crate::insight) ends: Vec<u32>,
    pub(in crate::insight) classes: Vec<ClassFacts>,
    /// Calls of the host in the order of nodes.
    pub(in crate::insight) host: Vec<HostCall>,
    /// For each node the position of its launch in `host`, or [`NO_LAUNCH`].
    pub(in crate::insight) launches: Vec<u32>,
    /// For each queue the shortest time from a launch to its work.
    pub(in crate::insight) latencies_ps: Vec<i64>,
    /// Calls in which the rank meets others, ascending by node.
    pub(in crate::insight) calls: Vec<MeetingCall>,
    /// Queues that have a bit in [`ClassFacts::awaited`].
    pub(in crate::insight) told_apart: Vec<u32>,
    /// Edges that the recording states.
    pub(in crate::insight) stated: StatedEdges,
}

/// For each class whether it has calls of operations.
pub(in crate::insight) fn communicating_classes(work: &RankWork, calls: &[MeetingCall]) -> Vec<bool> {
    let mut communicates = vec![false; work.classes.len()];
    for call in calls {
        communicates[work.nodes[call.node as usize].class as usize] = true;
    }
    communicates
}

impl RankGraph {
    /// The graph of one rank, without its calls.
    pub(super) fn new(rank: u32, mut work: RankWork, awaited: ClassQueues) -> Self {
        let mut ends: Vec<u32> = (0..narrow(work.nodes.len())).collect();
        ends.sort_by_key(|&at| work.nodes[at as usize].end_ps());
        let facts = |(class, awaited): (&crate::model::WorkClass, AwaitedQueues)| ClassFacts {
            queue: class.queue,
            side: work.queues[class.queue as usize].side,
            awaited,
            waits: !work.states_waits(class.queue) && work.name(class.name).is_some_and(is_wait),
        };
        let classes: Vec<ClassFacts> = work.classes.iter().zip(awaited.of_classes).map(facts).collect();
        let stated = StatedEdges::new(&mut work, &ends);
        let mut graph = Self {
            rank,
            ends,
            stated,
            classes,
            host: Vec::new(),
            launches: Vec::new(),
            latencies_ps: Vec::new(),
            calls: Vec::new(),
            told_apart: awaited.queues,
            work,
        };
        graph.launch();
        graph
    }

    /// The queues that slices of a class can wait for, and whether this is likely.
    pub(in crate::insight) fn awaited(&self, class: &ClassFacts) -> impl Iterator<Item = (u32, bool)> + '_ {
        let AwaitedQueues { likely, possible } = class.awaited;
        let first = (possible != 0).then_some(possible);
        let bits = std::iter::successors(first, |bits| Some(bits & (bits - 1)).filter(|rest| *rest != 0));
        bits.map(move |bits| {
            let bit = bits.trailing_zeros();
            (self.told_apart[bit as usize], likely >> bit & 1 == 1)
        })
    }

    /// Edges of the recording that its times contradict.
    #[must_use]
    pub fn dropped_edges(&self) -> u64 {
        self.stated.dropped
    }

    /// The name of a node.
    #[must_use]
    pub fn name(&self, node: &WorkNode) -> &str {
        self.work.name(self.work.classes[node.class as usize].name).unwrap_or_default()
    }

    /// The layer of a node, if the trace states it.
    #[must_use]
    pub fn layer(&self, node: &WorkNode) -> Option<&str> {
        self.work.name(self.work.classes[node.class as usize].layer)
    }

    /// The work of devices, without the calls of operations, with the positions of its nodes.
    pub(in crate::insight) fn device_work(&self) -> impl Iterator<Item = (u32, &WorkNode)> + '_ {
        let mut calls = self.calls.iter().map(|call| call.node).peekable();
        let nodes = (0_u32..).zip(&self.work.nodes);
        nodes.filter(move |(at, node)| {
            let is_call = calls.next_if_eq(at).is_some();
            !is_call && self.classes[node.class as usize].side == MachineSide::Device
        })
    }

    /// The row of a node in the segment. `None` for a call that the trace lacks.
    #[must_use]
    pub fn row_of(&self, node: u32) -> Option<u32> {
        let node = self.work.nodes.get(node as usize).filter(|node| self.is_recorded(node))?;
        Some(node.row)
    }

    /// Whether the trace has a node: calls that it lacks are assumed.
    pub(in crate::insight) fn is_recorded(&self, node: &WorkNode) -> bool {
        node.row < ABSENT_ROW
    }

    /// Fills in what is known about launches.
    fn launch(&mut self) {
        let work = &self.work;
        let slot = |node: u32| work.host_busy_ps.binary_search_by_key(&node, |(at, _)| *at);
        let slot = |node: u32| slot(node).map_or(NO_LAUNCH, narrow);
        // The order of a launch and work that starts at the same time is not known.
        let nodes = (0_u32..).zip(&work.nodes);
        let launch =
            |(at, node): (u32, &WorkNode)| if node.launch < at { slot(node.launch) } else { NO_LAUNCH };
        self.launches = nodes.map(launch).collect();
        let lead_ps = |of: usize| {
            let node = &work.nodes[of];
            work.nodes.get(node.launch as usize).map(|by| node.start_ps.saturating_sub(by.start_ps))
        };
        self.latencies_ps = vec![LONGEST_LAUNCH_PS; work.queues.len()];
        let mut least_lead_ps = vec![i64::MAX; work.host_busy_ps.len()];
        for (at, node) in work.nodes.iter().enumerate() {
            let Some(lead_ps) = lead_ps(at) else { continue };
            let latency_ps = &mut self.latencies_ps[self.classes[node.class as usize].queue as usize];
            *latency_ps = lead_ps.min(*latency_ps);
            if let Some(least_ps) = least_lead_ps.get_mut(self.launches[at] as usize) {
                *least_ps = lead_ps.min(*least_ps);
            }
        }
        let call = |(&(_, busy_ps), lead_ps): (&(u32, i64), i64)| HostCall {
            busy_ps,
            is_ahead: lead_ps != i64::MAX && lead_ps > LONGEST_LAUNCH_PS + AHEAD_PS,
        };
        self.host = work.host_busy_ps.iter().zip(least_lead_ps).map(call).collect();
    }
}
