//! A common divisor: values that are a base and multiples of one number, such as times of a clock that ticks every
//! 714 ps. Not a codec by itself: it divides, and another codec stores the quotients.
//! Layout: the base (signed varint), the divisor (varint, at least 2), a whole column of quotients.

use super::int::{signed_len, varint_len};
use super::stats::Stats;
use crate::base::Result;
use crate::base::bytes::{Cursor, Put};

/// The quotients of a column that has a divisor.
pub struct Quotients {
    pub base: i64,
    pub divisor: u64,
    pub values: Vec<i64>,
    pub stats: Stats,
}

impl Quotients {
    /// `None` where nothing beyond 1 divides the distances.
    pub fn of(values: &[i64], stats: &Stats) -> Option<Self> {
        let (base, divisor) = (stats.min, stats.divisor);
        // Distances from the first value and from the smallest have the same common divisor.
        let quotients = |value: &i64| (value.abs_diff(base) / divisor).cast_signed();
        let values: Vec<i64> = (divisor > 1).then(|| values.iter().map(quotients).collect())?;
        let stats = Stats::of(&values);
        Some(Self { base, divisor, values, stats })
    }

    /// Bytes before the quotients.
    pub fn header_len(&self) -> usize {
        signed_len(self.base) + varint_len(self.divisor)
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

/// Quotients back to values; wraps where the bytes lie.
pub fn multiply(base: i64, divisor: u64, values: &mut [i64]) {
    let divisor = divisor.cast_signed();
    values.iter_mut().for_each(|value| *value = value.wrapping_mul(divisor).wrapping_add(base));
}
