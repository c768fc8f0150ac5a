//! Device clocks: ticks to picoseconds, in integers.

/// The product of two numbers up to this one fits 64 bits.
const NARROW: u64 = u32::MAX as u64;

/// A device clock whose rate was measured against another: `actual` ticks took `expected`
/// picoseconds of the common axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceClock {
    origin_ticks: u64,
    actual: u64,
    expected: u64,
    /// `floor((2^64 - 1) / actual)`. Multiplying by it divides by `actual`, with a result at most
    /// one too small.
    reciprocal: u64,
}

impl DeviceClock {
    /// A clock that shows `origin_ticks` at the axis' zero and makes `actual` ticks in `expected`
    /// picoseconds. `None` if the clock would stand still.
    ///
    /// ```
    /// use nprof_capture::clock::DeviceClock;
    ///
    /// // 1.4 GHz: 7 ticks in 5 ns.
    /// let clock = DeviceClock::new(100, 7, 5_000).expect("it moves");
    /// assert_eq!(clock.ps_from_ticks(107), Some(5_000));
    /// assert_eq!(clock.ps_from_ticks(99), Some(-715));
    /// ```
    #[must_use]
    pub fn new(origin_ticks: u64, actual: u64, expected: u64) -> Option<Self> {
        let reciprocal = u64::MAX.checked_div(actual)?;
        (expected > 0).then_some(Self { origin_ticks, actual, expected, reciprocal })
    }

    /// Time of a tick on the common axis in picoseconds, rounded down. `None` beyond the range of
    /// `i64`.
    ///
    /// One multiplication and one reciprocal if the product fits 64 bits, as it does for hours of
    /// real clocks.
    #[inline]
    #[must_use]
    pub fn ps_from_ticks(&self, ticks: u64) -> Option<i64> {
        if let Some(since_origin) = ticks.checked_sub(self.origin_ticks)
            && let Some(product) = since_origin.checked_mul(self.expected)
        {
            return i64::try_from(self.divided(product)).ok();
        }
        self.ps_from_far_ticks(ticks)
    }

    /// The same for ticks before the origin or far behind it.
    ///
    /// Exact: with `t = q · actual + r`,
    /// `floor(t · expected / actual) = q · expected + floor(r · expected / actual)`. This needs no
    /// 128-bit division if both rates have 32 bits, as real ones do.
    #[cold]
    fn ps_from_far_ticks(&self, ticks: u64) -> Option<i64> {
        if let Some(since_origin) = ticks.checked_sub(self.origin_ticks)
            && self.actual <= NARROW
            && self.expected <= NARROW
        {
            let whole = self.divided(since_origin);
            let rest = self.divided((since_origin - whole * self.actual) * self.expected);
            let ps = whole.checked_mul(self.expected)?.checked_add(rest)?;
            return i64::try_from(ps).ok();
        }
        let since_origin = i128::from(ticks) - i128::from(self.origin_ticks);
        // 65 signed bits times 64 bits can pass 127 bits. Such a time is out of range anyway.
        let scaled = since_origin.checked_mul(i128::from(self.expected))?;
        i64::try_from(scaled.div_euclid(i128::from(self.actual))).ok()
    }
}

impl DeviceClock {
    /// Quotient by `actual`, by multiplication. Divisions are most of the cost of
    /// placing a record.
    ///
    /// Let `m = floor((2^64 - 1) / d)`, which is at least `2^64 / d - 1`. Then the error
    /// `n / d - n m / 2^64` is below 1 for all 64-bit `n`. One step of correction is therefore
    /// enough.
    #[inline]
    fn divided(&self, number: u64) -> u64 {
        let product = u128::from(number) * u128::from(self.reciprocal);
        let quotient = (product >> u64::BITS) as u64;
        quotient + u64::from(number - quotient * self.actual >= self.actual)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_moment_is_exact(
            origin in any::<u64>(),
            distance in -(1_i64 << 50)..1 << 50,
            actual in 1_u64..1 << 33,
            expected in 1_u64..1 << 33,
        ) {
            let ticks = origin.saturating_add_signed(distance);
            let exact = (i128::from(ticks) - i128::from(origin)) * i128::from(expected);
            let exact = i64::try_from(exact.div_euclid(i128::from(actual))).ok();
            prop_assert_eq!(DeviceClock::new(origin, actual, expected).unwrap().ps_from_ticks(ticks), exact);
            let small = (actual % 0xffff + 1, expected % 0xffff + 1);
            let exact = (i128::from(ticks) - i128::from(origin)) * i128::from(small.1);
            let exact = i64::try_from(exact.div_euclid(i128::from(small.0))).ok();
            prop_assert_eq!(DeviceClock::new(origin, small.0, small.1).unwrap().ps_from_ticks(ticks), exact);
        }
    }

    #[track_caller]
    fn check(clock: (u64, u64, u64), ticks: u64, expected_ps: Option<i64>) {
        let clock = DeviceClock::new(clock.0, clock.1, clock.2).unwrap();
        assert_eq!(clock.ps_from_ticks(ticks), expected_ps);
    }

    #[test]
    fn ticks_become_picoseconds_rounded_down_on_both_sides_of_the_origin() {
        check((100, 2, 3), 101, Some(1));
        check((100, 2, 3), 102, Some(3));
        check((100, 2, 3), 99, Some(-2));
        check((0, 1024, 1_204_672), 1, Some(1_176));
    }

    #[test]
    fn moments_out_of_range_are_refused() {
        check((0, 1, 1), u64::MAX, None);
        check((u64::MAX, 1, u64::MAX), 0, None);
        check((0, u64::MAX, u64::MAX), 7, Some(7));
    }

    #[test]
    fn a_clock_that_stands_still_is_none() {
        assert_eq!(DeviceClock::new(0, 0, 1), None);
        assert_eq!(DeviceClock::new(0, 1, 0), None);
    }
}
