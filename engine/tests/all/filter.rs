//! Queries of users: what they find by indexes is what a look at every row finds.

use nprof_engine::base::Interval;
use nprof_engine::exec::Work;
use nprof_engine::ingest::{BuildOptions, Builder};
use nprof_engine::makers::SHORT_NAMES;
use nprof_engine::model::{
    FieldSpec, Nesting, OwnedValue, Sink, SliceForm, SliceRecord, TableKind, TableSpec, TrackId, TrackSpec,
    Unit, Value,
};
use nprof_engine::query::{
    self, Completion, CompletionKind, Completions, FieldTest, FilterScope, FilterWord, HitPage,
    NumberComparison, RegionSpan, ResolvedFilter, WordFilter, WordTest,
};
use nprof_engine::segment::Segment;
use nprof_engine::spill::MemoryScratch;
use proptest::prelude::*;

const NAMES: [&str; 4] = ["MATMUL", "matmul.2", "DRAIN", "ACTIVATE, fused"];
const LAYERS: [&str; 3] = ["layers/0/mlp", "layers/1/mlp", "head"];
const TRACKS: [&str; 2] = ["Tensor", "Vector"];

/// A slice: track, duration in nanoseconds, name, layer, size.
type Given = (usize, i64, usize, Option<usize>, Option<u64>);

/// Instructions with a layer and a size, where they have them.
fn segment(slices: &[Given]) -> Segment<Vec<u8>> {
    let scratch = MemoryScratch::default();
    let mut bytes = Vec::new();
    // Small groups give many blocks.
    let options = BuildOptions { group_bytes: 2_000, ..BuildOptions::default() };
    let mut builder = Builder::new(&scratch, &mut bytes, options).unwrap();
    let table =
        builder.table(TableSpec::new("instruction", TableKind::Slices, "").named_by("opcode")).unwrap();
    let layer = builder.field(table, FieldSpec::named("Layer Name")).unwrap();
    let size = builder.field(table, FieldSpec::new("transfer_size", Unit::Bytes, "", "")).unwrap();
    let group = builder.track(TrackSpec::group("Engines", None, 0)).unwrap();
    let tracks: [TrackId; 2] = TRACKS.map(|name| {
        builder.track(TrackSpec::slices(name, Some(group), table, Nesting::Concurrent, 0)).unwrap()
    });
    for (at, &(track, duration_ns, name, of_layer, of_size)) in (0_i64..).zip(slices) {
        let mut fields = Vec::new();
        fields.extend(of_layer.map(|at| (layer, Value::Text(LAYERS[at]))));
        fields.extend(of_size.map(|value| (size, Value::Uint(value))));
        let (name, form) = (builder.name(NAMES[name]).unwrap(), SliceForm::Complete);
        let (track, start_ps, duration_ps) = (tracks[track], at * 1_000, duration_ns * 1_000);
        builder.slice(&SliceRecord { track, start_ps, duration_ps, name, form, fields: &fields }).unwrap();
    }
    builder.finish().unwrap();
    Segment::open(bytes).unwrap()
}

/// The rows that a query finds, by their numbers.
fn found(segment: &Segment<Vec<u8>>, query: &str) -> Result<Vec<u32>, String> {
    let regions = [("step 1", 0, 2_000), ("step 10", 2_000, 9_000)]
        .map(|(name, start, end)| RegionSpan { name: name.to_owned(), span: Interval::new(start, end) });
    let scope =
        FilterScope { rank: Some(3), regions: &regions, short_names: &SHORT_NAMES, ..FilterScope::default() };
    let filter = ResolvedFilter::new(segment, query, &scope).map_err(|fault| fault.to_string())?;
    let hits = filter.find(segment, HitPage::first(5), Work::IN_PLACE).unwrap();
    assert_eq!(hits.hits.len(), (hits.rows.len() as usize).min(5));
    assert!(hits.hits.windows(2).all(|two| two[0].start_ps <= two[1].start_ps));
    Ok(hits.rows.iter().collect())
}

/// Whether a text has another one in it; case matters if a capital letter was typed.
fn has(text: &str, part: &str) -> bool {
    match part.chars().any(char::is_uppercase) {
        true => text.contains(part),
        false => text.to_lowercase().contains(part),
    }
}

fn is(text: &str, other: &str) -> bool {
    has(text, other) && text.len() == other.len()
}

fn number(text: &str) -> f64 {
    let unit = if text.ends_with('s') { "ps" } else { "B" };
    query::quantity(text, unit).unwrap()
}

/// Whether a row passes a word, looked at by itself.
fn passes(row: &RowTexts, word: &FilterWord) -> bool {
    let of_text = |test: &FieldTest, text: Option<&str>| match test {
        FieldTest::Has(parts) => text.is_some_and(|text| parts.iter().any(|part| has(text, part))),
        FieldTest::Is(others) => text.is_some_and(|text| others.iter().any(|other| is(text, other))),
        FieldTest::Regex(_) | FieldTest::Number(..) => panic!("no such test is made"),
    };
    let of_number = |test: &FieldTest, value: Option<f64>| {
        let Some(value) = value else { return false };
        match test {
            FieldTest::Number(NumberComparison::Above, text) => value > number(text),
            FieldTest::Number(NumberComparison::AtLeast, text) => value >= number(text),
            FieldTest::Number(NumberComparison::Below, text) => value < number(text),
            FieldTest::Number(NumberComparison::AtMost, text) => value <= number(text),
            FieldTest::Has(texts) | FieldTest::Is(texts) => texts.iter().any(|text| {
                let (low, high) = text.split_once("..").unwrap_or((text, text));
                (low.is_empty() || value >= number(low)) && (high.is_empty() || value <= number(high))
            }),
            FieldTest::Regex(_) => panic!("no such test is made"),
        }
    };
    let passes = match &word.test {
        WordTest::Text(parts) => parts
            .iter()
            .any(|part| has(&row.name, part) || row.layer.as_ref().is_some_and(|of| has(of, part))),
        WordTest::Regex(_) => panic!("no such word is made"),
        WordTest::Field { name, test } => match name.as_str() {
            "name" | "opcode" => of_text(test, Some(&row.name)),
            "layer" => of_text(test, row.layer.as_deref()),
            "track" => {
                of_text(test, Some(&row.track)) || of_text(test, Some(&format!("Engines/{}", row.track)))
            }
            "rank" => of_number(test, Some(3.0)),
            "dur" => of_number(test, Some(row.duration_ps)),
            "size" => of_number(test, row.size),
            other => panic!("{other}"),
        },
    };
    passes != word.excludes
}

struct RowTexts {
    name: String,
    track: String,
    layer: Option<String>,
    size: Option<f64>,
    duration_ps: f64,
}

fn row_of(segment: &Segment<Vec<u8>>, row: u32) -> RowTexts {
    let slice = query::slice::read(segment, row).unwrap();
    let mut found = RowTexts {
        name: segment.text(slice.name()).unwrap().to_owned(),
        track: segment.footer().tracks[slice.track.0 as usize].spec.name.clone(),
        layer: None,
        size: None,
        duration_ps: slice.slice.duration_ps as f64,
    };
    for (_, value) in query::fields::read(segment, row).unwrap() {
        match value {
            OwnedValue::Text(text) => found.layer = Some(text),
            OwnedValue::Uint(value) => found.size = Some(value as f64),
            other => panic!("{other:?}"),
        }
    }
    found
}

fn any_word() -> impl Strategy<Value = FilterWord> {
    let parts = ["mat", "MAT", "MATMUL", "matmul.2", "layers/1", "a", ", fused", "head", "none"];
    let parts = || prop::collection::vec(prop::sample::select(parts.to_vec()), 1..3);
    let owned = |parts: Vec<&str>| parts.into_iter().map(str::to_owned).collect::<Vec<String>>();
    let texts = move || {
        prop_oneof![
            parts().prop_map(owned).prop_map(FieldTest::Has),
            parts().prop_map(owned).prop_map(FieldTest::Is)
        ]
    };
    let signs = [
        NumberComparison::Above,
        NumberComparison::AtLeast,
        NumberComparison::Below,
        NumberComparison::AtMost,
    ];
    let numbers = move |quantities: Vec<&'static str>, ranges: Vec<&'static str>| {
        let compared = (prop::sample::select(signs.to_vec()), prop::sample::select(quantities))
            .prop_map(|(sign, text)| FieldTest::Number(sign, text.to_owned()));
        let ranges = prop::sample::select(ranges).prop_map(|text| FieldTest::Has(vec![text.to_owned()]));
        prop_oneof![compared, ranges]
    };
    let field = |name: &'static str| move |test| WordTest::Field { name: name.to_owned(), test };
    let test = prop_oneof![
        parts().prop_map(owned).prop_map(WordTest::Text),
        texts().prop_map(field("name")),
        texts().prop_map(field("opcode")),
        texts().prop_map(field("layer")),
        prop::sample::select(vec!["Vector", "engines", "tensor"])
            .prop_map(|text| FieldTest::Has(vec![text.to_owned()]))
            .prop_map(field("track")),
        numbers(vec!["1", "3"], vec!["3", "1..2"]).prop_map(field("rank")),
        numbers(vec!["5us", "700ns", "0.5ms"], vec!["1us..5us", "..700ns", "5us"]).prop_map(field("dur")),
        numbers(vec!["512", "2KiB", "64"], vec!["64..2KiB", "512", "1KiB.."]).prop_map(field("size")),
    ];
    (any::<bool>(), test).prop_map(|(excludes, test)| FilterWord { excludes, test })
}

fn slices() -> impl Strategy<Value = Vec<Given>> {
    let layer = prop::option::of(0..LAYERS.len());
    let size = prop::option::of(prop_oneof![Just(64_u64), Just(512), 0..5_000_u64, Just(u64::MAX)]);
    let duration = prop_oneof![Just(700_i64), Just(5_000), 0..10_000_i64];
    prop::collection::vec((0..TRACKS.len(), duration, 0..NAMES.len(), layer, size), 1..300)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_query_finds_what_a_look_at_every_row_finds(
        given in slices(), words in prop::collection::vec(any_word(), 1..4),
    ) {
        let segment = segment(&given);
        let filter = WordFilter { words };
        let found = found(&segment, &filter.to_string());
        // Values that no row has: the column is missing.
        prop_assume!(found.is_ok());
        let rows = 0..given.len() as u32;
        let expected: Vec<u32> = rows.filter(|row| {
            let row = row_of(&segment, *row);
            filter.words.iter().all(|word| passes(&row, word))
        }).collect();
        prop_assert_eq!(found.unwrap(), expected, "{}", filter);
    }
}

#[test]
fn an_unknown_field_names_the_nearest_one() {
    let segment = segment(&[(0, 700, 0, Some(1), Some(512)), (1, 5_000, 2, None, None)]);
    let fault = |query: &str| found(&segment, query).unwrap_err();
    assert!(fault("opcde:MAT").contains("character 1: no field is called opcde: did you mean opcode?"));
    assert!(
        fault("x -transfer_sze>5")
            .contains("character 3: no field is called transfer_sze: did you mean transfer_size?")
    );
    assert!(fault("zzzzzz:1").contains("quotes make a text of it"));
    assert!(fault("size>many").contains("size is a number: write it as 32KiB"));
    assert!(fault("layer>5").contains("layer is a text"));
    assert!(fault("track:nowhere").contains("no track is called nowhere"));
    assert!(fault("track:Vectr").contains("did you mean \"Vector\"?"));
    assert!(fault("dur>5usec").contains("dur has no unit usec: did you mean us?"));
    assert!(fault("size:1..5parsec").contains("size has no unit parsec; there are b, kb"));
    assert!(fault("in:steps").contains("no region is called steps: did you mean \"step 1\"?"));
}

#[test]
fn names_of_exports_and_short_ones_find_the_same() {
    let segment = segment(&[(0, 700, 0, Some(1), Some(512)), (1, 5_000, 2, None, None)]);
    for query in [
        "opcode=MATMUL",
        "size=512",
        "transfer_size:512",
        "layer:mlp",
        "Layer_Name~/1.mlp$/",
        "dur<1us",
        "/^mat/",
        "track=Tensor",
        "-rank:3,5 x",
        "rank:3 -DRAIN",
        "start<1ns",
        "start:..0.5ns mat",
    ] {
        let expected: &[u32] = if query.contains('x') { &[] } else { &[0] };
        assert_eq!(found(&segment, query).unwrap(), expected, "{query}");
    }
    assert_eq!(found(&segment, "").unwrap(), [0; 0]);
    assert_eq!(found(&segment, "start>=1ns").unwrap(), [1]);
    assert_eq!(found(&segment, "in:\"step 1\"").unwrap(), [0, 1], "not step 10");
    assert_eq!(found(&segment, "in:0 -in=\"step 1\"").unwrap(), [0; 0]);
}

/// The completions of a query at its end.
fn completed(segment: &Segment<Vec<u8>>, query: &str) -> Completions {
    let regions = [("step 1", 0, 2_000), ("warm up", 2_000, 9_000)]
        .map(|(name, start, end)| RegionSpan { name: name.to_owned(), span: Interval::new(start, end) });
    let scope = FilterScope { regions: &regions, short_names: &SHORT_NAMES, ..FilterScope::default() };
    let cursor = query.chars().count();
    query::completions(segment, query, cursor, &scope, 100, Work::IN_PLACE).unwrap()
}

fn texts(of: &Completions) -> Vec<&str> {
    of.entries.iter().map(|entry| entry.text.as_str()).collect()
}

proptest! {
    /// A completion says how many slices the query with it finds.
    #[test]
    fn completions_count_what_their_query_finds(slices in slices()) {
        let segment = segment(&slices);
        for (query, sign) in [("layer_name:", "="), ("opcode:", "="), ("track:", ":")] {
            let (field, _) = query.split_once(':').unwrap();
            for Completion { text, slices, .. } in completed(&segment, query).entries {
                let rows = found(&segment, &format!("{field}{sign}{text}")).unwrap();
                // A text without a capital letter also finds those with some.
                prop_assert_eq!(Some(rows.len() as u64), slices, "{} {}", field, text);
            }
        }
    }
}

#[test]
fn fields_and_values_complete_a_word() {
    let segment = segment(&[(0, 5, 0, Some(0), None), (1, 5, 0, Some(1), None), (0, 5, 3, None, Some(512))]);
    assert_eq!(texts(&completed(&segment, "opc")), ["opcode"]);
    assert_eq!(texts(&completed(&segment, "dur>1ns -la")), ["layer", "layer_name"]);
    assert_eq!(texts(&completed(&segment, "opcode:MAT,")), ["MATMUL", "\"ACTIVATE, fused\""]);
    assert_eq!(texts(&completed(&segment, "matm")), ["MATMUL"], "case does not count");
    assert_eq!(texts(&completed(&segment, "layer:mlp")), ["layers/0/mlp", "layers/1/mlp"]);
    assert_eq!(texts(&completed(&segment, "track:tens")), ["Engines/Tensor"]);
    assert_eq!(texts(&completed(&segment, "in:")), ["\"step 1\"", "\"warm up\""]);
    assert_eq!(texts(&completed(&segment, "size:")), [""; 0], "numbers have no values to choose from");
    assert_eq!(texts(&completed(&segment, "nothing:")), [""; 0]);
    let few = completed(&segment, "");
    assert_eq!(few.total, few.entries.len());
    assert!(few.entries.iter().any(|entry| entry.kind == CompletionKind::Field), "{few:?}");
}
