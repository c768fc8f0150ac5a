//! Rows as text: tab-separated for the clipboard, comma-separated
//! ([RFC 4180](https://www.rfc-editor.org/rfc/rfc4180)) for files.
//!
//! The first line has the keys of the columns, with the unit in brackets. Values are exact and
//! plain, so that other programs read them as numbers.

use super::{CellUnit, DataTable, TableColumn};

/// These rows and columns as CSV. Lines end with CR and LF, as the RFC demands.
#[must_use]
pub fn as_csv(table: &DataTable, rows: &[u32], columns: &[usize]) -> String {
    written(table, rows, columns, ",", "\r\n", |text| {
        if text.contains(['"', ',', '\r', '\n']) {
            format!("\"{}\"", text.replace('"', "\"\""))
        } else {
            text
        }
    })
}

/// These rows and columns with tabs between values. Tabs and line breaks inside of values become
/// spaces, because there is no way to quote them.
#[must_use]
pub fn as_tsv(table: &DataTable, rows: &[u32], columns: &[usize]) -> String {
    written(table, rows, columns, "\t", "\n", |text| text.replace(['\t', '\r', '\n'], " "))
}

fn written(
    table: &DataTable,
    rows: &[u32],
    columns: &[usize],
    separator: &str,
    end: &str,
    quoted: impl Fn(String) -> String,
) -> String {
    let columns: Vec<&TableColumn> = columns.iter().filter_map(|&at| table.columns.get(at)).collect();
    let mut text = String::new();
    let mut line = |values: &mut dyn Iterator<Item = String>| {
        for (at, value) in values.enumerate() {
            text.push_str(if at == 0 { "" } else { separator });
            text.push_str(&quoted(value));
        }
        text.push_str(end);
    };
    line(&mut columns.iter().map(|column| heading(column)));
    for &row in rows {
        line(&mut columns.iter().map(|column| value(column, row)));
    }
    text
}

fn heading(column: &TableColumn) -> String {
    match &column.unit {
        CellUnit::One(unit) if !unit.is_empty() => format!("{} ({unit})", column.key),
        _ => column.key.clone(),
    }
}

fn value(column: &TableColumn, row: u32) -> String {
    let text = column.text(row);
    match &column.unit {
        CellUnit::Each(_) => format!("{text} {}", column.unit_of(row)).trim_end().to_owned(),
        CellUnit::One(_) => text,
    }
}
