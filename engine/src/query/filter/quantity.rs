//! Numbers with a unit as people type them: `10us`, `1.5 KiB`, `50%`, `3k`.

/// Picoseconds of a unit of time.
const TIMES: [(&str, f64); 7] =
    [("ps", 1.0), ("ns", 1e3), ("us", 1e6), ("µs", 1e6), ("ms", 1e9), ("s", 1e12), ("min", 6e13)];
/// Units of size, in bytes.
const SIZES: [(&str, f64); 9] = [
    ("b", 1.0),
    ("kb", 1e3),
    ("mb", 1e6),
    ("gb", 1e9),
    ("tb", 1e12),
    ("kib", 1024.0),
    ("mib", 1_048_576.0),
    ("gib", 1_073_741_824.0),
    ("tib", 1_099_511_627_776.0),
];
/// Multiples of any unit.
const MULTIPLES: [(&str, f64); 5] = [("", 1.0), ("k", 1e3), ("m", 1e6), ("g", 1e9), ("t", 1e12)];

/// The number that a text means in a column with this unit. `None` if it is no number, or if its
/// unit does not suit.
#[must_use]
pub fn quantity(text: &str, unit: &str) -> Option<f64> {
    let text = text.to_lowercase();
    let (digits, suffix) = parts(&text);
    let value = decimal(digits)?;
    let of = |units: &[(&str, f64)], name: &str| {
        units.iter().find(|(known, _)| *known == name).map(|(_, factor)| *factor)
    };
    if suffix.is_empty() {
        return Some(value);
    }
    if suffix == "%" {
        return Some(if unit == "ratio" { value / 100.0 } else { value });
    }
    if let (Some(of_column), Some(given)) = (of(&TIMES, unit), of(&TIMES, suffix)) {
        return Some(value * given / of_column);
    }
    let is_size = unit == "B" || unit == "B/s";
    if let Some(given) = of(&SIZES, suffix.trim_end_matches("/s")).filter(|_| is_size) {
        return Some(value * given);
    }
    let multiple = suffix.strip_suffix(&unit.to_lowercase()).unwrap_or(suffix);
    Some(value * of(&MULTIPLES, multiple)?)
}

/// The digits of a quantity, and what follows them.
fn parts(text: &str) -> (&str, &str) {
    let text = text.trim();
    let is_number = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'.' | b',' | b'-');
    let (digits, suffix) = text.split_at(text.bytes().take_while(|&byte| is_number(byte)).count());
    (digits, suffix.trim())
}

/// The text behind a number that would be one with a unit of the column.
pub(super) fn unknown_unit<'t>(text: &'t str, unit: &str) -> Option<&'t str> {
    let (digits, suffix) = parts(text);
    let is_unknown = decimal(digits).is_some() && quantity(text, unit).is_none();
    is_unknown.then_some(suffix)
}

/// The units that numbers of a column can have.
pub(super) fn units_for(unit: &str) -> Vec<&'static str> {
    let is_time = TIMES.iter().any(|(name, _)| *name == unit);
    let units: &[(&'static str, f64)] = match unit {
        "B" | "B/s" => &SIZES,
        _ if is_time => &TIMES,
        _ => &MULTIPLES[1..],
    };
    units.iter().map(|(name, _)| *name).collect()
}

/// A decimal number. Rust's own parser has large tables, which make the page slower to load. Commas
/// between thousands are allowed.
fn decimal(text: &str) -> Option<f64> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1.0, digits),
        None => (1.0, text),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let digits = || whole.bytes().filter(|byte| *byte != b',').chain(fraction.bytes());
    if digits().next().is_none() || !digits().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let value = digits().fold(0.0, |value, digit| value * 10.0 + f64::from(digit - b'0'));
    Some(sign * value / 10_f64.powi(i32::try_from(fraction.len()).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, unit: &str, expected: Option<f64>) {
        assert_eq!(quantity(text, unit), expected, "{text} in {unit}");
    }

    #[test]
    fn units_are_converted_to_those_of_the_column() {
        check("10us", "ps", Some(1e7));
        check("10 µs", "ns", Some(1e4));
        check("1.5KiB", "B", Some(1536.0));
        check("2 GB/s", "B/s", Some(2e9));
        check("50%", "ratio", Some(0.5));
        check("1.4GHz", "Hz", Some(1.4e9));
        check("3k", "", Some(3000.0));
        check("1,234,567", "count", Some(1_234_567.0));
        check("-0.5", "", Some(-0.5));
    }

    #[test]
    fn all_else_is_no_number() {
        for text in ["", "us", "1.2.3", "-", "ten", "5 parsecs", "1e5x"] {
            check(text, "ps", None);
        }
    }
}
