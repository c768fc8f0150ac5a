//! The difference of two runs as a table.

use nprof_engine::base::narrow;
use nprof_engine::wire::comparison::{ComparedEntry, ComparedKind, ComparedRuns};
use nprof_engine::wire::rows::{ColumnValues, RowPresence};

use super::duration_shapes::in_words;
use super::table::{DataTable, TableColumn, texts};

/// Key of the column of differences.
pub const DIFFERENCE: &str = "difference";
/// Key of the column of durations.
pub const DURATIONS: &str = "durations";
/// Width of the picture of durations in characters.
const PICTURE_CH: usize = 14;
/// Key of the column of names.
pub const NAME: &str = "name";

/// The rows of a comparison.
#[must_use]
pub fn comparison_table(of: &ComparedRuns) -> DataTable {
    let rows = narrow(of.rows.len());
    let ints = |key: &str, title: &str, unit: &str, doc: &str, value: &dyn Fn(&ComparedEntry) -> i64| {
        let values = ColumnValues::Ints(of.rows.iter().map(value).collect());
        TableColumn::new(key, title, unit, values).explained(doc)
    };
    let bound = |key: &str, title: &str, doc: &str, value: &dyn Fn(&ComparedEntry) -> Option<i64>| {
        let known: Vec<Option<i64>> = of.rows.iter().map(value).collect();
        let mask = known.iter().map(Option::is_some).collect();
        let values = ColumnValues::Ints(known.into_iter().flatten().collect());
        let column = TableColumn::new(key, title, "ps", values).explained(doc);
        column.present(&RowPresence::Some(mask), rows)
    };
    let is_work = |row: &ComparedEntry| matches!(row.kind, ComparedKind::Work | ComparedKind::OtherWork);
    let count = |key: &str, title: &str, doc: &str, value: &dyn Fn(&ComparedEntry) -> u64| {
        let known = of.rows.iter().filter(|row| is_work(row));
        let values =
            ColumnValues::Ints(known.map(|row| i64::try_from(value(row)).unwrap_or(i64::MAX)).collect());
        let column = TableColumn::new(key, title, "", values).explained(doc);
        column.present(&RowPresence::Some(of.rows.iter().map(is_work).collect()), rows)
    };
    let shares: Vec<f64> = of.rows.iter().filter_map(|row| of.share(row)).collect();
    let share = |shares: Vec<f64>| {
        let column = TableColumn::new("share", "Of all", "ratio", ColumnValues::Floats(shares));
        column.explained("Part of the difference of the total. All parts sum up to it.")
    };
    let mut columns = vec![
        ints(DIFFERENCE, "Difference", "ps", "Time in the second run less that in the first one.", &|row| {
            row.difference_ps()
        }),
        TableColumn::new(NAME, "Name", "", texts(of.rows.iter().map(name_of).collect())),
    ];
    if !shares.is_empty() {
        columns.push(share(shares).giving_way(0));
    }
    if of.rows.iter().any(|row| row.low.is_some()) {
        let doc = "The least difference that chance allows, corrected for the number of rows.";
        columns.push(bound("low", "Between", doc, &|row| row.low).giving_way(2));
        let doc = "The largest difference that chance allows, corrected for the number of rows.";
        columns.push(bound("high", "And", doc, &|row| row.high).giving_way(2));
    }
    if of.rows.iter().any(|row| row.durations.is_some()) {
        columns.push(durations(of, rows).giving_way(3));
    }
    columns.extend([
        ints("a", "A", "ps", "Time in the first run.", &|row| row.a_ps),
        ints("b", "B", "ps", "Time in the second run.", &|row| row.b_ps),
        count("a_count", "Count A", "Slices in the first run.", &|row| row.a_count).giving_way(1),
        count("b_count", "Count B", "Slices in the second run.", &|row| row.b_count).giving_way(1),
    ]);
    DataTable { columns, rows }
}

/// The durations as pictures, in words for exports.
fn durations(of: &ComparedRuns, rows: u32) -> TableColumn {
    let words: Vec<Option<String>> = of.rows.iter().map(|row| row.durations.as_ref().map(in_words)).collect();
    let mask = words.iter().map(Option::is_some).collect();
    let values = texts(words.into_iter().flatten().collect());
    TableColumn::new(DURATIONS, "Durations", "", values)
        .explained("Durations of the slices, from short to long: A in gray, B over it.")
        .present(&RowPresence::Some(mask), rows)
        .pictured(PICTURE_CH)
}

/// The name of a row, with a note if only one run has the work.
fn name_of(row: &ComparedEntry) -> String {
    let note = match row.kind {
        ComparedKind::Work if row.a_count == 0 => "new: ",
        ComparedKind::Work if row.b_count == 0 => "gone: ",
        _ => "",
    };
    format!("{note}{}", row.title())
}
