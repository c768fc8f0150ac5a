//! Tracks that repeat themselves. Predicted columns come back as they went in, whether the rows
//! came in order or had to be sorted. Statistics from totals equal those of the rows.

use nprof_engine::base::{Error, Interval};
use nprof_engine::block::{BlockColumn, BlockValues};
use nprof_engine::exec::{Cancel, Work};
use nprof_engine::ingest::{BuildOptions, Builder};
use nprof_engine::model::{
    FieldSpec, Nesting, OwnedValue, Sink, SliceForm, SliceRecord, TableKind, TableSpec, TrackId, TrackSpec,
    Value,
};
use nprof_engine::native::AllCores;
use nprof_engine::query::{self, HitPage, SearchPattern};
use nprof_engine::segment::{BlockReader, ColumnRole, Segment};
use nprof_engine::spill::MemoryScratch;
use nprof_engine::tile::{self, LaneContent, Level, TileId, cut};

/// An executed instruction.
#[derive(Debug, Clone, PartialEq)]
struct Executed {
    start_ps: i64,
    duration_ps: i64,
    opcode: String,
    pc: i64,
    operands: String,
    /// Only instructions at every third counter have a size.
    bytes: Option<i64>,
}

/// Counter of an instruction that states none.
const NO_PC: i64 = -1;

/// Pseudo-random numbers (splitmix64).
fn noise(seed: u64, at: u64) -> i64 {
    let z = (seed ^ at).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    ((z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 40).cast_signed()
}

/// A loop of `body` instructions, executed until there are `count`. The second half is other code.
/// Now and then an instruction lasts long and overlaps the next ones.
fn program(seed: u64, count: u64, body: u64) -> Vec<Executed> {
    let mut end_ps = -500_000;
    (0..count)
        .map(|at| {
            let pc = (at % body + if at * 2 > count { body } else { 0 }).cast_signed();
            let stall = if noise(seed, at) % 97 == 0 { 90_000_000 } else { 0 };
            let duration_ps = 20_000 + pc * 7_000 + noise(seed, at + 1) % 3 * 1_000;
            let start_ps = end_ps + 1_000 + noise(seed, at + 2) % 2 * 1_000;
            end_ps = start_ps + duration_ps;
            Executed {
                start_ps,
                duration_ps: duration_ps + stall,
                opcode: format!("OP_{}", pc % 5),
                pc: 0x4000 + pc * 64,
                operands: format!("src=0x{:x} dst={}", pc * 128, if pc % 7 == 0 { at } else { 7 }),
                bytes: (pc % 3 == 0).then_some(pc * 512),
            }
        })
        .collect()
}

#[derive(Clone, Copy, PartialEq)]
enum Order {
    Promised,
    Sorted,
}

fn build(executed: &[Executed], order: Order, options: BuildOptions) -> Result<Segment<Vec<u8>>, Error> {
    let scratch = MemoryScratch::default();
    let mut bytes = Vec::new();
    let mut builder = Builder::new(&scratch, &mut bytes, options)?;
    let table = builder.table(TableSpec::new("instruction", TableKind::Slices, "").named_by("opcode"))?;
    let pc = builder.field(table, FieldSpec::named("pc"))?;
    let operands = builder.field(table, FieldSpec::named("operands"))?;
    let size = builder.field(table, FieldSpec::named("bytes"))?;
    let track = builder.track(TrackSpec::slices("Tensor", None, table, Nesting::Concurrent, 0))?;
    if order == Order::Promised {
        builder.in_order(track)?;
    }
    for one in executed {
        let name = builder.name(&one.opcode)?;
        let text = builder.name(&one.operands)?;
        let mut fields = vec![(operands, Value::Name(text))];
        fields.extend((one.pc != NO_PC).then_some((pc, Value::Int(one.pc))));
        fields.extend(one.bytes.map(|bytes| (size, Value::Int(bytes))));
        let (start_ps, duration_ps) = (one.start_ps, one.duration_ps);
        builder.slice(&SliceRecord {
            track,
            start_ps,
            duration_ps,
            name,
            form: SliceForm::Complete,
            fields: &fields,
        })?;
    }
    builder.finish()?;
    Segment::open(bytes)
}

const TRACK: TrackId = TrackId(0);

fn read(segment: &Segment<Vec<u8>>) -> Vec<Executed> {
    let all = Interval::new(i64::MIN / 4, i64::MAX / 4);
    let slices = tile::slices_in(segment, TRACK, all).unwrap();
    let fields = &segment.footer().fields;
    let mut read = Vec::new();
    query::fields::for_each_row(segment, segment.table("instruction").unwrap(), |row, values| {
        let slice = &slices[row as usize];
        let mut one = Executed {
            start_ps: slice.start_ps,
            duration_ps: slice.duration_ps,
            opcode: segment.text(nprof_engine::model::NameId(slice.name))?.to_owned(),
            pc: NO_PC,
            operands: String::new(),
            bytes: None,
        };
        for (field, value) in values {
            match (fields[field.0 as usize].1.name.as_str(), value) {
                ("pc", OwnedValue::Int(value)) => one.pc = value,
                ("operands", OwnedValue::Text(text)) => one.operands = text,
                ("bytes", OwnedValue::Int(value)) => one.bytes = Some(value),
                (name, value) => assert!(name.is_empty(), "{name} is {value:?}"),
            }
        }
        read.push(one);
        Ok::<_, Error>(())
    })
    .unwrap();
    read
}

/// Groups of a few blocks: programs grow while blocks are written.
const SMALL_GROUPS: BuildOptions =
    BuildOptions { sort_bytes: 1 << 20, dictionary_bytes: 1 << 20, group_bytes: 300_000, reader_bytes: 0 };

#[track_caller]
fn check(executed: &[Executed], options: BuildOptions) {
    let promised = build(executed, Order::Promised, options).unwrap();
    assert!(read(&promised) == executed, "rows that came in order");
    // In reverse order, so that every row has to be sorted.
    let mut shuffled = executed.to_vec();
    shuffled.reverse();
    let sorted = build(&shuffled, Order::Sorted, options).unwrap();
    assert!(read(&sorted) == executed, "rows that were sorted");
    for segment in [&promised, &sorted] {
        let program = segment.program(TRACK).unwrap().expect("a loop has a program");
        assert!(program.columns.len() >= 4, "{:?}", program.columns.len());
    }
}

#[test]
fn what_programs_foretell_comes_back() {
    check(&program(1, 9_000, 37), BuildOptions::default());
    check(&program(2, 30_000, 211), SMALL_GROUPS);
    // More than one group at any options.
    check(&program(3, 140_000, 60), BuildOptions::default());
}

#[test]
fn rows_without_the_key_come_back_too() {
    let mut executed = program(4, 140_000, 60);
    executed[135_000..].iter_mut().for_each(|one| one.pc = NO_PC);
    check(&executed, BuildOptions::default());
    check(&executed, SMALL_GROUPS);
}

#[test]
fn some_rows_of_a_column_are_those_of_the_whole() {
    let segment = build(&program(10, 6_000, 37), Order::Promised, BuildOptions::default()).unwrap();
    let table = segment.table("instruction").unwrap();
    let whole = segment.blocks(table).unwrap().rows(1);
    for column in segment.columns_of(table) {
        let mut reader = BlockReader::new(&segment, table, 1).unwrap();
        let all = reader.column(column).unwrap().unwrap();
        for rows in [0..whole, 0..1, 700..701, 702..703, 31..1_000, 5..5, whole - 1..whole] {
            let some = reader.column_of(column, rows.clone()).unwrap().unwrap();
            let values = |of: &BlockColumn| match of.values() {
                BlockValues::Ints(values) => values[of.span(rows.clone())].to_vec(),
                other => panic!("no column of {other:?} went in"),
            };
            assert_eq!(values(&some), values(&all), "{rows:?} of {}", segment.column_name(column));
            let has_value =
                |of: &BlockColumn| rows.clone().map(|row| of.slot(row).is_some()).collect::<Vec<_>>();
            assert_eq!(has_value(&some), has_value(&all));
        }
        assert!(reader.column_of(column, 0..whole + 1).is_err());
    }
    let mut row = 0;
    query::fields::for_each_row(&segment, table, |_, fields| {
        assert_eq!(query::fields::read(&segment, row).unwrap(), fields);
        row += 1;
        Ok::<_, Error>(())
    })
    .unwrap();
}

#[test]
fn a_column_that_its_program_foretells_takes_next_to_nothing() {
    let executed = program(4, 40_000, 100);
    let anatomy = build(&executed, Order::Promised, BuildOptions::default()).unwrap().anatomy().unwrap();
    let bytes = |name: &str| -> f64 {
        let columns = anatomy.tables[0].columns.iter().filter(|column| column.name == name);
        columns.map(|column| column.bytes as f64).sum::<f64>() / executed.len() as f64
    };
    assert!(bytes("name") < 0.01, "{}", bytes("name"));
    assert!(bytes("bytes") < 0.01, "{}", bytes("bytes"));
    assert!(bytes("pc") < 0.05, "{}", bytes("pc"));
    assert!(bytes("start") < 0.4, "{}", bytes("start"));
}

#[test]
fn statistics_from_totals_are_those_of_the_rows() {
    let mut executed = program(5, 20_000, 50);
    check_statistics(&executed, BuildOptions::default());
    // Some instructions last until after the next block, others over several blocks, also across
    // groups.
    let until = |at: usize| executed[(at + 4_500).min(executed.len() - 1)].start_ps;
    let long: Vec<(usize, i64)> = (1_000..executed.len()).step_by(1_900).map(|at| (at, until(at))).collect();
    for (at, end_ps) in long {
        executed[at].duration_ps = (end_ps - executed[at].start_ps) / (1 + at as i64 % 2);
    }
    check_statistics(&executed, BuildOptions::default());
    check_statistics(&executed, SMALL_GROUPS);
}

#[track_caller]
fn check_statistics(executed: &[Executed], options: BuildOptions) {
    let segment = build(executed, Order::Promised, options).unwrap();
    assert!(segment.totals(TRACK).unwrap().is_some());
    let (first, last) = (executed[0].start_ps, executed[executed.len() - 1].start_ps);
    for (from, to) in [(0, 100), (3, 97), (10, 11), (50, 50), (40, 200), (33, 81), (34, 80), (35, 79)] {
        let at = |percent: i64| first + (last - first) / 100 * percent;
        let span = Interval::new(at(from), at(to));
        let inside = |one: &&Executed| span.overlaps(one.start_ps, one.start_ps + one.duration_ps);
        let selection = query::selection::select(&segment, &[TRACK], span, Work::IN_PLACE).unwrap();
        assert_eq!(selection.count, executed.iter().filter(inside).count() as u64);
        let (mut busy_ps, mut covered_to) = (0, span.start.0);
        for one in executed.iter().filter(inside) {
            let end = (one.start_ps + one.duration_ps).min(span.end.0);
            busy_ps += (end - one.start_ps.max(covered_to)).max(0);
            covered_to = covered_to.max(end);
        }
        assert_eq!(selection.by_track.iter().map(|t| t.busy_ps).sum::<u64>(), busy_ps.cast_unsigned());
        for name in &selection.by_name {
            let text = segment.text(name.name).unwrap();
            let of = || executed.iter().filter(inside).filter(|one| one.opcode == text);
            let time = |one: &Executed| span.overlap_ps(one.start_ps, one.start_ps + one.duration_ps);
            assert_eq!(name.total_ps, of().map(time).sum::<i64>().cast_unsigned(), "{text}");
            // Instructions that run at the same time do not call each other.
            assert_eq!((name.union_ps, name.self_ps), (name.total_ps, name.total_ps), "{text}");
            let longest = of().map(|one| one.duration_ps).max().unwrap();
            assert_eq!(name.longest_ps, longest.cast_unsigned());
            assert_eq!(executed[name.longest_row as usize].duration_ps, longest, "{text}");
        }
    }
}

#[test]
fn search_finds_texts_with_and_without_postings() {
    let executed = program(6, 12_000, 90);
    let segment = build(&executed, Order::Promised, BuildOptions::default()).unwrap();
    for needle in ["op_3", "src=0x80 ", "dst=7", "dst=11", "no such text"] {
        let is_match =
            |one: &&Executed| one.operands.contains(needle) || one.opcode.to_lowercase().contains(needle);
        let pattern = SearchPattern::text(needle);
        let found = query::search::find(&segment, &pattern, HitPage::first(3), Work::IN_PLACE).unwrap();
        // The same search with kept codes, and on several threads.
        assert_eq!(
            query::search::find(&segment, &pattern, HitPage::first(3), Work::on(&AllCores)).unwrap(),
            found,
            "{needle}"
        );
        assert_eq!(
            query::search::find(
                &segment,
                &pattern,
                HitPage::first(3),
                Work { exec: &AllCores, cancel: Cancel::when(&|| true) }
            ),
            Err(Error::Cancelled)
        );
        let expected: Vec<u32> =
            (0..).zip(&executed).filter(|(_, one)| is_match(one)).map(|(row, _)| row).collect();
        assert_eq!(found.rows.iter().collect::<Vec<_>>(), expected, "{needle}");
        let first: Vec<u32> = found.hits.iter().map(|hit| hit.row).collect();
        assert_eq!(first, expected[..expected.len().min(3)]);
    }
}

#[test]
fn a_pyramid_has_the_first_rows_however_small_their_group_was() {
    let executed = program(9, 12_000, 40);
    let options = BuildOptions { group_bytes: 8_000, ..BuildOptions::default() };
    let segment = build(&executed, Order::Promised, options).unwrap();
    let pages = segment.pages(TRACK).unwrap();
    let level = Level::new(pages.last().expect("so many rows have a pyramid").level).unwrap();
    let whole = Interval::new(executed[0].start_ps, executed[executed.len() - 1].start_ps + 1);
    let mut starting = 0;
    for index in level.tiles_of(whole) {
        for lane in cut(&segment, TRACK, TileId { group: 0, level, index }, Cancel::NEVER).unwrap() {
            let LaneContent::SliceCells(cells) = lane.content else { continue };
            for cell in cells {
                starting += cell.content.count as usize;
                let longest = &executed[cell.content.longest_row as usize];
                assert_eq!(longest.duration_ps.cast_unsigned(), cell.content.longest_ps);
            }
        }
    }
    assert_eq!(starting, executed.len());
}

#[test]
fn a_broken_promise_of_order_is_refused() {
    let mut executed = program(7, 10, 5);
    executed.swap(3, 4);
    assert!(matches!(build(&executed, Order::Promised, BuildOptions::default()), Err(Error::Invalid { .. })));
}

#[test]
fn a_damaged_program_is_found() {
    // Too many rows for a small segment, in which the footer's checksum covers the programs.
    let segment = build(&program(8, 9_000, 20), Order::Promised, BuildOptions::default()).unwrap();
    let piece = segment.footer().tracks[0].program;
    let range = piece.offset as usize..piece.offset as usize + piece.len as usize;
    let bytes = segment.bytes().clone();
    for at in range {
        let mut bytes = bytes.clone();
        bytes[at] ^= 1;
        let damaged = Segment::open(bytes).unwrap();
        assert!(matches!(damaged.program(TRACK), Err(Error::Corrupt { what: "program", .. })));
        // Parts that do not depend on the program stay readable.
        assert!(damaged.text(nprof_engine::model::NameId(0)).is_ok());
    }
}

#[test]
fn starts_without_their_program_are_refused() {
    // Steady steps and random durations: starts are predicted from starts, without durations.
    let mut executed = program(11, 9_000, 20);
    let mut start_ps = 0;
    for (at, one) in (0..).zip(&mut executed) {
        one.start_ps = start_ps;
        one.duration_ps = 1_000 + noise(11, at) * 1_000;
        start_ps += 10_000 + one.pc * 1_000;
    }
    let segment = build(&executed, Order::Promised, BuildOptions::default()).unwrap();
    let starts = |segment: &Segment<Vec<u8>>| {
        let table = segment.table("instruction").unwrap();
        BlockReader::new(segment, table, 1).unwrap().core_ints(ColumnRole::Start)
    };
    let expected: Vec<i64> = executed.iter().map(|one| one.start_ps).collect();
    let blocks = segment.blocks(segment.table("instruction").unwrap()).unwrap();
    let first = blocks.first_row(1) as usize;
    assert!(starts(&segment).unwrap() == expected[first..first + blocks.rows(1)]);
    let program = segment.footer().tracks[0].program;
    let mut bytes = segment.bytes().clone();
    bytes[program.offset as usize] ^= 1;
    let damaged = starts(&Segment::open(bytes).unwrap());
    assert!(matches!(damaged, Err(Error::Corrupt { what: "program", .. })), "{damaged:?}");
}
