//! The replay of all ranks.

use super::extent::WorkExtent;
use super::meeting_times::MeetingTimes;
use super::observer::{ReplayObserver, Unobserved};
use super::rank::{JobReplay, RankReplay};
use super::time::{LOOSE, MIDDLE, STRICT};
use crate::base::{Result, narrow};
use crate::exec::Cancel;
use crate::insight::graph::JobGraph;
use crate::insight::scenario::Scenario;

/// The length of a job in the replay: from the first to the last work of devices, or from the first
/// to the last call of hosts if there is no such work. In picoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replayed {
    /// The length that was recorded.
    pub recorded_ps: i64,
    /// The length in the loosest model.
    pub loose_ps: i64,
    /// The length in the middle model.
    pub middle_ps: i64,
    /// The length in the strictest model.
    pub strict_ps: i64,
    /// Operations that were cut, because each of their ranks waited for another one.
    pub cuts: u64,
}

/// Replays a job.
pub fn replay(graph: &JobGraph, scenario: &Scenario, cancel: Cancel<'_>) -> Result<Replayed> {
    observed(graph, scenario, &mut Unobserved, cancel)
}

/// Replays a job before an observer.
pub(in crate::insight) fn observed(
    graph: &JobGraph,
    scenario: &Scenario,
    observer: &mut impl ReplayObserver,
    cancel: Cancel<'_>,
) -> Result<Replayed> {
    let mut ranks: Vec<RankReplay<'_>> =
        (0_u32..).zip(&graph.ranks).map(|(at, rank)| RankReplay::new(at, rank)).collect();
    let mut meetings: Vec<MeetingTimes> = graph.meetings.iter().map(MeetingTimes::new).collect();
    let mut ready: Vec<u32> = (0..narrow(ranks.len())).rev().collect();
    let mut cuts = 0;
    loop {
        while let Some(at) = ready.pop() {
            cancel.check()?;
            let mut state =
                JobReplay { graph, scenario, observer, meetings: &mut meetings, ready: &mut ready };
            ranks[at as usize].run(&mut state);
        }
        // Ranks that wait for each other: wrong clocks, or calls that do not belong together.
        let first = ranks.iter().filter_map(RankReplay::waits_in).min_by_key(|(_, end_ps)| *end_ps);
        let Some((meeting, _)) = first else { break };
        let meeting = &mut meetings[meeting as usize];
        meeting.is_cut = true;
        ready.append(&mut meeting.waiting);
        cuts += 1;
    }
    Ok(result(&ranks, cuts))
}

fn result(ranks: &[RankReplay<'_>], cuts: u64) -> Replayed {
    let all = |of: fn(&RankReplay<'_>) -> WorkExtent| {
        ranks.iter().map(of).fold(WorkExtent::EMPTY, |mut all, one| {
            all.start(one.first);
            all.end(one.last);
            all
        })
    };
    let device = all(|rank| rank.device);
    let extent = if device.is_empty() { all(|rank| rank.calls) } else { device };
    let length = |last: i64, first: i64| if last < first { 0 } else { last.saturating_sub(first) };
    let new = |model: usize| length(extent.last.new[model], extent.first.new[model]);
    Replayed {
        recorded_ps: length(extent.last.old[MIDDLE], extent.first.old[MIDDLE]),
        loose_ps: new(LOOSE),
        middle_ps: new(MIDDLE),
        strict_ps: new(STRICT),
        cuts,
    }
}
