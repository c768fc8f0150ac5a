//! Columns of 64-bit floats, bit for bit.
//!
//! Forms:
//!
//! - Decimals: the number of digits after the point (one byte, 0 to 15), then a column of
//!   integers `n`. A value is `n` / 10^digits.
//! - Ordered bits: a column of integers (see [`ordered`]).
//! - pco, with the layout of [`super::entropy`].

use super::int::wins;
use super::stats::Stats;
use super::{Encoder, FLOATS, MAX_VALUES, check_count, entropy};
use crate::base::Result;
use crate::base::bytes::Cursor;

const DECIMALS: u8 = FLOATS;
const ORDERED: u8 = FLOATS + 1;
const PCO: u8 = FLOATS + 2;
/// Names of the forms by id, from [`FLOATS`] on.
pub const NAMES: [&str; 3] = ["decimals", "ordered bits", "pco"];

/// Powers of ten that a float holds exactly (up to 10^22) and that leave digits before the point.
const POWERS: [f64; 16] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];
/// Integers up to here are floats without rounding.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;
/// Bits a value above which pco is tried.
const PCO_ABOVE_BITS: usize = 6;
const PCO_MIN_VALUES: usize = 64;

/// Bits of a float as an integer that sorts as the floats do. Negative floats have all bits but the
/// sign inverted.
pub fn ordered(value: f64) -> i64 {
    reorder(value.to_bits().cast_signed())
}

/// Reorders bits; its own inverse.
fn reorder(bits: i64) -> i64 {
    bits ^ (((bits >> 63).cast_unsigned() >> 1).cast_signed())
}

/// The integer whose quotient by the power is exactly `value`; `None` if there is none.
fn digits_of(value: f64, power: f64) -> Option<i64> {
    let digits = (value * power).round();
    let exact = digits.abs() <= EXACT_MAX && (digits / power).to_bits() == value.to_bits();
    // Minus zero is not an integer.
    (exact && (digits as i64 as f64).to_bits() == digits.to_bits()).then_some(digits as i64)
}

/// Fewest digits after the point that represent all values, and the values as integers.
fn decimals(values: &[f64]) -> Option<(u8, Vec<i64>)> {
    let mut digits = 0;
    for value in values {
        digits += POWERS[digits..].iter().position(|power| digits_of(*value, *power).is_some())?;
    }
    // An earlier value can be exact with fewer digits and not with more.
    let integers: Option<Vec<i64>> = values.iter().map(|value| digits_of(*value, POWERS[digits])).collect();
    Some((digits as u8, integers?))
}

pub fn encode(values: &[f64], encoder: &mut Encoder, out: &mut Vec<u8>) {
    assert!(values.len() <= MAX_VALUES, "a block holds at most MAX_VALUES values");
    // Integers of few digits are shorter than the bits of their floats. Some special columns pay a
    // little more.
    if let Some((digits, integers)) = decimals(values) {
        out.extend([DECIMALS, digits]);
        return encoder.ints(&integers, out);
    }
    let bits: Vec<i64> = values.iter().map(|value| ordered(*value)).collect();
    let mut best = vec![ORDERED];
    encoder.ints(&bits, &mut best);
    if values.len() >= PCO_MIN_VALUES && best.len() * 8 > PCO_ABOVE_BITS * values.len() {
        let attempt = entropy::compress(values, &Stats::of(&bits));
        if let Some(attempt) = attempt.filter(|bytes| wins(bytes.len(), best.len()) && is_exact(bytes, &bits))
        {
            best = vec![PCO];
            best.extend_from_slice(&attempt);
        }
    }
    out.extend_from_slice(&best);
}

/// Whether pco restores each bit. pco promises it, but a store that loses a NaN's payload would
/// never notice.
fn is_exact(bytes: &[u8], bits: &[i64]) -> bool {
    let mut decoded = vec![0.0; bits.len()];
    entropy::decompress(Cursor::new(bytes, 0, "float column"), &mut decoded).is_ok()
        && decoded.iter().zip(bits).all(|(value, bits)| ordered(*value) == *bits)
}

pub fn decode(bytes: &[u8], count: usize, out: &mut Vec<f64>) -> Result<()> {
    check_count(count)?;
    out.clear();
    let mut cursor = Cursor::new(bytes, 0, "float column");
    let form = cursor.u8()?;
    if form == PCO {
        out.resize(count, 0.0);
        return entropy::decompress(cursor, out);
    }
    let power = match form {
        DECIMALS => Some(*POWERS.get(usize::from(cursor.u8()?)).ok_or_else(|| cursor.corrupt())?),
        ORDERED => None,
        _ => return Err(cursor.corrupt()),
    };
    let mut integers = Vec::new();
    super::decode_ints(cursor.take(cursor.remaining())?, count, &mut integers)?;
    match power {
        Some(power) => out.extend(integers.iter().map(|digits| *digits as f64 / power)),
        None => out.extend(integers.iter().map(|bits| f64::from_bits(reorder(*bits).cast_unsigned()))),
    }
    Ok(())
}
