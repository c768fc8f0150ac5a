//! Zone maps: smallest and largest value of a block, so that a query can skip the block without
//! decoding it.

/// Range of a block's values. Codes of texts have none, because their order means nothing.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum ZoneMap {
    /// The range is unknown.
    #[default]
    None,
    /// Integers.
    Ints {
        /// Smallest value.
        min: i64,
        /// Largest value.
        max: i64,
    },
    /// Floats, without NaN.
    Floats {
        /// Smallest value.
        min: f64,
        /// Largest value.
        max: f64,
    },
}

impl ZoneMap {
    /// Range of integers.
    #[must_use]
    pub fn of_ints(values: &[i64]) -> Self {
        let Some(&first) = values.first() else { return Self::None };
        let (min, max) = values.iter().fold((first, first), |(min, max), &v| (min.min(v), max.max(v)));
        Self::Ints { min, max }
    }

    /// Range of floats.
    #[must_use]
    pub fn of_floats(values: &[f64]) -> Self {
        let numbers = || values.iter().copied().filter(|v| !v.is_nan());
        match (numbers().reduce(f64::min), numbers().reduce(f64::max)) {
            (Some(min), Some(max)) => Self::Floats { min, max },
            _ => Self::None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_span_the_values_and_leave_out_nan() {
        assert_eq!(ZoneMap::of_ints(&[]), ZoneMap::None);
        let whole = ZoneMap::Ints { min: i64::MIN, max: i64::MAX };
        assert_eq!(ZoneMap::of_ints(&[i64::MAX, 0, i64::MIN]), whole);
        let floats = ZoneMap::Floats { min: -0.5, max: f64::INFINITY };
        assert_eq!(ZoneMap::of_floats(&[f64::NAN, -0.5, f64::INFINITY]), floats);
        assert_eq!(ZoneMap::of_floats(&[f64::NAN]), ZoneMap::None);
    }
}
