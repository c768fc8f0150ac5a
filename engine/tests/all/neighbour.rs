//! Steps from slice to slice. A step finds the nearest slice, and steps up and down reach every
//! track.

use std::collections::BTreeSet;

use nprof_engine::base::Interval;
use nprof_engine::exec::Cancel;
use nprof_engine::ingest::{BuildOptions, Builder};
use nprof_engine::model::{
    Nesting, Sink, SliceForm, SliceRecord, TableKind, TableSpec, TrackId, TrackSpec, Unit,
};
use nprof_engine::query::{self, SliceAt, StepDirection};
use nprof_engine::segment::Segment;
use nprof_engine::spill::MemoryScratch;
use nprof_engine::tile;
use proptest::prelude::*;

const TRACKS: usize = 4;

/// Tracks 0 and 1 in the group "Engines", then a counter, an empty track, and tracks 2 and 3 in the
/// group "Host".
struct Stage {
    segment: Segment<Vec<u8>>,
    tracks: [TrackId; TRACKS],
    engines: TrackId,
    host: TrackId,
}

/// Builds a stage from slices: track, start and duration.
fn stage(slices: &[(usize, i64, i64)]) -> Stage {
    let scratch = MemoryScratch::default();
    let mut bytes = Vec::new();
    // Small groups give many blocks.
    let options = BuildOptions { group_bytes: 2_000, ..BuildOptions::default() };
    let mut builder = Builder::new(&scratch, &mut bytes, options).unwrap();
    let spec = |name: &str, kind| TableSpec::new(name, kind, "");
    let table = builder.table(spec("slice", TableKind::Slices)).unwrap();
    let samples = builder.table(spec("counter", TableKind::Samples)).unwrap();
    let engines = builder.track(TrackSpec::group("Engines", None, 0)).unwrap();
    let host = builder.track(TrackSpec::group("Host", None, 2)).unwrap();
    let mut track = |name: &str, group: TrackId| {
        builder.track(TrackSpec::slices(name, Some(group), table, Nesting::Concurrent, 0)).unwrap()
    };
    let tracks = [track("a", engines), track("b", engines), track("c", host), track("d", host)];
    builder.track(TrackSpec::slices("empty", None, table, Nesting::Concurrent, 1)).unwrap();
    let counter = builder.track(TrackSpec::counter("power", None, samples, Unit::Count, 1)).unwrap();
    let name = builder.name("x").unwrap();
    for &(track, start_ps, duration_ps) in slices {
        let record = SliceRecord {
            track: tracks[track],
            start_ps,
            duration_ps,
            name,
            form: SliceForm::Complete,
            fields: &[],
        };
        builder.slice(&record).unwrap();
        builder.sample(counter, start_ps, 1.0, &[]).unwrap();
    }
    builder.finish().unwrap();
    Stage { segment: Segment::open(bytes).unwrap(), tracks, engines, host }
}

impl Stage {
    fn all(&self, track: usize) -> Vec<SliceAt> {
        let track = self.tracks[track];
        let slices =
            tile::slices_in(&self.segment, track, Interval::new(i64::MIN / 4, i64::MAX / 4)).unwrap();
        slices.into_iter().map(|slice| SliceAt { track, slice }).collect()
    }

    fn step(&self, from: &SliceAt, direction: StepDirection, closed: &[TrackId]) -> Option<SliceAt> {
        query::neighbour::step(&self.segment, from.slice.row, direction, closed, Cancel::NEVER).unwrap()
    }
}

/// Distance of a slice from the start of the slice that a step leaves. 0 if the slice covers that
/// start or starts within the slice that the step leaves.
fn distance(from: &SliceAt, to: &SliceAt) -> i64 {
    let moment = from.slice.start_ps;
    if to.slice.start_ps < moment {
        (moment - to.end_ps() + i64::from(to.end_ps() <= moment)).max(0)
    } else {
        (to.slice.start_ps - from.end_ps()).max(0)
    }
}

#[test]
fn steps_down_reach_every_track_with_slices_and_end_at_the_last() {
    let stage = stage(&[(0, 0, 10), (0, 5, 10), (1, 90, 5), (2, 0, 3), (3, 40, 5)]);
    let mut at = stage.all(0)[0];
    let mut seen = vec![(at.track, at.slice.lane)];
    while let Some(next) = stage.step(&at, StepDirection::Down, &[]) {
        seen.push((next.track, next.slice.lane));
        at = next;
    }
    let [a, b, c, d] = stage.tracks;
    assert_eq!(seen, [(a, 0), (a, 1), (b, 0), (c, 0), (d, 0)]);
    let mut back = vec![(at.track, at.slice.lane)];
    while let Some(next) = stage.step(&at, StepDirection::Up, &[]) {
        back.push((next.track, next.slice.lane));
        at = next;
    }
    back.reverse();
    assert_eq!(back, seen);
}

#[test]
fn tracks_below_closed_groups_are_passed_over() {
    let stage = stage(&[(0, 0, 10), (1, 0, 10), (2, 0, 10), (3, 0, 10)]);
    let first = stage.all(0)[0];
    assert_eq!(stage.step(&first, StepDirection::Down, &[stage.host]).unwrap().track, stage.tracks[1]);
    // Steps out of a group that was closed after the selection.
    assert_eq!(stage.step(&first, StepDirection::Down, &[stage.engines]).unwrap().track, stage.tracks[2]);
    assert_eq!(stage.step(&stage.all(1)[0], StepDirection::Down, &[stage.host]), None);
    assert_eq!(stage.step(&stage.all(2)[0], StepDirection::Up, &[stage.engines]), None);
}

#[test]
fn a_step_prefers_what_runs_at_the_same_time() {
    let stage = stage(&[(0, 100, 50), (1, 0, 99), (1, 120, 5), (1, 160, 5)]);
    let beside = stage.step(&stage.all(0)[0], StepDirection::Down, &[]).unwrap();
    assert_eq!(beside.slice.start_ps, 120);
    let back = stage.step(&beside, StepDirection::Up, &[]).unwrap();
    assert_eq!(back.slice.start_ps, 100);
}

fn slices() -> impl Strategy<Value = Vec<(usize, i64, i64)>> {
    prop::collection::vec((0..TRACKS, 0_i64..20_000, 0_i64..400), 1..400)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// The result of a step up or down is as near as the nearest slice that a full scan finds.
    #[test]
    fn the_nearest_slice_is_found(given in slices(), pick in any::<prop::sample::Index>()) {
        let stage = stage(&given);
        let all: Vec<Vec<SliceAt>> = (0..TRACKS).map(|track| stage.all(track)).collect();
        let flat: Vec<SliceAt> = all.iter().flatten().copied().collect();
        let from = flat[pick.index(flat.len())];
        for direction in [StepDirection::Up, StepDirection::Down] {
            let lane = match direction {
                StepDirection::Up => from.slice.lane.checked_sub(1),
                _ => Some(from.slice.lane + 1),
            };
            let track = stage.tracks.iter().position(|track| *track == from.track).unwrap();
            let mut wanted: Vec<&SliceAt> =
                all[track].iter().filter(|slice| Some(slice.slice.lane) == lane).collect();
            if wanted.is_empty() {
                let mut others: Vec<&Vec<SliceAt>> = match direction {
                    StepDirection::Up => all[..track].iter().rev().collect(),
                    _ => all[track + 1..].iter().collect(),
                };
                others.retain(|slices| !slices.is_empty());
                wanted = others.first().map(|slices| slices.iter().collect()).unwrap_or_default();
            }
            let nearest = wanted.iter().map(|slice| distance(&from, slice)).min();
            let found = stage.step(&from, direction, &[]);
            prop_assert_eq!(found.as_ref().map(|found| distance(&from, found)), nearest);
            let rows: BTreeSet<u32> = wanted.iter().map(|slice| slice.slice.row).collect();
            prop_assert!(found.is_none_or(|found| rows.contains(&found.slice.row)));
        }
    }
}
