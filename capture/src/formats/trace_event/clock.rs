//! Times of events: timestamps as picoseconds since the origin.

use super::beginning::beginning;
use super::time::{NoTime, number};
use super::tokens::Raw;
use crate::origin::{Origin, origins};

/// Times in this range of picoseconds since 1970 (the years 2001 to 2128) count as wall clock. No
/// machine is up that long.
pub(in crate::formats) const EPOCH_PS: std::ops::Range<i128> =
    1_000_000_000_000_000_000_000..5_000_000_000_000_000_000_000;

/// The trace's clock, and its origin once known.
#[derive(Debug)]
pub(super) struct TraceClock {
    origin: Option<Origin>,
    /// Time in picoseconds that is added to the times of the current file.
    shift_ps: i128,
}

impl TraceClock {
    /// A clock with the origin that the ranks of a profile share; `None` for a trace that is alone.
    pub(super) fn new(origin: Option<Origin>) -> Self {
        Self { origin, shift_ps: 0 }
    }

    /// Chooses the origin from the first bytes of the trace, if there is none yet. If they have no
    /// timestamp, the first event decides.
    pub(super) fn begin(&mut self, head: &[u8]) {
        if self.origin.is_none() {
            self.origin = origins(&[beginning(head)])[0];
        }
    }

    /// Adds a time in picoseconds to the times that follow.
    pub(super) fn shift_by(&mut self, ps: i128) {
        self.shift_ps = ps;
    }

    /// The origin, once it is known.
    pub(super) fn origin(&self) -> Option<Origin> {
        self.origin
    }

    /// A timestamp as picoseconds since the origin.
    pub(super) fn time(&mut self, raw: Raw, bytes: &[u8]) -> Result<i64, NoTime> {
        let ps = number(raw, bytes)?;
        let origin = self.origin.get_or_insert_with(|| Origin::of_first(ps));
        let shifted = ps.checked_add(self.shift_ps).and_then(|ps| ps.checked_sub(origin.ps()));
        i64::try_from(shifted.ok_or(NoTime::OutOfRange)?).map_err(|_| NoTime::OutOfRange)
    }

    /// Wall clock of time zero in Unix nanoseconds, if known. `base_ns` is the wall clock of the
    /// trace's own zero.
    pub(super) fn origin_unix_ns(&self, base_ns: Option<i64>) -> Option<i64> {
        let origin_ps = self.origin.map_or(0, Origin::ps);
        if base_ns.is_none() && !EPOCH_PS.contains(&origin_ps) {
            return None;
        }
        i64::try_from(origin_ps.div_euclid(1000) + i128::from(base_ns.unwrap_or(0))).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tokens::{Tail, Tokens};
    use super::*;

    /// Checks the time of a value, with the origin chosen by `first`.
    #[track_caller]
    fn check(first: &str, value: &str, expected: Result<i64, NoTime>) -> TraceClock {
        let mut clock = TraceClock::new(None);
        clock.begin(first.as_bytes());
        let raw = Tokens::new(value.as_bytes(), Tail::Closed).value().unwrap();
        assert_eq!(clock.time(raw, value.as_bytes()), expected, "{value}");
        clock
    }

    #[test]
    fn times_near_zero_are_as_they_are() {
        let clock = check("", "1.5", Ok(1_500_000));
        assert_eq!(clock.origin_unix_ns(None), None);
        assert_eq!(clock.origin_unix_ns(Some(7)), Some(7));
        check(r#""ts": -3"#, "-7.25", Ok(-7_250_000));
        check("", r#"" 9.5 ""#, Ok(9_500_000));
    }

    #[test]
    fn epoch_times_count_from_the_first_event() {
        let clock = check("", "1712195495520833.313", Ok(0));
        assert_eq!(clock.origin_unix_ns(None), Some(1_712_195_495_520_833_313));
        // The wall clock has whole nanoseconds only. Picoseconds stay exact.
        let clock = check("", "1712195495520833.313207", Ok(207));
        assert_eq!(clock.origin_unix_ns(None), Some(1_712_195_495_520_833_313));
    }

    #[test]
    fn a_machine_that_is_up_for_days_counts_from_the_first_event() {
        let head = r#"{"ts":86399999999.5},{"ts":86400000000.25}"#;
        let clock = check(head, "86400000000.25", Ok(750_000));
        assert_eq!(clock.origin_unix_ns(None), None);
        check(head, "86399999990.5", Ok(-9_000_000));
    }

    #[test]
    fn a_stray_time_does_not_choose_the_origin() {
        let first = r#"{"ts":0} {"ts":0} {"ts":7} {"ts":1712195495520833} {"ts" : "1712195495520834"}"#;
        check(first, "7", Err(NoTime::OutOfRange));
        check(first, "1712195495520833", Ok(0));
    }

    #[test]
    fn what_is_no_time_says_so() {
        check("", "null", Err(NoTime::Missing));
        check("", "NaN", Err(NoTime::NotANumber));
        check("", "[1]", Err(NoTime::NotANumber));
        check("", "1e99", Err(NoTime::OutOfRange));
        check(r#""ts":1,"#, "1e13", Err(NoTime::OutOfRange));
        check(r#""ts":1e32,"#, "-1e32", Err(NoTime::OutOfRange));
    }
}
