//! Times of events as numbers: picoseconds on the trace's own clock.

use super::number::{BadTime, ps_from_us};
use super::tokens::{Raw, ValueKind};

/// Reason why an event has no time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoTime {
    /// The timestamp is missing.
    Missing,
    /// The timestamp is no number.
    NotANumber,
    /// The timestamp is too far from the others.
    OutOfRange,
}

impl NoTime {
    /// Text of the fault in `ts`.
    pub(super) fn of_ts(self) -> &'static str {
        match self {
            Self::Missing => "`ts` is missing",
            Self::NotANumber => "`ts` is not a number",
            Self::OutOfRange => "`ts` is more than 106 days from the other events",
        }
    }
}

/// A duration in picoseconds, within the range of `i64`.
pub(super) fn duration(raw: Raw, bytes: &[u8]) -> Result<i64, NoTime> {
    i64::try_from(number(raw, bytes)?).map_err(|_| NoTime::OutOfRange)
}

/// Converts microseconds as text to picoseconds.
pub(super) fn number(raw: Raw, bytes: &[u8]) -> Result<i128, NoTime> {
    let text = match raw.kind() {
        ValueKind::Absent | ValueKind::Null => return Err(NoTime::Missing),
        ValueKind::Number => raw.of(bytes),
        ValueKind::Text | ValueKind::Escaped => raw.of(bytes).trim_ascii(),
        _ => return Err(NoTime::NotANumber),
    };
    ps_from_us(text).map_err(|bad| match bad {
        BadTime::NotANumber => NoTime::NotANumber,
        BadTime::OutOfRange => NoTime::OutOfRange,
    })
}
