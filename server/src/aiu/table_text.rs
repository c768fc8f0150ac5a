//! Tables as text, as pandas writes them: CSV, and columns for people.

use std::io::{self, Write};

/// A cell.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// A number with its shortest digits in CSV.
    Float(f64),
    /// Text as it is.
    Text(String, ColumnKind),
}

/// Kind of a column of texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    /// Words.
    Word,
    /// Whole numbers.
    Number,
}

/// Writes CSV.
pub fn csv<const N: usize>(head: &[&str; N], rows: &[[Cell; N]], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", head.join(","))?;
    for row in rows {
        let cells = row.each_ref().map(|cell| match cell {
            Cell::Float(value) => format!("{value:?}"),
            Cell::Text(text, _) if text.contains([',', '"', '\n']) => {
                format!("\"{}\"", text.replace('"', "\"\""))
            }
            Cell::Text(text, _) => text.clone(),
        });
        writeln!(out, "{}", cells.join(","))?;
    }
    Ok(())
}

/// Writes columns, aligned at the right. The numbers of a column have the same digits, at most six
/// after the point.
pub fn aligned<const N: usize>(head: &[&str; N], rows: &[[Cell; N]], out: &mut dyn Write) -> io::Result<()> {
    let mut widths = Widths::of(head);
    rows.iter().for_each(|row| widths.take(row));
    widths.head(head, out)?;
    for row in rows {
        writeln!(out)?;
        widths.row(row, out)?;
    }
    writeln!(out)
}

/// Digits after the point of a number before zeros at its end leave.
const DIGITS: usize = 6;

/// Widths of the columns of a table, from all of its rows.
#[derive(Debug)]
pub struct Widths<const N: usize> {
    columns: [ColumnShape; N],
}

/// A column.
#[derive(Debug, Clone, Copy, Default)]
struct ColumnShape {
    /// Most signs of a cell, without a point and the digits after it.
    whole: usize,
    /// Most digits after the point; 0 if no cell has a point.
    digits: usize,
    is_word: bool,
    head: usize,
}

impl<const N: usize> Widths<N> {
    /// Widths of the head alone.
    #[must_use]
    pub fn of(head: &[&str; N]) -> Self {
        Self {
            columns: head.map(|text| ColumnShape { head: text.chars().count(), ..ColumnShape::default() }),
        }
    }

    /// Makes room for a row.
    pub fn take(&mut self, row: &[Cell; N]) {
        for (column, cell) in self.columns.iter_mut().zip(row) {
            match cell {
                Cell::Float(value) => {
                    let text = decimal(*value);
                    let digits =
                        text.trim_end_matches('0').split_once('.').map_or(0, |(_, after)| after.len());
                    column.digits = column.digits.max(digits).max(1);
                    column.whole = column.whole.max(text.len() - DIGITS - 1);
                }
                Cell::Text(text, align) => {
                    column.is_word |= *align == ColumnKind::Word;
                    column.whole = column.whole.max(text.chars().count());
                }
            }
        }
    }

    /// Writes the head, without the end of its line.
    pub fn head(&self, head: &[&str; N], out: &mut dyn Write) -> io::Result<()> {
        self.line(|at| head[at].to_owned(), out)
    }

    /// Writes a row, without the end of its line.
    pub fn row(&self, row: &[Cell; N], out: &mut dyn Write) -> io::Result<()> {
        let text = |at: usize| match &row[at] {
            Cell::Float(value) => {
                let mut text = decimal(*value);
                text.truncate(text.len() - DIGITS + self.columns[at].digits);
                text
            }
            Cell::Text(text, _) => text.clone(),
        };
        self.line(text, out)
    }

    fn line(&self, text: impl Fn(usize) -> String, out: &mut dyn Write) -> io::Result<()> {
        for (at, column) in self.columns.iter().enumerate() {
            let separator = if at == 0 { "" } else { " " };
            let text = text(at);
            let blanks = column.width().saturating_sub(text.chars().count());
            write!(out, "{separator}{}{text}", " ".repeat(blanks))?;
        }
        Ok(())
    }
}

/// A number with all [`DIGITS`]. A value that is no finite number counts as 0.
fn decimal(value: f64) -> String {
    format!("{:.6}", if value.is_finite() { value } else { 0.0 })
}

impl ColumnShape {
    fn width(self) -> usize {
        let cells = self.whole + if self.digits > 0 { self.digits + 1 } else { 0 };
        // Room for a sign before numbers.
        cells.max(self.head + usize::from(!self.is_word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<[Cell; 3]> {
        let row = |word: &str, float: f64, number: &str| {
            [
                Cell::Text(word.to_owned(), ColumnKind::Word),
                Cell::Float(float),
                Cell::Text(number.to_owned(), ColumnKind::Number),
            ]
        };
        vec![row("a,b", 0.0, "7"), row("other", 1728.72, "1382976")]
    }

    fn text(write: impl Fn(&mut Vec<u8>) -> io::Result<()>) -> String {
        let mut out = Vec::new();
        write(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn tables_are_those_of_pandas() {
        let head = ["Name", "Time", "Cycles"];
        assert_eq!(
            text(|out| csv(&head, &rows(), out)),
            "Name,Time,Cycles\n\"a,b\",0.0,7\nother,1728.72,1382976\n"
        );
        assert_eq!(
            text(|out| aligned(&head, &rows(), out)),
            " Name    Time  Cycles\n  a,b    0.00       7\nother 1728.72 1382976\n"
        );
        assert_eq!(text(|out| aligned(&head, &[], out)), " Name  Time  Cycles\n");
    }
}
