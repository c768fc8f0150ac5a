//! A rank as it was recorded beside its replay under changes: the same work twice.

use std::collections::BTreeMap;

use super::paired_track::{Grid, PairedRuns, PairedWork, drawn, picture};
use super::program_match::MatchedPair;
use super::track_program::ProgramSlice;
use crate::base::{Interval, Result, narrow};
use crate::exec::Work;
use crate::insight::Scenario;
use crate::insight::graph::{JobGraph, RankGraph};
use crate::insight::replay::{PointTime, ReplayObserver, ReplayPoint, observed};
use crate::model::{MachineSide, NodePoint, TrackId};

/// A rank as it was recorded beside its replay. Times are in picoseconds since the begin of the
/// span in each run.
#[derive(Debug, Clone, PartialEq)]
pub struct PredictedRun {
    /// The span of the recorded run on the clock that all ranks share.
    pub recorded: Interval,
    /// The same part of the program in the replay, on the same clock.
    pub predicted: Interval,
    /// The tracks of both.
    pub tracks: PairedRuns,
}

/// Keeps the times of the work of one rank.
struct PredictedTimes {
    rank: u32,
    /// For each node its start and its end in the changed run, in picoseconds.
    times_ps: Vec<[i64; 2]>,
}

impl ReplayObserver for PredictedTimes {
    fn point(&mut self, point: ReplayPoint, time: PointTime) {
        if point.rank == self.rank {
            self.times_ps[point.node as usize][usize::from(point.at == NodePoint::End)] = time.changed_ps;
        }
    }
}

/// A piece of work in both runs, on the clock that all ranks share.
#[derive(Clone, Copy)]
struct TwiceTimed {
    recorded: Interval,
    predicted: Interval,
    name: u32,
}

/// Puts the work of the rank at this position beside its replay under changes: all of it, or that
/// in a span of the clock that all ranks share. `None` if there is none.
pub fn predicted_run(
    graph: &JobGraph,
    rank: usize,
    scenario: &Scenario,
    span: Option<Interval>,
    work: Work<'_>,
) -> Result<Option<PredictedRun>> {
    let of = &graph.ranks[rank];
    let mut times = PredictedTimes { rank: narrow(rank), times_ps: vec![[0; 2]; of.work.nodes.len()] };
    observed(graph, scenario, &mut times, work.cancel)?;
    let tracks = tracks_in(of, &times.times_ps, span);
    let all = || tracks.values().flatten();
    // The first work that begins in sight ties both runs.
    let begin_ps = span.map_or(i64::MIN, |span| span.start.0);
    let place = |one: &&TwiceTimed| (one.recorded.start.0 < begin_ps, one.recorded.start);
    let Some(first) = all().min_by_key(place) else { return Ok(None) };
    let last = |of: fn(&TwiceTimed) -> Interval| all().map(|one| of(one).end.0).max().unwrap_or_default();
    let recorded_end_ps = last(|one| one.recorded);
    let recorded = span.unwrap_or(Interval::new(first.recorded.start.0, recorded_end_ps));
    let shift_ps = first.predicted.start.0.saturating_sub(first.recorded.start.0);
    let start_ps = recorded.start.0.saturating_add(shift_ps);
    // The rest behind the last work stays as long.
    let rest_ps = recorded.end.0.saturating_sub(recorded_end_ps);
    let end_ps = last(|one| one.predicted).saturating_add(rest_ps).max(start_ps);
    let predicted = Interval::new(start_ps, end_ps);
    let grid = Grid::of(recorded.duration_ps(), predicted.duration_ps());
    let tracks: Vec<(TrackId, Vec<TwiceTimed>)> = tracks.into_iter().collect();
    let found = work.gather(tracks.len(), |at| {
        let (track, slices) = &tracks[at];
        Ok(drawn(track_work(of, *track, slices, recorded, predicted), grid))
    })?;
    Ok(Some(PredictedRun { recorded, predicted, tracks: picture(found, grid) }))
}

/// The recorded work of the devices of a rank by track, or of its threads if it has no device. Work
/// that waits is left out: what it waits for is on another track.
fn tracks_in(
    of: &RankGraph,
    times_ps: &[[i64; 2]],
    span: Option<Interval>,
) -> BTreeMap<TrackId, Vec<TwiceTimed>> {
    let has_device = of.classes.iter().any(|class| class.side == MachineSide::Device);
    let side = if has_device { MachineSide::Device } else { MachineSide::Host };
    let mut tracks: BTreeMap<TrackId, Vec<TwiceTimed>> = BTreeMap::new();
    for (node, [start_ps, end_ps]) in of.work.nodes.iter().zip(times_ps) {
        let class = of.classes[node.class as usize];
        let is_in = span.is_none_or(|span| span.overlaps(node.start_ps, node.end_ps()));
        if is_in && class.side == side && !class.waits && of.is_recorded(node) {
            let track = of.work.queues[class.queue as usize].track;
            tracks.entry(track).or_default().push(TwiceTimed {
                recorded: Interval::new(node.start_ps, node.end_ps()),
                predicted: Interval::new(*start_ps, *end_ps.max(start_ps)),
                name: of.work.classes[node.class as usize].name,
            });
        }
    }
    tracks
}

/// The work of a track in both runs, since the begin of these spans.
fn track_work(
    of: &RankGraph,
    track: TrackId,
    slices: &[TwiceTimed],
    recorded: Interval,
    predicted: Interval,
) -> PairedWork {
    let queue = of.work.queues.iter().position(|queue| queue.track == track);
    let name = queue.map(|queue| of.work.track_name(narrow(queue)).to_owned());
    let mut names: Vec<u32> = slices.iter().map(|one| one.name).collect();
    names.sort_unstable();
    names.dedup();
    let number = |name: u32| narrow(names.binary_search(&name).unwrap_or_default());
    let since = |begin: Interval, span: Interval, name: u32| {
        let span = span.intersection(begin);
        let start_ps = span.start.0.saturating_sub(begin.start.0);
        ProgramSlice { start_ps, duration_ps: span.duration_ps(), name }
    };
    // Nodes are in the order of their starts. A replay can turn those of several lanes around.
    let mut order: Vec<usize> = (0..slices.len()).collect();
    order.sort_by_key(|at| slices[*at].predicted.start);
    let mut pairs: Vec<MatchedPair> =
        (0_u32..).zip(&order).map(|(b, a)| MatchedPair { a: narrow(*a), b }).collect();
    pairs.sort_unstable_by_key(|pair| pair.a);
    let mut last = None;
    pairs.retain(|pair| {
        let follows = last.is_none_or(|last| pair.b > last);
        last = if follows { Some(pair.b) } else { last };
        follows
    });
    let text = |name: &u32| of.work.name(*name).unwrap_or_default().to_owned();
    PairedWork {
        names: (name, None),
        role: queue.map(|queue| of.work.queues[queue].identity.role).unwrap_or_default(),
        a: Some(slices.iter().map(|one| since(recorded, one.recorded, number(one.name))).collect()),
        b: Some(
            order
                .iter()
                .map(|at| since(predicted, slices[*at].predicted, number(slices[*at].name)))
                .collect(),
        ),
        pairs,
        texts: names.iter().map(text).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::insight::tests::{Drawn, US, job_of_works, work_of};

    /// A product that a transfer feeds, twice, and a queue that has time.
    const STEPS: [Drawn; 5] = [
        Drawn(0, "matmul", 0, 40),
        Drawn(1, "load", 10, 20),
        Drawn(0, "add", 40, 50),
        Drawn(0, "matmul", 50, 90),
        Drawn(0, "add", 90, 100),
    ];

    fn predicted(edits: &[&str], span: Option<(i64, i64)>) -> PredictedRun {
        let job = job_of_works(vec![work_of(&STEPS)]);
        let edits: Vec<_> = edits.iter().map(|edit| edit.parse().unwrap()).collect();
        let scenario = Scenario::new(&job, &edits).unwrap();
        let span = span.map(|(start, end)| Interval::new(start * US, end * US));
        predicted_run(&job, 0, &scenario, span, Work::IN_PLACE).unwrap().unwrap()
    }

    fn starts_us(of: &PredictedRun, name: &str) -> (Vec<i64>, Vec<i64>) {
        let track = of.tracks.tracks.iter().find(|track| track.name == name).unwrap();
        let starts = |of: &Option<crate::insight::run_match::TrackBars>| {
            of.iter().flat_map(|of| &of.bars).map(|bar| bar.start_ps / US).collect()
        };
        (starts(&track.a), starts(&track.b))
    }

    #[test]
    fn an_unchanged_run_is_the_recorded_one() {
        let of = predicted(&[], None);
        assert_eq!((of.recorded, of.predicted), (Interval::new(0, 100 * US), Interval::new(0, 100 * US)));
        let (a, b) = starts_us(&of, "queue 0");
        assert_eq!((a.clone(), a), (b, vec![0, 40, 50, 90]));
        let differs = |track: &crate::insight::run_match::PairedTrack| {
            track.stretches.iter().any(|stretch| stretch.difference_ps() != 0)
        };
        assert!(!of.tracks.tracks.iter().any(differs), "{of:?}");
    }

    #[test]
    fn faster_work_lets_what_follows_begin_earlier() {
        let of = predicted(&["kernel:matmul=0.5"], None);
        assert_eq!((of.recorded.duration_ps(), of.predicted.duration_ps()), (100 * US, 60 * US));
        assert_eq!(starts_us(&of, "queue 0"), (vec![0, 40, 50, 90], vec![0, 20, 30, 50]));
        let track = &of.tracks.tracks[0];
        let causes: Vec<_> = track.stretches.iter().filter_map(|stretch| stretch.cause).collect();
        assert!(!causes.is_empty());
        for cause in causes {
            assert_eq!(of.tracks.names[cause.name.unwrap() as usize], "matmul");
        }
        let sum: i64 = track.stretches.iter().map(|stretch| stretch.difference_ps()).sum();
        assert_eq!(sum, -40 * US);
    }

    #[test]
    fn a_span_begins_at_the_same_work_in_both_runs() {
        let of = predicted(&["kernel:matmul=0.5"], Some((45, 100)));
        assert_eq!(of.recorded, Interval::new(45 * US, 100 * US));
        // The second product began 20 µs earlier.
        assert_eq!(of.predicted, Interval::new(25 * US, 60 * US));
        assert_eq!(starts_us(&of, "queue 0"), (vec![0, 5, 45], vec![0, 5, 25]));
    }

    #[test]
    fn a_span_without_work_has_no_picture() {
        let job = job_of_works(vec![work_of(&STEPS)]);
        let span = Some(Interval::new(200 * US, 300 * US));
        let of = predicted_run(&job, 0, &Scenario::unchanged(), span, Work::IN_PLACE).unwrap();
        assert_eq!(of, None);
    }
}
