//! Facts that a page needs before its first picture: the active span of the rank, and the slots
//! that tell its names apart.

use nprof_engine::exec::{Cancel, Work};
use nprof_engine::ingest::{BuildOptions, Builder};
use nprof_engine::model::{
    Identity, Nesting, Role, Sink, SliceForm, SliceRecord, TableKind, TableSpec, TrackSpec,
};
use nprof_engine::query::{NameUses, active_span};
use nprof_engine::segment::Segment;
use nprof_engine::spill::MemoryScratch;

/// A rank with a slice for each `(track, name, start, duration)`. Slices of the track `Annotations`
/// are annotations, those of `Calls` are calls.
fn rank(slices: &[(&str, &str, i64, i64)]) -> Segment<Vec<u8>> {
    let scratch = MemoryScratch::default();
    let mut bytes = Vec::new();
    let mut sink = Builder::new(&scratch, &mut bytes, BuildOptions::default()).unwrap();
    let spec = TableSpec::new("slice", TableKind::Slices, "");
    let table = sink.table(spec).unwrap();
    let mut tracks = std::collections::BTreeMap::new();
    for &(track, name, start_ps, duration_ps) in slices {
        let id = *tracks.entry(track).or_insert_with(|| {
            let role = if track == "Annotations" { Role::Annotations } else { Role::Unknown };
            let nesting = if track == "Calls" { Nesting::Calls } else { Nesting::Concurrent };
            let spec = TrackSpec::slices(track, None, table, nesting, 0);
            sink.track(spec.showing(Identity::of(role))).unwrap()
        });
        let form = if duration_ps == 0 { SliceForm::Instant } else { SliceForm::Complete };
        let name = sink.name(name).unwrap();
        sink.slice(&SliceRecord { track: id, start_ps, duration_ps, name, form, fields: &[] }).unwrap();
    }
    sink.finish().unwrap();
    Segment::open(bytes).unwrap()
}

#[track_caller]
fn check_active(slices: &[(&str, &str, i64, i64)], expected: Option<(i64, i64)>) {
    let found = active_span(&rank(slices), Cancel::NEVER).unwrap().map(|span| (span.start.0, span.end.0));
    assert_eq!(found, expected);
}

#[test]
fn the_stretch_with_the_most_work_is_found_between_waits() {
    let set_up = ("Sync", "DRAIN", 10_000, 5_000);
    let wait = ("Vector", "EVENT_SEMAPHORE", 20_000, 950_000);
    let work = [("Tensor", "MATMUL", 970_000, 10_000), ("Vector", "ADD", 985_000, 7_000)];
    let instant = ("Events", "mark", 0, 0);
    check_active(&[set_up, wait, work[0], work[1], instant], Some((970_000, 992_000)));
    let annotation = ("Annotations", "ProfilerStep#3", 0, 992_000);
    check_active(&[annotation, set_up, wait, work[0], work[1]], Some((970_000, 992_000)));
    // The same with so many rows that the tile holds cells: exact to the width of a cell.
    let many: Vec<_> = (0..2_000).map(|at| ("Tensor", "MATMUL", 970_000 + at * 10, 9)).collect();
    let found = active_span(&rank(&[&[set_up, wait], &many[..]].concat()), Cancel::NEVER).unwrap().unwrap();
    assert!((969_000..=970_000).contains(&found.start.0), "{found:?}");
    assert!((989_990..=992_000).contains(&found.end.0), "{found:?}");
}

#[test]
fn a_trace_that_works_all_along_is_shown_whole() {
    check_active(&[], None);
    check_active(&[("a", "x", 0, 1_000)], None);
    check_active(&[("a", "x", 5, 0)], None);
    check_active(&[("a", "EVENT_SEMAPHORE", 0, 1_000_000)], None);
    let spread: Vec<_> = (0..20).map(|at| ("a", "x", at * 50_000, 1_000)).collect();
    check_active(&spread, None);
}

#[test]
fn instants_far_outside_of_all_slices_are_not_shown_first() {
    let spread: Vec<_> = (0..20).map(|at| ("a", "x", 100_000 + at * 40_000, 30_000)).collect();
    let end = ("Marks", "Record Window End", 1_200_000, 0);
    check_active(&[&spread[..], &[end]].concat(), Some((100_000, 890_000)));
    // Many instants are no marks.
    let crowd: Vec<_> = (0..100).map(|at| ("Marks", "mark", 1_000_000 + at * 2_000, 0)).collect();
    check_active(&[&spread[..], &crowd].concat(), None);
    // As long as they are near, the whole is shown.
    let near = ("Marks", "Record Window End", 900_000, 0);
    check_active(&[&spread[..], &[("Marks", "Start", 95_000, 0), near]].concat(), None);
}

#[test]
fn one_of_several_equal_stretches_is_not_the_active_one() {
    let job = |start_ps: i64, duration_ps: i64| ("Compute", "conv", start_ps, duration_ps);
    check_active(&[job(0, 200_000), job(400_000, 200_000), job(800_000, 201_000)], None);
    // A short warm-up does not hide the only job.
    check_active(&[job(0, 1_000), job(800_000, 200_000)], Some((800_000, 1_000_000)));
}

#[test]
fn calls_within_calls_are_no_more_work() {
    let calls: Vec<_> = (0..20).map(|depth| ("Calls", "f", depth, 100_000 - 2 * depth)).collect();
    check_active(&calls, None);
    let kernel = ("Stream", "matmul", 800_000, 200_000);
    check_active(&[&calls[..], &[kernel]].concat(), Some((800_000, 1_000_000)));
}

fn slots(ranks: &[&[(&str, &str, i64, i64)]]) -> Vec<(String, u8)> {
    let mut uses = NameUses::default();
    for slices in ranks {
        uses.add_rank(&rank(slices), Work::IN_PLACE).unwrap();
    }
    uses.into_slots().into_iter().map(|name| (name.kind, name.slot)).collect()
}

#[test]
fn names_have_one_number_over_all_ranks_whatever_their_order() {
    let one: &[_] = &[("a", "matmul", 0, 900), ("a", "copy.1", 900, 50), ("b", "load", 0, 10)];
    let two: &[_] = &[("b", "copy.7", 0, 500), ("a", "reduce", 600, 20)];
    let of = slots(&[one, two]);
    assert_eq!(of, slots(&[two, one]));
    let kinds: Vec<&str> = of.iter().map(|(kind, _)| kind.as_str()).collect();
    assert_eq!(kinds, ["matmul", "copy.", "reduce", "load"]);
    // All names are neighbours somewhere.
    let numbers: std::collections::BTreeSet<u8> = of.iter().map(|(_, slot)| *slot).collect();
    assert_eq!(numbers.len(), 4);
    assert!(numbers.iter().all(|slot| *slot < 8), "few names have the numbers that differ most");
}

#[test]
fn names_side_by_side_differ_also_beyond_the_first() {
    let names: Vec<String> = ('a'..='z').map(|letter| letter.to_string().repeat(3)).collect();
    let here: Vec<_> =
        names.iter().zip(0..).map(|(name, at)| ("a", name.as_str(), at * 100, 99 - at)).collect();
    let others = ["one", "two", "three"].map(|name| ("b", name, 0, 1));
    let of = slots(&[&[&here[..], &others[..]].concat()]);
    let late: std::collections::BTreeSet<u8> = of[26..].iter().map(|(_, slot)| *slot).collect();
    assert_eq!(late.len(), 3, "{:?}", &of[26..]);
    let first: std::collections::BTreeSet<u8> = of[..16].iter().map(|(_, slot)| *slot).collect();
    assert_eq!(first.len(), 16, "{:?}", &of[..16]);
}
