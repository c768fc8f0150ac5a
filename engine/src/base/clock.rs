//! The clock of a rank: a map from the rank's own times to the time that all ranks share.
//!
//! Both directions are exact integer arithmetic, so every program computes the same times.

use super::error::{Error, Result};
use super::time::{Interval, Time};

/// Parts per billion in 1.
const BILLION: i128 = 1_000_000_000;

/// A map from a rank's local times to shared times, and its accuracy.
///
/// `shared = at + offset + floor((local - at) * (1 + drift))`. Results outside of `i64` are
/// clamped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ClockFit {
    at_ps: i64,
    offset_ps: i64,
    drift_ppb: i32,
    bound_ps: Option<u64>,
}

impl ClockFit {
    /// Largest drift in both directions: 10 %. Crystals drift by less than 0.1 %. Below -100 %
    /// time would run backwards.
    pub const MAX_DRIFT_PPB: i32 = 100_000_000;

    /// A clock that is `offset_ps` behind the shared time at the local time `at_ps`, and falls
    /// behind by further `drift_ppb` nanoseconds in each second. `bound_ps` is the largest possible
    /// error of a shared time; `None` if it is not known.
    ///
    /// # Errors
    /// `Invalid` if the drift is larger than [`Self::MAX_DRIFT_PPB`].
    pub fn new(at_ps: i64, offset_ps: i64, drift_ppb: i32, bound_ps: Option<u64>) -> Result<Self> {
        if drift_ppb.unsigned_abs() > Self::MAX_DRIFT_PPB.unsigned_abs() {
            return Err(Error::Invalid { what: "the drift of a clock is at most 10 %" });
        }
        Ok(Self { at_ps, offset_ps, drift_ppb, bound_ps })
    }

    /// Local time at which the offset was taken, in picoseconds.
    #[must_use]
    pub fn at_ps(&self) -> i64 {
        self.at_ps
    }

    /// Picoseconds from local to shared time at [`Self::at_ps`].
    #[must_use]
    pub fn offset_ps(&self) -> i64 {
        self.offset_ps
    }

    /// Growth of the offset in nanoseconds per second.
    #[must_use]
    pub fn drift_ppb(&self) -> i32 {
        self.drift_ppb
    }

    /// Largest possible error of a shared time in picoseconds, if known.
    #[must_use]
    pub fn bound_ps(&self) -> Option<u64> {
        self.bound_ps
    }

    /// The same clock for local times to which `by_ps` was added. Shared times stay as they are.
    #[must_use]
    pub fn of_moved(self, by_ps: i64) -> Self {
        let (at_ps, offset_ps) = (self.at_ps.saturating_add(by_ps), self.offset_ps.saturating_sub(by_ps));
        Self { at_ps, offset_ps, ..self }
    }

    /// The shared time of a local time, rounded down to a picosecond. Never descending: what nests
    /// or follows in local time does so in shared time.
    #[must_use]
    pub fn to_shared(&self, local: Time) -> Time {
        if self.drift_ppb == 0 {
            return Time(local.0.saturating_add(self.offset_ps));
        }
        let since = i128::from(local.0) - i128::from(self.at_ps);
        let elapsed = (since * self.rate()).div_euclid(BILLION);
        clamped(elapsed + i128::from(self.at_ps) + i128::from(self.offset_ps))
    }

    /// The first local time whose shared time is this one or later.
    #[must_use]
    pub fn to_local(&self, shared: Time) -> Time {
        if self.drift_ppb == 0 {
            return Time(shared.0.saturating_sub(self.offset_ps));
        }
        let elapsed = i128::from(shared.0) - i128::from(self.at_ps) - i128::from(self.offset_ps);
        // A division that rounds up.
        let since = -(-elapsed * BILLION).div_euclid(self.rate());
        clamped(since + i128::from(self.at_ps))
    }

    /// The local times whose shared times lie in this span.
    #[must_use]
    pub fn to_local_span(&self, shared: Interval) -> Interval {
        Interval::new(self.to_local(shared.start).0, self.to_local(shared.end).0)
    }

    /// Shared nanoseconds in a local second. Positive, because the drift is limited.
    fn rate(&self) -> i128 {
        BILLION + i128::from(self.drift_ppb)
    }
}

fn clamped(ps: i128) -> Time {
    let ps = ps.clamp(i128::from(i64::MIN), i128::from(i64::MAX));
    Time(i64::try_from(ps).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Times of traces: 53 days on both sides of zero.
    const DAYS: i64 = 1 << 62;

    fn clocks(most_ps: i64) -> impl Strategy<Value = ClockFit> {
        let drift =
            prop_oneof![Just(0), -50_000..=50_000, -ClockFit::MAX_DRIFT_PPB..=ClockFit::MAX_DRIFT_PPB];
        let times = -most_ps..=most_ps;
        (times.clone(), times, drift)
            .prop_map(|(at, offset, drift)| ClockFit::new(at, offset, drift, None).unwrap())
    }

    fn any_clock() -> impl Strategy<Value = ClockFit> {
        let times = || prop_oneof![Just(i64::MIN), Just(i64::MAX), any::<i64>()];
        let drift = -ClockFit::MAX_DRIFT_PPB..=ClockFit::MAX_DRIFT_PPB;
        (times(), times(), drift)
            .prop_map(|(at, offset, drift)| ClockFit::new(at, offset, drift, None).unwrap())
    }

    proptest! {
        #[test]
        fn both_directions_agree_to_the_picosecond(
            clock in clocks(DAYS / 8),
            local in -DAYS / 4..DAYS / 4,
            near in -3_i64..=3,
        ) {
            let shared = clock.to_shared(Time(local));
            for near in [shared.0 + near, local] {
                // One time is later than the other on both clocks or on none.
                prop_assert_eq!(Time(local) >= clock.to_local(Time(near)), shared >= Time(near));
            }
            let back = clock.to_local(shared);
            prop_assert!(back <= Time(local) && local - back.0 <= 1);
            prop_assert!(clock.drift_ppb < 0 || back == Time(local), "no two times are one on a faster clock");
            let again = clock.to_shared(clock.to_local(Time(local)));
            prop_assert!(again >= Time(local) && again.0 - local <= 1);
        }

        #[test]
        fn a_clock_of_moved_times_tells_the_same(
            clock in clocks(DAYS / 8),
            local in -DAYS / 4..DAYS / 4,
            by_ps in -DAYS / 8..DAYS / 8,
        ) {
            prop_assert_eq!(clock.of_moved(by_ps).to_shared(Time(local + by_ps)), clock.to_shared(Time(local)));
            prop_assert_eq!(clock.of_moved(by_ps).of_moved(-by_ps), clock);
        }

        #[test]
        fn time_never_runs_backwards(clock in any_clock(), a in any::<i64>(), b in any::<i64>()) {
            let (first, second) = (Time(a.min(b)), Time(a.max(b)));
            prop_assert!(clock.to_shared(first) <= clock.to_shared(second));
            prop_assert!(clock.to_local(first) <= clock.to_local(second));
        }

        #[test]
        fn a_span_has_the_local_times_whose_shared_times_it_has(
            clock in clocks(1_000_000),
            (start, length) in (-5_000_i64..5_000, 0_i64..5_000),
            local in -2_000_000_i64..2_000_000,
        ) {
            let shared = Interval::new(start, start + length);
            let span = clock.to_local_span(shared);
            let time = clock.to_shared(Time(local));
            let is_inside = shared.start <= time && time < shared.end;
            prop_assert_eq!(span.start <= Time(local) && Time(local) < span.end, is_inside);
        }
    }

    #[test]
    fn an_offset_is_added_and_a_drift_grows_from_its_time() {
        let same = ClockFit::default();
        assert_eq!((same.to_shared(Time(-7)), same.to_local(Time(-7))), (Time(-7), Time(-7)));
        let late = ClockFit::new(1_000, 12, 500_000, None).unwrap();
        assert_eq!(late.to_shared(Time(1_000)), Time(1_012));
        // 0.05 % of two thousand picoseconds, and one more picosecond before them.
        assert_eq!(late.to_shared(Time(3_000)), Time(3_013));
        assert_eq!(late.to_shared(Time(-1_000)), Time(-989));
        assert_eq!(late.to_local(Time(3_013)), Time(3_000));
    }

    #[test]
    fn extreme_times_are_clamped_and_extreme_drifts_are_refused() {
        for drift in [ClockFit::MAX_DRIFT_PPB, -ClockFit::MAX_DRIFT_PPB] {
            let clock = ClockFit::new(i64::MIN, i64::MAX, drift, None).unwrap();
            assert_eq!(clock.to_shared(Time(i64::MAX)), Time(i64::MAX));
            assert_eq!(clock.to_local(Time(i64::MIN)), Time(i64::MIN));
        }
        for drift in [i32::MIN, -1_000_000_000, ClockFit::MAX_DRIFT_PPB + 1, i32::MAX] {
            assert!(matches!(ClockFit::new(0, 0, drift, None), Err(Error::Invalid { .. })), "{drift}");
        }
    }
}
