//! Slack: the time by which each piece of work could take longer before the run does.
//!
//! The unchanged run is replayed in the middle model, and each point of it says what it waited for.
//! A source that came before the last one of a point can come later by the difference, and by what
//! the point itself can. So the slack of all points follows from the end of the run, backwards.

use super::graph::{AwaitedCalls, JobGraph, MeetingCall};
use super::replay::{ReplayObserver, ReplayPoint, observed};
use super::scenario::Scenario;
use crate::base::{Result, narrow};
use crate::exec::Cancel;
use crate::model::{MachineSide, NodePoint};

/// [`RankSlack::of`] of work that nothing waits for up to the end of the run.
const NO_LIMIT: i64 = i64::MAX;
/// [`SlackRecorder::places`] of a point without a time.
const NO_PLACE: u32 = u32::MAX;

/// The slack of the work of all ranks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobSlack {
    /// The ranks in the order of the job.
    pub ranks: Vec<RankSlack>,
}

/// The slack of the work of a rank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RankSlack {
    /// For each node the time by which it can end later, in picoseconds.
    ends_ps: Vec<i64>,
}

impl RankSlack {
    /// The time by which a node can take longer without making the run longer, in picoseconds.
    /// `None` if the run does not wait for it.
    #[must_use]
    pub fn of(&self, node: u32) -> Option<i64> {
        self.ends_ps.get(node as usize).copied().filter(|ps| *ps != NO_LIMIT)
    }
}

impl JobSlack {
    /// Finds the slack of all work.
    pub fn of(graph: &JobGraph, cancel: Cancel<'_>) -> Result<Self> {
        let mut recorder = SlackRecorder::new(graph);
        observed(graph, &Scenario::unchanged(), &mut recorder, cancel)?;
        recorder.finish(cancel)
    }
}

/// A source of a point, and the time by which it came before the last source.
#[derive(Debug, Clone, Copy)]
struct SlackSource {
    /// Position of the source among the points.
    place: u32,
    lag_ps: i64,
}

/// A point with the end of its sources in [`SlackRecorder::sources`].
#[derive(Debug, Clone, Copy)]
struct SlackPoint {
    of: ReplayPoint,
    time_ps: i64,
    sources_end: u32,
}

/// The calls of an operation that have come.
#[derive(Debug, Clone, Default)]
struct ArrivedCalls {
    /// Positions of their starts among the points.
    all: Vec<u32>,
    root: Option<u32>,
}

/// Records a replay.
struct SlackRecorder<'g> {
    graph: &'g JobGraph,
    points: Vec<SlackPoint>,
    /// For each rank and node the positions of its start and its end among the points.
    places: Vec<Vec<[u32; 2]>>,
    sources: Vec<SlackSource>,
    /// The sources of the next point, each with its time.
    next: Vec<(u32, i64)>,
    meetings: Vec<ArrivedCalls>,
}

impl<'g> SlackRecorder<'g> {
    fn new(graph: &'g JobGraph) -> Self {
        let places = graph.ranks.iter().map(|rank| vec![[NO_PLACE; 2]; rank.work.nodes.len()]);
        Self {
            graph,
            points: Vec::with_capacity(2 * graph.len()),
            places: places.collect(),
            sources: Vec::new(),
            next: Vec::new(),
            meetings: vec![ArrivedCalls::default(); graph.meetings.len()],
        }
    }

    fn place(&self, point: ReplayPoint) -> u32 {
        self.places[point.rank as usize][point.node as usize][usize::from(point.at == NodePoint::End)]
    }

    /// The side of the machine on which the job ends, and the end of its recorded work there.
    fn end_of_job(&self) -> Option<(MachineSide, i64)> {
        let last = |side: MachineSide| {
            let ends = self.points.iter().filter(|point| self.is_end_on(point, side));
            Some((side, ends.map(|point| point.time_ps).max()?))
        };
        last(MachineSide::Device).or_else(|| last(MachineSide::Host))
    }

    fn is_end_on(&self, point: &SlackPoint, side: MachineSide) -> bool {
        let rank = &self.graph.ranks[point.of.rank as usize];
        let node = &rank.work.nodes[point.of.node as usize];
        point.of.at == NodePoint::End
            && rank.is_recorded(node)
            && rank.classes[node.class as usize].side == side
    }

    /// The slack of all nodes: each point passes on what it can come later to its sources.
    fn finish(self, cancel: Cancel<'_>) -> Result<JobSlack> {
        let ends_ps = |places: &Vec<[u32; 2]>| vec![NO_LIMIT; places.len()];
        let mut ranks: Vec<Vec<i64>> = self.places.iter().map(ends_ps).collect();
        let end = self.end_of_job();
        let mut slack_ps = vec![NO_LIMIT; self.points.len()];
        for (at, point) in self.points.iter().enumerate().rev() {
            cancel.check()?;
            if let Some((side, end_ps)) = end
                && self.is_end_on(point, side)
            {
                slack_ps[at] = slack_ps[at].min(end_ps.saturating_sub(point.time_ps));
            }
            let own_ps = slack_ps[at];
            if point.of.at == NodePoint::End {
                ranks[point.of.rank as usize][point.of.node as usize] = own_ps;
            }
            let first = at.checked_sub(1).map_or(0, |before| self.points[before].sources_end as usize);
            for source in &self.sources[first..point.sources_end as usize] {
                let of = &mut slack_ps[source.place as usize];
                *of = (*of).min(own_ps.saturating_add(source.lag_ps));
            }
        }
        Ok(JobSlack { ranks: ranks.into_iter().map(|ends_ps| RankSlack { ends_ps }).collect() })
    }
}

impl ReplayObserver for SlackRecorder<'_> {
    fn awaits(&mut self, source: ReplayPoint, time_ps: i64) {
        let place = self.place(source);
        // A time that is not known holds nothing back.
        if place != NO_PLACE && time_ps != i64::MIN {
            self.next.push((place, time_ps));
        }
    }

    fn awaits_calls(&mut self, meeting: u32, calls: AwaitedCalls) {
        let arrived = &self.meetings[meeting as usize];
        let root = arrived.root.as_slice();
        let places: &[u32] = match calls {
            AwaitedCalls::All => &arrived.all,
            AwaitedCalls::Root => root,
            AwaitedCalls::Own => &[],
        };
        self.next.extend(places.iter().map(|place| (*place, self.points[*place as usize].time_ps)));
    }

    fn point(&mut self, point: ReplayPoint, time_ps: i64) {
        let last_ps = self.next.iter().map(|(_, time_ps)| *time_ps).max().unwrap_or(time_ps);
        let source = |(place, time_ps): (u32, i64)| SlackSource { place, lag_ps: last_ps.saturating_sub(time_ps) };
        self.sources.extend(self.next.drain(..).map(source));
        let place = narrow(self.points.len());
        self.points.push(SlackPoint { of: point, time_ps, sources_end: narrow(self.sources.len()) });
        self.places[point.rank as usize][point.node as usize][usize::from(point.at == NodePoint::End)] = place;
    }

    fn arrives(&mut self, rank: u32, call: MeetingCall, is_root: bool) {
        let place = self.place(ReplayPoint { rank, node: call.node, at: NodePoint::Start });
        let arrived = &mut self.meetings[call.meeting as usize];
        arrived.all.push(place);
        if is_root {
            arrived.root = Some(place);
        }
    }
}
