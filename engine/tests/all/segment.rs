//! Laws of a whole segment. Rows come back as they went in. Indexes find what a scan finds. Tiles
//! are aggregates of slices. Damage is found.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use nprof_engine::base::{Error, Interval, Time};
use nprof_engine::exec::{Cancel, Work};
use nprof_engine::ingest::{BuildOptions, Builder};
use nprof_engine::model::{
    FieldSpec, Nesting, Sink, SliceForm, SliceRecord, TableKind, TableSpec, TrackId, TrackSpec, Unit, Value,
};
use nprof_engine::native::AllCores;
use nprof_engine::query::{self, DensityCells, HitPage, HitPlace, SearchPattern, Syntax};
use nprof_engine::rank::RankView;
use nprof_engine::segment::{OLDEST_VERSION, Segment, VERSION};
use nprof_engine::spill::MemoryScratch;
use nprof_engine::tile::{self, LaneContent, Level, TileId, cut};
use nprof_engine::wire::{answer, detail::FieldContent, selection::NameTotal};
use proptest::prelude::*;

/// A slice of the model against which the segment is compared.
#[derive(Debug, Clone)]
struct Given {
    track: usize,
    start_ps: i64,
    duration_ps: i64,
    name: u8,
    size: Option<i64>,
    text: Option<String>,
}

fn given() -> impl Strategy<Value = Given> {
    (
        0_usize..3,
        -1_000_000_i64..9_000_000,
        0_i64..200_000,
        0_u8..5,
        prop::option::of(any::<i64>()),
        prop::option::of("[a-d]{0,6}"),
    )
        .prop_map(|(track, start_ps, duration_ps, name, size, text)| Given {
            track,
            start_ps,
            duration_ps,
            name,
            size,
            text,
        })
}

fn table(name: &str, kind: TableKind) -> TableSpec {
    TableSpec::new(name, kind, "")
}

/// Name with this number; number 1 is the name of a wait.
fn name_of(number: u8) -> String {
    format!("OP_{number}{}", if number == 1 { "_WAIT" } else { "" })
}

/// Builds a segment: three slice tracks, a counter with the starts of the first, and a side table.
/// Each slice is linked to the one given before it.
fn build(slices: &[Given], options: BuildOptions) -> Vec<u8> {
    let scratch = MemoryScratch::default();
    let mut bytes = Vec::new();
    let mut builder = Builder::new(&scratch, &mut bytes, options).unwrap();
    let instruction = builder.table(table("instruction", TableKind::Slices)).unwrap();
    let counter = builder.table(table("counter", TableKind::Samples)).unwrap();
    let side = builder.table(table("queue", TableKind::Side)).unwrap();
    let size =
        builder.field(instruction, FieldSpec::new("size", Unit::Bytes, "Memory", "Bytes moved.")).unwrap();
    let text = builder.field(instruction, FieldSpec::named("operands")).unwrap();
    let queue = builder.field(side, FieldSpec::named("name")).unwrap();
    let group = builder.track(TrackSpec::group("Engines", None, 0)).unwrap();
    let tracks: Vec<TrackId> = ["Tensor", "Vector", "Host"]
        .iter()
        .zip([Nesting::Concurrent, Nesting::Concurrent, Nesting::Calls])
        .map(|(name, nesting)| {
            builder.track(TrackSpec::slices(name, Some(group), instruction, nesting, 0)).unwrap()
        })
        .collect();
    let pending = builder.track(TrackSpec::counter("Pending", None, counter, Unit::Count, 9)).unwrap();
    let mut last = None;
    for given in slices {
        let name = builder.name(&name_of(given.name)).unwrap();
        let mut fields = Vec::new();
        fields.extend(given.size.map(|value| (size, Value::Int(value))));
        fields.extend(given.text.as_deref().map(|value| (text, Value::Text(value))));
        let record = SliceRecord {
            track: tracks[given.track],
            start_ps: given.start_ps,
            duration_ps: given.duration_ps,
            name,
            form: SliceForm::Complete,
            fields: &fields,
        };
        let key = builder.slice(&record).unwrap();
        if let Some(last) = last.replace(key) {
            builder.link(last, key, name).unwrap();
        }
        if given.track == 0 {
            builder.sample(pending, given.start_ps, f64::from(given.name), &[]).unwrap();
        }
    }
    builder.row(side, &[(queue, Value::Text("qSyncIO0"))]).unwrap();
    builder.finish().unwrap();
    bytes
}

/// Spills every few rows and stores most texts in place, as large traces do.
const TIGHT: BuildOptions =
    BuildOptions { sort_bytes: 4_000, dictionary_bytes: 60, group_bytes: 2_000, reader_bytes: 0 };

fn key(track: usize, start_ps: i64, duration_ps: i64, name: &str) -> (usize, i64, i64, String) {
    (track, start_ps, duration_ps, name.to_owned())
}

fn ids(segment: &Segment<Vec<u8>>) -> Vec<TrackId> {
    query::slice::tracks(segment, None)
}

/// Union times of calls equal those of a walk along their track. All other union times are totals.
fn check_times(inside: &[&Given], window: Interval, of: NameTotal) -> Result<(), TestCaseError> {
    let of_name = |given: &&&Given| of.name.starts_with(&format!("OP_{}", given.name));
    let (mut union_ps, mut until) = (0, i64::MIN);
    let mut slices: Vec<_> = inside.iter().filter(of_name).collect();
    slices.sort_by_key(|given| given.start_ps);
    for given in slices {
        let (start, end) = (given.start_ps, given.start_ps + given.duration_ps);
        let from = if given.track == 2 { start.max(until) } else { start };
        until = if given.track == 2 { until.max(end) } else { until };
        union_ps += window.overlap_ps(from, end.max(from));
    }
    prop_assert_eq!(of.union_ps, union_ps.cast_unsigned(), "{}", of.name);
    let has_calls = inside.iter().filter(of_name).any(|given| given.track == 2);
    prop_assert!(of.self_ps == of.total_ps || has_calls && of.self_ps < of.total_ps);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn what_goes_in_comes_out(slices in prop::collection::vec(given(), 0..300), tight in any::<bool>()) {
        let options = if tight { TIGHT } else { BuildOptions::default() };
        let segment = Segment::open(build(&slices, options)).unwrap();
        let mut expected: Vec<_> = slices
            .iter()
            .map(|g| (key(g.track, g.start_ps, g.duration_ps, &name_of(g.name)), g.size, g.text.clone()))
            .collect();
        let mut found = Vec::new();
        let all = Interval::new(i64::MIN / 4, i64::MAX / 4);
        for (at, track) in (0..3).map(|at| (at, TrackId(at as u32 + 1))) {
            for slice in tile::slices_in(&segment, track, all).unwrap() {
                let detail = answer::slice(RankView::of(&segment), slice.row, Work::IN_PLACE).unwrap();
                let field = |name: &str| detail.fields.iter().find(|f| f.name == name).map(|f| format!("{:?}", f.value));
                found.push((
                    key(at, slice.start_ps, slice.duration_ps, &detail.slice.name),
                    field("size"),
                    field("operands"),
                ));
            }
        }
        found.sort();
        let mut expected: Vec<_> = expected
            .drain(..)
            .map(|(key, size, text)| (key, size.map(|v| format!("Int({v})")), text.map(|v| format!("Text({v:?})"))))
            .collect();
        expected.sort();
        prop_assert_eq!(found, expected);
        prop_assert_eq!(segment.footer().flows.arrows, slices.len().saturating_sub(1) as u64);
    }

    #[test]
    fn windows_search_and_selection_find_what_a_scan_finds(
        slices in prop::collection::vec(given(), 1..300),
        from in -1_200_000_i64..9_200_000,
        width in 0_i64..1_000_000,
        tight in any::<bool>(),
    ) {
        let options = if tight { TIGHT } else { BuildOptions::default() };
        let segment = Segment::open(build(&slices, options)).unwrap();
        let window = Interval::new(from, from + width);
        let inside: Vec<&Given> =
            slices.iter().filter(|g| window.overlaps(g.start_ps, g.start_ps + g.duration_ps)).collect();
        let (found, truncated) = query::slice::window(&segment, &ids(&segment), window, 1000, Cancel::NEVER).unwrap();
        prop_assert_eq!((found.len(), truncated), (inside.len(), false));
        let selection = query::selection::select(&segment, &ids(&segment), window, Work::IN_PLACE).unwrap();
        prop_assert_eq!(selection.count, inside.len() as u64);
        prop_assert_eq!(&query::selection::select(&segment, &ids(&segment), window, Work::on(&AllCores)).unwrap(), &selection);
        let unwanted = query::selection::select(&segment, &ids(&segment), window, Work { exec: &AllCores, cancel: Cancel::when(&|| true) });
        prop_assert_eq!(unwanted, Err(Error::Cancelled));
        let total: i64 = inside.iter().map(|g| window.overlap_ps(g.start_ps, g.start_ps + g.duration_ps)).sum();
        prop_assert_eq!(selection.by_name.iter().map(|n| n.total_ps).sum::<u64>(), total as u64);
        for of in answer::selection(RankView::of(&segment), window, None, None, Work::IN_PLACE).unwrap().by_name {
            check_times(&inside, window, of)?;
        }
        let hits = query::search::find(&segment, &SearchPattern::text("ab"), HitPage::first(5), Work::IN_PLACE).unwrap();
        let matching = slices.iter().filter(|g| g.text.as_deref().is_some_and(|t| t.contains("ab"))).count();
        prop_assert_eq!(hits.rows.len(), matching as u64);
        prop_assert_eq!(hits.hits.len(), matching.min(5));
    }

    #[test]
    fn a_regular_expression_finds_what_a_scan_of_decoded_rows_finds(
        slices in prop::collection::vec(given(), 1..120),
        pattern in prop::sample::select(vec!["ab", "a.c?d", "^[ab]+$", "op_[1-3]", "OP_(1|4)", "^$", "d|_2", "[^_]b\\b", "(a|b){3}"]),
        (before, after) in (0_usize..8, 0_usize..8),
        at in (-1_200_000_i64..9_200_000, any::<prop::sample::Index>(), any::<bool>()),
        tight in any::<bool>(),
    ) {
        let options = if tight { TIGHT } else { BuildOptions::default() };
        let segment = Segment::open(build(&slices, options)).unwrap();
        let case = if pattern.contains("OP") { "" } else { "(?i)" };
        let plain = regex_automata::meta::Regex::new(&format!("{case}{pattern}")).unwrap();
        let mut expected = Vec::new();
        for row in 0..u32::try_from(slices.len()).unwrap() {
            let detail = answer::slice(RankView::of(&segment), row, Work::IN_PLACE).unwrap();
            let has_text = |field: &FieldContent| matches!(field, FieldContent::Text(text) if plain.is_match(text));
            if plain.is_match(&detail.slice.name) {
                expected.push((detail.slice.start_ps, row, "name"));
            } else if detail.fields.iter().any(|field| has_text(&field.value)) {
                expected.push((detail.slice.start_ps, row, "operands"));
            }
        }
        let pattern = SearchPattern::new(pattern, Syntax::Regex).unwrap();
        let rows = query::search::find(&segment, &pattern, HitPage::first(0), Work::IN_PLACE).unwrap().rows;
        prop_assert_eq!(rows.iter().collect::<Vec<_>>(), expected.iter().map(|hit| hit.1).collect::<Vec<_>>());
        expected.sort_unstable();
        let hit = expected.get(at.1.index(expected.len().max(1))).filter(|_| at.2);
        let (start_ps, row) = hit.map_or((at.0, 0), |&(start_ps, row, _)| (start_ps, row));
        let at = HitPlace { start_ps, row };
        let found = answer::search(RankView::of(&segment), &pattern.into(), HitPage { at, before, after }, DensityCells::NONE, Work::on(&AllCores)).unwrap();
        let place = expected.partition_point(|&(start_ps, row, _)| (start_ps, row) < (at.start_ps, at.row));
        let (first, end) = (place.saturating_sub(before), expected.len().min(place + after));
        let hits: Vec<_> =
            found.hits.iter().map(|hit| (hit.slice.start_ps, hit.slice.row, hit.field.as_str())).collect();
        prop_assert_eq!(hits, &expected[first..end]);
        prop_assert_eq!((found.before, found.total), (first as u64, rows.len()));
    }

    #[test]
    fn a_tile_is_the_aggregate_of_its_slices(
        slices in prop::collection::vec(given(), 6_000..6_500),
        number in 0_u8..16,
        at in 0_i64..100,
    ) {
        let segment = Segment::open(build(&slices, BuildOptions::default())).unwrap();
        let level = Level::new(number).unwrap();
        let tiles = level.tiles_of(Interval::new(-1_000_000, 9_200_000));
        let index = tiles.start() + at % (tiles.end() - tiles.start() + 1);
        let id = TileId { group: 0, level, index };
        for track in ids(&segment) {
            check_tile(&segment, track, id)?;
        }
    }

    #[test]
    fn damage_is_found(slices in prop::collection::vec(given(), 1..40), at in any::<prop::sample::Index>(), bit in 0_u8..8) {
        let mut bytes = build(&slices, TIGHT);
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        // Reading all pieces must find the damage, wherever it is.
        prop_assert!(read_all(bytes).is_err(), "bit {} of byte {} was flipped and nobody noticed", bit, at);
    }
}

#[test]
fn a_stored_tile_is_the_aggregate_of_its_slices() {
    let slices: Vec<Given> = (0..50_000_i64)
        .map(|at| Given {
            track: 0,
            start_ps: at * 50_000 + at * at % 40_009,
            // Most slices end before the next one; some last over cells, a few over tiles.
            duration_ps: (at * at % 9_973) * if at % 997 == 0 { 3_000 } else { 1 + at % 7 },
            name: (at * at % 11 % 5) as u8,
            size: None,
            text: None,
        })
        .collect();
    let segment = Segment::open(build(&slices, BuildOptions::default())).unwrap();
    let track = ids(&segment)[0];
    let pages = segment.pages(track).unwrap();
    let (finest, coarsest) = (pages[0].level, pages[pages.len() - 1].level);
    assert!(coarsest - finest >= 2, "{finest} to {coarsest}");
    for number in finest - 1..=coarsest {
        let level = Level::new(number).unwrap();
        for index in level.tiles_of(Interval::new(0, 50_000 * 50_000)) {
            check_tile(&segment, track, TileId { group: 0, level, index }).unwrap();
        }
    }
}

fn check_tile(segment: &Segment<Vec<u8>>, track: TrackId, id: TileId) -> Result<(), TestCaseError> {
    let span = id.interval();
    let slices = tile::slices_in(segment, track, span).unwrap();
    for lane in cut(segment, track, id, Cancel::NEVER).unwrap() {
        let of_lane: Vec<_> = slices.iter().filter(|slice| slice.lane == lane.lane).collect();
        match lane.content {
            LaneContent::Slices(found) => prop_assert_eq!(found.len(), of_lane.len()),
            LaneContent::SliceCells(cells) => {
                let mut touched = BTreeSet::new();
                for slice in &of_lane {
                    let last = (slice.start_ps + slice.duration_ps - 1).max(slice.start_ps);
                    let inside = (span.start.0, span.end.0 - 1);
                    let cell = |time: i64| id.level.cell_of(Time(time.clamp(inside.0, inside.1)));
                    touched.extend(cell(slice.start_ps)..=cell(last));
                }
                prop_assert!(cells.iter().map(|cell| cell.index).eq(touched));
                for cell in cells {
                    let start = cell.index * id.level.cell_ps();
                    let window = Interval::new(start, start + id.level.cell_ps());
                    let end = |s: &nprof_engine::tile::LaneSlice| s.start_ps + s.duration_ps;
                    let inside = of_lane.iter().filter(|s| window.overlaps(s.start_ps, end(s)));
                    let busy: i64 = inside.clone().map(|s| window.overlap_ps(s.start_ps, end(s))).sum();
                    prop_assert_eq!(cell.content.busy_ps, busy as u64);
                    let is_wait = |s: &nprof_engine::tile::LaneSlice| {
                        segment.text(nprof_engine::model::NameId(s.name)).unwrap().ends_with("_WAIT")
                    };
                    let waits = inside.clone().filter(|s| is_wait(s));
                    let wait: i64 = waits.map(|s| window.overlap_ps(s.start_ps, end(s))).sum();
                    prop_assert_eq!(cell.content.wait_ps, wait as u64);
                    let starting = inside.clone().filter(|s| s.start_ps >= start).count();
                    prop_assert_eq!(cell.content.count as usize, starting);
                    let longest = inside.clone().max_by_key(|s| (s.duration_ps, Reverse(s.row))).unwrap();
                    let expected = (longest.duration_ps as u64, longest.row);
                    prop_assert_eq!((cell.content.longest_ps, cell.content.longest_row), expected);
                    let mut names = BTreeMap::new();
                    for slice in inside.filter(|s| !is_wait(s)) {
                        *names.entry(slice.name).or_insert(0) +=
                            window.overlap_ps(slice.start_ps, end(slice));
                    }
                    let dominant = names.iter().max_by_key(|&(name, time)| (time, Reverse(name)));
                    let dominant = dominant.filter(|(_, time)| **time > 0);
                    prop_assert_eq!(cell.content.name, dominant.map_or(longest.name, |(name, _)| *name));
                }
            }
            LaneContent::Samples(_) | LaneContent::Ranges(_) => prop_assert!(false, "slices became samples"),
        }
    }
    Ok(())
}

/// Reads every piece of a segment.
fn read_all(bytes: Vec<u8>) -> Result<(), Error> {
    let segment = Segment::open(bytes)?;
    for at in 0..segment.footer().columns.len() {
        let column = segment.footer().columns[at];
        for block in 0..segment.blocks(column.table)?.len() {
            segment.block(at, block)?;
        }
        if column.postings.len > 0 {
            segment.piece(column.postings, "postings")?;
        }
    }
    for table in 0..segment.footer().tables.len() {
        segment.blocks(nprof_engine::model::TableId(table as u16))?;
    }
    for chunk in 0..segment.chunk_count() {
        segment.chunk(chunk)?;
    }
    segment.piece(segment.footer().dictionary.chunks, "dictionary directory")?;
    for track in (0..segment.footer().tracks.len() as u32).map(TrackId) {
        for page in segment.pages(track)? {
            segment.piece(page.piece, "pyramid page")?;
        }
    }
    segment.for_each_arrow(|_| Ok(()))?;
    for row in 0..segment.footer().tables.iter().map(|t| t.rows).sum() {
        segment.arrows_to(row)?;
    }
    segment.piece(segment.footer().flows.by_to, "arrow directory")?;
    Ok(())
}

#[test]
fn every_truncation_is_an_error() {
    let slices =
        vec![
            Given { track: 0, start_ps: 5, duration_ps: 10, name: 1, size: Some(4), text: Some("ab".into()) };
            5
        ];
    let bytes = build(&slices, BuildOptions::default());
    for keep in 0..bytes.len() {
        let opened = Segment::open(bytes[..keep].to_vec());
        assert!(opened.is_err(), "cut at {keep} of {}", bytes.len());
    }
    assert!(read_all(bytes).is_ok());
}

#[test]
fn a_newer_version_says_upgrade() {
    let mut bytes = build(&[], BuildOptions::default());
    bytes[8] = VERSION as u8 + 1;
    let refused = Segment::open(bytes.clone()).unwrap_err();
    assert_eq!(refused, Error::UnsupportedVersion { found: VERSION + 1, newest: VERSION });
    assert!(refused.to_string().contains("upgrade"));
    for old in 1..OLDEST_VERSION {
        bytes[8] = old as u8;
        assert!(Segment::open(bytes.clone()).unwrap_err().to_string().contains("ingest the trace again"));
    }
}

#[test]
fn an_empty_rank_has_an_empty_timeline() {
    let segment = Segment::open(build(&[], BuildOptions::default())).unwrap();
    assert_eq!(query::slice::tracks(&segment, None), []);
    assert!(matches!(answer::slice(RankView::of(&segment), 0, Work::IN_PLACE), Err(Error::Invalid { .. })));
    assert!(matches!(answer::slice(RankView::of(&segment), 99, Work::IN_PLACE), Err(Error::Invalid { .. })));
}

#[test]
fn the_ends_of_time_are_within_reach() {
    let far = (1_i64 << 62) - 1;
    let at = |start_ps: i64, duration_ps: i64| Given {
        track: 2,
        start_ps,
        duration_ps,
        name: 0,
        size: None,
        text: None,
    };
    let mut slices = vec![at(-far, 5), at(far - 7, 7), at(-far, i64::MAX), at(i64::MIN, 3), at(i64::MAX, 0)];
    // Enough slices for a pyramid over the whole range of times.
    slices.extend((0..9_000).map(|step| at(-far + step * (far / 4_600), 1)));
    let segment = Segment::open(build(&slices, BuildOptions::default())).unwrap();
    let all =
        query::selection::select(&segment, &ids(&segment), Interval::new(-far, far), Work::IN_PLACE).unwrap();
    assert_eq!(all.count + 1, slices.len() as u64, "all but the one that stands where the span ends");
    for level in (0..=Level::COARSEST.number()).filter_map(Level::new) {
        for time in [-far, -1, 0, far] {
            let index = *level.tiles_of(Interval::new(time, time + 1)).start();
            assert!(
                answer::tile(RankView::of(&segment), TileId { group: 0, level, index }, Work::IN_PLACE)
                    .is_ok()
            );
        }
    }
}

#[test]
fn rows_that_have_left_wait_no_more() {
    let options = BuildOptions { group_bytes: 400_000, ..BuildOptions::default() };
    let (scratch, mut bytes) = (MemoryScratch::default(), Vec::new());
    let mut builder = Builder::new(&scratch, &mut bytes, options).unwrap();
    let counter = builder.table(table("counter", TableKind::Samples)).unwrap();
    let rate = builder.track(TrackSpec::counter("rate", None, counter, Unit::None, 0)).unwrap();
    builder.in_order(rate).unwrap();
    let samples = 400_000_u32;
    for at in 0..samples {
        builder.sample(rate, i64::from(at) * 10, f64::from(at % 100), &[]).unwrap();
    }
    builder.finish().unwrap();
    let segment = Segment::open(bytes).unwrap();
    // If values counted for longer, there would soon be a block for each row.
    let blocks = segment.blocks_of(rate).unwrap().len();
    assert!(blocks < samples as usize / 1000, "{blocks} blocks");
}
