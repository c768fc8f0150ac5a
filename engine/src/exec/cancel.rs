//! Cancellation. Long work checks often whether its caller has cancelled it.

use std::fmt;

use crate::base::{Error, Result};

/// Tells whether work is cancelled. The check must be cheap.
#[derive(Clone, Copy)]
pub struct Cancel<'a>(&'a (dyn Fn() -> bool + Sync));

impl<'a> Cancel<'a> {
    /// Never cancelled.
    pub const NEVER: Cancel<'static> = Cancel(&|| false);

    /// Cancels the work as soon as `is_cancelled` returns `true`.
    #[must_use]
    pub fn when(is_cancelled: &'a (dyn Fn() -> bool + Sync)) -> Self {
        Self(is_cancelled)
    }

    /// Whether the work is cancelled.
    #[must_use]
    pub fn is_cancelled(self) -> bool {
        (self.0)()
    }

    /// Returns an error if the work is cancelled.
    pub fn check(self) -> Result<()> {
        if self.is_cancelled() { Err(Error::Cancelled) } else { Ok(()) }
    }
}

impl fmt::Debug for Cancel<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Cancel")
    }
}
