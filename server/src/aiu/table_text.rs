//! Tables as text, as pandas writes them: CSV, and columns for people.

use std::io::{self, Write};

/// A cell.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// A number with its shortest digits in CSV.
    Float(f64),
    /// Text as it is.
    Text(String, Align),
}

/// Kind of a column of texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Word,
    /// Whole numbers.
    Number,
}

/// Writes CSV.
///
/// # Errors
/// If the output cannot be written.
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
///
/// # Errors
/// If the output cannot be written.
pub fn aligned<const N: usize>(head: &[&str; N], rows: &[[Cell; N]], out: &mut dyn Write) -> io::Result<()> {
    let columns: Vec<(usize, Vec<String>)> = (0..N)
        .map(|at| {
            let cells: Vec<&Cell> = rows.iter().map(|row| &row[at]).collect();
            let texts = texts(&cells);
            let is_word = matches!(cells.first(), Some(Cell::Text(_, Align::Word)));
            // Room for a sign before numbers.
            let least = head[at].len() + usize::from(!is_word);
            let width = texts.iter().map(String::len).chain([least]).max().unwrap_or(least);
            (width, texts)
        })
        .collect();
    let mut line = |cells: &mut dyn Iterator<Item = &str>| {
        let padded: Vec<String> = cells.zip(&columns).map(|(cell, (width, _))| pad(cell, *width)).collect();
        writeln!(out, "{}", padded.join(" "))
    };
    line(&mut head.iter().copied())?;
    (0..rows.len()).try_for_each(|row| line(&mut columns.iter().map(|(_, texts)| texts[row].as_str())))
}

/// A cell with blanks before it.
fn pad(cell: &str, width: usize) -> String {
    let mut padded = " ".repeat(width.saturating_sub(cell.len()));
    padded.push_str(cell);
    padded
}

/// The cells of a column.
fn texts(cells: &[&Cell]) -> Vec<String> {
    let mut texts: Vec<String> = cells
        .iter()
        .map(|cell| match cell {
            Cell::Float(value) => format!("{value:.6}"),
            Cell::Text(text, _) => text.clone(),
        })
        .collect();
    let is_float = cells.iter().any(|cell| matches!(cell, Cell::Float(_)));
    let can_be_shorter = |texts: &[String]| {
        texts.iter().all(|text| text.ends_with('0') && !text.ends_with(".0") && text.contains('.'))
    };
    while is_float && !texts.is_empty() && can_be_shorter(&texts) {
        for text in &mut texts {
            text.pop();
        }
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<[Cell; 3]> {
        let row = |word: &str, float: f64, number: &str| {
            [
                Cell::Text(word.to_owned(), Align::Word),
                Cell::Float(float),
                Cell::Text(number.to_owned(), Align::Number),
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
