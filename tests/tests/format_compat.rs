//! Segments of every released version are read for ever: `golden/` holds one of each, written by the nprof of its time.
//!
//! A new version adds a file (`NPROF_WRITE_GOLDEN=1 cargo test -p nprof-tests --test format_compat`); no file changes.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::path::PathBuf;

use nprof_engine::base::Interval;
use nprof_engine::ingest::{BuildOptions, Builder};
use nprof_engine::model::{
    FieldSpec, Form, Nesting, RankInfo, Sink, SliceRecord, TableKind, TableSpec, TrackSpec, Unit, Value,
    WarningKind,
};
use nprof_engine::query::{HitPage, OneHand, Pattern};
use nprof_engine::segment::{OLDEST_VERSION, Segment, VERSION};
use nprof_engine::spill::MemoryScratch;
use nprof_engine::wire::answer;

fn golden(version: u16) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("golden/v{version}.nseg"))
}

/// A rank with something of everything: both nestings, counters, side rows, arrows, sparse fields of every type, texts
/// in place, enough rows for several blocks and a pyramid.
fn write_rank() -> Vec<u8> {
    let options = BuildOptions { sort_bytes: 200_000, dictionary_bytes: 2_000, ..BuildOptions::default() };
    let scratch = MemoryScratch::default();
    let mut bytes = Vec::new();
    let mut sink = Builder::new(&scratch, &mut bytes, options).unwrap();
    let table = |name: &str, kind| TableSpec {
        name: name.into(),
        kind,
        name_key: "opcode".into(),
        doc: "Rows.".into(),
    };
    let instruction = sink.table(table("instruction", TableKind::Slices)).unwrap();
    let counter = sink.table(table("counter", TableKind::Samples)).unwrap();
    let side = sink.table(table("side", TableKind::Side)).unwrap();
    let size =
        sink.field(instruction, FieldSpec::new("size", Unit::Bytes, "Memory", "Bytes moved.")).unwrap();
    let operands = sink.field(instruction, FieldSpec::named("operands")).unwrap();
    let key = sink.field(side, FieldSpec::named("key")).unwrap();
    let group = sink.track(TrackSpec::group("Engines", None, 0)).unwrap();
    let tensor = TrackSpec::slices("Tensor", Some(group), instruction, Nesting::Concurrent, 0);
    let tensor = sink.track(tensor).unwrap();
    let host = sink.track(TrackSpec::slices("Host", None, instruction, Nesting::Calls, 1)).unwrap();
    let pending = sink.track(TrackSpec::counter("Pending", None, counter, Unit::Count, 2)).unwrap();
    let mut last = None;
    for at in 0..9_000_i64 {
        let name = sink.name(["MATMUL", "LDWEIGHTS", "ACTIVATE"][at as usize % 3]).unwrap();
        let text = format!("operand {}", at % 500);
        let value = match at % 5 {
            0 => Value::Int(-at),
            1 => Value::Uint(u64::MAX - at as u64),
            2 => Value::Float(at as f64 / 3.0),
            3 => Value::Bool(at % 2 == 0),
            _ => Value::Json("[1,2]"),
        };
        let fields = [(size, value), (operands, Value::Text(&text))];
        let slice = SliceRecord {
            track: if at % 4 == 3 { host } else { tensor },
            start_ps: at * 714_285 - 1_000,
            duration_ps: at * 37 % 900_000,
            name,
            form: if at % 100 == 99 { Form::Instant } else { Form::Complete },
            fields: &fields[..(at % 3) as usize],
        };
        let slice = SliceRecord {
            duration_ps: if slice.form == Form::Instant { 0 } else { slice.duration_ps },
            ..slice
        };
        let this = sink.slice(&slice).unwrap();
        if let Some(last) = last.replace(this) {
            sink.link(last, this, name).unwrap();
        }
        sink.sample(pending, at * 714_285, (at % 17) as f64, &[]).unwrap();
    }
    sink.row(side, &[(key, Value::Text("value"))]).unwrap();
    sink.rank(RankInfo {
        rank: Some(3),
        source: "golden".into(),
        title: "A rank".into(),
        ..RankInfo::default()
    });
    sink.warn(WarningKind::UnknownRecord, "a record of kind 9", &|| "record 4".to_owned());
    sink.finish().unwrap();
    bytes
}

#[test]
fn every_version_is_read() {
    if std::env::var_os("NPROF_WRITE_GOLDEN").is_some() && !golden(VERSION).exists() {
        std::fs::write(golden(VERSION), write_rank()).unwrap();
    }
    for version in OLDEST_VERSION..=VERSION {
        check(Segment::open(std::fs::read(golden(version)).unwrap()).unwrap());
    }
}

#[test]
fn what_is_written_today_says_the_same() {
    check(Segment::open(write_rank()).unwrap());
}

#[track_caller]
fn check(segment: Segment<Vec<u8>>) {
    let footer = segment.footer();
    assert_eq!((footer.rank.rank, footer.rank.source.as_str()), (Some(3), "golden"));
    assert_eq!(footer.warnings.len(), 1);
    assert_eq!(footer.flows.arrows, 8_999);
    let tracks = segment.slice_tracks(None);
    let all = segment.selection(&tracks, Interval::new(-1_000_000, i64::MAX / 4), &OneHand).unwrap();
    assert_eq!(all.count, 9_000);
    let (found, _) = segment.window(&tracks, Interval::new(100_000_000, 101_000_000), 100).unwrap();
    let names: Vec<&str> = found.iter().map(|at| segment.text(at.name()).unwrap()).collect();
    assert_eq!(names, ["ACTIVATE", "MATMUL"]);
    let detail = answer::slice(&segment, found[0].slice.row).unwrap();
    assert_eq!((detail.predecessors.len(), detail.successors.len()), (1, 1));
    assert_eq!(
        segment.search(&Pattern::text("operand 499"), HitPage::first(10), &OneHand).unwrap().rows.len(),
        6
    );
    let counters: Vec<_> = footer.tracks.iter().filter(|track| track.value_range.is_some()).collect();
    assert_eq!(counters[0].value_range, Some((0.0, 16.0)));
    assert!(counters[0].pyramid.len > 0, "9,000 samples have a pyramid");
}
