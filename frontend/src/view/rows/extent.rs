//! Value range of a counter's row.

/// Least range of values, as a share of the largest, in which differences are visible. A smaller
/// range from zero would look like a full or an empty row.
const LEAST_SHARE: f64 = 0.25;
/// Space below the smallest value if the row does not begin at zero, as a share of the values'
/// range.
const BELOW: f64 = 0.25;

/// The values at the lower and upper edge of a counter's row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Extent {
    /// Value at the lower edge.
    pub low: f64,
    /// Value at the upper edge; greater than `low`.
    pub high: f64,
}

impl Extent {
    /// The extent for values from `least` to `most`. Rows begin at zero unless nothing could be
    /// seen that way. Then the values of a counter that hardly changes fill its row, and a constant
    /// counter is in the middle.
    #[must_use]
    pub fn of_values(least: f64, most: f64) -> Self {
        let range = most - least;
        if !range.is_finite() || range < 0.0 || (least == 0.0 && most == 0.0) {
            return Self { low: 0.0, high: 1.0 };
        }
        if range == 0.0 {
            return Self { low: (2.0 * least).min(0.0), high: (2.0 * most).max(0.0) };
        }
        if least > 0.0 && range < LEAST_SHARE * most {
            return Self { low: (least - BELOW * range).max(0.0), high: most };
        }
        if most < 0.0 && range < -LEAST_SHARE * least {
            return Self { low: least, high: (most + BELOW * range).min(0.0) };
        }
        Self { low: least.min(0.0), high: most.max(0.0) }
    }

    /// Vertical position of a value: 0 at the lower edge, 1 at the upper edge.
    #[must_use]
    pub fn share(&self, value: f64) -> f64 {
        let share = (value - self.low) / (self.high - self.low);
        if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(least: f64, most: f64, low: f64, high: f64) {
        assert_eq!(Extent::of_values(least, most), Extent { low, high }, "{least} to {most}");
    }

    #[test]
    fn rows_begin_at_zero_where_that_shows_something() {
        check(1.0, 4.0, 0.0, 4.0);
        check(-2.0, 4.0, -2.0, 4.0);
        check(-4.0, -1.0, -4.0, 0.0);
        check(96.0, 100.0, 95.0, 100.0);
        check(-100.0, -96.0, -100.0, -95.0);
        check(5.0, 5.0, 0.0, 10.0);
        check(-5.0, -5.0, -10.0, 0.0);
        check(0.0, 0.0, 0.0, 1.0);
        check(f64::NAN, f64::INFINITY, 0.0, 1.0);
    }

    proptest! {
        #[test]
        fn every_value_has_its_place(a in -1e12..1e12_f64, b in -1e12..1e12_f64, part in 0.0..1.0_f64) {
            let (least, most) = (a.min(b), a.max(b));
            let extent = Extent::of_values(least, most);
            prop_assert!(extent.high > extent.low && extent.low <= least && extent.high >= most);
            let share = extent.share(least + part * (most - least));
            prop_assert!((0.0..=1.0).contains(&share));
        }
    }
}
