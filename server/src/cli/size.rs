//! Numbers and tables for people.

use std::io::Write;

use indicatif::{DecimalBytes, HumanCount};

/// Bytes in decimal units, as file managers show them.
pub(super) fn bytes(count: u64) -> String {
    DecimalBytes(count).to_string()
}

/// A count with commas.
pub(super) fn count(count: u64) -> String {
    HumanCount(count).to_string()
}

/// A count with its noun, which takes an s where there are several or none.
pub(super) fn counted(count: u64, noun: &str) -> String {
    format!("{} {noun}{}", self::count(count), if count == 1 { "" } else { "s" })
}

/// How a column is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Align {
    /// Text.
    Left,
    /// Numbers.
    Right,
}

/// Writes rows in columns as wide as their widest cell; the first row is the heading.
pub(super) fn table(out: &mut dyn Write, align: &[Align], rows: &[Vec<String>]) -> std::io::Result<()> {
    let width_of =
        |at: usize| rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..align.len()).map(|at| width_of(at).unwrap_or(0)).collect();
    for row in rows {
        let mut line = String::new();
        for ((cell, align), &width) in row.iter().zip(align).zip(&widths) {
            if !line.is_empty() {
                line.push_str("  ");
            }
            line.push_str(&match align {
                Align::Left => format!("{cell:<width$}"),
                Align::Right => format!("{cell:>width$}"),
            });
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_agree_with_their_nouns() {
        let counts = [0, 1, 2_000].map(|count| counted(count, "event"));
        assert_eq!(counts, ["0 events", "1 event", "2,000 events"]);
    }

    #[test]
    fn columns_are_as_wide_as_their_cells() {
        let rows = [["name", "events"], ["größe", "1,000"]].map(|row| row.map(str::to_owned).to_vec());
        let mut out = Vec::new();
        table(&mut out, &[Align::Left, Align::Right], &rows).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "name   events\ngröße   1,000\n");
    }
}
