//! Numbers and tables in a readable form.

use std::io::Write;

use indicatif::{BinaryBytes, HumanCount};
use unicode_width::UnicodeWidthStr as _;

use crate::terminal::cell;

/// Bytes in steps of 1024, as on the page.
pub(super) fn bytes(count: u64) -> String {
    BinaryBytes(count).to_string()
}

/// A count with commas.
pub(super) fn count(count: u64) -> String {
    HumanCount(count).to_string()
}

/// A count with its noun, in the plural unless the count is 1.
pub(super) fn counted(count: u64, noun: &str) -> String {
    format!("{} {noun}{}", self::count(count), if count == 1 { "" } else { "s" })
}

/// Alignment of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Align {
    /// Text, on the left.
    Left,
    /// Numbers, on the right.
    Right,
}

/// Longest cell that is shown in full.
pub(super) const MAX_CELL_CHARS: usize = 200;

/// Writes rows in columns as wide as their widest cell. The first row is the heading. Long cells
/// are cut. Characters that a terminal would act on are shown as escapes.
pub(super) fn table(out: &mut dyn Write, align: &[Align], rows: &[Vec<String>]) -> std::io::Result<()> {
    let shown: Vec<Vec<String>> =
        rows.iter().map(|row| row.iter().map(|text| cell(text, MAX_CELL_CHARS)).collect()).collect();
    // Signs of some scripts are two columns wide.
    let width = |cell: &String| cell.width();
    let width_of = |at: usize| shown.iter().filter_map(|row| row.get(at)).map(width).max();
    let widths: Vec<usize> = (0..align.len()).map(|at| width_of(at).unwrap_or(0)).collect();
    for row in &shown {
        let mut line = String::new();
        for (at, ((cell, align), &widest)) in row.iter().zip(align).zip(&widths).enumerate() {
            if at > 0 {
                line.push_str("  ");
            }
            let gap = " ".repeat(widest.saturating_sub(width(cell)));
            match align {
                Align::Left => line.extend([cell, gap.as_str()]),
                Align::Right => line.extend([gap.as_str(), cell]),
            }
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_steps_of_1024() {
        let sizes = [512, 1_536, 3 << 20].map(bytes);
        assert_eq!(sizes, ["512 B", "1.50 KiB", "3.00 MiB"]);
    }

    #[test]
    fn counts_agree_with_their_nouns() {
        let counts = [0, 1, 2_000].map(|count| counted(count, "event"));
        assert_eq!(counts, ["0 events", "1 event", "2,000 events"]);
    }

    #[test]
    fn columns_are_as_wide_as_their_cells() {
        let rows = [["name", "events"], ["größe", "1,000"], ["日本", "1"]];
        let rows = rows.map(|row| row.map(str::to_owned).to_vec());
        let mut out = Vec::new();
        table(&mut out, &[Align::Left, Align::Right], &rows).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "name   events\ngröße   1,000\n日本        1\n");
    }

    #[test]
    fn cells_of_others_neither_act_on_the_terminal_nor_grow_without_end() {
        let rows =
            [vec!["\u{1b}[31mred\n".to_owned(), "1".to_owned()], vec!["x".repeat(70_000), "2".to_owned()]];
        let mut out = Vec::new();
        table(&mut out, &[Align::Left, Align::Right], &rows).unwrap();
        let text = String::from_utf8(out).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("\\u{1b}[31mred\\n  ") && lines.len() == 2, "{text}");
        assert_eq!(lines[1].chars().count(), MAX_CELL_CHARS + "…  2".chars().count());
    }
}
