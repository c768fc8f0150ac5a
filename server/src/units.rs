//! Numbers with units, as people write them.

use nprof_engine::base::time::{PS_PER_MS, PS_PER_NS, PS_PER_S, PS_PER_US};

/// Splits a number from its unit.
#[must_use]
pub fn with_unit(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-')).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    Some((number.parse().ok()?, unit.trim()))
}

/// Reads a time such as `10ms` as picoseconds.
///
/// # Errors
/// The error says how times are written.
pub fn time_ps(text: &str) -> Result<i64, String> {
    let expected = || {
        format!("\"{text}\" is not a time; write a number with the unit ps, ns, us, ms or s, such as 10ms")
    };
    let (number, unit) = with_unit(text).ok_or_else(expected)?;
    let ps = match unit {
        "ps" => 1,
        "ns" => PS_PER_NS,
        "us" | "µs" | "μs" => PS_PER_US,
        "ms" => PS_PER_MS,
        "s" => PS_PER_S,
        _ => return Err(expected()),
    };
    // A picosecond is exact up to two hours. Beyond that nobody cuts at a picosecond.
    Ok((number * ps as f64).round() as i64)
}

/// Reads floating-point operations a second, such as `989TF` or `989 TFLOP/s`.
pub(crate) fn flops_per_s(text: &str) -> Result<u64, String> {
    rate(text, &["FLOP/s", "FLOPS", "F"], "operations a second", "989TF")
}

/// Reads bytes a second, such as `3.35TB/s`.
pub(crate) fn bytes_per_s(text: &str) -> Result<u64, String> {
    rate(text, &["B/s", "B"], "bytes a second", "3.35TB/s")
}

/// A number, a decimal prefix, and one of the symbols.
fn rate(text: &str, symbols: &[&str], what: &str, example: &str) -> Result<u64, String> {
    const PREFIXES: [(&str, f64); 6] =
        [("", 1.0), ("k", 1e3), ("M", 1e6), ("G", 1e9), ("T", 1e12), ("P", 1e15)];
    let read = || {
        let (number, unit) = with_unit(text)?;
        let prefix = symbols.iter().find_map(|symbol| unit.strip_suffix(symbol))?;
        let (_, scale) = PREFIXES.into_iter().find(|(known, _)| *known == prefix)?;
        Some(number * scale).filter(|rate| *rate >= 1.0 && *rate < 1e19)
    };
    let wrong = || format!("\"{text}\" is no rate of {what}; write one such as {example}");
    read().map(|rate| rate as u64).ok_or_else(wrong)
}

/// An exact time with the largest unit that is not larger than it.
#[must_use]
pub fn time_text(ps: i128) -> String {
    const UNITS: [(i64, &str); 4] =
        [(PS_PER_S, "s"), (1_000 * PS_PER_US, "ms"), (PS_PER_US, "µs"), (PS_PER_NS, "ns")];
    let fits = |(unit, _): &&(i64, &str)| ps.unsigned_abs() >= unit.unsigned_abs().into();
    match UNITS.iter().find(fits) {
        Some(&(unit, symbol)) => format!("{} {symbol}", decimal(ps, unit)),
        None => format!("{ps} ps"),
    }
}

/// `number / unit` with all its decimals. The unit is a power of ten.
#[must_use]
pub fn decimal(number: i128, unit: i64) -> String {
    let (number_abs, unit) = (number.unsigned_abs(), u128::from(unit.unsigned_abs()));
    let decimals = unit.ilog10() as usize;
    let rest = (number_abs % unit).to_string();
    let text = format!("{}.{}{rest}", number_abs / unit, "0".repeat(decimals.saturating_sub(rest.len())));
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if number < 0 { format!("-{text}") } else { text.to_owned() }
}

/// Reads a size such as `50MiB` as bytes. `MB` are a million bytes.
///
/// # Errors
/// The error says how sizes are written.
pub fn size_bytes(text: &str) -> Result<u64, String> {
    let expected =
        || format!("\"{text}\" is not a size; write a number with the unit KiB, MiB or GiB, such as 50MiB");
    let (number, unit) = with_unit(text).filter(|(number, _)| *number >= 0.0).ok_or_else(expected)?;
    let bytes = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "k" | "kb" => 1e3,
        "m" | "mb" => 1e6,
        "g" | "gb" => 1e9,
        "kib" => 1024.0,
        "mib" => 1024.0 * 1024.0,
        "gib" => 1024.0 * 1024.0 * 1024.0,
        _ => return Err(expected()),
    };
    Ok((number * bytes).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_sizes_have_units() {
        assert_eq!(time_ps("10ms"), Ok(10_000_000_000));
        assert_eq!(time_ps("12.5 us"), Ok(12_500_000));
        assert_eq!(time_ps("1.5ns"), Ok(1_500));
        assert_eq!(size_bytes("50MB"), Ok(50_000_000));
        assert_eq!(size_bytes("1 GiB"), Ok(1 << 30));
        for wrong in ["", "ms", "10", "10 parsecs", "1.2.3ms"] {
            assert!(time_ps(wrong).is_err(), "{wrong}");
        }
        for wrong in ["", "MB", "-1MB", "10 apples"] {
            assert!(size_bytes(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn rates_have_decimal_prefixes() {
        assert_eq!(flops_per_s("989TF"), Ok(989_000_000_000_000));
        assert_eq!(flops_per_s("1.5 PFLOP/s"), Ok(1_500_000_000_000_000));
        assert_eq!(bytes_per_s("3.35TB/s"), Ok(3_350_000_000_000));
        assert_eq!(bytes_per_s("900 GB"), Ok(900_000_000_000));
        for wrong in ["", "989", "989T", "3 TB/h", "-1TF", "0TF", "1e30TF"] {
            assert!(flops_per_s(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn times_are_shown_exactly() {
        for (ps, text) in [
            (0, "0 ps"),
            (-999, "-999 ps"),
            (1_500, "1.5 ns"),
            (12_000_000, "12 µs"),
            (-12_000_001, "-12.000001 µs"),
            (100_000_000_000, "100 ms"),
            (i128::from(i64::MIN), "-9223372.036854775808 s"),
        ] {
            assert_eq!(time_text(ps), text);
        }
    }
}
