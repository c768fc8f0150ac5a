//! The failure of a condition that has no meaning.

/// Exit code: as for other wrong usage.
pub(super) const EXIT_CODE: u8 = 2;

/// Text about a condition that has no meaning, such as one of an unknown metric.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct WrongCondition(pub(super) String);
