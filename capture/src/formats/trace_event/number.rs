//! Numbers as traces write them: exact decimals to picoseconds, and typed values for fields.
//!
//! A timestamp such as `1712195495520833.313` has more digits than a double holds: going through
//! `f64` moves it by up to 250 ns. Timestamps are therefore parsed as decimals.

use nprof_engine::base::time::PS_PER_US;

use super::digits;

/// Decimal digits between a microsecond and a picosecond.
const US_TO_PS_DIGITS: i64 = 6;

/// Most digits before the decimal point that can matter: an `i128` holds 38.
const MAX_DIGITS: i64 = 38;

/// Reason why a number is no time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BadTime {
    /// Not a finite decimal number.
    NotANumber,
    /// Outside an `i128` of picoseconds.
    OutOfRange,
}

/// Parts of a decimal number: `digits` with the point after `point` of them, times ten to the
/// `exponent`.
struct Decimal<'a> {
    negative: bool,
    whole: &'a [u8],
    fraction: &'a [u8],
    exponent: i64,
}

impl<'a> Decimal<'a> {
    fn parse(text: &'a [u8]) -> Option<Self> {
        let (negative, text) = match text {
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] => (false, rest),
            _ => (false, text),
        };
        let (whole, rest) = digits(text);
        let (fraction, rest) = match rest {
            [b'.', rest @ ..] => digits(rest),
            _ => (&rest[..0], rest),
        };
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let exponent = match rest {
            [] => 0,
            [b'e' | b'E', rest @ ..] => exponent(rest)?,
            _ => return None,
        };
        Some(Self { negative, whole, fraction, exponent })
    }
}

/// Splits the leading digits off.
fn digits(text: &[u8]) -> (&[u8], &[u8]) {
    text.split_at(digits::count(text))
}

/// A decimal exponent, clamped to a million, which changes no result.
fn exponent(text: &[u8]) -> Option<i64> {
    let (negative, text) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    if text.is_empty() || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let magnitude = text.iter().fold(0_i64, |sum, digit| (sum * 10 + i64::from(digit - b'0')).min(1_000_000));
    Some(if negative { -magnitude } else { magnitude })
}

/// Converts microseconds as text to picoseconds. Exact with at most six decimals, else rounded to
/// the nearest, halves away from zero.
pub(super) fn ps_from_us(text: &[u8]) -> Result<i128, BadTime> {
    if let Some(ps) = short(text) {
        return Ok(ps);
    }
    let Decimal { negative, whole, fraction, exponent } = Decimal::parse(text).ok_or(BadTime::NotANumber)?;
    // The value in picoseconds is the digits up to `end`, as one integer. The digits after decide
    // the rounding.
    let leading_zeros = whole.iter().chain(fraction).take_while(|&&digit| digit == b'0').count();
    let count = whole.len() + fraction.len();
    if leading_zeros == count {
        return Ok(0);
    }
    let end = i64::try_from(whole.len()).map_err(|_| BadTime::OutOfRange)? + exponent + US_TO_PS_DIGITS;
    let significant = end - i64::try_from(leading_zeros).map_err(|_| BadTime::OutOfRange)?;
    if significant > MAX_DIGITS {
        return Err(BadTime::OutOfRange);
    }
    if significant < 0 {
        return Ok(0);
    }
    let at = |index: i64| {
        let digit = usize::try_from(index)
            .ok()
            .and_then(|index| whole.get(index).or_else(|| fraction.get(index.wrapping_sub(whole.len()))));
        i128::from(digit.map_or(0, |digit| digit - b'0'))
    };
    let first = end - significant;
    let magnitude = (first..end)
        .try_fold(0_i128, |sum, index| sum.checked_mul(10)?.checked_add(at(index)))
        .ok_or(BadTime::OutOfRange)?;
    let magnitude = if at(end) >= 5 { magnitude + 1 } else { magnitude };
    Ok(if negative { -magnitude } else { magnitude })
}

/// Fast path for the usual case: at most 18 digits before the point and six after it, no sign, no
/// exponent.
fn short(text: &[u8]) -> Option<i128> {
    let (whole, rest) = digits(text);
    if whole.is_empty() || whole.len() > 18 {
        return None;
    }
    let fraction_ps = match rest {
        [] => 0,
        [b'.', rest @ ..] => {
            let (fraction, rest) = digits(rest);
            let missing = 6_u32.checked_sub(u32::try_from(fraction.len()).ok()?)?;
            if !rest.is_empty() {
                return None;
            }
            digits::number(fraction) * digits::POWERS[missing as usize]
        }
        _ => return None,
    };
    Some(i128::from(digits::number(whole)) * i128::from(PS_PER_US) + i128::from(fraction_ps))
}

/// A number as stored in a field.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum FieldNumber {
    /// Fits `i64`.
    Int(i64),
    /// Above `i64::MAX`, fits `u64`.
    Uint(u64),
    /// A number with a point or an exponent, NaN, or an infinity.
    Float(f64),
    /// An integer beyond 64 bits, which is kept as text.
    Big,
}

impl FieldNumber {
    /// Parses a token; `None` if it is no number.
    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        if let Some(int) = small_int(text) {
            return Some(Self::Int(int));
        }
        let digits_of = text.strip_prefix(b"-").or_else(|| text.strip_prefix(b"+")).unwrap_or(text);
        let text = std::str::from_utf8(text).ok()?;
        if !may_be_number(digits_of) {
            return None;
        }
        if digits_of.iter().all(u8::is_ascii_digit) {
            let int = text.parse().map(Self::Int).ok();
            return Some(int.or_else(|| text.parse().map(Self::Uint).ok()).unwrap_or(Self::Big));
        }
        text.parse().map(Self::Float).ok()
    }

    /// The number as a counter's value, and whether the float is exact.
    #[expect(clippy::cast_precision_loss, reason = "the loss is what is looked for")]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "casts back saturate")]
    pub(super) fn as_f64(self, text: &[u8]) -> (f64, bool) {
        match self {
            Self::Int(int) => (int as f64, (int as f64) as i128 == i128::from(int)),
            Self::Uint(uint) => (uint as f64, (uint as f64) as u128 == u128::from(uint)),
            Self::Float(float) => (float, true),
            Self::Big => {
                let value = std::str::from_utf8(text).ok().and_then(|text| text.parse().ok());
                (value.unwrap_or(f64::NAN), false)
            }
        }
    }
}

/// Whether a text without its sign can be a number. Ids are texts such as `0x7f3a`.
fn may_be_number(text: &[u8]) -> bool {
    match text {
        [b'0'..=b'9', rest @ ..] => matches!(rest, [] | [b'0'..=b'9' | b'.' | b'e' | b'E', ..]),
        // Infinity, or no number.
        [b'.' | b'i' | b'I' | b'n' | b'N', ..] => true,
        _ => false,
    }
}

/// Fast path for the usual case: up to 18 digits.
fn small_int(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, text),
    };
    if digits.is_empty() || digits.len() > 18 || digits::count(digits) < digits.len() {
        return None;
    }
    let sum = digits::number(digits).cast_signed();
    Some(if negative { -sum } else { sum })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Result<i128, BadTime>) {
        assert_eq!(ps_from_us(text.as_bytes()), expected, "{text}");
    }

    #[test]
    fn decimals_are_exact() {
        check("1712195495520833.313", Ok(1_712_195_495_520_833_313_000));
        check("0.000001", Ok(1));
        check("-7.5", Ok(-7_500_000));
        check("1.5e3", Ok(1_500_000_000));
        check("15E-1", Ok(1_500_000));
        check("+2", Ok(2_000_000));
        check(".5", Ok(500_000));
        check("5.", Ok(5_000_000));
        check("00012", Ok(12_000_000));
        check("1e-400", Ok(0));
        check("0e999999999999", Ok(0));
    }

    #[test]
    fn below_a_picosecond_it_rounds() {
        check("0.0000005", Ok(1));
        check("0.00000049", Ok(0));
        check("-0.0000015", Ok(-2));
        check("9.9999999", Ok(10_000_000));
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in ["", "-", ".", "NaN", "Infinity", "1.2.3", "1e", "0x10", "1 2", "abc"] {
            check(text, Err(BadTime::NotANumber));
        }
        check("1e40", Err(BadTime::OutOfRange));
        check(&"9".repeat(60), Err(BadTime::OutOfRange));
    }

    #[test]
    fn numbers_keep_their_type() {
        let cases: [(&str, Option<FieldNumber>); 14] = [
            ("-5", Some(FieldNumber::Int(-5))),
            ("9223372036854775807", Some(FieldNumber::Int(i64::MAX))),
            ("12345678901234567890", Some(FieldNumber::Uint(12_345_678_901_234_567_890))),
            ("123456789012345678901", Some(FieldNumber::Big)),
            ("-9223372036854775809", Some(FieldNumber::Big)),
            ("2.5", Some(FieldNumber::Float(2.5))),
            ("-Infinity", Some(FieldNumber::Float(f64::NEG_INFINITY))),
            ("+.5", Some(FieldNumber::Float(0.5))),
            ("5.", Some(FieldNumber::Float(5.0))),
            ("1E3", Some(FieldNumber::Float(1_000.0))),
            ("0x10", None),
            ("--5", None),
            ("word", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(FieldNumber::parse(text.as_bytes()), expected, "{text}");
        }
        assert!(matches!(FieldNumber::parse(b"NaN"), Some(FieldNumber::Float(nan)) if nan.is_nan()));
        assert_eq!(FieldNumber::Int((1 << 53) + 1).as_f64(b""), (9_007_199_254_740_992.0, false));
    }

    proptest! {
        /// The oracle: the same value computed from integers.
        #[test]
        fn agrees_with_integers(
            whole in 0_i128..=10_i128.pow(20),
            fraction in 0_i128..1_000_000,
            negative: bool,
            shift in -6_i32..=6,
        ) {
            let ps = (whole * 1_000_000 + fraction) * if negative { -1 } else { 1 };
            let sign = if negative { "-" } else { "" };
            prop_assert_eq!(ps_from_us(format!("{sign}{whole}.{fraction:06}").as_bytes()), Ok(ps));
            // The same number with the point moved and an exponent that moves it back.
            let digits = format!("{whole}{fraction:06}");
            let exponent = -6 - shift;
            let moved = format!("{sign}{digits}{}e{exponent}", "0".repeat(usize::try_from(shift.max(0)).unwrap()));
            let expected = if shift >= 0 { ps } else {
                ps.checked_mul(10_i128.pow(shift.unsigned_abs())).unwrap()
            };
            prop_assert_eq!(ps_from_us(moved.as_bytes()), Ok(expected));
        }

        #[test]
        fn any_text_ends_in_a_value_or_an_error(text in "[-+0-9.eE]{0,60}") {
            let _ = ps_from_us(text.as_bytes());
            let _ = FieldNumber::parse(text.as_bytes());
        }
    }
}
