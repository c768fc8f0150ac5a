//! The dependency graph of one rank.

use super::evidence::{AwaitedQueues, QueueOrder};
use super::meeting::MeetingCall;
use super::stated_edges::StatedEdges;
use super::time_slots::TimeSlots;
use crate::base::{Result, narrow};
use crate::exec::{Exec, sort_by_key};
use crate::model::rank_work::NO_LAUNCH;
use crate::model::{HostWork, MachineSide, RankWork, Role, WorkClass, WorkNode, is_wait};
use crate::spill::{Shelf, Shelved};

/// The longest time from the start of a launch to the start of its work that counts as the cost of
/// the launch itself, in picoseconds. Later work waited for something else.
const LONGEST_LAUNCH_PS: i64 = 20_000_000;
/// A launch is ahead of its device if its work starts this much later than it could, in
/// picoseconds.
const AHEAD_PS: i64 = 20_000_000;
/// A thread that does nothing for longer than this between two calls waits for something, in
/// picoseconds.
const IDLE_PS: i64 = 100_000_000;

/// Calls of operations that can be open at once on a device.
const OPEN_CALLS: usize = 16;

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
    /// The slot of its start in a replay, if it launches work.
    pub(in crate::insight) slot: Option<u32>,
    /// Whether the launch came long before its work could start: its device was busy after it. When
    /// it came is then no cause of anything; only the work of the thread bounds it.
    pub(in crate::insight) is_ahead: bool,
    /// Whether the thread did nothing for long before: something else held it back.
    pub(in crate::insight) is_idle: bool,
}

/// Bits of [`RankGraph::host_facts`], below the slot.
const IS_AHEAD: u32 = 1;
const IS_IDLE: u32 = 2;
const HAS_SLOT: u32 = 4;
/// Number of these bits.
const FACT_BITS: u32 = 3;

impl HostCall {
    fn of(call: &HostWork, facts: u32) -> Self {
        Self {
            busy_ps: call.busy_ps,
            slot: (facts & HAS_SLOT != 0).then_some(facts >> FACT_BITS),
            is_ahead: facts & IS_AHEAD != 0,
            is_idle: facts & IS_IDLE != 0,
        }
    }
}

/// The shortest time from a launch to its work.
#[derive(Debug, Clone, Copy)]
struct LaunchLead {
    lead_ps: i64,
    /// Whether the device had nothing to do from the launch on.
    is_idle: bool,
}

impl LaunchLead {
    /// That of a call that launches nothing.
    const NONE: Self = Self { lead_ps: i64::MAX, is_idle: false };

    fn is_ahead(self) -> bool {
        self.lead_ps != i64::MAX && self.lead_ps > LONGEST_LAUNCH_PS + AHEAD_PS && !self.is_idle
    }
}

/// The last end of work of the devices of a rank, at times that ascend.
struct DeviceEnd<'g> {
    graph: &'g RankGraph,
    next: usize,
    end_ps: i64,
}

impl<'g> DeviceEnd<'g> {
    fn new(graph: &'g RankGraph) -> Self {
        Self { graph, next: 0, end_ps: i64::MIN }
    }

    fn before(&mut self, time_ps: i64) -> i64 {
        while let Some(at) = self.graph.ends.get(self.next) {
            let node = &self.graph.work.nodes[*at as usize];
            if node.end_ps() > time_ps {
                break;
            }
            let class = self.graph.classes[node.class as usize];
            if class.side == MachineSide::Device && !class.waits {
                self.end_ps = node.end_ps();
            }
            self.next += 1;
        }
        self.end_ps
    }
}

/// For each call of the host whether its thread did nothing for long before.
fn idle_threads(work: &RankWork, classes: &[ClassFacts]) -> Vec<bool> {
    let mut ends_ps = vec![None; work.queues.len()];
    let is_idle = |call: &HostWork| {
        let node = &work.nodes[call.node() as usize];
        let end_ps: &mut Option<i64> = &mut ends_ps[classes[node.class as usize].queue as usize];
        let before_ps = end_ps.replace(node.end_ps());
        before_ps.is_some_and(|ps| node.start_ps.saturating_sub(ps).saturating_sub(call.busy_ps) > IDLE_PS)
    };
    work.host.iter().map(is_idle).collect()
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
    pub(in crate::insight) ends: Shelved<u32>,
    pub(in crate::insight) classes: Vec<ClassFacts>,
    /// For each call of the host its facts as bits, and the slot of its start.
    host_facts: Shelved<u32>,
    /// Number of slots for starts of calls.
    pub(in crate::insight) host_slots: u32,
    /// For each node the position of its launch in [`RankWork::host`], or [`NO_LAUNCH`]. Empty if
    /// nothing was launched.
    launches: Shelved<u32>,
    /// For each queue the shortest time from a launch to its work.
    pub(in crate::insight) latencies_ps: Vec<i64>,
    /// Calls in which the rank meets others, ascending by node.
    pub(in crate::insight) calls: Vec<MeetingCall>,
    /// Waits of cores for collective communication for the other ranks of an operation, ascending
    /// by node.
    pub(in crate::insight) core_waits: Vec<MeetingCall>,
    /// Queues that have a bit in [`ClassFacts::awaited`].
    pub(in crate::insight) told_apart: Vec<u32>,
    /// Edges that the recording states.
    pub(in crate::insight) stated: StatedEdges,
}

/// Positions of the nodes, ascending by end.
pub(super) fn by_ends(work: &RankWork, exec: &dyn Exec) -> Vec<u32> {
    let mut of_queues: Vec<Vec<(i64, u32)>> = vec![Vec::new(); work.queues.len()];
    for (at, node) in (0_u32..).zip(&work.nodes) {
        of_queues[work.classes[node.class as usize].queue as usize].push((node.end_ps(), at));
    }
    // The work of a queue ends in its order: a stable sort merges the queues.
    let mut ends = of_queues.concat();
    sort_by_key(exec, &mut ends, |end| *end);
    ends.into_iter().map(|(_, at)| at).collect()
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
    /// The graph of one rank, without its calls. `ends` has the positions of its nodes, ascending
    /// by end.
    pub(super) fn new(rank: u32, mut work: RankWork, ends: Vec<u32>, awaited: ClassQueues) -> Self {
        let facts = |(class, awaited): (&WorkClass, AwaitedQueues)| ClassFacts {
            queue: class.queue,
            side: work.queues[class.queue as usize].side,
            awaited,
            waits: !work.states_waits(class.queue) && work.name(class.name).is_some_and(is_wait),
        };
        let classes: Vec<ClassFacts> = work.classes.iter().zip(awaited.of_classes).map(facts).collect();
        let stated = StatedEdges::new(&mut work, &ends);
        let mut graph = Self {
            rank,
            ends: ends.into(),
            stated,
            classes,
            host_facts: Shelved::default(),
            host_slots: 0,
            launches: Shelved::default(),
            latencies_ps: Vec::new(),
            calls: Vec::new(),
            core_waits: Vec::new(),
            told_apart: awaited.queues,
            work,
        };
        graph.find_launches();
        graph
    }

    /// The queues that slices of a class can wait for, and how sure this is.
    pub(in crate::insight) fn awaited(
        &self,
        class: &ClassFacts,
    ) -> impl Iterator<Item = (u32, QueueOrder)> + '_ {
        let AwaitedQueues { likely, possible, shared } = class.awaited;
        let first = (possible != 0).then_some(possible);
        let bits = std::iter::successors(first, |bits| Some(bits & (bits - 1)).filter(|rest| *rest != 0));
        bits.map(move |bits| {
            let bit = bits.trailing_zeros();
            let order = match (shared >> bit & 1, likely >> bit & 1) {
                (1, _) => QueueOrder::Shared,
                (_, 1) => QueueOrder::Likely,
                _ => QueueOrder::Possible,
            };
            (self.told_apart[bit as usize], order)
        })
    }

    /// The node that came late if there is a gap before a node, from `from_ps` on: its launch if it
    /// lies in the gap, else the node itself.
    pub(in crate::insight) fn held_back(&self, node: u32, from_ps: i64) -> u32 {
        let start_ps = |node: u32| self.work.nodes[node as usize].start_ps;
        let launch = self.launch(node).and_then(|_| self.work.launch(node));
        let in_gap = launch.filter(|&launch| start_ps(launch) > from_ps && start_ps(launch) < start_ps(node));
        in_gap.unwrap_or(node)
    }

    /// The call of an operation that a node is.
    pub(in crate::insight) fn call(&self, node: u32) -> Option<&MeetingCall> {
        let at = self.calls.binary_search_by_key(&node, |call| call.node).ok()?;
        Some(&self.calls[at])
    }

    /// Whether cores for collective communication execute the slices of a class.
    pub(in crate::insight) fn is_of_core(&self, class: u32) -> bool {
        let queue = self.classes[class as usize].queue;
        self.work.queues[queue as usize].identity.role == Role::CollectiveCore
    }

    /// The operation in which a core waits for other ranks, if a node is such a wait.
    pub(in crate::insight) fn core_wait(&self, node: u32) -> Option<&MeetingCall> {
        let at = self.core_waits.binary_search_by_key(&node, |wait| wait.node).ok()?;
        Some(&self.core_waits[at])
    }

    /// Finds the waits of cores for other ranks: those within a call of an operation.
    pub(super) fn find_core_waits(&mut self) {
        let is_core_wait = |(at, class): (u32, &WorkClass)| {
            self.is_of_core(at) && self.work.name(class.name).is_some_and(is_wait)
        };
        let of_classes: Vec<bool> = (0_u32..).zip(&self.work.classes).map(is_core_wait).collect();
        let nodes = &self.work.nodes;
        let waits = (0_u32..).zip(nodes).filter(|(_, node)| of_classes[node.class as usize]);
        let wait = |(at, node): (u32, &WorkNode)| {
            let before =
                self.calls.partition_point(|call| nodes[call.node as usize].start_ps <= node.start_ps);
            let contains = |call: &&MeetingCall| nodes[call.node as usize].end_ps() >= node.end_ps();
            let call = self.calls[..before].iter().rev().take(OPEN_CALLS).find(contains)?;
            Some(MeetingCall { node: at, arrives: false, ..*call })
        };
        self.core_waits = waits.filter_map(wait).collect();
    }

    /// The name of the track of a node.
    #[must_use]
    pub fn track_of(&self, node: u32) -> &str {
        let class = self.work.nodes[node as usize].class;
        self.work.track_name(self.classes[class as usize].queue)
    }

    /// The facts about a call of the host. `None` for other nodes.
    pub(in crate::insight) fn call_of(&self, node: u32) -> Option<HostCall> {
        let at = self.work.host.binary_search_by_key(&node, HostWork::node).ok()?;
        Some(self.host_call(at))
    }

    /// The call of the host with this number.
    pub(in crate::insight) fn host_call(&self, at: usize) -> HostCall {
        HostCall::of(&self.work.host[at], self.host_facts[at])
    }

    /// The number of the call that launched a node before it started.
    pub(in crate::insight) fn launch(&self, node: u32) -> Option<usize> {
        let launch = self.launches.get(node as usize).filter(|launch| **launch != NO_LAUNCH)?;
        Some(*launch as usize)
    }

    /// The time from the start of a launch until nothing of it holds its work back, in picoseconds:
    /// the shortest one of the queue. A call that ends before its work starts can have kept it back
    /// until then, such as one that loads the kernel first.
    pub(in crate::insight) fn launch_delay_ps(&self, call: usize, work: &WorkNode) -> i64 {
        let latency_ps = self.latencies_ps[self.classes[work.class as usize].queue as usize];
        let call = &self.work.nodes[self.work.host[call].node() as usize];
        if call.end_ps() <= work.start_ps { latency_ps.max(call.duration_ps) } else { latency_ps }
    }

    /// Puts all long lists on a shelf, those of stated edges beside the others.
    pub(super) fn shelve(&mut self, shelf: &dyn Shelf, exec: &dyn Exec) -> Result<()> {
        self.work.shelve(shelf, exec)?;
        let Self { ends, host_facts, launches, stated, .. } = self;
        let (mut of_stated, mut of_others) = (Ok(()), Ok(()));
        exec.beside(&mut || of_stated = stated.shelve(shelf), &mut || {
            of_others = ends
                .shelve(shelf)
                .and_then(|()| host_facts.shelve(shelf))
                .and_then(|()| launches.shelve(shelf));
        });
        of_stated.and(of_others)
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

    /// The work of devices, without the calls of operations and the steps of the cores that execute
    /// them, with the positions of its nodes.
    pub(in crate::insight) fn device_work(&self) -> impl Iterator<Item = (u32, &WorkNode)> + '_ {
        let mut calls = self.calls.iter().map(|call| call.node).peekable();
        let nodes = (0_u32..).zip(&self.work.nodes);
        nodes.filter(move |(at, node)| {
            let is_call = calls.next_if_eq(at).is_some();
            let side = self.classes[node.class as usize].side;
            !is_call && !self.is_of_core(node.class) && side == MachineSide::Device
        })
    }

    /// The start of its first recorded work or call. `None` without any.
    pub(in crate::insight) fn first_start_ps(&self) -> Option<i64> {
        let first = self.work.nodes.iter().find(|node| self.is_recorded(node))?;
        Some(first.start_ps)
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
    fn find_launches(&mut self) {
        self.latencies_ps = vec![LONGEST_LAUNCH_PS; self.work.queues.len()];
        let work = &self.work;
        if !work.launches.is_empty() {
            let call = |node: u32| work.host.binary_search_by_key(&node, HostWork::node).ok();
            // The order of a launch and work that starts at the same time is not known.
            let launch = |at: u32| call(work.launch(at).filter(|launch| *launch < at)?);
            let nodes = (0_u32..).take(work.nodes.len());
            self.launches = nodes.map(|at| launch(at).map_or(NO_LAUNCH, narrow)).collect();
        }
        let leads = self.launch_leads();
        let slots = self.assign_slots();
        let work = &self.work;
        let idle = idle_threads(work, &self.classes);
        let facts = |((lead, is_idle), slot): ((LaunchLead, bool), Option<u32>)| {
            let bit = |is_set: bool, bit: u32| if is_set { bit } else { 0 };
            let slot = slot.map_or(0, |slot| HAS_SLOT | slot << FACT_BITS);
            bit(lead.is_ahead(), IS_AHEAD) | bit(is_idle, IS_IDLE) | slot
        };
        self.host_facts = leads.into_iter().zip(idle).zip(slots).map(facts).collect();
    }

    /// For each call of the host the shortest time from it to its work. Finds the latencies of the
    /// queues as well.
    fn launch_leads(&mut self) -> Vec<LaunchLead> {
        let work = &self.work;
        let mut latencies_ps = std::mem::take(&mut self.latencies_ps);
        let mut leads = vec![LaunchLead::NONE; work.host.len()];
        let mut ended = DeviceEnd::new(self);
        for (at, node) in (0_u32..).zip(&work.nodes) {
            let Some(by) = work.launching(at) else { continue };
            let lead_ps = node.start_ps.saturating_sub(by.start_ps);
            let latency_ps = &mut latencies_ps[self.classes[node.class as usize].queue as usize];
            *latency_ps = lead_ps.min(*latency_ps);
            let idle_ps = node.start_ps.saturating_sub(ended.before(node.start_ps));
            if let Some(least) = self.launch(at).and_then(|call| leads.get_mut(call))
                && lead_ps < least.lead_ps
            {
                *least = LaunchLead { lead_ps, is_idle: idle_ps >= lead_ps };
            }
        }
        self.latencies_ps = latencies_ps;
        leads
    }

    /// For each call of the host the slot of its start, from then to the last of its work.
    fn assign_slots(&mut self) -> Vec<Option<u32>> {
        let mut waiting = vec![0_u32; self.work.host.len()];
        for call in self.launches.iter().filter(|call| **call != NO_LAUNCH) {
            waiting[*call as usize] += 1;
        }
        let mut slots = TimeSlots::default();
        let mut of_calls: Vec<Option<u32>> = Vec::with_capacity(waiting.len());
        for at in (0_u32..).take(self.work.nodes.len()) {
            if self.work.host.get(of_calls.len()).is_some_and(|call| call.node() == at) {
                of_calls.push((waiting[of_calls.len()] > 0).then(|| slots.take()));
            }
            let Some(call) = self.launch(at) else { continue };
            waiting[call] -= 1;
            if let Some(slot) = of_calls[call].filter(|_| waiting[call] == 0) {
                slots.give_back(slot);
            }
        }
        self.host_slots = slots.len;
        of_calls
    }
}
