//! Tracks of few rows, whose columns are encoded together. Rows come back as they went in, in a
//! small segment and beside a track of many rows. Damage is found.

use std::ops::ControlFlow;

use nprof_engine::base::{Error, Interval, Time};
use nprof_engine::block::rate;
use nprof_engine::exec::{Cancel, Work};
use nprof_engine::ingest::{BuildOptions, Builder};
use nprof_engine::model::{
    FieldId, FieldSpec, NameId, Nesting, Sink, SliceForm, SliceRecord, TableKind, TableSpec, TrackId,
    TrackSpec, Unit, Value,
};
use nprof_engine::query::{self, HitPage, SearchPattern, SegmentPart, VerifyFinding};
use nprof_engine::rank::RankView;
use nprof_engine::segment::{Segment, TrackMeta};
use nprof_engine::spill::MemoryScratch;
use nprof_engine::tile::{self, LaneContent, Level, TileId, cut};
use nprof_engine::wire::answer;
use nprof_engine::wire::detail::FieldContent;
use proptest::prelude::*;

/// A slice of the model against which the segment is compared.
#[derive(Debug, Clone)]
struct Given {
    start_ps: i64,
    duration_ps: i64,
    name: u8,
    size: Option<u32>,
    /// A value other than the rate of size and duration.
    rate: Option<f64>,
    text: Option<String>,
}

fn given() -> impl Strategy<Value = Given> {
    let rate = prop_oneof![3 => Just(None), 1 => (-5.0..5.0).prop_map(Some)];
    (
        0_i64..1_000_000,
        0_i64..50_000,
        0_u8..5,
        prop::option::of(0_u32..9_999),
        rate,
        prop::option::of("[a-d]{0,6}"),
    )
        .prop_map(|(start_ps, duration_ps, name, size, rate, text)| Given {
            start_ps,
            duration_ps,
            name,
            size,
            rate,
            text,
        })
}

/// Rate of a row: from its size, or another number.
fn rate_of(given: &Given) -> Option<f64> {
    given.rate.or_else(|| Some(rate(given.size?.into(), given.duration_ps)))
}

fn table(name: &str, kind: TableKind) -> TableSpec {
    TableSpec::new(name, kind, "")
}

/// Few rows for each track, every other one with calls. `others` rows of another track stand among
/// them.
struct Plan<'a> {
    tracks: &'a [Vec<Given>],
    others: i64,
    /// Bytes of texts in the dictionary. If they are few, other texts are stored in place.
    dictionary_bytes: usize,
}

impl Plan<'_> {
    fn build(&self) -> Segment<Vec<u8>> {
        Segment::open(self.bytes()).unwrap()
    }

    fn bytes(&self) -> Vec<u8> {
        let scratch = MemoryScratch::default();
        let mut bytes = Vec::new();
        let options = BuildOptions { dictionary_bytes: self.dictionary_bytes, ..BuildOptions::default() };
        let mut builder = Builder::new(&scratch, &mut bytes, options).unwrap();
        let rows = builder.table(table("rows", TableKind::Slices)).unwrap();
        let counts = builder.table(table("counts", TableKind::Samples)).unwrap();
        let [size, rate, text] =
            ["size", "rate", "text"].map(|name| builder.field(rows, FieldSpec::named(name)).unwrap());
        for (at, slices) in self.tracks.iter().enumerate() {
            if at == self.tracks.len() / 2 {
                let other = TrackSpec::slices("other", None, rows, Nesting::Concurrent, 0);
                let other = builder.track(other).unwrap();
                let name = builder.name("OTHER").unwrap();
                for row in 0..self.others {
                    let span = (row * 100, 50);
                    builder.slice(&slice(other, span, name, &[])).unwrap();
                }
            }
            let nesting = if at % 2 == 0 { Nesting::Concurrent } else { Nesting::Calls };
            let track = TrackSpec::slices(&format!("track {at}"), None, rows, nesting, 0);
            let track = builder.track(track).unwrap();
            let counter = TrackSpec::counter(&format!("counter {at}"), None, counts, Unit::Count, 0);
            let counter = builder.track(counter).unwrap();
            for given in slices {
                let name = builder.name(&format!("OP_{}", given.name)).unwrap();
                let mut fields = Vec::new();
                fields.extend(given.size.map(|value| (size, Value::Uint(value.into()))));
                fields.extend(rate_of(given).map(|value| (rate, Value::Float(value))));
                fields.extend(given.text.as_deref().map(|value| (text, Value::Text(value))));
                let span = (given.start_ps, given.duration_ps);
                builder.slice(&slice(track, span, name, &fields)).unwrap();
                builder.sample(counter, given.start_ps, f64::from(given.name), &[]).unwrap();
            }
        }
        builder.finish().unwrap();
        bytes
    }
}

fn slice<'a>(
    track: TrackId,
    (start_ps, duration_ps): (i64, i64),
    name: NameId,
    fields: &'a [(FieldId, Value<'a>)],
) -> SliceRecord<'a> {
    SliceRecord { track, start_ps, duration_ps, name, form: SliceForm::Complete, fields }
}

fn track_of(segment: &Segment<Vec<u8>>, name: &str) -> TrackId {
    let is_it = |(_, track): &(u32, &TrackMeta)| track.spec.name == name;
    TrackId((0..).zip(&segment.footer().tracks).find(is_it).unwrap().0)
}

const ALL: Interval = Interval { start: Time(-1), end: Time(i64::MAX / 4) };

type Row = (i64, i64, String, Option<u64>, Option<u64>, Option<String>);

fn expected(slices: &[Given]) -> Vec<Row> {
    let mut rows: Vec<Row> = slices
        .iter()
        .map(|given| {
            let name = format!("OP_{}", given.name);
            let rate = rate_of(given).map(f64::to_bits);
            (given.start_ps, given.duration_ps, name, given.size.map(u64::from), rate, given.text.clone())
        })
        .collect();
    rows.sort();
    rows
}

fn found(segment: &Segment<Vec<u8>>, track: TrackId) -> Vec<Row> {
    let mut rows = Vec::new();
    for slice in tile::slices_in(segment, track, ALL).unwrap() {
        let detail = answer::slice(RankView::of(segment), slice.row, Work::IN_PLACE).unwrap();
        let (mut size, mut rate, mut text) = (None, None, None);
        for field in &detail.fields {
            match &field.value {
                FieldContent::Uint(value) => size = Some(*value),
                FieldContent::Float(value) => rate = Some(value.to_bits()),
                FieldContent::Text(value) => text = Some(value.clone()),
                other => unreachable!("{other:?}"),
            }
        }
        rows.push((slice.start_ps, slice.duration_ps, detail.slice.name, size, rate, text));
    }
    rows.sort();
    rows
}

fn plans() -> impl Strategy<Value = (Vec<Vec<Given>>, i64, usize)> {
    let tracks = prop::collection::vec(prop::collection::vec(given(), 0..40), 1..30);
    // No other rows, too many for a pack, too many for a small segment.
    (tracks, prop::sample::select(vec![0_i64, 1_500, 9_000]), prop::sample::select(vec![40_usize, 1 << 20]))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn what_goes_in_comes_out((tracks, others, dictionary_bytes) in plans(), from in 0_i64..1_000_000) {
        let segment = Plan { tracks: &tracks, others, dictionary_bytes }.build();
        let window = Interval::new(from, from + 30_000);
        for (at, slices) in tracks.iter().enumerate() {
            let track = track_of(&segment, &format!("track {at}"));
            prop_assert_eq!(found(&segment, track), expected(slices));
            let inside = |given: &&Given| window.overlaps(given.start_ps, given.start_ps + given.duration_ps);
            prop_assert_eq!(tile::slices_in(&segment, track, window).unwrap().len(), slices.iter().filter(inside).count());
            let counter = track_of(&segment, &format!("counter {at}"));
            let mut samples: Vec<_> =
                tile::samples_in(&segment, counter, ALL).unwrap().iter().map(|s| (s.time_ps, s.value as u8)).collect();
            let mut given: Vec<_> = slices.iter().map(|given| (given.start_ps, given.name)).collect();
            samples.sort_unstable();
            given.sort_unstable();
            prop_assert_eq!(samples, given);
        }
        let all: Vec<&Given> = tracks.iter().flatten().collect();
        let hits = query::search::find(&segment, &SearchPattern::text("ab"), HitPage::first(5), Work::IN_PLACE).unwrap();
        let matching = all.iter().filter(|given| given.text.as_deref().is_some_and(|text| text.contains("ab")));
        prop_assert_eq!(hits.rows.len(), matching.count() as u64);
        let selection = query::selection::select(&segment, &query::slice::tracks(&segment, None), window, Work::IN_PLACE).unwrap();
        let others = (0..others).filter(|row| window.overlaps(row * 100, row * 100 + 50)).count();
        let inside = all.iter().filter(|given| window.overlaps(given.start_ps, given.start_ps + given.duration_ps));
        prop_assert_eq!(selection.count, (inside.count() + others) as u64);
        prop_assert!(segment.anatomy().is_ok());
        let whole = query::verify::check(&segment, &mut |finding| match finding {
            VerifyFinding::Checked(_) => ControlFlow::Continue(()),
            VerifyFinding::Damaged { .. } => ControlFlow::Break(()),
        });
        prop_assert_eq!(whole, ControlFlow::Continue(()));
    }

    #[test]
    fn every_slice_of_a_pack_is_in_its_tiles((tracks, others, dictionary_bytes) in plans(), number in 4_u8..12) {
        let segment = Plan { tracks: &tracks, others, dictionary_bytes }.build();
        let level = Level::new(number).unwrap();
        for (at, slices) in tracks.iter().enumerate() {
            let track = track_of(&segment, &format!("track {at}"));
            let mut starting = 0;
            for index in level.tiles_of(Interval::new(0, 1_100_000)) {
                let id = TileId { group: 0, level, index };
                for lane in cut(&segment, track, id, Cancel::NEVER).unwrap() {
                    starting += match lane.content {
                        LaneContent::Slices(slices) => {
                            slices.iter().filter(|slice| slice.start_ps >= id.interval().start.0).count()
                        }
                        LaneContent::SliceCells(cells) => cells.iter().map(|cell| cell.content.count as usize).sum(),
                        other => unreachable!("{other:?}"),
                    };
                }
            }
            prop_assert_eq!(starting, slices.len());
        }
    }
}

fn tracks_of_one_row(count: i64) -> Vec<Vec<Given>> {
    let of = |at: i64| Given {
        start_ps: at * 7_919 % 100_003,
        duration_ps: at % 13,
        name: (at % 5) as u8,
        size: Some(at as u32 % 64),
        rate: None,
        text: None,
    };
    (0..count).map(|at| vec![of(at)]).collect()
}

#[test]
fn tracks_of_one_row_cost_few_bytes_and_blocks() {
    let tracks = tracks_of_one_row(2_000);
    let segment = Plan { tracks: &tracks, others: 0, dictionary_bytes: 1 << 20 }.build();
    let rows = segment.table("rows").unwrap();
    let blocks = segment.blocks(rows).unwrap();
    assert_eq!((blocks.len(), blocks.packs()), (2_000, 1));
    // Two rows for each track: a slice and a sample, at a time of its own.
    let bytes = segment.file_len();
    assert!(bytes < 2_000 * 16, "{bytes} bytes");
}

#[test]
fn rates_are_not_stored_but_come_out() {
    let mut tracks = tracks_of_one_row(100);
    let rates = |tracks: &[Vec<Given>]| {
        let segment = Plan { tracks, others: 0, dictionary_bytes: 1 << 20 }.build();
        let rates = segment.table("rows").map(|rows| segment.columns_of(rows).collect::<Vec<_>>()).unwrap();
        let rates = rates.into_iter().find(|&column| segment.column_name(column) == "rate").unwrap();
        segment.footer().columns[rates].bytes
    };
    assert!(rates(&tracks) <= 3, "coding and the column of sizes");
    // The next float is not the rate, so all values are stored.
    tracks[50][0].rate = Some(rate_of(&tracks[50][0]).unwrap().next_up());
    assert!(rates(&tracks) > 50);
    let segment = Plan { tracks: &tracks, others: 0, dictionary_bytes: 1 << 20 }.build();
    assert_eq!(found(&segment, track_of(&segment, "track 50")), expected(&tracks[50]));
}

#[test]
fn no_cut_and_no_flipped_byte_of_a_small_segment_goes_unnoticed() {
    let tracks = tracks_of_one_row(40);
    let whole = Plan { tracks: &tracks, others: 0, dictionary_bytes: 1 << 20 }.bytes();
    for keep in 0..whole.len() {
        assert!(Segment::open(whole[..keep].to_vec()).is_err(), "cut at {keep}");
    }
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x10;
        assert!(Segment::open(damaged).is_err(), "byte {at}");
    }
}

#[test]
fn damage_of_a_pack_in_a_large_segment_is_named_once() {
    let tracks = tracks_of_one_row(600);
    let whole = Plan { tracks: &tracks, others: 9_000, dictionary_bytes: 1 << 20 }.bytes();
    let segment = Segment::open(whole.clone()).unwrap();
    let map = query::part::map(&segment);
    let blocks = segment.blocks(segment.table("counts").unwrap()).unwrap();
    assert_eq!((blocks.len(), blocks.packs()), (600, 1));
    let is_pack = |part: &SegmentPart| query::part::name(&segment, *part).table.as_deref() == Some("counts");
    let parts: Vec<_> = map
        .iter()
        .filter(|(_, part)| is_pack(part) && matches!(part, SegmentPart::Block(..)))
        .cloned()
        .collect();
    assert!(!parts.is_empty());
    for (bytes, part) in parts {
        let mut damaged = whole.clone();
        damaged[bytes.start as usize] ^= 1;
        let damaged = Segment::open(damaged).unwrap();
        let mut found = Vec::new();
        let _ = query::verify::check(&damaged, &mut |finding| {
            if let VerifyFinding::Damaged { part, offset, .. } = finding {
                found.push((part, offset));
            }
            ControlFlow::Continue(())
        });
        assert_eq!(found, [(part, bytes.start)]);
        assert_eq!(
            query::part::name_of(&damaged, Error::Corrupt { what: "", offset: bytes.start }),
            Some(query::part::name(&damaged, part))
        );
    }
}
