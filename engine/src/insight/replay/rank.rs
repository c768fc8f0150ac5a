//! The replay of one rank.

use super::extent::WorkExtent;
use super::meeting_times::MeetingTimes;
use super::observer::{ReplayObserver, ReplayPoint};
use super::time::{ByModel, LOOSE, MIDDLE, NEVER, ReplayTime, STRICT, later};
use crate::insight::graph::{JobGraph, MeetingCall, PointOrder, QueueOrder, RankGraph, StatedView};
use crate::insight::scenario::{RankQueue, Scenario, scaled};
use crate::model::stated_edge::NOBODY;
use crate::model::{MachineSide, NodePoint, StatedEdge, WorkNode};

/// The state of a queue.
#[derive(Debug, Clone, Copy)]
struct QueueTimes {
    /// Start of the node that runs.
    started: ReplayTime,
    /// End of the node before it.
    ended: ReplayTime,
    /// That node, or [`NOBODY`].
    ended_node: u32,
    /// Whether the last call of the host was ahead of its device.
    is_ahead: bool,
    /// The new time up to which its work so far waited, if its own work took no time.
    passed: ByModel,
}

/// The time of a point of a node that a stated edge comes from.
#[derive(Debug, Clone, Copy)]
struct AwaitedTime {
    time: ReplayTime,
    /// The new time if the work of its queue took no time. `None` if others wait for the queue.
    passed: Option<ByModel>,
}

/// The end that came last, with its node, or [`NOBODY`].
#[derive(Debug, Clone, Copy)]
struct LastEnd {
    node: u32,
    time: ReplayTime,
}

impl LastEnd {
    const NONE: Self = Self { node: NOBODY, time: ReplayTime::NEVER };
}

/// The part of the job that a rank reads and writes while it runs.
pub(super) struct JobReplay<'j, O> {
    pub(super) graph: &'j JobGraph,
    pub(super) scenario: &'j Scenario,
    pub(super) observer: &'j mut O,
    pub(super) meetings: &'j mut [MeetingTimes],
    /// Ranks that can run.
    pub(super) ready: &'j mut Vec<u32>,
}

/// The replay of one rank.
#[derive(Debug)]
pub(super) struct RankReplay<'g> {
    at: u32,
    graph: &'g RankGraph,
    nodes: &'g [WorkNode],
    stated: StatedView<'g>,
    queues: Vec<QueueTimes>,
    /// The slots of starts of calls of the host.
    host: Vec<ReplayTime>,
    /// The end of work of a device that came last, by the recorded order.
    ended: LastEnd,
    /// The end of a call of a host that came last.
    host_ended: LastEnd,
    points: PointOrder<'g>,
    next_call: usize,
    /// Number of calls of the host so far.
    host_calls: usize,
    /// The slots of times of points that stated edges come from.
    awaited: Vec<ReplayTime>,
    /// For each of them [`AwaitedTime::passed`]. Empty if others wait for all queues.
    passed: Vec<Option<ByModel>>,
    /// Calls that have started and not ended.
    open_calls: Vec<MeetingCall>,
    /// Extent of the work of devices.
    pub(super) device: WorkExtent,
    /// Extent of the calls of the host.
    pub(super) calls: WorkExtent,
}

impl<'g> RankReplay<'g> {
    /// The replay of the rank at this position, before its first node.
    pub(super) fn new(at: u32, graph: &'g RankGraph) -> Self {
        let queue = QueueTimes {
            started: ReplayTime::NEVER,
            ended: ReplayTime::NEVER,
            ended_node: NOBODY,
            is_ahead: false,
            passed: NEVER,
        };
        Self {
            at,
            graph,
            nodes: &graph.work.nodes,
            stated: graph.stated.view(),
            queues: vec![queue; graph.work.queues.len()],
            host: vec![ReplayTime::NEVER; graph.host_slots as usize],
            ended: LastEnd::NONE,
            host_ended: LastEnd::NONE,
            points: PointOrder::new(&graph.work.nodes, &graph.ends),
            next_call: 0,
            host_calls: 0,
            awaited: vec![ReplayTime::NEVER; graph.stated.slots as usize],
            passed: Vec::new(),
            open_calls: Vec::new(),
            device: WorkExtent::EMPTY,
            calls: WorkExtent::EMPTY,
        }
    }

    /// Runs until it waits for another rank, or to its end.
    pub(super) fn run<O: ReplayObserver>(&mut self, job: &mut JobReplay<'_, O>) {
        while let Some((node, point)) = self.points.peek() {
            match point {
                NodePoint::Start => self.start(node, job),
                NodePoint::End => {
                    let Some(time) = self.end_of(node, job) else { return };
                    job.observer.point(self.point(node, NodePoint::End), time.middle());
                    self.end(node, time, job.scenario);
                }
            }
            self.points.pass(point);
        }
    }

    /// The operation that the rank waits in, and the recorded time at which it leaves it.
    pub(super) fn waits_in(&self) -> Option<(u32, i64)> {
        let node = self.points.ending()?;
        let call = self.open_calls.iter().find(|call| call.node == node);
        let call = call.or_else(|| self.graph.core_wait(node))?;
        Some((call.meeting, self.graph.work.nodes[node as usize].end_ps()))
    }

    fn point(&self, node: u32, at: NodePoint) -> ReplayPoint {
        ReplayPoint { rank: self.at, node, at }
    }

    /// Tells an observer that a point waits for a node, if there is one.
    fn await_node(&self, node: u32, at: NodePoint, time: &ReplayTime, observer: &mut impl ReplayObserver) {
        if node != NOBODY {
            observer.awaits(self.point(node, at), time.old[MIDDLE]);
        }
    }

    /// Starts a node.
    fn start<O: ReplayObserver>(&mut self, at: u32, job: &mut JobReplay<'_, O>) {
        let node = &self.nodes[at as usize];
        let class = self.graph.classes[node.class as usize];
        let mut time = match class.side {
            MachineSide::Device => self.start_on_device(at, node, job),
            MachineSide::Host => self.start_on_host(node, job),
        };
        if let Some(change) = job.scenario.change(self.at, at as usize) {
            time = time.shifted(change.gap_ps);
        }
        if class.side == MachineSide::Host {
            if let Some(slot) = self.graph.host_call(self.host_calls).slot {
                self.host[slot as usize] = time;
            }
            self.host_calls += 1;
        }
        job.observer.point(self.point(at, NodePoint::Start), time.middle());
        self.queues[class.queue as usize].started = time;
        self.pass_on(at, NodePoint::Start, time, job.scenario);
        if self.graph.is_recorded(node) {
            self.extent_of(class.side).start(time);
        }
        let call = self.graph.calls.get(self.next_call).filter(|call| call.node == at);
        if let Some(call) = call.copied() {
            self.next_call += 1;
            self.open_calls.push(call);
            if call.arrives {
                let root = job.graph.meetings[call.meeting as usize].root;
                job.observer.arrives(self.at, call, root == Some(self.at));
                let meeting = &mut job.meetings[call.meeting as usize];
                meeting.arrive(time, root == Some(self.at), job.scenario.is_never_awaited(self.at));
                if meeting.missing == 0 || meeting.root.is_some() {
                    job.ready.append(&mut meeting.waiting);
                }
            }
        }
    }

    fn start_on_device<O: ReplayObserver>(
        &self,
        at: u32,
        node: &WorkNode,
        job: &mut JobReplay<'_, O>,
    ) -> ReplayTime {
        let class = &self.graph.classes[node.class as usize];
        let queue = class.queue as usize;
        let scenario = job.scenario;
        let mut after = self.queues[queue].ended;
        self.await_node(self.queues[queue].ended_node, NodePoint::End, &after, job.observer);
        let mut last = LastEnd::NONE;
        for (other, order) in self.graph.awaited(class) {
            let is_free = scenario.is_queue_never_awaited(RankQueue { rank: self.at, queue: other });
            let QueueTimes { ended: other, ended_node, .. } = self.queues[other as usize];
            let other = if is_free { other.only_old() } else { other };
            if other.old[LOOSE] > last.time.old[LOOSE] {
                last = LastEnd { node: ended_node, time: other };
            }
            if order >= QueueOrder::Likely {
                self.await_node(ended_node, NodePoint::End, &other, job.observer);
                after.take(MIDDLE, other);
            }
            if order == QueueOrder::Shared {
                after.take(LOOSE, other);
            }
            after.take(STRICT, other);
        }
        self.await_node(last.node, NodePoint::End, &last.time, job.observer);
        after.take(LOOSE, last.time);
        after.take(MIDDLE, last.time);
        if let Some(call) = self.graph.launch(at)
            && let Some(slot) = self.graph.host_call(call).slot
        {
            let launched = self.host[slot as usize].plus(self.graph.launch_delay_ps(call, node));
            let launch = self.graph.work.host[call].node();
            self.await_node(launch, NodePoint::Start, &launched, job.observer);
            after = after.later(if scenario.launches_are_free() { launched.only_old() } else { launched });
        }
        for edge in self.stated.to(at, NodePoint::Start) {
            self.await_node(edge.from, edge.from_point, &self.source(&edge).time, job.observer);
            after = self.behind(after, &edge, scenario);
        }
        after.followed_by(node.start_ps)
    }

    /// The time of the source of a stated edge.
    fn source(&self, edge: &StatedEdge) -> AwaitedTime {
        match self.stated.slot(edge.from, edge.from_point) {
            Some(slot) => {
                AwaitedTime { time: self.awaited[slot], passed: self.passed.get(slot).copied().flatten() }
            }
            None => AwaitedTime { time: ReplayTime::NEVER, passed: None },
        }
    }

    /// Keeps the time of a point of a node for those that wait for it. A queue for which nothing
    /// waits still passes on what came late to itself.
    fn pass_on(&mut self, at: u32, point: NodePoint, time: ReplayTime, scenario: &Scenario) {
        if !self.stated.is_awaited(at) {
            return;
        }
        let slot = self.stated.slot(at, point);
        if let Some(slot) = slot {
            self.awaited[slot] = time;
            if let Some(passed) = self.passed.get_mut(slot) {
                *passed = None;
            }
        }
        let node = &self.nodes[at as usize];
        let queue = self.graph.classes[node.class as usize].queue;
        if !scenario.is_queue_never_awaited(RankQueue { rank: self.at, queue }) {
            return;
        }
        let mut passed = self.queues[queue as usize].passed;
        for edge in self.stated.to(at, point) {
            let AwaitedTime { time, passed: source } = self.source(&edge);
            passed = later(passed, source.unwrap_or(time.new));
        }
        self.queues[queue as usize].passed = passed;
        if let Some(slot) = slot {
            self.passed.resize(self.awaited.len(), None);
            self.passed[slot] = Some(passed);
        }
    }

    /// A time that also waits for a stated edge. In the new run nobody waits for a semaphore that
    /// is ignored.
    fn behind(&self, after: ReplayTime, edge: &StatedEdge, scenario: &Scenario) -> ReplayTime {
        let AwaitedTime { time, passed } = self.source(edge);
        let both = after.later(time);
        let new = match passed {
            Some(passed) => later(after.new, passed),
            None if scenario.ignores(&self.graph.work, edge.semaphore) => after.new,
            None => return both,
        };
        // Something must tell when the work would have started.
        if new == NEVER { both } else { ReplayTime { new, ..both } }
    }

    /// The time up to which the end of a node waits, if the recording states it.
    fn awaited_end<O: ReplayObserver>(
        &self,
        at: u32,
        started: ReplayTime,
        job: &mut JobReplay<'_, O>,
    ) -> Option<ReplayTime> {
        let mut sources = self.stated.to(at, NodePoint::End).peekable();
        sources.peek()?;
        Some(sources.fold(started, |after, edge| {
            self.await_node(edge.from, edge.from_point, &self.source(&edge).time, job.observer);
            self.behind(after, &edge, job.scenario)
        }))
    }

    /// The start of a call of the host. A launch that is ahead comes as soon as its thread can, the
    /// first one at any time. Any other call comes after the call before, unless that one was ahead
    /// or the thread did nothing since: something held the thread back, most likely the device or
    /// another thread.
    fn start_on_host<O: ReplayObserver>(
        &mut self,
        node: &WorkNode,
        job: &mut JobReplay<'_, O>,
    ) -> ReplayTime {
        let queue = self.graph.classes[node.class as usize].queue as usize;
        let call = self.graph.host_call(self.host_calls);
        let QueueTimes { ended, ended_node, .. } = self.queues[queue];
        let after = ended.plus(call.busy_ps);
        self.await_node(ended_node, NodePoint::End, &after, job.observer);
        let is_first = after.old[LOOSE] == i64::MIN;
        let was_ahead = std::mem::replace(&mut self.queues[queue].is_ahead, call.is_ahead);
        if call.is_ahead {
            after
        } else if is_first || was_ahead || call.is_idle {
            let other = if call.is_idle { self.host_ended } else { LastEnd::NONE };
            self.await_node(self.ended.node, NodePoint::End, &self.ended.time, job.observer);
            self.await_node(other.node, NodePoint::End, &other.time, job.observer);
            after.later(self.device_ended(job.scenario)).later(other.time).followed_by(node.start_ps)
        } else {
            after.followed_by(node.start_ps)
        }
    }

    /// The last end of work of a device, as a host feels it that waits for it.
    fn device_ended(&self, scenario: &Scenario) -> ReplayTime {
        if scenario.hosts_never_wait() { self.ended.time.only_old() } else { self.ended.time }
    }

    /// The end of a node. `None` as long as it waits for other ranks.
    fn end_of<O: ReplayObserver>(&mut self, at: u32, job: &mut JobReplay<'_, O>) -> Option<ReplayTime> {
        let node = &self.nodes[at as usize];
        let class = self.graph.classes[node.class as usize];
        let started = self.queues[class.queue as usize].started;
        let factor = job.scenario.factor(self.at, node.class);
        if let Some(open) = self.open_calls.iter().position(|call| call.node == at) {
            let call = self.open_calls[open];
            let of = &job.graph.meetings[call.meeting as usize];
            let meeting = &mut job.meetings[call.meeting as usize];
            let Some(awaited) = meeting.awaited(of, self.at, started) else {
                meeting.waiting.push(self.at);
                return None;
            };
            self.open_calls.swap_remove(open);
            job.observer.awaits_calls(call.meeting, of.awaited_calls(self.at, meeting.root.is_some()));
            let met = if call.arrives { awaited.later(started) } else { awaited };
            if call.arrives {
                // A call that left before others came ends no earlier than it starts.
                let early_ps = met.old[MIDDLE].saturating_sub(node.end_ps()).max(0);
                self.await_node(at, NodePoint::Start, &started.plus(early_ps), job.observer);
            }
            let rest_ps = node.end_ps().saturating_sub(met.old[MIDDLE]).clamp(0, of.most_transfer_ps);
            let new_ps = scaled(rest_ps, factor * job.scenario.transfer(of.signature));
            let new_ps = job.scenario.bounded_transfer_ps(call.meeting, new_ps);
            let longer_ps = new_ps.saturating_sub(rest_ps);
            let end = met.followed_by(node.end_ps()).shifted(longer_ps);
            return Some(if call.arrives { end.not_before(started) } else { end });
        }
        if let Some(wait) = self.graph.core_wait(at) {
            return self.core_end(wait, node, started, job);
        }
        self.await_node(at, NodePoint::Start, &started, job.observer);
        if class.waits {
            self.await_node(self.ended.node, NodePoint::End, &self.ended.time, job.observer);
            let ended = match class.side {
                MachineSide::Host => self.device_ended(job.scenario),
                MachineSide::Device => self.ended.time,
            };
            return Some(started.later(ended).followed_by(node.end_ps()));
        }
        if let Some(after) = self.awaited_end(at, started, job) {
            let rest_ps = node.end_ps().saturating_sub(after.old[MIDDLE]).max(0);
            let longer_ps = scaled(rest_ps, factor).saturating_sub(rest_ps);
            return Some(after.followed_by(node.end_ps()).shifted(longer_ps));
        }
        let change_ps = job.scenario.change(self.at, at as usize).map_or(0, |change| change.duration_ps);
        let longer_ps = scaled(node.duration_ps, factor).saturating_sub(node.duration_ps);
        Some(started.plus(node.duration_ps).shifted(change_ps.saturating_add(longer_ps)))
    }

    /// The end of the wait of a core for other ranks. `None` as long as they have not come.
    fn core_end<O: ReplayObserver>(
        &self,
        wait: &MeetingCall,
        node: &WorkNode,
        started: ReplayTime,
        job: &mut JobReplay<'_, O>,
    ) -> Option<ReplayTime> {
        let of = &job.graph.meetings[wait.meeting as usize];
        let meeting = &mut job.meetings[wait.meeting as usize];
        let Some(awaited) = meeting.awaited(of, self.at, started) else {
            meeting.waiting.push(self.at);
            return None;
        };
        job.observer.awaits_calls(wait.meeting, of.awaited_calls(self.at, meeting.root.is_some()));
        self.await_node(wait.node, NodePoint::Start, &started, job.observer);
        Some(awaited.later(started).followed_by(node.end_ps()))
    }

    /// Ends a node at a time.
    fn end(&mut self, at: u32, time: ReplayTime, scenario: &Scenario) {
        let node = &self.nodes[at as usize];
        let class = self.graph.classes[node.class as usize];
        let queue = &mut self.queues[class.queue as usize];
        (queue.ended, queue.ended_node) = (time, at);
        self.pass_on(at, NodePoint::End, time, scenario);
        if class.side == MachineSide::Device && !class.waits {
            self.ended = LastEnd { node: at, time };
        } else if class.side == MachineSide::Host {
            self.host_ended = LastEnd { node: at, time };
        }
        if self.graph.is_recorded(node) {
            self.extent_of(class.side).end(time);
        }
    }

    fn extent_of(&mut self, side: MachineSide) -> &mut WorkExtent {
        match side {
            MachineSide::Device => &mut self.device,
            MachineSide::Host => &mut self.calls,
        }
    }
}
