//! Where time zero is: an origin that makes all times of the trace fit 64 bits of picoseconds.
//!
//! Times are microseconds since anything: the trace's start, the machine's, 1970. Those of half a range or more from
//! zero, such as all epoch times, are counted from a midnight (a multiple of whole days) instead. A day, so that the
//! ranks of a job, and the processes of a machine, nearly always get the same one even where the trace does not say
//! what its clock is.

use super::number::{BadTime, ps_from_us};
use super::tokens::{Kind, Raw, Tail, Tokens};

const PS_PER_DAY: i128 = 86_400 * 1_000_000_000_000;

/// Beyond this a time is not counted from the trace's own zero.
const FAR_PS: i128 = 1 << 62;

/// Times in these microseconds since 1970 (the years 2001 to 2128) are taken for wall clock: a machine is not up that long.
const EPOCH_PS: std::ops::Range<i128> = 1_000_000_000_000_000_000_000..5_000_000_000_000_000_000_000;

/// At most this many timestamps are looked at to choose the origin.
const GUESS_COUNT: usize = 1000;

/// Why an event has no time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoTime {
    /// There is none.
    Missing,
    /// It is no number.
    NotANumber,
    /// It is too far from the others.
    OutOfRange,
}

impl NoTime {
    /// What is wrong with `ts`.
    pub(super) fn of_ts(self) -> &'static str {
        match self {
            Self::Missing => "`ts` is missing",
            Self::NotANumber => "`ts` is no number",
            Self::OutOfRange => "`ts` is more than 106 days from the other events",
        }
    }
}

/// The origin, once it is known.
#[derive(Debug, Default)]
pub(super) struct Clock {
    origin_ps: Option<i128>,
}

impl Clock {
    /// Chooses the origin from the first bytes of a trace: the median of its timestamps, so that a stray one does no
    /// harm. Zeros do not count, as metadata events have them. Without any the first event decides.
    pub(super) fn guess(&mut self, bytes: &[u8]) {
        let mut times: Vec<i128> = memchr::memmem::find_iter(bytes, b"\"ts\"")
            .filter_map(|at| time_after_key(&bytes[at..]))
            .filter(|&ps| ps != 0)
            .take(GUESS_COUNT)
            .collect();
        if times.is_empty() {
            return;
        }
        let middle = (times.len() - 1) / 2;
        let (_, &mut median, _) = times.select_nth_unstable(middle);
        self.origin_ps = Some(origin_for(median));
    }

    /// A timestamp as picoseconds since the origin.
    pub(super) fn time(&mut self, raw: Raw, bytes: &[u8]) -> Result<i64, NoTime> {
        let ps = number(raw, bytes)?;
        let origin = *self.origin_ps.get_or_insert_with(|| origin_for(ps));
        i64::try_from(ps - origin).map_err(|_| NoTime::OutOfRange)
    }

    /// The wall clock of time zero in Unix nanoseconds, where it is known: `base_ns` is that of the trace's own zero.
    pub(super) fn origin_unix_ns(&self, base_ns: Option<i64>) -> Option<i64> {
        let origin_ps = self.origin_ps.unwrap_or(0);
        if base_ns.is_none() && !EPOCH_PS.contains(&origin_ps) {
            return None;
        }
        i64::try_from(origin_ps / 1000 + i128::from(base_ns.unwrap_or(0))).ok()
    }
}

/// A length of time in picoseconds; no longer than the range.
pub(super) fn duration(raw: Raw, bytes: &[u8]) -> Result<i64, NoTime> {
    i64::try_from(number(raw, bytes)?).map_err(|_| NoTime::OutOfRange)
}

fn number(raw: Raw, bytes: &[u8]) -> Result<i128, NoTime> {
    let text = match raw.kind() {
        Kind::Absent | Kind::Null => return Err(NoTime::Missing),
        Kind::Number => raw.of(bytes),
        Kind::Text | Kind::Escaped => raw.of(bytes).trim_ascii(),
        _ => return Err(NoTime::NotANumber),
    };
    ps_from_us(text).map_err(|bad| match bad {
        BadTime::NotANumber => NoTime::NotANumber,
        BadTime::OutOfRange => NoTime::OutOfRange,
    })
}

fn origin_for(ps: i128) -> i128 {
    if ps.abs() < FAR_PS { 0 } else { ps.div_euclid(PS_PER_DAY) * PS_PER_DAY }
}

/// The number in `"ts": number …`.
fn time_after_key(bytes: &[u8]) -> Option<i128> {
    let mut tokens = Tokens::new(bytes, Tail::Open);
    tokens.key().ok()?;
    number(tokens.value().ok()?, bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The times of a text of values, with the origin guessed from `first`.
    #[track_caller]
    fn check(first: &str, value: &str, expected: Result<i64, NoTime>) -> Clock {
        let mut clock = Clock::default();
        clock.guess(first.as_bytes());
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
    fn epoch_times_count_from_midnight() {
        // 2024-04-04 01:51:35.520833313 UTC.
        let clock = check("", "1712195495520833.313", Ok(6_695_520_833_313_000));
        assert_eq!(clock.origin_unix_ns(None), Some(1_712_188_800_000_000_000));
    }

    #[test]
    fn a_stray_time_does_not_choose_the_origin() {
        let first = r#"{"ts":0} {"ts":0} {"ts":7} {"ts":1712195495520833} {"ts" : "1712195495520834"}"#;
        check(first, "7", Err(NoTime::OutOfRange));
        check(first, "1712195495520833", Ok(6_695_520_833_000_000));
    }

    #[test]
    fn what_is_no_time_says_so() {
        check("", "null", Err(NoTime::Missing));
        check("", "NaN", Err(NoTime::NotANumber));
        check("", "[1]", Err(NoTime::NotANumber));
        check("", "1e99", Err(NoTime::OutOfRange));
        check(r#""ts":1,"#, "1e13", Err(NoTime::OutOfRange));
    }
}
