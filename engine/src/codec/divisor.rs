//! A common divisor: values that are a base plus multiples of one number, such as times of a clock
//! that ticks every 714 ps. Not a codec by itself: another codec stores the quotients.
//!
//! Layout: the base (signed varint), the divisor (varint, at least 2), a whole column of quotients.

use super::int_codec::{signed_len, varint_len};
use crate::base::Result;
use crate::base::bytes::{Cursor, Put};

/// Quotients of a column that has a divisor.
pub struct Quotients {
    base: i64,
    divisor: u64,
    pub values: Vec<i64>,
}

impl Quotients {
    /// `None` if no number above 1 divides the distances, or if dividing saves less than the
    /// divisor takes. Zero stays zero if the divisor allows it, because values spread around zero
    /// are stored shorter so.
    pub fn of(values: &[i64]) -> Option<Self> {
        let (&first, rest) = values.split_first()?;
        let step = rest.first()?.wrapping_sub(first);
        if values.windows(2).all(|pair| pair[1].wrapping_sub(pair[0]) == step) {
            // Differences store this column in a few bytes.
            return None;
        }
        let divisor = of_distances(rest, first);
        let exact = (divisor > 1).then(|| Exact::by(divisor))?;
        let (min, max) = rest.iter().fold((first, first), |(min, max), &v| (min.min(v), max.max(v)));
        let around_zero = min < 0 && max > 0 && exact.divides(min.unsigned_abs());
        let base = if around_zero { 0 } else { min };
        let saved_bits = divisor.ilog2() as usize * values.len();
        if saved_bits < (2 + signed_len(base) + varint_len(divisor)) * 8 {
            return None;
        }
        // Distances from the first value, from the smallest and from zero have the same common
        // divisor.
        let values = if around_zero {
            values.iter().map(|value| exact.divide_signed(*value)).collect()
        } else {
            values
                .iter()
                .map(|value| exact.divide(value.wrapping_sub(base).cast_unsigned()).cast_signed())
                .collect()
        };
        Some(Self { base, divisor, values })
    }

    pub fn put_header(&self, out: &mut Vec<u8>) {
        out.put_signed(self.base);
        out.put_varint(self.divisor);
    }
}

/// Reads what [`Quotients::put_header`] wrote.
pub fn header(cursor: &mut Cursor<'_>) -> Result<(i64, u64)> {
    let base = cursor.signed()?;
    let divisor = cursor.varint()?;
    if divisor < 2 { Err(cursor.corrupt()) } else { Ok((base, divisor)) }
}

/// Multiplies quotients back to values; wraps if the bytes are wrong.
pub fn multiply(base: i64, divisor: u64, values: &mut [i64]) {
    let divisor = divisor.cast_signed();
    values.iter_mut().for_each(|value| *value = value.wrapping_mul(divisor).wrapping_add(base));
}

/// Exact division by a multiplication: the odd part of a divisor has an inverse modulo 2^64.
#[derive(Debug, Clone, Copy)]
struct Exact {
    divisor: u64,
    inverse: u64,
    twos: u32,
    /// Largest possible quotient.
    limit: u64,
}

impl Exact {
    fn by(divisor: u64) -> Self {
        let twos = divisor.trailing_zeros();
        let odd = divisor >> twos;
        // Newton's iteration doubles the number of correct bits. `odd` is its own inverse in the
        // lowest three.
        let inverse = (0..5).fold(odd, |x, _| x.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(x))));
        Self { divisor, inverse, twos, limit: u64::MAX / divisor }
    }

    /// Quotient of a multiple; undefined for any other number.
    fn divide(self, multiple: u64) -> u64 {
        (multiple >> self.twos).wrapping_mul(self.inverse)
    }

    /// Quotient of a signed multiple.
    fn divide_signed(self, multiple: i64) -> i64 {
        (multiple >> self.twos).wrapping_mul(self.inverse.cast_signed())
    }

    /// Whether the divisor divides this number. Any other number comes out beyond all quotients.
    fn divides(self, number: u64) -> bool {
        number.wrapping_mul(self.inverse).rotate_right(self.twos) <= self.limit
    }
}

/// Values that are divided at once, without a branch for each.
const DIVIDED: usize = 64;

/// Greatest common divisor of the distances from `first`; 0 if all values are equal.
fn of_distances(values: &[i64], first: i64) -> u64 {
    let mut exact: Option<Exact> = None;
    for chunk in values.chunks(DIVIDED) {
        let distances = || chunk.iter().map(|value| value.abs_diff(first));
        if exact.is_some_and(|exact| distances().fold(true, |all, distance| all & exact.divides(distance))) {
            continue;
        }
        let before = exact.map_or(0, |exact| exact.divisor);
        let divisor = distances().fold(before, gcd);
        if divisor == 1 {
            return 1;
        }
        exact = (divisor > 0).then(|| Exact::by(divisor));
    }
    exact.map_or(0, |exact| exact.divisor)
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn multiplying_divides(divisor in 1_u64.., number in any::<u64>()) {
            let whole = number.is_multiple_of(divisor).then(|| number / divisor);
            let exact = Exact::by(divisor);
            prop_assert_eq!(exact.divides(number).then(|| exact.divide(number)), whole);
            let multiple = number / divisor * divisor;
            prop_assert!(exact.divides(multiple));
            prop_assert_eq!(exact.divide(multiple), number / divisor);
            // The sign goes with the quotient.
            if let Ok(multiple) = i64::try_from(multiple) {
                prop_assert_eq!(exact.divide_signed(-multiple), -(number / divisor).cast_signed());
            }
        }
    }

    #[test]
    fn the_divisor_of_the_distances() {
        assert_eq!(of_distances(&[7 + 714, 7 + 3 * 714], 7), 714);
        assert_eq!(of_distances(&[i64::MAX], i64::MIN), u64::MAX);
        assert_eq!(of_distances(&[5], 5), 0);
        assert_eq!(of_distances(&[4, 6], 0), 2);
    }
}
