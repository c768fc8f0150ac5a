//! Damage anywhere in a segment is found and named. Undamaged parts stay readable.

use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};

use nprof_engine::base::Error;
use nprof_engine::exec::{Cancel, Work};
use nprof_engine::ingest::{BuildOptions, Builder};
use nprof_engine::model::{
    FieldSpec, Nesting, Sink, SliceForm, SliceRecord, TableKind, TableSpec, TrackSpec, Value,
};
use nprof_engine::query::{self, SegmentPart, VerifyFinding};
use nprof_engine::rank::RankView;
use nprof_engine::segment::Segment;
use nprof_engine::spill::MemoryScratch;
use nprof_engine::tile::{Level, TileId, cut};
use nprof_engine::wire::answer;

/// Number of instructions, which repeat with small deviations, so that their track has a program.
const ROWS: u32 = 20_000;

/// A segment with every kind of part: a program, totals, pyramids of slices and of a counter,
/// postings, arrows, texts.
fn built() -> Vec<u8> {
    let scratch = MemoryScratch::default();
    let mut bytes = Vec::new();
    let mut sink = Builder::new(&scratch, &mut bytes, BuildOptions::default()).unwrap();
    let table = |name: &str, kind| TableSpec::new(name, kind, "");
    let instruction = sink.table(table("instruction", TableKind::Slices)).unwrap();
    let counter = sink.table(table("counter", TableKind::Samples)).unwrap();
    let side = sink.table(table("side", TableKind::Side)).unwrap();
    let [address, operands] =
        ["address", "operands"].map(|name| sink.field(instruction, FieldSpec::named(name)).unwrap());
    let key = sink.field(side, FieldSpec::named("key")).unwrap();
    let tensor = TrackSpec::slices("Tensor", None, instruction, Nesting::Concurrent, 0);
    let tensor = sink.track(tensor).unwrap();
    sink.in_order(tensor).unwrap();
    let host = sink.track(TrackSpec::slices("Host", None, instruction, Nesting::Calls, 1)).unwrap();
    let unit = nprof_engine::model::Unit::Count;
    let pending = sink.track(TrackSpec::counter("Pending", None, counter, unit, 2)).unwrap();
    let mut last = None;
    for at in 0..ROWS {
        let noise = i64::from(at.wrapping_mul(2_654_435_761) >> 20);
        let code = at % 50;
        let name = sink.name(["MATMUL", "LDWEIGHTS", "ACTIVATE"][code as usize % 3]).unwrap();
        let text = format!("operand {}", at % 1_500);
        let fields =
            [(address, Value::Uint(u64::from(code) * 64 + (1 << 40))), (operands, Value::Text(&text))];
        let track = if at % 10 == 9 { host } else { tensor };
        let (start_ps, duration_ps) =
            (i64::from(at) * 1_000_000 + noise, i64::from(code) * 1_000 + noise % 7);
        let slice =
            SliceRecord { track, start_ps, duration_ps, name, form: SliceForm::Complete, fields: &fields };
        let this = sink.slice(&slice).unwrap();
        if let Some(last) = last.replace(this).filter(|_| at % 3 == 0) {
            sink.link(last, this, name).unwrap();
        }
        sink.sample(pending, start_ps, f64::from(noise as u32 % 1_000) / 8.0, &[]).unwrap();
    }
    sink.row(side, &[(key, Value::Text("value"))]).unwrap();
    sink.finish().unwrap();
    bytes
}

fn findings(segment: &Segment<Vec<u8>>) -> (Vec<(SegmentPart, u64)>, u64) {
    let (mut damaged, mut checked) = (Vec::new(), 0);
    let done = query::verify::check(segment, &mut |finding| {
        match finding {
            VerifyFinding::Checked(bytes) => checked += bytes,
            VerifyFinding::Damaged { part, offset, .. } => damaged.push((part, offset)),
        }
        ControlFlow::Continue(())
    });
    assert_eq!(done, ControlFlow::Continue(()));
    (damaged, checked)
}

fn kind(part: SegmentPart) -> &'static str {
    match part {
        SegmentPart::BlockList(_) => "block list",
        SegmentPart::Directory(_) => "directory",
        SegmentPart::Block(..) => "block",
        SegmentPart::Postings(_) => "postings",
        SegmentPart::Program(_) => "program",
        SegmentPart::Totals(_) => "totals",
        SegmentPart::Pages(_) => "pages",
        SegmentPart::Page(..) => "page",
        SegmentPart::Dictionary => "dictionary",
        SegmentPart::Chunk(_) => "chunk",
        SegmentPart::ArrowList(_) => "arrow list",
        SegmentPart::Arrows(..) => "arrows",
    }
}

fn parts(segment: &Segment<Vec<u8>>) -> Vec<(Range<u64>, SegmentPart)> {
    query::part::map(segment).iter().cloned().collect()
}

fn with_flipped(bytes: &[u8], at: u64) -> Vec<u8> {
    let mut damaged = bytes.to_vec();
    damaged[usize::try_from(at).unwrap()] ^= 0x10;
    damaged
}

#[test]
fn a_whole_segment_is_checked_to_the_last_byte() {
    let segment = Segment::open(built()).unwrap();
    let (damaged, checked) = findings(&segment);
    assert_eq!(damaged, []);
    let parts = parts(&segment);
    assert!(parts.windows(2).all(|pair| pair[0].0.end <= pair[1].0.start), "parts do not overlap");
    assert_eq!(checked, parts.iter().map(|(bytes, _)| bytes.end - bytes.start).sum::<u64>());
    let kinds: BTreeMap<&str, usize> = parts.iter().fold(BTreeMap::new(), |mut kinds, (_, part)| {
        *kinds.entry(kind(*part)).or_default() += 1;
        kinds
    });
    assert_eq!(kinds.len(), 12, "the segment has every kind of part: {kinds:?}");
    // The rest is header, trailer and the packed footer.
    let first = parts.first().unwrap().0.start;
    let gaps = parts.windows(2).map(|pair| pair[1].0.start - pair[0].0.end).sum::<u64>();
    assert_eq!((first, gaps), (16, 0), "every byte between header and footer belongs to a part");
}

#[test]
fn a_flipped_byte_is_reported_by_the_name_of_its_part() {
    let whole = built();
    let parts = parts(&Segment::open(whole.clone()).unwrap());
    for (at, (bytes, part)) in parts.iter().enumerate() {
        // The first, a middle and the last byte, in turn.
        let flipped = match at % 3 {
            0 => bytes.start,
            1 => bytes.start + (bytes.end - bytes.start) / 2,
            _ => bytes.end - 1,
        };
        let segment = Segment::open(with_flipped(&whole, flipped)).unwrap();
        let (damaged, _) = findings(&segment);
        assert_eq!(damaged, [(*part, bytes.start)], "byte {flipped}");
        // The name is the same as for an answer's error.
        let error = Error::Corrupt { what: "", offset: bytes.start };
        assert_eq!(query::part::name_of(&segment, error), Some(query::part::name(&segment, *part)));
    }
}

#[test]
fn a_flipped_byte_outside_all_parts_shows_when_the_segment_is_opened() {
    let whole = built();
    let parts = parts(&Segment::open(whole.clone()).unwrap());
    let footer = parts.last().unwrap().0.end;
    for at in (0..16).chain(footer..whole.len() as u64) {
        assert!(Segment::open(with_flipped(&whole, at)).is_err(), "byte {at}");
    }
}

#[test]
fn several_damages_are_all_reported() {
    let whole = built();
    let parts = parts(&Segment::open(whole.clone()).unwrap());
    let pick = |wanted: &str| parts.iter().find(|(_, part)| kind(*part) == wanted).unwrap();
    let mut damaged = whole;
    let chosen: Vec<_> = ["block", "page", "chunk", "program", "arrows"].map(pick).to_vec();
    chosen.iter().for_each(|(bytes, _)| damaged = with_flipped(&damaged, bytes.start));
    let (mut found, _) = findings(&Segment::open(damaged).unwrap());
    let mut expected: Vec<_> = chosen.iter().map(|(bytes, part)| (*part, bytes.start)).collect();
    let order = |(_, offset): &(SegmentPart, u64)| *offset;
    found.sort_by_key(order);
    expected.sort_by_key(order);
    assert_eq!(found, expected);
}

#[test]
fn the_check_ends_when_told() {
    let segment = Segment::open(built()).unwrap();
    let mut calls = 0;
    let done = query::verify::check(&segment, &mut |_| {
        calls += 1;
        if calls == 5 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert_eq!((done, calls), (ControlFlow::Break(()), 5));
}

#[test]
fn what_is_not_damaged_stays_readable() {
    let whole = built();
    let segment = Segment::open(whole.clone()).unwrap();
    let tracks = query::slice::tracks(&segment, None);
    // The start column of the last block of the first track's rows.
    let table = segment.table_of(tracks[0]).unwrap();
    let blocks = segment.blocks_of(tracks[0]).unwrap();
    let names: Vec<usize> = segment.columns_of(table).collect();
    let place = |part: &SegmentPart| matches!(part, SegmentPart::Block(column, block) if names.contains(column) && *block == blocks.end - 1);
    let (bytes, part) = parts(&segment).into_iter().rfind(|(_, part)| place(part)).unwrap();
    let damaged = Segment::open(with_flipped(&whole, bytes.start + 1)).unwrap();
    let name = query::part::name(&damaged, part);
    assert_eq!((name.table.as_deref(), name.number), (Some("instruction"), Some(blocks.end - 1)));
    assert!(name.column.is_some(), "{name:?}");

    // A row of another block of the same track is as in the intact segment.
    assert_eq!(
        answer::slice(RankView::of(&damaged), 3, Work::IN_PLACE).unwrap(),
        answer::slice(RankView::of(&segment), 3, Work::IN_PLACE).unwrap()
    );
    // So is a tile of another track.
    let other = *tracks.last().unwrap();
    assert_ne!(other, tracks[0]);
    let start = segment.footer().tracks[other.0 as usize].start_ps;
    let level = Level::for_cell_ps(1_000_000.0);
    let tile = TileId { group: 0, level, index: level.cell_of(nprof_engine::base::Time(start)) / 512 };
    assert_eq!(
        cut(&damaged, other, tile, Cancel::NEVER).unwrap(),
        cut(&segment, other, tile, Cancel::NEVER).unwrap()
    );
    // A row of the damaged block is refused, and the error leads to the block's name.
    let row = segment.footer().tracks[tracks[0].0 as usize].rows - 1;
    let Err(error) = answer::slice(RankView::of(&damaged), row, Work::IN_PLACE) else {
        panic!("row {row} is in the damaged block")
    };
    assert_eq!(query::part::name_of(&damaged, error), Some(name));
}
