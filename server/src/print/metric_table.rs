//! Tables of metrics, and families without values, as text and JSON.

use nprof_engine::wire::detail::FieldContent;
use nprof_engine::wire::summary::{AbsentReason, MetricRowEntry, MetricTableEntry, Summary};
use serde_json::{Map, Value, json};
use unicode_width::UnicodeWidthStr as _;

use super::fit::{cut, fitted};
use super::json::content;
use super::metric::shown;
use super::text::{LINE_WIDTH, wrapped};

/// Rows of a table for people. JSON has all.
const MOST_ROWS: usize = 20;
/// Columns of a line that names of rows have at least. Values that leave less are in JSON only.
const NAME_WIDTH: usize = 30;

/// The tables of a rank, each under its heading: numbers in columns, and the names of the rows
/// behind them, cut where they differ. Columns without a value are left out.
#[must_use]
pub fn tables(summary: &Summary) -> Vec<String> {
    summary.tables.iter().flat_map(table).collect()
}

fn table(table: &MetricTableEntry) -> Vec<String> {
    let rows = &table.rows[..table.rows.len().min(MOST_ROWS)];
    let cell = |row: &MetricRowEntry, at: usize| {
        let unit = &table.columns[at].unit;
        row.values[at].as_ref().map_or_else(|| "-".to_owned(), |value| shown(value, unit))
    };
    // A column is its heading and its cells.
    let column = |at: usize| {
        let heading = table.columns[at].name.replace('_', " ");
        [heading].into_iter().chain(rows.iter().map(|row| cell(row, at))).collect::<Vec<String>>()
    };
    let has_value = |at: &usize| table.rows.iter().any(|row| row.values[*at].is_some());
    let columns: Vec<usize> = (0..table.columns.len()).filter(has_value).collect();
    let mut cells: Vec<Vec<String>> = columns.iter().map(|at| column(*at)).collect();
    let mut widths: Vec<usize> =
        cells.iter().map(|column| column.iter().map(|cell| cell.width()).max().unwrap_or(0)).collect();
    let ends = widths.iter().scan(0, |end, width| {
        *end += width + 2;
        Some(*end)
    });
    let fitting = ends.take_while(|end| end + 2 + NAME_WIDTH <= LINE_WIDTH).count();
    cells.truncate(fitting);
    widths.truncate(fitting);
    let left = LINE_WIDTH.saturating_sub(widths.iter().map(|width| width + 2).sum::<usize>() + 2);
    let names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
    let names = [table.row.clone()].into_iter().chain(fitted(&names, left));
    let is_text = |at: usize| {
        matches!(rows.first().map(|row| &row.values[columns[at]]), Some(Some(FieldContent::Text(_))))
    };
    let line = |(row, name): (usize, String)| {
        let cell = |(at, column): (usize, &Vec<String>)| {
            let text = &column[row];
            let gap = " ".repeat(widths[at] - text.width());
            if is_text(at) { format!("  {text}{gap}") } else { format!("  {gap}{text}") }
        };
        cells.iter().enumerate().map(cell).chain([format!("  {name}")]).collect::<String>()
    };
    let mut lines = vec![String::new(), cut(&table.title, LINE_WIDTH)];
    lines.extend(names.enumerate().map(line));
    let parts = [(table.rows.len() - rows.len(), "more row"), (columns.len() - fitting, "more column")];
    let more: Vec<String> = parts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}{}", if count == 1 { "" } else { "s" }))
        .collect();
    lines.extend((!more.is_empty()).then(|| format!("  {}; JSON has all", more.join(", "))));
    lines
}

/// A line for each reason why families have no values.
#[must_use]
pub fn absent(summary: &Summary) -> Vec<String> {
    let lines = summary.absent_by_reason().into_iter().map(|AbsentReason { reason, titles }| {
        wrapped(&format!("{}: {reason}", titles.join(", ")), "  ", "    ")
    });
    let mut lines: Vec<String> = lines.flatten().collect();
    if !lines.is_empty() {
        lines.splice(0..0, [String::new(), "Not there".to_owned()]);
    }
    lines
}

/// Tables and absent families as keys beside the metrics of a rank: `{"tables": {key: [{"name",
/// column: value}]}, "absent": [{"key", "title", "reason"}]}`. Without tables and absent families
/// there are no keys.
#[must_use]
pub fn keys(summary: &Summary) -> Map<String, Value> {
    let mut keys = Map::new();
    let row = |table: &MetricTableEntry, row: &MetricRowEntry| {
        let mut object = Map::from_iter([("name".to_owned(), json!(row.name))]);
        let values = table.columns.iter().zip(&row.values);
        object.extend(
            values.map(|(column, value)| (column.name.clone(), value.as_ref().map_or(Value::Null, content))),
        );
        Value::Object(object)
    };
    if !summary.tables.is_empty() {
        let tables = summary
            .tables
            .iter()
            .map(|table| (table.key.clone(), table.rows.iter().map(|of| row(table, of)).collect::<Value>()));
        keys.insert("tables".to_owned(), Value::Object(tables.collect()));
    }
    if !summary.absent.is_empty() {
        keys.insert("absent".to_owned(), json!(summary.absent));
    }
    keys
}

#[cfg(test)]
mod tests {
    use nprof_engine::wire::summary::{AbsentMetricsEntry, MetricColumnEntry};

    use super::*;

    fn summary() -> Summary {
        let column = |name: &str, unit: &str| MetricColumnEntry {
            name: name.to_owned(),
            unit: unit.to_owned(),
            doc: String::new(),
        };
        let row = |name: &str, kind: &str, sum: Option<f64>| MetricRowEntry {
            name: name.to_owned(),
            values: vec![Some(FieldContent::Text(kind.to_owned())), sum.map(FieldContent::Float)],
        };
        let absent = |title: &str| AbsentMetricsEntry {
            key: title.to_lowercase(),
            title: title.to_owned(),
            reason: "no kernels were recorded".to_owned(),
        };
        Summary {
            rank: 0.into(),
            groups: Vec::new(),
            tables: vec![MetricTableEntry {
                key: "kernels_by_name".to_owned(),
                title: "Kernels by name".to_owned(),
                row: "kernel".to_owned(),
                columns: vec![column("kind", ""), column("sum_of_time", "s")],
                rows: vec![row("gemm", "compute", Some(0.25)), row("nccl", "communication", None)],
            }],
            absent: vec![absent("Launches"), absent("Queue length")],
        }
    }

    #[test]
    fn columns_are_aligned_and_reasons_are_told_once() {
        let expected = "
Kernels by name
  kind           sum of time  kernel
  compute             250 ms  gemm
  communication            -  nccl";
        assert_eq!(tables(&summary()).join("\n"), expected);
        let mut wide = summary();
        let of = &mut wide.tables[0];
        for at in 0..12 {
            of.columns.push(of.columns[1].clone());
            // The third one has no value, so it is none of those that do not fit.
            of.rows.iter_mut().for_each(|row| row.values.push((at != 2).then_some(FieldContent::Float(0.5))));
        }
        let text = tables(&wide);
        assert_eq!(text.last().unwrap(), "  8 more columns; JSON has all", "{text:?}");
        assert!(text.iter().all(|line| line.width() <= LINE_WIDTH), "{text:?}");
        assert_eq!(
            absent(&summary()),
            ["", "Not there", "  Launches, Queue length: no kernels were recorded"]
        );
    }

    #[test]
    fn rows_are_objects_by_column() {
        let keys = Value::Object(keys(&summary()));
        let rows = &keys["tables"]["kernels_by_name"];
        assert_eq!(rows[0], json!({"name": "gemm", "kind": "compute", "sum_of_time": 0.25}));
        assert_eq!(rows[1]["sum_of_time"], Value::Null);
        assert_eq!(keys["absent"][1]["title"], "Queue length");
        assert!(super::keys(&Summary { tables: Vec::new(), absent: Vec::new(), ..summary() }).is_empty());
    }
}
