//! A condition of `--fail-on` that holds.

/// Exit code: the command worked, and what it found breaks a limit of the user.
pub(super) const EXIT_CODE: u8 = 3;

/// Text about the broken limits.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Failing(pub(super) String);
