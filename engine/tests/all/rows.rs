//! The rows of a table: which ones a question gets, in which order, and their values.

use nprof_engine::base::{Error, Interval};
use nprof_engine::exec::{CallerThread, Cancel, Work};
use nprof_engine::ingest::{BuildOptions, Builder};
use nprof_engine::model::{
    FieldSpec, Nesting, Sink, SliceForm, SliceRecord, TableId, TableKind, TableSpec, TrackId, TrackSpec,
    Unit, Value,
};
use nprof_engine::query::{self, DensityCells, HitPage, HitPlace, RowFilter, SearchPattern};
use nprof_engine::rank::RankView;
use nprof_engine::segment::Segment;
use nprof_engine::spill::MemoryScratch;
use nprof_engine::wire::allowance::TOO_LARGE;
use nprof_engine::wire::answer;
use nprof_engine::wire::detail::FieldContent;
use nprof_engine::wire::refusal::{Refusal, RefusalKind};
use nprof_engine::wire::rows::{ColumnValues, RowColumn, RowColumnRole, RowPresence, TableRows};
use nprof_engine::wire::table_rows::{RowsWanted, table_rows};
use proptest::prelude::*;

const TRACKS: usize = 3;
const ALL: RowsWanted<'static> = RowsWanted { span: None, tracks: None, limit: usize::MAX };

/// Slices as track, start and duration; each has its position as a field, every third another one.
/// A counter has a sample at each start. Two side tables follow.
fn segment(slices: &[(usize, i64, i64)]) -> Segment<Vec<u8>> {
    let scratch = MemoryScratch::default();
    let mut bytes = Vec::new();
    // Small groups give many blocks.
    let options = BuildOptions { group_bytes: 2_000, ..BuildOptions::default() };
    let mut builder = Builder::new(&scratch, &mut bytes, options).unwrap();
    let spec = |name: &str, kind| TableSpec::new(name, kind, "");
    let table = builder.table(spec("slice", TableKind::Slices)).unwrap();
    let samples = builder.table(spec("counter", TableKind::Samples)).unwrap();
    let side = builder.table(spec("side", TableKind::Side)).unwrap();
    builder.table(spec("nothing", TableKind::Side)).unwrap();
    let position = builder.field(table, FieldSpec::named("position")).unwrap();
    let third = builder.field(table, FieldSpec::named("third")).unwrap();
    builder.field(table, FieldSpec::named("never")).unwrap();
    let size = builder.field(side, FieldSpec::new("size", Unit::Bytes, "", "How large.")).unwrap();
    let label = builder.field(side, FieldSpec::named("label")).unwrap();
    let any = builder.field(side, FieldSpec::named("any")).unwrap();
    let group = builder.track(TrackSpec::group("Engines", None, 0)).unwrap();
    let tracks: [TrackId; TRACKS] = ["a", "b", "c"].map(|name| {
        builder.track(TrackSpec::slices(name, Some(group), table, Nesting::Concurrent, 0)).unwrap()
    });
    let counter = builder.track(TrackSpec::counter("power", None, samples, Unit::Count, 1)).unwrap();
    for (at, &(track, start_ps, duration_ps)) in (0_i64..).zip(slices) {
        let name = builder.name(["x", "y"][at as usize % 2]).unwrap();
        let fields = [(position, Value::Int(at)), (third, Value::Text("three"))];
        let fields = &fields[..if at % 3 == 0 { 2 } else { 1 }];
        let track = tracks[track];
        let form = SliceForm::Complete;
        builder.slice(&SliceRecord { track, start_ps, duration_ps, name, form, fields }).unwrap();
        builder.sample(counter, start_ps, at as f64, &[]).unwrap();
    }
    let text = "a long text ".repeat(9);
    builder.row(side, &[(size, Value::Uint(u64::MAX)), (any, Value::Int(-4))]).unwrap();
    builder.row(side, &[(label, Value::Text(&text)), (any, Value::Text("four"))]).unwrap();
    builder.row(side, &[(size, Value::Uint(7)), (any, Value::Float(4.5))]).unwrap();
    builder.finish().unwrap();
    Segment::open(bytes).unwrap()
}

fn ask(segment: &Segment<Vec<u8>>, table: &str, wanted: RowsWanted<'_>) -> TableRows {
    table_rows(RankView::of(segment), table, wanted, Work::IN_PLACE).unwrap()
}

fn column<'a>(rows: &'a TableRows, name: &str) -> &'a RowColumn {
    rows.columns.iter().find(|column| column.name == name).unwrap()
}

fn ints<'a>(rows: &'a TableRows, name: &str) -> &'a [i64] {
    match &column(rows, name).values {
        ColumnValues::Ints(values) => values,
        other => panic!("{other:?}"),
    }
}

fn texts<'a>(rows: &'a TableRows, name: &str) -> Vec<&'a str> {
    match &column(rows, name).values {
        ColumnValues::Texts(texts) => texts.codes.iter().map(|&c| texts.texts[c as usize].as_str()).collect(),
        other => panic!("{other:?}"),
    }
}

fn slices() -> impl Strategy<Value = Vec<(usize, i64, i64)>> {
    prop::collection::vec((0..TRACKS, 0_i64..20_000, 0_i64..400), 1..400)
}

fn span() -> impl Strategy<Value = Option<Interval>> {
    prop::option::of((0_i64..21_000, 0_i64..9_000).prop_map(|(at, length)| Interval::new(at, at + length)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// The rows are those that a full scan finds, in the order of time.
    #[test]
    fn rows_are_those_of_a_full_scan(
        given in slices(), span in span(), only in prop::option::of(0..TRACKS), limit in 0..500_usize,
    ) {
        let segment = segment(&given);
        // The group is track 0.
        let tracks = only.map(|track| [track as u32 + 1]);
        let wanted = RowsWanted { span, tracks: tracks.as_ref().map(<[u32; 1]>::as_slice), limit };
        let rows = ask(&segment, "slice", wanted);
        let mut expected: Vec<i64> = (0..)
            .zip(&given)
            .filter(|(_, slice)| only.is_none_or(|track| track == slice.0))
            .filter(|(_, slice)| span.is_none_or(|span| span.overlaps(slice.1, slice.1 + slice.2)))
            .map(|(at, _)| at)
            .collect();
        prop_assert_eq!(rows.total, expected.len() as u64);
        prop_assert_eq!(rows.truncated, expected.len() > limit);
        prop_assert_eq!(rows.rows as usize, expected.len().min(limit));
        let found = ints(&rows, "position");
        let order: Vec<(i64, i64)> =
            ints(&rows, "start").iter().copied().zip(ints(&rows, "row").iter().copied()).collect();
        prop_assert!(order.is_sorted());
        for (place, &at) in found.iter().enumerate() {
            let (track, start, duration) = given[at as usize];
            prop_assert_eq!((ints(&rows, "start")[place], ints(&rows, "duration")[place]), (start, duration));
            prop_assert_eq!(texts(&rows, "track")[place], ["Engines/a", "Engines/b", "Engines/c"][track]);
            prop_assert_eq!(texts(&rows, "name")[place], ["x", "y"][at as usize % 2]);
            let row = query::slice::read(&segment, ints(&rows, "row")[place] as u32).unwrap();
            prop_assert_eq!((row.slice.start_ps, row.slice.duration_ps), (start, duration));
        }
        // Slices with equal starts can stand in any order, so only their starts are compared.
        expected.sort_by_key(|&at| given[at as usize].1);
        expected.truncate(limit);
        let starts: Vec<i64> = expected.iter().map(|&at| given[at as usize].1).collect();
        prop_assert_eq!(ints(&rows, "start"), starts);
        let third: Vec<bool> = found.iter().map(|at| at % 3 == 0).collect();
        let present = match (third.contains(&true), third.contains(&false)) {
            (false, _) => RowPresence::None,
            (true, false) => RowPresence::All,
            (true, true) => RowPresence::Some(third),
        };
        prop_assert_eq!(&column(&rows, "third").present, &present);
        prop_assert_eq!(&column(&rows, "never").present, &RowPresence::None);
    }

    #[test]
    fn samples_are_rows_too(given in slices(), span in span(), limit in 0..500_usize) {
        let rows = ask(&segment(&given), "counter", RowsWanted { span, limit, ..ALL });
        let mut starts: Vec<i64> = given.iter().map(|slice| slice.1).collect();
        starts.retain(|&start| span.is_none_or(|span| span.overlaps(start, start)));
        starts.sort_unstable();
        prop_assert_eq!(rows.total, starts.len() as u64);
        starts.truncate(limit);
        prop_assert_eq!(ints(&rows, "start"), starts);
        prop_assert!(rows.columns.iter().all(|column| column.role != RowColumnRole::Duration));
    }
}

#[test]
fn a_side_table_has_all_its_fields() {
    let rows = ask(&segment(&[(0, 0, 1)]), "side", ALL);
    assert_eq!((rows.rows, rows.total, rows.truncated), (3, 3, false));
    let [size, label, any] = &rows.columns[..] else { panic!("{:?}", rows.columns) };
    assert_eq!((size.unit.as_str(), size.doc.as_str(), size.role), ("B", "How large.", RowColumnRole::Field));
    assert_eq!(size.values, ColumnValues::Uints(vec![u64::MAX, 7]));
    assert_eq!(size.present, RowPresence::Some(vec![true, false, true]));
    assert_eq!(texts(&rows, "label"), ["a long text ".repeat(9)]);
    assert_eq!(label.present, RowPresence::Some(vec![false, true, false]));
    let mixed = vec![FieldContent::Int(-4), FieldContent::Text("four".to_owned()), FieldContent::Float(4.5)];
    assert_eq!((&any.values, &any.present), (&ColumnValues::Mixed(mixed), &RowPresence::All));
    let two = ask(&segment(&[(0, 0, 1)]), "side", RowsWanted { limit: 2, ..ALL });
    assert_eq!((two.rows, two.total, two.truncated), (2, 3, true));
    assert_eq!(ask(&segment(&[(0, 0, 1)]), "nothing", ALL).total, 0);
}

#[test]
fn questions_that_make_no_sense_are_refused() {
    let segment = segment(&[(0, 0, 1)]);
    let refused =
        |table, wanted| table_rows(RankView::of(&segment), table, wanted, Work::IN_PLACE).unwrap_err();
    let no_table = Error::Invalid { what: "the table does not exist" };
    assert_eq!(refused("none", ALL), no_table);
    let no_time = Error::Invalid { what: "the rows of this table have no time and no track" };
    assert_eq!(refused("side", RowsWanted { span: Some(Interval::new(0, 1)), ..ALL }), no_time);
    assert_eq!(refused("side", RowsWanted { tracks: Some(&[1]), ..ALL }), no_time);
    let listing = query::listing::list(&segment, TableId(99), RowFilter::default(), 1, Work::IN_PLACE);
    assert_eq!(listing.unwrap_err(), no_table);
}

#[test]
fn cancelled_work_ends() {
    let segment = segment(&[(0, 0, 1), (1, 4, 4)]);
    let work = Work { exec: &CallerThread, cancel: Cancel::when(&|| true) };
    for table in ["slice", "counter", "side"] {
        assert_eq!(table_rows(RankView::of(&segment), table, ALL, work), Err(Error::Cancelled), "{table}");
    }
}

/// An answer repeats the name of each slice.
#[test]
fn an_answer_of_long_names_is_refused_and_a_part_of_it_is_not() {
    // The longest that the dictionary takes.
    const NAME_BYTES: usize = 64 << 10;
    const SLICES: i64 = 3_000;
    let scratch = MemoryScratch::default();
    let mut bytes = Vec::new();
    let mut builder = Builder::new(&scratch, &mut bytes, BuildOptions::default()).unwrap();
    let table = builder.table(TableSpec::new("slice", TableKind::Slices, "")).unwrap();
    let track = builder.track(TrackSpec::slices("a", None, table, Nesting::Concurrent, 0)).unwrap();
    let name = builder.name(&"long ".repeat(NAME_BYTES / 5)).unwrap();
    for start_ps in 0..SLICES {
        let (duration_ps, form, fields) = (1, SliceForm::Complete, &[][..]);
        builder.slice(&SliceRecord { track, start_ps, duration_ps, name, form, fields }).unwrap();
    }
    builder.finish().unwrap();
    assert!(bytes.len() < 1 << 20, "a small file: {}", bytes.len());
    let segment = Segment::open(bytes).unwrap();
    let rank = RankView::of(&segment);
    let window = |end_ps| {
        let window = answer::window(rank, Interval::new(0, end_ps), None, 100_000, Work::IN_PLACE);
        window.map(|events| events.slices.len())
    };
    assert_eq!(window(SLICES), Err(TOO_LARGE));
    assert_eq!(window(1_000), Ok(1_000));
    let filter = SearchPattern::text("long").into();
    let page = |limit| HitPage::after(HitPlace { start_ps: 0, row: 0 }, limit);
    let search = |limit| answer::search(rank, &filter, page(limit), DensityCells::NONE, Work::IN_PLACE);
    assert_eq!(search(3_000).map(|found| found.hits.len()), Err(TOO_LARGE));
    assert_eq!(search(1_000).map(|found| found.hits.len()), Ok(1_000));
    assert_eq!(Refusal::from(TOO_LARGE).kind, RefusalKind::BadQuestion);
    // Columns have each text once.
    assert_eq!(ask(&segment, "slice", ALL).rows, 3_000);
}
