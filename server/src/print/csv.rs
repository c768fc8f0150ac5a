//! Cells and lines of CSV as RFC 4180 describes them. A cell without a value is empty, and an empty
//! text is `""`.

use std::io::{self, Write};

use nprof_engine::base::time::PS_PER_NS;
use nprof_engine::model::{OwnedValue, Unit};

use super::number::{Precision, float};

/// A line that is being made.
#[derive(Debug, Default)]
pub(crate) struct CsvLine {
    text: String,
    has_cells: bool,
}

impl CsvLine {
    /// Adds a cell. It must already be quoted if it needs quotes.
    pub fn cell(&mut self, cell: &str) {
        if self.has_cells {
            self.text.push(',');
        }
        self.has_cells = true;
        self.text.push_str(cell);
    }

    /// Writes the line with this end, and begins the next one.
    pub fn end(&mut self, end: &str, out: &mut dyn Write) -> io::Result<()> {
        self.text.push_str(end);
        out.write_all(self.text.as_bytes())?;
        self.text.clear();
        self.has_cells = false;
        Ok(())
    }
}

/// A text as a cell, in quotes if a reader would otherwise split or lose it.
pub(crate) fn text(text: &str) -> String {
    if text.is_empty() || text.contains([',', '"', '\r', '\n']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// Picoseconds as nanoseconds with all their digits.
pub(crate) fn nanoseconds(ps: i64) -> String {
    let sign = if ps < 0 { "-" } else { "" };
    let (ns, rest) =
        (ps.unsigned_abs() / PS_PER_NS.unsigned_abs(), ps.unsigned_abs() % PS_PER_NS.unsigned_abs());
    if rest == 0 {
        return format!("{sign}{ns}");
    }
    let digits = format!("{rest:03}");
    format!("{sign}{ns}.{}", digits.trim_end_matches('0'))
}

/// A float with all its digits; `NaN`, `inf` and `-inf` as words.
pub(crate) fn number(value: f64) -> String {
    if !value.is_finite() {
        return value.to_string();
    }
    let mut bytes = Vec::new();
    // Writing to memory cannot fail, and the digits of a number are ASCII.
    let _ = float(value, Precision::Double, &mut bytes);
    String::from_utf8(bytes).unwrap_or_default()
}

/// A value as a cell, with times in nanoseconds.
pub(super) fn value(unit: Unit, value: Option<&OwnedValue>) -> String {
    match value {
        None => String::new(),
        Some(OwnedValue::Int(ps)) if unit == Unit::Picoseconds => nanoseconds(*ps),
        Some(value) => plain(value),
    }
}

/// A value as it is stored, as a cell.
pub(crate) fn plain(value: &OwnedValue) -> String {
    match value {
        OwnedValue::Int(number) => number.to_string(),
        OwnedValue::Uint(number) => number.to_string(),
        OwnedValue::Float(value) => number(*value),
        OwnedValue::Bool(truth) => truth.to_string(),
        OwnedValue::Text(value) | OwnedValue::Json(value) => text(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_get_quotes_if_they_need_them() {
        for (plain, expected) in [
            ("a b", "a b"),
            ("", "\"\""),
            ("a,b", "\"a,b\""),
            ("say \"x\"", "\"say \"\"x\"\"\""),
            ("two\r\nlines", "\"two\r\nlines\""),
            // A formula of a spreadsheet is a text of the trace.
            ("=1+1", "=1+1"),
            ("@x", "@x"),
        ] {
            assert_eq!(text(plain), expected);
        }
    }

    #[test]
    fn nanoseconds_keep_picoseconds() {
        for (ps, expected) in [
            (0, "0"),
            (1_000, "1"),
            (1_234_568, "1234.568"),
            (1_500, "1.5"),
            (7, "0.007"),
            (-1, "-0.001"),
            (-2_050, "-2.05"),
            (i64::MAX, "9223372036854775.807"),
            (i64::MIN, "-9223372036854775.808"),
        ] {
            assert_eq!(nanoseconds(ps), expected);
        }
    }

    #[test]
    fn floats_keep_their_digits() {
        for (value, expected) in
            [(5.0, "5"), (0.1, "0.1"), (f64::NAN, "NaN"), (f64::NEG_INFINITY, "-inf"), (1e300, "1e+300")]
        {
            assert_eq!(number(value), expected);
        }
    }
}
