//! Zone maps: smallest and largest value of a block, so that a question can skip it without decoding.

use crate::base::Result;
use crate::base::bytes::{Cursor, Put};

/// The range of a block's values. Codes of texts have none: their order means nothing.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum ZoneMap {
    /// Nothing is known.
    #[default]
    None,
    /// Integers.
    Ints {
        /// Smallest.
        min: i64,
        /// Largest.
        max: i64,
    },
    /// Floats, NaN left out.
    Floats {
        /// Smallest.
        min: f64,
        /// Largest.
        max: f64,
    },
}

/// Codes of the variants, as in `docs/format.md`.
const NONE: u8 = 0;
const INTS: u8 = 1;
const FLOATS: u8 = 2;

impl ZoneMap {
    /// Of integers.
    #[must_use]
    pub fn of_ints(values: &[i64]) -> Self {
        match (values.iter().min(), values.iter().max()) {
            (Some(&min), Some(&max)) => Self::Ints { min, max },
            _ => Self::None,
        }
    }

    /// Of floats.
    #[must_use]
    pub fn of_floats(values: &[f64]) -> Self {
        let numbers = || values.iter().copied().filter(|v| !v.is_nan());
        match (numbers().reduce(f64::min), numbers().reduce(f64::max)) {
            (Some(min), Some(max)) => Self::Floats { min, max },
            _ => Self::None,
        }
    }

    /// Appends it.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match *self {
            Self::None => out.push(NONE),
            Self::Ints { min, max } => {
                out.push(INTS);
                out.put_signed(min);
                out.put_varint(max.abs_diff(min));
            }
            Self::Floats { min, max } => {
                out.push(FLOATS);
                out.extend_from_slice(&min.to_le_bytes());
                out.extend_from_slice(&max.to_le_bytes());
            }
        }
    }

    /// Reads it.
    ///
    /// # Errors
    /// Where the bytes are damaged.
    pub fn decode(cursor: &mut Cursor<'_>) -> Result<Self> {
        match cursor.u8()? {
            NONE => Ok(Self::None),
            INTS => {
                let min = cursor.signed()?;
                let width = cursor.varint()?;
                Ok(Self::Ints { min, max: min.checked_add_unsigned(width).ok_or_else(|| cursor.corrupt())? })
            }
            FLOATS => {
                Ok(Self::Floats { min: f64::from_bits(cursor.u64()?), max: f64::from_bits(cursor.u64()?) })
            }
            _ => Err(cursor.corrupt()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_round_trip(zone: ZoneMap) {
        let mut bytes = Vec::new();
        zone.encode(&mut bytes);
        assert_eq!(ZoneMap::decode(&mut Cursor::new(&bytes, 0, "zone")).unwrap(), zone);
    }

    #[test]
    fn zones_survive() {
        check_round_trip(ZoneMap::of_ints(&[]));
        check_round_trip(ZoneMap::of_ints(&[i64::MAX, i64::MIN]));
        check_round_trip(ZoneMap::of_floats(&[f64::NAN, -0.5, f64::INFINITY]));
    }
}
