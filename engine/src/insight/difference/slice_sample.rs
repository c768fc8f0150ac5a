//! The repetitions of a rank from its stored slices. Millions of instructions need no list of their
//! work: sums and the time in which anything ran are enough.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::duration_counts::DurationCounts;
use super::rank_sample::{RankRepetition, RankSample, WorkSum};
use super::repetition::RunRepetition;
use super::work_key::{RowNames, WorkKey};
use crate::base::{Interval, Result};
use crate::exec::{Cancel, Work};
use crate::makers::{
    DeviceTrack, HLO_FIELDS, IntervalList, LAYER_FIELDS, SOURCE_FIELDS, Union, each_device_slice, joined,
};
use crate::model::NameId;
use crate::segment::{Bytes, Segment};

/// The work of a track.
#[derive(Debug, Default)]
struct TrackWork {
    /// For each repetition the sums by the number of a text.
    sums: Vec<FxHashMap<Option<u32>, WorkSum>>,
    /// The durations by the number of a text.
    durations: FxHashMap<Option<u32>, DurationCounts>,
    /// Spans in which it ran.
    runs: Union,
}

/// Time in which work ran within a span, in picoseconds.
fn within_ps(runs: &IntervalList, span: Interval) -> i64 {
    let first = runs.partition_point(|run| run.1 <= span.start.0);
    let within = runs[first..].iter().take_while(|run| run.0 < span.end.0);
    within.map(|run| span.overlap_ps(run.0, run.1)).sum()
}

impl RankSample {
    /// The work of these tracks in repetitions, which do not overlap; without any, in the whole of
    /// their work.
    pub fn of_tracks<B: Bytes>(
        segment: &Segment<B>,
        rank: u32,
        tracks: &[DeviceTrack],
        key: WorkKey,
        repetitions: &[RunRepetition],
        work: Work<'_>,
    ) -> Result<Self> {
        let mut chosen = repetitions.to_vec();
        chosen.sort_by_key(|one| one.span.start);
        if chosen.is_empty() {
            let span = Interval::new(i64::MIN, i64::MAX);
            chosen.push(RunRepetition { name: "run".to_owned(), span, is_open: false });
        }
        let of_track = |at: usize| track_work(segment, tracks[at], key, &chosen, work.cancel);
        let of_tracks = work.gather(tracks.len(), of_track)?;
        let mut rows = RowNames::default();
        let mut sums: Vec<FxHashMap<u32, WorkSum>> = vec![FxHashMap::default(); chosen.len()];
        let mut runs = Vec::with_capacity(tracks.len());
        let mut durations: Vec<DurationCounts> = Vec::new();
        for (of, track) in of_tracks.into_iter().zip(tracks) {
            let mut row_of = |text: Option<u32>| -> Result<u32> {
                Ok(match (key, text) {
                    (WorkKey::Track, _) => rows.number(Some(track.name(segment)), true),
                    (WorkKey::Rank, _) => rows.number(Some(&format!("rank {rank}")), true),
                    (_, Some(text)) => rows.number(Some(segment.text(NameId(text))?), true),
                    (_, None) => rows.number(None, true),
                })
            };
            for (own, sums) in of.sums.into_iter().zip(&mut sums) {
                for (text, sum) in own {
                    let known = sums.entry(row_of(text)?).or_default();
                    known.time_ps = known.time_ps.saturating_add(sum.time_ps);
                    known.count += sum.count;
                }
            }
            for (text, own) in of.durations {
                let row = row_of(text)? as usize;
                durations.resize(durations.len().max(row + 1), DurationCounts::default());
                durations[row].merge(&own);
            }
            runs.push(Rc::new(of.runs.settled()));
        }
        let runs = joined(runs);
        if repetitions.is_empty() {
            let all = runs.first().zip(runs.last());
            chosen[0].span = all.map_or(Interval::default(), |(first, last)| Interval::new(first.0, last.1));
        }
        let one = |(of, sums): (RunRepetition, FxHashMap<u32, WorkSum>)| RankRepetition {
            name: of.name,
            length_ps: of.span.duration_ps(),
            busy_ps: within_ps(&runs, of.span),
            is_open: of.is_open,
            sums,
        };
        let repetitions = chosen.into_iter().zip(sums).map(one).collect();
        let (names, is_coupled) = rows.finish();
        durations.resize(names.len(), DurationCounts::default());
        Ok(Self { rank, names, is_coupled, repetitions, durations, order: Vec::new() })
    }
}

fn track_work<B: Bytes>(
    segment: &Segment<B>,
    track: DeviceTrack,
    key: WorkKey,
    repetitions: &[RunRepetition],
    cancel: Cancel<'_>,
) -> Result<TrackWork> {
    let fields = match key {
        WorkKey::Layer => Some(LAYER_FIELDS),
        WorkKey::Hlo => Some(HLO_FIELDS),
        WorkKey::Line => Some(SOURCE_FIELDS),
        WorkKey::Name | WorkKey::Track | WorkKey::Operator | WorkKey::Rank => None,
    };
    let mut of = TrackWork { sums: vec![FxHashMap::default(); repetitions.len()], ..TrackWork::default() };
    let mut first = 0;
    each_device_slice(segment, track, fields, cancel, &mut |slice| {
        of.runs.add(slice.start_ps, slice.end_ps);
        while repetitions.get(first).is_some_and(|one| one.span.end.0 <= slice.start_ps) {
            first += 1;
        }
        // Nothing of these devices was launched by an operator.
        let text = slice.text.filter(|_| !matches!(key, WorkKey::Operator | WorkKey::Track | WorkKey::Rank));
        for (one, sums) in repetitions[first..].iter().zip(&mut of.sums[first..]) {
            if one.span.start.0 >= slice.end_ps {
                break;
            }
            let sum = sums.entry(text).or_default();
            sum.time_ps = sum.time_ps.saturating_add(one.span.overlap_ps(slice.start_ps, slice.end_ps));
            if slice.start_ps >= one.span.start.0 {
                sum.count += 1;
                of.durations.entry(text).or_default().add(slice.end_ps - slice.start_ps);
            }
        }
    })?;
    Ok(of)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{RankTrack, rank_of};
    use crate::insight::difference::WorkKeys;
    use crate::makers::{device_tracks_without_launches, work};
    use crate::model::{EngineKind, Role};

    #[test]
    fn stored_slices_and_the_work_of_a_rank_give_the_same_sums() {
        let tensor = [("MATMUL", 0, 10), ("MATMUL", 12, 20), ("COPY", 20, 26)];
        let vector = [("COPY", 5, 9), ("ADD", 15, 30), ("ADD", 40, 44)];
        let tracks = [
            RankTrack::of(Role::Engine(EngineKind::Tensor), &tensor),
            RankTrack::of(Role::Engine(EngineKind::Vector), &vector),
        ];
        let segment = rank_of("trace_event", &tracks);
        let known = device_tracks_without_launches(&segment);
        assert_eq!(known.len(), 2);
        let work = work(&segment, Work::IN_PLACE).unwrap();
        let whole = work.nodes.iter().map(|node| node.end_ps()).max().unwrap();
        let span = |start: i64, end: i64| RunRepetition {
            name: start.to_string(),
            span: Interval::new(whole * start / 44, whole * end / 44),
            is_open: false,
        };
        for spans in [vec![], vec![span(0, 18), span(18, 42)], vec![span(6, 7)]] {
            for key in [WorkKey::Name, WorkKey::Track, WorkKey::Rank] {
                let keys = WorkKeys::of(&segment, &work, 3, key, Cancel::NEVER).unwrap();
                let of_work = RankSample::of(3, &work, &keys, &spans, Cancel::NEVER).unwrap();
                let stored = RankSample::of_tracks(&segment, 3, &known, key, &spans, Work::IN_PLACE).unwrap();
                for (stored, of_work) in stored.repetitions.iter().zip(&of_work.repetitions) {
                    assert_eq!((stored.length_ps, stored.busy_ps), (of_work.length_ps, of_work.busy_ps));
                }
                let durations = |of: &RankSample| {
                    let named = of.names.iter().cloned().zip(of.durations.iter().cloned());
                    let mut named: Vec<(String, DurationCounts)> =
                        named.filter(|(_, counts)| *counts != DurationCounts::default()).collect();
                    named.sort_by(|one, other| one.0.cmp(&other.0));
                    named
                };
                assert_eq!(durations(&stored), durations(&of_work), "{key:?} {spans:?}");
                let sums = |of: &RankSample| -> Vec<Vec<(String, WorkSum)>> {
                    let named = |one: &RankRepetition| {
                        let named = one.sums.iter().map(|(row, sum)| (of.names[*row as usize].clone(), *sum));
                        let mut named: Vec<(String, WorkSum)> = named.collect();
                        named.sort_by(|one, other| one.0.cmp(&other.0));
                        named
                    };
                    of.repetitions.iter().map(named).collect()
                };
                assert_eq!(sums(&stored), sums(&of_work), "{key:?} {spans:?}");
            }
        }
    }
}
