//! Slack: the time by which each piece of work could take longer before the run does.
//!
//! The unchanged run is replayed in the middle model, and each point of it says what it waited for.
//! A source that came before the last one of a point can come later by the difference, and by what
//! the point itself can. So the slack of all points follows from the end of the run, backwards.

use rustc_hash::FxHashMap;

use super::graph::{AwaitedCalls, JobGraph, MeetingCall, RankGraph};
use super::replay::{PointTime, ReplayObserver, ReplayPoint, observed};
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

/// A slice with its slack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SliceSlack {
    /// Position of the rank.
    pub rank: u32,
    /// Position of the node.
    pub node: u32,
    /// Its slack in picoseconds.
    pub slack_ps: i64,
}

/// The work of a name on all devices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameSlack<'g> {
    /// The name.
    pub name: &'g str,
    /// Number of slices.
    pub slices: usize,
    /// Sum of their durations, in picoseconds.
    pub time_ps: i64,
    /// The part of it without slack, in picoseconds.
    pub tight_ps: i64,
    /// The slice with the least slack.
    pub least: SliceSlack,
    /// Slack of the median slice, in picoseconds.
    pub median_ps: i64,
}

impl JobSlack {
    /// The work of devices, the least slack first.
    #[must_use]
    pub fn slices(&self, graph: &JobGraph) -> Vec<SliceSlack> {
        let of_rank = |(rank, (slack, of)): (u32, (&RankSlack, &RankGraph))| {
            let recorded = of.device_work().filter(|(_, node)| of.is_recorded(node));
            let slice = |(node, _)| Some(SliceSlack { rank, node, slack_ps: slack.of(node)? });
            recorded.filter_map(slice).collect::<Vec<_>>()
        };
        let ranks = (0_u32..).zip(self.ranks.iter().zip(&graph.ranks));
        let mut slices: Vec<SliceSlack> = ranks.flat_map(of_rank).collect();
        slices.sort_unstable_by_key(|of| (of.slack_ps, of.rank, of.node));
        slices
    }

    /// The names of slices, which are in the order of their slack: those with the most time without
    /// slack first, then those with the least slack.
    #[must_use]
    pub fn by_name<'g>(graph: &'g JobGraph, slices: &[SliceSlack]) -> Vec<NameSlack<'g>> {
        let mut places: FxHashMap<&str, usize> = FxHashMap::default();
        let mut names: Vec<NameSlack<'g>> = Vec::new();
        let mut all_ps: Vec<Vec<i64>> = Vec::new();
        for slice in slices {
            let rank = &graph.ranks[slice.rank as usize];
            let node = &rank.work.nodes[slice.node as usize];
            let name = rank.name(node);
            let place = *places.entry(name).or_insert_with(|| {
                names.push(NameSlack {
                    name,
                    slices: 0,
                    time_ps: 0,
                    tight_ps: 0,
                    least: *slice,
                    median_ps: 0,
                });
                all_ps.push(Vec::new());
                names.len() - 1
            });
            let of = &mut names[place];
            of.slices += 1;
            of.time_ps = of.time_ps.saturating_add(node.duration_ps);
            if slice.slack_ps == 0 {
                of.tight_ps = of.tight_ps.saturating_add(node.duration_ps);
            }
            all_ps[place].push(slice.slack_ps);
        }
        // Slices come in the order of their slack.
        for (of, all_ps) in names.iter_mut().zip(all_ps) {
            of.median_ps = all_ps[all_ps.len() / 2];
        }
        names.sort_by_key(|of| (std::cmp::Reverse(of.tight_ps), of.median_ps, std::cmp::Reverse(of.time_ps)));
        names
    }

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

    fn point(&mut self, point: ReplayPoint, time: PointTime) {
        let time_ps = time.unchanged_ps;
        let last_ps = self.next.iter().map(|(_, time_ps)| *time_ps).max().unwrap_or(time_ps);
        let source =
            |(place, time_ps): (u32, i64)| SlackSource { place, lag_ps: last_ps.saturating_sub(time_ps) };
        self.sources.extend(self.next.drain(..).map(source));
        let place = narrow(self.points.len());
        self.points.push(SlackPoint { of: point, time_ps, sources_end: narrow(self.sources.len()) });
        self.places[point.rank as usize][point.node as usize][usize::from(point.at == NodePoint::End)] =
            place;
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
