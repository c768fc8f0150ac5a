//! Tables as aligned text, with units.

use std::borrow::Cow;
use std::io::Write;

use indicatif::HumanCount;
use nprof_engine::base::time::{short_duration, three_digits};
use nprof_engine::model::{FieldSpec, OwnedValue, Unit};
use unicode_width::UnicodeWidthStr as _;

use crate::terminal::{cell as shown, visible};

/// The heading of a field.
pub(super) fn heading(field: &FieldSpec) -> String {
    field.name.to_uppercase().replace('_', " ")
}

/// Numbers are on the right.
pub(super) fn align(value: &OwnedValue) -> Align {
    match value {
        OwnedValue::Int(_) | OwnedValue::Uint(_) | OwnedValue::Float(_) => Align::Right,
        OwnedValue::Bool(_) | OwnedValue::Text(_) | OwnedValue::Json(_) => Align::Left,
    }
}

/// A value for people.
pub(super) fn cell(unit: Unit, value: Option<&OwnedValue>) -> String {
    let Some(value) = value else { return "-".to_owned() };
    let number = match value {
        OwnedValue::Int(number) => *number as f64,
        OwnedValue::Uint(number) => *number as f64,
        OwnedValue::Float(number) => *number,
        OwnedValue::Bool(truth) => return if *truth { "yes" } else { "no" }.to_owned(),
        OwnedValue::Text(text) | OwnedValue::Json(text) => return text.clone(),
    };
    match unit {
        Unit::Picoseconds => short_duration(number),
        Unit::Nanoseconds => short_duration(number * 1e3),
        Unit::Seconds => short_duration(number * 1e12),
        Unit::Ratio => share(number, 1.0),
        Unit::BytesPerSecond => rate(number),
        Unit::Hexadecimal => match value {
            OwnedValue::Int(number) => format!("{number:#x}"),
            OwnedValue::Uint(number) => format!("{number:#x}"),
            _ => number.to_string(),
        },
        Unit::Count | Unit::Bytes | Unit::Cycles | Unit::Flops if number >= 0.0 && number.fract() == 0.0 => {
            HumanCount(number as u64).to_string()
        }
        Unit::None | Unit::Count | Unit::Bytes | Unit::Cycles | Unit::Flops => number.to_string(),
        Unit::Hertz | Unit::Watts | Unit::FlopsPerSecond => {
            format!("{} {}", three_digits(number), unit.symbol())
        }
    }
}

/// A ratio in percent, or a dash.
pub(crate) fn ratio(ratio: Option<f64>) -> String {
    ratio.map_or_else(|| "-".to_owned(), |part| share(part, 1.0))
}

/// A share in percent.
pub(crate) fn share(part: f64, whole: f64) -> String {
    if whole > 0.0 { format!("{:.1} %", part / whole * 100.0) } else { "-".to_owned() }
}

/// Bytes a second, with three digits.
fn rate(bytes_per_s: f64) -> String {
    const UNITS: [(f64, &str); 3] = [(1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s")];
    // Common speeds have one unit, so that rows can be compared.
    let found = UNITS.iter().find(|(unit, _)| bytes_per_s >= 0.1 * unit);
    let (unit, symbol) = found.copied().unwrap_or((1.0, "B/s"));
    format!("{} {symbol}", three_digits(bytes_per_s / unit))
}

/// Alignment of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    /// Text, on the left.
    Left,
    /// Numbers, on the right.
    Right,
}

/// Width of a line of prose.
pub(crate) const LINE_WIDTH: usize = 100;

/// A text in lines of at most [`LINE_WIDTH`] columns, the first of which begins with `first`.
/// Characters that a terminal would act on are shown as escapes.
pub(crate) fn wrapped(text: &str, first: &str, rest: &str) -> Vec<String> {
    let text = visible(text);
    let options = textwrap::Options::new(LINE_WIDTH).initial_indent(first).subsequent_indent(rest);
    textwrap::wrap(&text, options).into_iter().map(Cow::into_owned).collect()
}

/// Longest cell that is shown in full.
pub(crate) const MAX_CELL_CHARS: usize = 200;

/// Writes rows in columns as wide as their widest cell. The first row is the heading. Long cells
/// are cut. Characters that a terminal would act on are shown as escapes.
pub(crate) fn table(out: &mut dyn Write, align: &[Align], rows: &[Vec<String>]) -> std::io::Result<()> {
    let cells: Vec<Vec<String>> =
        rows.iter().map(|row| row.iter().map(|text| shown(text, MAX_CELL_CHARS)).collect()).collect();
    // Signs of some scripts are two columns wide.
    let width = |cell: &String| cell.width();
    let width_of = |at: usize| cells.iter().filter_map(|row| row.get(at)).map(width).max();
    let widths: Vec<usize> = (0..align.len()).map(|at| width_of(at).unwrap_or(0)).collect();
    for row in &cells {
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
    fn cells_have_three_digits_and_units() {
        assert_eq!((share(1.0, 8.0).as_str(), share(1.0, 0.0).as_str()), ("12.5 %", "-"));
        let rates = [12.34e9, 0.4e9, 2.5e6, 99.0].map(rate);
        assert_eq!(rates, ["12.3 GB/s", "0.40 GB/s", "2.50 MB/s", "99.0 B/s"]);
    }

    #[test]
    fn values_are_shown_by_their_units() {
        let int = |unit, value| cell(unit, Some(&OwnedValue::Int(value)));
        assert_eq!(int(Unit::Picoseconds, 1_500_000), "1.50 µs");
        assert_eq!(int(Unit::Nanoseconds, 1_500), "1.50 µs");
        assert_eq!(int(Unit::Bytes, 4_194_304), "4,194,304");
        assert_eq!(int(Unit::Hexadecimal, 255), "0xff");
        assert_eq!((int(Unit::None, -7), int(Unit::Count, -7)), ("-7".to_owned(), "-7".to_owned()));
        assert_eq!(cell(Unit::Ratio, Some(&OwnedValue::Float(0.5))), "50.0 %");
        assert_eq!(cell(Unit::None, Some(&OwnedValue::Bool(true))), "yes");
        assert_eq!(cell(Unit::Count, None), "-");
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
