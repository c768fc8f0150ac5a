//! Rows of an answer as a table of the page. Pure.

use std::collections::HashMap;

use nprof_engine::base::narrow;
use nprof_engine::wire::detail::FieldContent;
use nprof_engine::wire::rows::{ColumnValues, RowColumn, RowColumnRole, TableRows, Texts};

use crate::ui::text::label::known_label;
use crate::view::rows::sheet::TITLE_SEPARATOR;
use crate::view::table::{DataTable, TableColumn, texts};

/// A table of the page, made from an answer.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Content {
    /// The table.
    pub table: DataTable,
    /// Number of each row in the rank, for slices and samples.
    pub numbers: Vec<u32>,
    /// Number of rows that match the question.
    pub total: u64,
}

/// The rows as they came, with times since `zero_ps` and with these titles of tracks. A single row
/// without a time is shown as a list of its fields.
#[must_use]
pub fn content(answer: TableRows, zero_ps: i64, titles: &[String]) -> Content {
    let has_times = answer.columns.iter().any(|column| column.role == RowColumnRole::Start);
    let (rows, total) = (answer.rows, answer.total);
    if rows == 1 && total == 1 && !has_times {
        return Content { table: record(&answer.columns), numbers: Vec::new(), total };
    }
    let mut numbers = Vec::new();
    let mut columns: Vec<TableColumn> = Vec::new();
    for column in answer.columns {
        match (column.role, column.values) {
            (RowColumnRole::Row, ColumnValues::Ints(values)) => {
                numbers = values.into_iter().filter_map(|row| u32::try_from(row).ok()).collect();
            }
            (role, values) => {
                let values = match (role, values) {
                    (RowColumnRole::Track, ColumnValues::Texts(texts)) => with_titles(texts, titles),
                    (_, values) => since(zero_ps, role, values),
                };
                let column = RowColumn { values, ..column };
                let is_taken = columns.iter().any(|known| known.key == column.name);
                let key = if is_taken { format!("{}_field", column.name) } else { column.name.clone() };
                columns.push(shown_column(&key, column, rows));
            }
        }
    }
    Content { table: DataTable { columns, rows }, numbers, total }
}

fn since(zero_ps: i64, role: RowColumnRole, values: ColumnValues) -> ColumnValues {
    match (role, values) {
        (RowColumnRole::Start, ColumnValues::Ints(times)) => {
            ColumnValues::Ints(times.into_iter().map(|time| time.saturating_sub(zero_ps)).collect())
        }
        (_, values) => values,
    }
}

/// Names of tracks after those of their groups, as the rest of the page writes them.
fn with_titles(texts: Texts, titles: &[String]) -> ColumnValues {
    let known: HashMap<String, &String> =
        titles.iter().map(|title| (title.replace(TITLE_SEPARATOR, "/"), title)).collect();
    let shown = |path: String| known.get(&path).map_or(path, |title| (*title).clone());
    ColumnValues::Texts(Texts { texts: texts.texts.into_iter().map(shown).collect(), ..texts })
}

/// Whole numbers that a trace has as texts, if the field's unit says that they are numbers.
fn numbers(unit: &str, values: ColumnValues) -> ColumnValues {
    let number = |text: &String| text.parse::<i64>().ok();
    match values {
        ColumnValues::Texts(Texts { texts, codes }) if !unit.is_empty() => {
            let parsed: Option<Vec<i64>> = texts.iter().map(number).collect();
            let of_row = |parsed: Vec<i64>| {
                codes.iter().map(|code| parsed.get(*code as usize).copied()).collect::<Option<Vec<i64>>>()
            };
            match parsed.and_then(of_row) {
                Some(numbers) => ColumnValues::Ints(numbers),
                None => ColumnValues::Texts(Texts { texts, codes }),
            }
        }
        values => values,
    }
}

fn shown_column(key: &str, column: RowColumn, rows: u32) -> TableColumn {
    let title = match column.role {
        RowColumnRole::Row => "Row".to_owned(),
        RowColumnRole::Start => "Start".to_owned(),
        RowColumnRole::Duration => "Duration".to_owned(),
        RowColumnRole::Track => "Track".to_owned(),
        RowColumnRole::Name => "Name".to_owned(),
        RowColumnRole::Value => "Value".to_owned(),
        RowColumnRole::Field => {
            known_label("", &column.name, &column.doc).unwrap_or_else(|| column.name.clone())
        }
    };
    let shown = TableColumn::new(key, &title, &column.unit, numbers(&column.unit, column.values))
        .explained(&column.doc)
        .present(&column.present, rows);
    if column.role == RowColumnRole::Start { shown.exact() } else { shown }
}

/// The fields of a single row, one below the other. Fields without a value are left out.
fn record(columns: &[RowColumn]) -> DataTable {
    let (mut titles, mut values, mut units) = (Vec::new(), Vec::new(), Vec::new());
    let (mut names, mut docs) = (Vec::new(), Vec::new());
    for column in columns {
        let shown = shown_column(&column.name, column.clone(), 1);
        let Some(value) = shown.cell(0) else { continue };
        if matches!(&value, FieldContent::Text(text) | FieldContent::Json(text) if text.trim().is_empty()) {
            continue;
        }
        titles.push(shown.title);
        values.push(value);
        units.push(column.unit.clone());
        names.push(column.name.clone());
        docs.push(column.doc.clone());
    }
    let rows = narrow(titles.len());
    let has_docs = docs.iter().any(|doc| !doc.is_empty());
    let mut table = vec![
        TableColumn::new("field", "Field", "", texts(titles)),
        TableColumn::new("value", "Value", "", ColumnValues::Mixed(values)).with_units(units),
    ];
    if has_docs {
        table.push(TableColumn::new("about", "About", "", texts(docs)));
    }
    table.push(TableColumn::new("name", "Exported name", "", texts(names)));
    DataTable { columns: table, rows }
}

#[cfg(test)]
mod tests {
    use nprof_engine::wire::rows::RowPresence;

    use super::*;

    fn column(role: RowColumnRole, name: &str, doc: &str, values: ColumnValues) -> RowColumn {
        RowColumn {
            role,
            name: name.to_owned(),
            unit: String::new(),
            doc: doc.to_owned(),
            present: RowPresence::All,
            values,
        }
    }

    fn rows(rows: u32, total: u64, columns: Vec<RowColumn>) -> TableRows {
        TableRows { table: "t".to_owned(), rows, total, truncated: false, columns }
    }

    #[test]
    fn events_count_from_zero_and_keep_their_numbers() {
        let answer = rows(
            1,
            1,
            vec![
                column(RowColumnRole::Row, "row", "", ColumnValues::Ints(vec![7])),
                column(RowColumnRole::Start, "start", "", ColumnValues::Ints(vec![150])),
                column(RowColumnRole::Field, "start", "", ColumnValues::Ints(vec![3])),
                column(RowColumnRole::Field, "evt_wait_time", "Waits.", ColumnValues::Ints(vec![4])),
            ],
        );
        let Content { table, numbers, total } = content(answer, 100, &[]);
        assert_eq!((numbers, total), (vec![7], 1));
        let columns: Vec<(&str, &str, String)> =
            table.columns.iter().map(|c| (c.key.as_str(), c.title.as_str(), c.text(0))).collect();
        let expected = [
            ("start", "Start", "50".to_owned()),
            ("start_field", "start", "3".to_owned()),
            ("evt_wait_time", "Event wait time", "4".to_owned()),
        ];
        assert_eq!(columns, expected);
    }

    #[test]
    fn a_single_row_is_a_list_of_its_fields() {
        let field = RowColumnRole::Field;
        let absent = RowColumn {
            present: RowPresence::None,
            ..column(field, "none", "", ColumnValues::Ints(Vec::new()))
        };
        let clock = RowColumn {
            unit: "Hz".to_owned(),
            ..column(field, "clock", "Ticks.", ColumnValues::Ints(vec![1_400]))
        };
        let clock = RowColumn { values: texts(vec!["1400".to_owned()]), ..clock };
        let empty = column(field, "empty", "", texts(vec![" ".to_owned()]));
        let table = content(rows(1, 1, vec![absent, clock, empty]), 0, &[]).table;
        assert_eq!(table.rows, 1);
        let line: Vec<String> = table.columns.iter().map(|column| column.text(0)).collect();
        assert_eq!(line, ["Clock", "1400", "Ticks.", "clock"]);
        assert_eq!(table.columns[1].unit_of(0), "Hz");
        assert_eq!(table.columns[1].cell(0), Some(FieldContent::Int(1_400)));
    }
}
