//! Segments of every released version stay readable. `golden/` holds one of each, written by the
//! nprof of its time.
//!
//! A new version adds a file and changes none:
//! `NPROF_WRITE_GOLDEN=1 cargo test -p nprof-tests --test format_compat`.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::path::PathBuf;

use nprof_engine::base::Interval;
use nprof_engine::exec::{Cancel, Work};
use nprof_engine::ingest::{BuildOptions, Builder};
use nprof_engine::model::{
    EngineKind, FieldId, FieldSpec, Identity, Nesting, RankInfo, Role, Sink, SliceForm, SliceRecord, TableId,
    TableKind, TableSpec, TrackId, TrackSpec, Unit, Value, WarningKind,
};
use nprof_engine::query::{self, HitPage, SearchPattern};
use nprof_engine::rank::RankView;
use nprof_engine::segment::{OLDEST_VERSION, Segment, VERSION};
use nprof_engine::spill::MemoryScratch;
use nprof_engine::tile;
use nprof_engine::wire::answer;
use nprof_engine::wire::detail::{FieldContent, FieldValue};

/// The large and the small segment of a version.
fn golden(version: u16, size: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("golden/v{version}-{size}.nseg"))
}

/// Number of short tracks.
const SMALL_TRACKS: i64 = 5;

/// A rank with every feature: both nestings, counters, side rows, arrows, sparse fields of every
/// type, texts in place, short tracks. 9,000 rows give several blocks and a pyramid, 90 rows give a
/// small segment.
fn write_rank(rows: i64) -> Vec<u8> {
    let options = BuildOptions { sort_bytes: 200_000, dictionary_bytes: 2_000, ..BuildOptions::default() };
    let scratch = MemoryScratch::default();
    let mut bytes = Vec::new();
    let mut sink = Builder::new(&scratch, &mut bytes, options).unwrap();
    let table = |name: &str, kind| TableSpec::new(name, kind, "Rows.").named_by("opcode");
    let instruction = sink.table(table("instruction", TableKind::Slices)).unwrap();
    let counter = sink.table(table("counter", TableKind::Samples)).unwrap();
    let side = sink.table(table("side", TableKind::Side)).unwrap();
    let size =
        sink.field(instruction, FieldSpec::new("size", Unit::Bytes, "Memory", "Bytes moved.")).unwrap();
    let operands = sink.field(instruction, FieldSpec::named("operands")).unwrap();
    let rate = sink
        .field(instruction, FieldSpec::new("rate", Unit::BytesPerSecond, "Memory", "Per second."))
        .unwrap();
    let key = sink.field(side, FieldSpec::named("key")).unwrap();
    let group = sink.track(TrackSpec::group("Engines", None, 0)).unwrap();
    let tensor = TrackSpec::slices("Tensor", Some(group), instruction, Nesting::Concurrent, 0);
    let tensor = sink.track(tensor.showing(TENSOR)).unwrap();
    let host = TrackSpec::slices("Host", None, instruction, Nesting::Calls, 1).showing(HOST);
    let host = sink.track(host).unwrap();
    let pending = sink.track(TrackSpec::counter("Pending", None, counter, Unit::Count, 2)).unwrap();
    write_small_tracks(&mut sink, instruction, group, (size, rate));
    write_rows(&mut sink, rows, (tensor, host, pending), (size, operands));
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

/// Slices on short tracks, with a rate that follows from size and duration.
fn write_small_tracks(sink: &mut dyn Sink, table: TableId, group: TrackId, (size, rate): (FieldId, FieldId)) {
    for at in 0..SMALL_TRACKS {
        let nesting = if at % 2 == 0 { Nesting::Calls } else { Nesting::Concurrent };
        let track = TrackSpec::slices(&format!("Small {at}"), Some(group), table, nesting, at);
        let track = sink.track(track).unwrap();
        let name = sink.name("DMA").unwrap();
        for row in 0..=at {
            let (bytes, duration_ps) = (64 + row * 100, 5_000 + at * 70);
            let fields = [
                (size, Value::Int(bytes)),
                (rate, Value::Float(nprof_engine::block::rate(bytes, duration_ps))),
            ];
            let start_ps = row * 1_000;
            sink.slice(&SliceRecord {
                track,
                start_ps,
                duration_ps,
                name,
                form: SliceForm::Complete,
                fields: &fields,
            })
            .unwrap();
        }
    }
}

/// Slices on two tracks with fields of every type, arrows between them, and samples.
fn write_rows(
    sink: &mut dyn Sink,
    rows: i64,
    (tensor, host, pending): (TrackId, TrackId, TrackId),
    (size, operands): (FieldId, FieldId),
) {
    let mut last = None;
    for at in 0..rows {
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
            form: if at % 100 == 99 { SliceForm::Instant } else { SliceForm::Complete },
            fields: &fields[..(at % 3) as usize],
        };
        let slice = SliceRecord {
            duration_ps: if slice.form == SliceForm::Instant { 0 } else { slice.duration_ps },
            ..slice
        };
        let this = sink.slice(&slice).unwrap();
        if let Some(last) = last.replace(this) {
            sink.link(last, this, name).unwrap();
        }
        sink.sample(pending, at * 714_285, (at % 17) as f64, &[]).unwrap();
    }
}

#[test]
fn every_version_is_read() {
    for (size, rows) in SIZES {
        if std::env::var_os("NPROF_WRITE_GOLDEN").is_some() && !golden(VERSION, size).exists() {
            std::fs::write(golden(VERSION, size), write_rank(rows)).unwrap();
        }
        for version in OLDEST_VERSION..=VERSION {
            check(Segment::open(std::fs::read(golden(version, size)).unwrap()).unwrap(), rows);
        }
    }
}

#[test]
fn what_is_written_today_says_the_same() {
    for (_, rows) in SIZES {
        check(Segment::open(write_rank(rows)).unwrap(), rows);
    }
}

const TENSOR: Identity =
    Identity { role: Role::Engine(EngineKind::Tensor), chip: Some(1), core: Some(u32::MAX), number: None };
const HOST: Identity = Identity { role: Role::HostThread, chip: None, core: None, number: Some(7) };
const SIZES: [(&str, i64); 2] = [("large", 9_000), ("small", 90)];

#[track_caller]
fn check(segment: Segment<Vec<u8>>, rows: i64) {
    check_packs(&segment);
    let given = u64::try_from(rows).unwrap();
    let footer = segment.footer();
    assert_eq!((footer.rank.rank, footer.rank.source.as_str()), (Some(3), "golden"));
    assert_eq!(footer.warnings.len(), 1);
    let identities: Vec<Identity> = footer.tracks.iter().map(|track| track.spec.identity).collect();
    assert_eq!(identities[..4], [Identity::default(), TENSOR, HOST, Identity::default()]);
    assert_eq!(footer.flows.arrows, given - 1);
    let tracks = query::slice::tracks(&segment, None);
    let all =
        query::selection::select(&segment, &tracks, Interval::new(-1_000_000, i64::MAX / 4), Work::IN_PLACE)
            .unwrap();
    // The first of the short tracks has one row, the second two, and so on.
    assert_eq!(all.count, given + 15);
    let (found, _) =
        query::slice::window(&segment, &tracks, Interval::new(50_000_000, 51_000_000), 100, Cancel::NEVER)
            .unwrap();
    let names: Vec<&str> = found.iter().map(|at| segment.text(at.name()).unwrap()).collect();
    assert_eq!(names, ["LDWEIGHTS", "ACTIVATE"]);
    let detail = answer::slice(RankView::of(&segment), found[0].slice.row, Work::IN_PLACE).unwrap();
    assert_eq!((detail.predecessors.len(), detail.successors.len()), (1, 1));
    let matches = query::search::find(
        &segment,
        &SearchPattern::text("operand 50"),
        HitPage::first(1_000),
        Work::IN_PLACE,
    )
    .unwrap()
    .rows
    .len();
    let matching = (0..rows).filter(|at| at % 3 == 2 && (at % 500).to_string().starts_with("50")).count();
    assert_eq!(matches, matching as u64);
    let counters: Vec<_> = footer.tracks.iter().filter(|track| track.value_range.is_some()).collect();
    assert_eq!(counters[0].value_range, Some((0.0, 16.0)));
    assert_eq!(counters[0].pyramid.len > 0, rows > 8_192, "9,000 samples have a pyramid");
}

/// Checks that the short tracks contain the rows that were written.
#[track_caller]
fn check_packs(segment: &Segment<Vec<u8>>) {
    let mut rates = 0;
    for track in query::slice::tracks(segment, None) {
        if !segment.footer().tracks[track.0 as usize].spec.name.starts_with("Small") {
            continue;
        }
        let slices = tile::slices_in(segment, track, Interval::new(0, i64::MAX / 4)).unwrap();
        for (row, slice) in slices.iter().enumerate() {
            assert_eq!(slice.start_ps, row as i64 * 1_000);
            let detail = answer::slice(RankView::of(segment), slice.row, Work::IN_PLACE).unwrap();
            let rate = nprof_engine::block::rate(64 + row as i64 * 100, slice.duration_ps);
            let is_rate =
                |field: &&FieldValue| field.name == "rate" && field.value == FieldContent::Float(rate);
            rates += detail.fields.iter().filter(is_rate).count();
        }
    }
    assert_eq!(rates, 15);
}
