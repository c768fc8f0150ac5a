//! Cancellation. Whoever does long work asks often; whoever wants it cancelled decides why.

use std::fmt;

use crate::base::{Error, Result};

/// Asks whether work is still wanted. Asking must be cheap.
#[derive(Clone, Copy)]
pub struct Cancel<'a>(&'a (dyn Fn() -> bool + Sync));

impl<'a> Cancel<'a> {
    /// For work that nobody cancels.
    pub const NEVER: Cancel<'static> = Cancel(&|| false);

    /// Cancels the work as soon as `is_cancelled` says so.
    #[must_use]
    pub fn when(is_cancelled: &'a (dyn Fn() -> bool + Sync)) -> Self {
        Self(is_cancelled)
    }

    /// Whether the work is wanted no more.
    #[must_use]
    pub fn is_cancelled(self) -> bool {
        (self.0)()
    }

    /// Ends the work if it is wanted no more.
    ///
    /// # Errors
    /// `Cancelled` then.
    pub fn check(self) -> Result<()> {
        if self.is_cancelled() { Err(Error::Cancelled) } else { Ok(()) }
    }
}

impl fmt::Debug for Cancel<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Cancel")
    }
}
