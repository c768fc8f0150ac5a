//! Tables as text, CSV and JSON: one printer for all, stored or made from an analysis.
//!
//! Times are nanoseconds in CSV and JSON, under keys that end with `_ns`. Text has units.

pub mod answer_keys;
pub mod bracket;
pub mod comparison;
pub mod condition_report;
pub mod csv;
pub mod finding;
pub mod fit;
pub mod json;
pub mod metric;
pub mod metric_table;
pub mod number;
pub mod row_limit;
pub mod text;

use std::io::{self, Write};

use clap::ValueEnum;
use nprof_engine::model::side_tables::keep;
use nprof_engine::model::{FieldSpec, OwnedValue, Unit, ValueTable};

use self::csv::CsvLine;
use self::text::Align;

/// Form of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TableFormat {
    /// Aligned columns with units
    Text,
    /// Comma-separated values, times in nanoseconds
    Csv,
    /// JSON, times in nanoseconds
    Json,
}

/// Prints rows one by one. Text is written at the end, when the widths are known.
pub struct Printer<'a> {
    fields: Vec<FieldSpec>,
    keys: Vec<String>,
    form: TableForm,
    out: &'a mut dyn Write,
}

enum TableForm {
    Text {
        lines: Vec<Vec<String>>,
        /// The alignment of each column, once it has a value.
        align: Vec<Option<Align>>,
    },
    Csv(CsvLine),
    Json {
        is_first: bool,
    },
}

impl<'a> Printer<'a> {
    /// Begins a table with these columns.
    pub fn new(format: TableFormat, fields: Vec<FieldSpec>, out: &'a mut dyn Write) -> io::Result<Self> {
        let keys: Vec<String> = fields.iter().map(key).collect();
        let form = match format {
            TableFormat::Text => TableForm::Text {
                lines: vec![fields.iter().map(text::heading).collect()],
                align: vec![None; fields.len()],
            },
            TableFormat::Csv => {
                let mut line = CsvLine::default();
                keys.iter().for_each(|key| line.cell(&csv::text(key)));
                line.end("\n", out)?;
                TableForm::Csv(line)
            }
            TableFormat::Json => {
                out.write_all(b"[")?;
                TableForm::Json { is_first: true }
            }
        };
        Ok(Self { fields, keys, form, out })
    }

    /// Prints a row, which has a value for each column or none.
    pub fn row(&mut self, row: &[Option<OwnedValue>]) -> io::Result<()> {
        let cells = self.fields.iter().zip(row);
        match &mut self.form {
            TableForm::Text { lines, align } => {
                for (align, value) in align.iter_mut().zip(row) {
                    *align = align.or_else(|| value.as_ref().map(text::align));
                }
                lines.push(cells.map(|(field, value)| text::cell(field.unit, value.as_ref())).collect());
                Ok(())
            }
            TableForm::Csv(line) => {
                cells.for_each(|(field, value)| line.cell(&csv::value(field.unit, value.as_ref())));
                line.end("\n", self.out)
            }
            TableForm::Json { is_first } => {
                self.out.write_all(if std::mem::take(is_first) { b"\n" } else { b",\n" })?;
                Ok(serde_json::to_writer(&mut *self.out, &json::object(&self.fields, &self.keys, row))?)
            }
        }
    }

    /// Ends the table.
    pub fn end(self) -> io::Result<()> {
        match self.form {
            TableForm::Text { mut lines, mut align } => {
                // A column without a value in the printed rows says nothing.
                if lines.len() > 1 {
                    let has_value: Vec<bool> = align.iter().map(Option::is_some).collect();
                    lines.iter_mut().for_each(|line| keep(line, &has_value));
                    keep(&mut align, &has_value);
                }
                let align: Vec<Align> = align.into_iter().map(|of| of.unwrap_or(Align::Left)).collect();
                text::table(self.out, &align, &lines)
            }
            TableForm::Csv(_) => Ok(()),
            TableForm::Json { .. } => self.out.write_all(b"\n]\n"),
        }
    }
}

/// Prints a whole table.
pub fn table(format: TableFormat, table: &ValueTable, out: &mut dyn Write) -> io::Result<()> {
    let mut printer = Printer::new(format, table.fields.clone(), out)?;
    table.rows.iter().try_for_each(|row| printer.row(row))?;
    printer.end()
}

/// Prints sentences, each on a line.
pub fn lines(lines: impl IntoIterator<Item = String>, out: &mut dyn Write) -> io::Result<()> {
    lines.into_iter().try_for_each(|line| writeln!(out, "{line}"))
}

/// A column of a view: its heading, and the name of the field that it shows.
pub type ViewColumn = (&'static str, &'static str);

/// Prints these columns of a table as text.
pub fn view(table: &ValueTable, columns: &[ViewColumn], out: &mut dyn Write) -> io::Result<()> {
    let shown = columns.iter().filter_map(|(heading, field)| Some((heading, table.place_of(field)?)));
    let shown: Vec<(&&str, usize)> = shown.collect();
    let field = |(heading, at): &(&&str, usize)| FieldSpec {
        name: (**heading).to_owned(),
        ..table.fields[*at].clone()
    };
    let mut printer = Printer::new(TableFormat::Text, shown.iter().map(field).collect(), out)?;
    for row in &table.rows {
        printer.row(&shown.iter().map(|(_, at)| row[*at].clone()).collect::<Vec<_>>())?;
    }
    printer.end()
}

/// The key of a field: its name, with the unit of times and rates.
fn key(field: &FieldSpec) -> String {
    match field.unit {
        Unit::Picoseconds | Unit::Nanoseconds if !field.name.ends_with("_ns") => format!("{}_ns", field.name),
        Unit::BytesPerSecond => field.name.replacen("rate", "bytes_per_s", 1),
        _ => field.name.clone(),
    }
}

#[cfg(test)]
mod tests {
    use nprof_engine::model::FieldSpec;

    use super::*;

    fn example() -> ValueTable {
        let field = |name: &str, unit| FieldSpec::new(name, unit, "", "");
        ValueTable {
            name: "rank".to_owned(),
            fields: vec![
                field("rank", Unit::None),
                field("wait", Unit::Picoseconds),
                field("share", Unit::Ratio),
                field("why", Unit::None),
                field("ranks", Unit::None),
            ],
            rows: vec![
                vec![
                    Some(OwnedValue::Int(3)),
                    Some(OwnedValue::Int(1_234_500)),
                    Some(OwnedValue::Float(0.125)),
                    Some(OwnedValue::Text("a, b".to_owned())),
                    Some(OwnedValue::Json("[1,2]".to_owned())),
                ],
                vec![Some(OwnedValue::Int(12)), None, None, None, None],
            ],
        }
    }

    #[track_caller]
    fn check(format: TableFormat, expected: &str) {
        let mut out = Vec::new();
        table(format, &example(), &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn a_table_has_three_forms() {
        check(
            TableFormat::Text,
            "RANK     WAIT   SHARE  WHY   RANKS\n   3  1.23 µs  12.5 %  a, b  [1,2]\n  12        -       -  -     -\n",
        );
        check(TableFormat::Csv, "rank,wait_ns,share,why,ranks\n3,1234.5,0.125,\"a, b\",\"[1,2]\"\n12,,,,\n");
        check(
            TableFormat::Json,
            "[\n{\"rank\":3,\"wait_ns\":1234.5,\"share\":0.125,\"why\":\"a, b\",\"ranks\":[1,2]},\n{\"rank\":12}\n]\n",
        );
    }

    #[test]
    fn text_leaves_out_columns_without_a_value() {
        let all = example();
        let table = ValueTable { rows: vec![all.rows[1].clone()], ..all };
        let mut out = Vec::new();
        super::table(TableFormat::Text, &table, &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "RANK\n  12\n");
    }

    #[test]
    fn a_table_without_rows_has_its_columns() {
        let table = ValueTable { rows: Vec::new(), ..example() };
        let print = |format| {
            let mut out = Vec::new();
            super::table(format, &table, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(print(TableFormat::Text), "RANK  WAIT  SHARE  WHY  RANKS\n");
        assert_eq!(print(TableFormat::Csv), "rank,wait_ns,share,why,ranks\n");
        assert_eq!(print(TableFormat::Json), "[\n]\n");
    }
}
