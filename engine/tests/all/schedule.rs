//! Tracks that share a schedule: the rows come back as they went in, whether they follow the
//! schedule, lack slices of it, or have none of its names and keys.

use nprof_engine::base::{Error, Interval};
use nprof_engine::ingest::{BuildOptions, Builder};
use nprof_engine::model::{
    FieldSpec, NameId, Nesting, OwnedValue, Schedule, ScheduledSlice, Sink, SliceForm, SliceRecord,
    TableKind, TableSpec, TrackId, TrackSpec, Value,
};
use nprof_engine::query::{self, VerifyFinding};
use nprof_engine::segment::Segment;
use nprof_engine::spill::MemoryScratch;
use nprof_engine::tile;

/// A call: number of its operation, name, start and end.
type Call = (i64, &'static str, i64, i64);

/// Operations of a job.
const OPERATIONS: i64 = 1_500;
/// Time between the ends of two operations.
const PERIOD_PS: i64 = 1_000_000;

/// Pseudo-random numbers below `below` (splitmix64).
fn noise(seed: i64, below: i64) -> i64 {
    let z = seed.cast_unsigned().wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    ((z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 8).cast_signed() % below
}

/// The calls of a rank: a wait until the last rank has come, and a transfer that ends for all at
/// once.
fn calls(rank: i64) -> Vec<Call> {
    let mut calls = Vec::new();
    for number in 1..=OPERATIONS {
        let (came, end) = (number * PERIOD_PS, number * PERIOD_PS + 200_000);
        let start = came - noise(number * 1_000 + rank, 500_000);
        if start < came {
            calls.push((number, "wait for 7", start, came));
        }
        calls.push((number, "all-reduce", came, end));
    }
    calls
}

fn schedule(builder: &mut Builder<'_>, key: nprof_engine::model::FieldId) -> Schedule {
    let [wait, transfer] = ["wait for 7", "all-reduce"].map(|name| builder.name(name).unwrap());
    let last = u32::try_from(OPERATIONS * 3 - 1).unwrap();
    let of = |number: i64| {
        let end_ps = number * PERIOD_PS;
        let code = u32::try_from(number * 3 - 2).unwrap();
        [
            ScheduledSlice { key: number, name: wait, end_ps, gap_ps: Some(300_000), next: code },
            ScheduledSlice {
                key: number,
                name: transfer,
                end_ps: end_ps + 200_000,
                gap_ps: None,
                next: (code + 2).min(last),
            },
            ScheduledSlice {
                key: number,
                name: transfer,
                end_ps: end_ps + 200_000,
                gap_ps: Some(500_000),
                next: (code + 2).min(last),
            },
        ]
    };
    Schedule { key, slices: (1..=OPERATIONS).flat_map(of).collect() }
}

fn build(tracks: &[Vec<Call>], is_scheduled: bool) -> Vec<u8> {
    let scratch = MemoryScratch::default();
    let mut bytes = Vec::new();
    let mut builder = Builder::new(&scratch, &mut bytes, BuildOptions::default()).unwrap();
    let spec = TableSpec::new("call", TableKind::Slices, "").named_by("name");
    let table = builder.table(spec).unwrap();
    let key = builder.field(table, FieldSpec::named("operation")).unwrap();
    if is_scheduled {
        let schedule = schedule(&mut builder, key);
        builder.schedule(table, schedule).unwrap();
    }
    for (number, calls) in (0..).zip(tracks) {
        let spec = TrackSpec::slices("Rank", None, table, Nesting::Concurrent, number);
        let track = builder.track(spec).unwrap();
        for &(operation, name, start_ps, end_ps) in calls {
            let name = builder.name(name).unwrap();
            let fields = [(key, Value::Int(operation))];
            let fields = if operation == 0 { &[][..] } else { &fields };
            let (duration_ps, form) = (end_ps - start_ps, SliceForm::Complete);
            builder.slice(&SliceRecord { track, start_ps, duration_ps, name, form, fields }).unwrap();
        }
    }
    builder.finish().unwrap();
    bytes
}

fn read(segment: &Segment<Vec<u8>>, track: u32) -> Vec<(i64, String, i64, i64)> {
    let all = Interval::new(i64::MIN / 4, i64::MAX / 4);
    let first = segment.footer().tracks[track as usize].first_row;
    let slices = tile::slices_in(segment, TrackId(track), all).unwrap();
    let row = |(row, slice): (u32, tile::LaneSlice)| {
        let fields = query::fields::read(segment, row).unwrap();
        let operation = fields.iter().find_map(|(_, value)| match value {
            OwnedValue::Int(operation) => Some(*operation),
            _ => None,
        });
        let name = segment.text(NameId(slice.name)).unwrap().to_owned();
        (operation.unwrap_or_default(), name, slice.start_ps, slice.start_ps + slice.duration_ps)
    };
    (first..).zip(slices).map(row).collect()
}

#[track_caller]
fn check(tracks: &[Vec<Call>]) -> (Vec<u8>, Vec<u8>) {
    let (with, without) = (build(tracks, true), build(tracks, false));
    for bytes in [&with, &without] {
        let segment = Segment::open(bytes.clone()).unwrap();
        for (track, calls) in (0..).zip(tracks) {
            let mut expected: Vec<_> =
                calls.iter().map(|&(of, name, start, end)| (of, name.to_owned(), start, end)).collect();
            expected.sort_by_key(|call| (call.2, std::cmp::Reverse(call.3)));
            assert!(read(&segment, track) == expected, "track {track}");
        }
        let mut damage = Vec::new();
        let _ = query::verify::check(&segment, &mut |finding: VerifyFinding| {
            damage.extend(matches!(finding, VerifyFinding::Damaged { .. }).then_some(finding));
            std::ops::ControlFlow::Continue(())
        });
        assert!(damage.is_empty(), "{damage:?}");
    }
    (with, without)
}

#[test]
fn tracks_with_a_schedule_take_little_more_than_their_starts() {
    let tracks: Vec<Vec<Call>> = (0..12).map(calls).collect();
    let (with, without) = check(&tracks);
    let calls = 12 * OPERATIONS as usize;
    assert!(with.len() < calls * 7 / 2, "{} bytes, {} a call", with.len(), with.len() as f64 / calls as f64);
    assert!(with.len() * 3 < without.len() * 2, "{} bytes with, {} without", with.len(), without.len());
    // All tracks name one program.
    let segment = Segment::open(with).unwrap();
    let programs: Vec<_> = segment.footer().tracks.iter().map(|track| track.program).collect();
    assert!(programs[0].len > 0 && programs.iter().all(|program| *program == programs[0]));
}

#[test]
fn rows_that_the_schedule_does_not_have_come_back() {
    let mut tracks: Vec<Vec<Call>> = (0..6).map(calls).collect();
    // Other names, times and orders, and slices that are missing or there twice.
    tracks[1].iter_mut().step_by(7).for_each(|call| call.1 = "gather");
    tracks[1].iter_mut().for_each(|call| call.0 = (call.0 + 1).min(OPERATIONS));
    tracks[2].retain(|call| call.0 % 5 != 0);
    tracks[3].iter_mut().step_by(3).for_each(|call| call.3 += 7_000_000);
    let again = tracks[4][100..200].to_vec();
    tracks[4].extend(again);
    // A key beyond the schedule, and rows without a key.
    tracks[5].last_mut().unwrap().0 = OPERATIONS + 1;
    tracks.push(calls(6));
    tracks[6].iter_mut().skip(2_500).for_each(|call| call.0 = 0);
    tracks.push(vec![(3, "all-reduce", 0, 5)]);
    check(&tracks);
}

#[test]
fn schedules_that_contradict_their_table_are_refused() {
    let scratch = MemoryScratch::default();
    let mut bytes = Vec::new();
    let mut builder = Builder::new(&scratch, &mut bytes, BuildOptions::default()).unwrap();
    let spec = |name: &str| TableSpec::new(name, TableKind::Slices, "").named_by("name");
    let [table, other] = ["call", "other"].map(|name| builder.table(spec(name)).unwrap());
    let key = builder.field(table, FieldSpec::named("operation")).unwrap();
    let whole = schedule(&mut builder, key);
    let with = |change: &dyn Fn(&mut Schedule)| {
        let mut changed = whole.clone();
        change(&mut changed);
        changed
    };
    assert!(builder.schedule(other, whole.clone()).is_err(), "a field of another table");
    for (what, schedule) in [
        ("keys", with(&|schedule| schedule.slices[9].key = 1)),
        ("names", with(&|schedule| schedule.slices[9].name = NameId(9))),
        ("next", with(&|schedule| schedule.slices[9].next = u32::MAX)),
    ] {
        assert!(matches!(builder.schedule(table, schedule), Err(Error::Invalid { .. })), "{what}");
    }
    builder.schedule(table, with(&|schedule| schedule.slices.clear())).unwrap();
    builder.schedule(table, whole).unwrap();
}
