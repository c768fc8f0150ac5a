//! Tests of order, filter and texts.

use nprof_engine::wire::rows::Texts;

use super::*;

fn texts(of: &[&str]) -> ColumnValues {
    let codes = (0..).zip(of).map(|(code, _)| code).collect();
    ColumnValues::Texts(Texts { texts: of.iter().map(|&text| text.to_owned()).collect(), codes })
}

/// Four rows; the third has no size, the last a size of another type.
fn table() -> DataTable {
    let mixed = vec![FieldContent::Int(9), FieldContent::Text("nine".to_owned()), FieldContent::Float(2.5)];
    let third = RowPresence::Some(vec![true, true, false, true]);
    DataTable {
        columns: vec![
            TableColumn::new("name", "Name", "", texts(&["q10", "Q9", "q9, b", "say \"hi\""])),
            TableColumn::new("size", "Size", "B", ColumnValues::Ints(vec![2048, -1, 512])).present(&third, 4),
            TableColumn::new("run_time", "Run time", "ps", ColumnValues::Uints(vec![5_000_000, 10, 0, 10])),
            TableColumn::new("address", "Address", "hex", ColumnValues::Uints(vec![255, 16, 4096, 0])),
            TableColumn::new("any", "Any", "", ColumnValues::Mixed(mixed)).present(&third, 4),
            TableColumn::new("none", "None", "", ColumnValues::Ints(Vec::new()))
                .present(&RowPresence::None, 4),
        ],
        rows: 4,
    }
}

#[track_caller]
fn check_order(name: &str, expected: [u32; 4]) {
    let sorting = Sorting::from_name(name);
    assert_eq!(sorted(&table(), (0..4).collect(), sorting.as_ref()), expected, "{name}");
}

#[test]
fn rows_are_sorted_by_value_and_missing_ones_are_last() {
    check_order("name", [1, 2, 0, 3]);
    check_order("-name", [3, 0, 2, 1]);
    check_order("size", [1, 3, 0, 2]);
    check_order("-size", [0, 3, 1, 2]);
    check_order("run_time", [2, 1, 3, 0]);
    // Equal values keep their order in both directions.
    check_order("-run_time", [0, 1, 3, 2]);
    check_order("any", [3, 0, 1, 2]);
    check_order("-any", [1, 0, 3, 2]);
    check_order("none", [0, 1, 2, 3]);
    check_order("unknown", [0, 1, 2, 3]);
}

#[test]
fn floats_are_sorted_by_value() {
    let values = vec![1.5, f64::NEG_INFINITY, -0.5, f64::NAN, 0.0, 1e300];
    let column = TableColumn::new("x", "X", "", ColumnValues::Floats(values));
    let table = DataTable { columns: vec![column], rows: 6 };
    let sorting = Sorting { column: "x".to_owned(), descending: false };
    assert_eq!(sorted(&table, (0..6).collect(), Some(&sorting)), [1, 2, 4, 0, 5, 3]);
}

#[test]
fn digits_count_by_value_and_case_does_not() {
    use sorting::natural;
    let mut names = ["b", "a10", "A2", "a2", "a02", "", "a1b20", "a1b3"];
    names.sort_by(|a, b| natural(a, b));
    assert_eq!(names, ["", "a1b3", "a1b20", "A2", "a02", "a2", "a10", "b"]);
}

#[test]
fn a_click_sorts_then_reverses_then_ends() {
    let table = table();
    let clicks = |key: &str| {
        let column = table.column(key).unwrap().1;
        let first = Sorting::clicked(None, column);
        let second = Sorting::clicked(first.as_ref(), column);
        let third = Sorting::clicked(second.as_ref(), column);
        [first, second, third].map(|sorting| sorting.map(|sorting| sorting.name()))
    };
    assert_eq!(clicks("size"), [Some("-size".to_owned()), Some("size".to_owned()), None]);
    assert_eq!(clicks("name"), [Some("name".to_owned()), Some("-name".to_owned()), None]);
    let other = Sorting::from_name("-name");
    let size = table.column("size").unwrap().1;
    assert_eq!(Sorting::clicked(other.as_ref(), size).unwrap().name(), "-size");
    assert_eq!(Sorting::from_name("-"), None);
}

#[track_caller]
fn check_filter(text: &str, expected: &[u32]) {
    let table = table();
    let all: Vec<usize> = (0..table.columns.len()).collect();
    assert_eq!(TableFilter::parse(text).rows(&table, &all), expected, "{text}");
}

#[test]
fn every_word_must_match() {
    check_filter("", &[0, 1, 2, 3]);
    check_filter("Q9", &[1, 2]);
    check_filter("q9 b", &[2]);
    check_filter("\"q9, b\"", &[2]);
    check_filter("-q9", &[0, 3]);
    check_filter("2,048", &[0]);
    check_filter("-1", &[1]);
    check_filter("0xff", &[0]);
    check_filter("nine", &[1]);
    check_filter("nothing", &[]);
    check_filter("-", &[0, 1, 2, 3]);
}

#[test]
fn words_with_a_column_look_into_that_column() {
    check_filter("name:q10", &[0]);
    check_filter("size:1", &[1, 3]);
    check_filter("size>0", &[0, 3]);
    check_filter("size>=2KiB", &[0]);
    check_filter("run_time<1us", &[1, 2, 3]);
    check_filter("Run_Time<=10ps", &[1, 2, 3]);
    check_filter("run_time=10", &[1, 3]);
    check_filter("name=Q9", &[1]);
    check_filter("-size>0", &[1, 2]);
    check_filter("any>2", &[0, 3]);
    check_filter("size>0 run_time<1us", &[3]);
    // No column has this name, so the word is a text.
    check_filter("what:ever", &[]);
    check_filter("size>many", &[]);
}

#[test]
fn a_text_looks_only_into_the_shown_columns() {
    let table = table();
    assert_eq!(TableFilter::parse("2048").rows(&table, &[0]), [0_u32; 0]);
    assert_eq!(TableFilter::parse("2048").rows(&table, &[1]), [0]);
}

#[test]
fn mistakes_are_named() {
    let table = table();
    assert_eq!(TableFilter::parse("size>2KiB name:x what>x").mistake(&table), None);
    let mistake = TableFilter::parse("a size>many").mistake(&table).unwrap();
    assert!(mistake.contains("“size>many” needs a number"), "{mistake}");
    assert!(TableFilter::parse(" ").is_empty());
}

#[test]
fn copies_have_exact_values_and_quote_what_needs_it() {
    let table = table();
    assert_eq!(
        as_csv(&table, &[3, 2], &[0, 1, 3]),
        "name,size (B),address (hex)\r\n\"say \"\"hi\"\"\",512,0x0\r\n\"q9, b\",,0x1000\r\n"
    );
    let lines = TableColumn::new("a", "A", "", texts(&["x\ty\nz"]));
    let table = DataTable { columns: vec![lines], rows: 1 };
    assert_eq!(as_tsv(&table, &[0], &[0]), "a\nx y z\n");
    assert_eq!(as_csv(&table, &[0], &[0]), "a\r\n\"x\ty\nz\"\r\n");
}

#[test]
fn values_can_have_a_unit_each() {
    let values = ColumnValues::Mixed(vec![FieldContent::Int(7), FieldContent::Text("x".to_owned())]);
    let column = TableColumn::new("value", "Value", "", values)
        .with_units(vec!["Hz".to_owned(), String::new()])
        .explained("What it is.");
    assert_eq!((column.unit_of(0), column.unit_of(1), column.doc.as_str()), ("Hz", "", "What it is."));
    let table = DataTable { columns: vec![column], rows: 2 };
    assert_eq!(as_csv(&table, &[0, 1], &[0]), "value\r\n7 Hz\r\nx\r\n");
}

#[test]
fn a_million_rows_are_sorted_and_filtered() {
    const ROWS: u32 = 1_000_000;
    let mut seed = 1_u64;
    let mut random = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as i64
    };
    let numbers: Vec<i64> = (0..ROWS).map(|_| random() % 1_000).collect();
    let names: Vec<String> = (0..10_000).map(|number| format!("kernel_{number}")).collect();
    let codes: Vec<u32> = (0..ROWS).map(|_| (random() % 10_000) as u32).collect();
    let table = DataTable {
        columns: vec![
            TableColumn::new("number", "Number", "", ColumnValues::Ints(numbers.clone())),
            TableColumn::new(
                "name",
                "Name",
                "",
                ColumnValues::Texts(Texts { texts: names, codes: codes.clone() }),
            ),
        ],
        rows: ROWS,
    };
    let rows = TableFilter::parse("number>=500").rows(&table, &[0, 1]);
    assert_eq!(rows.len(), numbers.iter().filter(|number| **number >= 500).count());
    let order = sorted(&table, rows, Sorting::from_name("-number").as_ref());
    let key = |row: &u32| (-numbers[*row as usize], *row);
    assert!(order.is_sorted_by_key(key));
    let order = sorted(&table, order, Sorting::from_name("name").as_ref());
    // Rows of equal names keep the order by number.
    assert!(order.is_sorted_by_key(|row| (codes[*row as usize], key(row))));
}
