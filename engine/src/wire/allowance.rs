//! The memory that one answer may take.
//!
//! An answer repeats a name for each row that has it, and a name can be long. So the parts of an
//! answer whose number or length a trace decides take their bytes here before they are made.

use std::cell::Cell;

use crate::base::{Error, Result};

/// Bytes of an answer in memory, before it is encoded.
pub const MAX_ANSWER_BYTES: usize = 128 << 20;

/// Error of an answer that would take more.
pub const TOO_LARGE: Error = Error::Invalid {
    what: "the answer would take more than 128 MiB; ask for fewer rows, a shorter span or fewer tracks",
};

/// Bytes that are left for an answer.
#[derive(Debug)]
pub struct AnswerAllowance(Cell<usize>);

impl AnswerAllowance {
    /// The bytes of a whole answer.
    #[must_use]
    pub fn of_answer() -> Self {
        Self(Cell::new(MAX_ANSWER_BYTES))
    }

    /// Takes bytes.
    ///
    /// # Errors
    /// [`TOO_LARGE`] if fewer are left.
    pub fn take(&self, bytes: usize) -> Result<()> {
        self.0.set(self.0.get().checked_sub(bytes).ok_or(TOO_LARGE)?);
        Ok(())
    }

    /// Takes the bytes of a text, and returns a copy of the text.
    ///
    /// # Errors
    /// [`TOO_LARGE`] if fewer are left.
    pub fn text(&self, text: &str) -> Result<String> {
        self.take(text.len() + size_of::<String>())?;
        Ok(text.to_owned())
    }

    /// Number of entries of `each` bytes that fit.
    #[must_use]
    pub fn fitting(&self, each: usize) -> usize {
        self.0.get() / each.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_taken_than_was_left() {
        let left = AnswerAllowance::of_answer();
        assert_eq!(left.fitting(64), MAX_ANSWER_BYTES / 64);
        assert_eq!(left.take(MAX_ANSWER_BYTES - 30), Ok(()));
        assert_eq!(left.text("seventh"), Err(TOO_LARGE), "with the text's own 24 bytes");
        assert_eq!(left.text("sixths").as_deref(), Ok("sixths"));
        assert_eq!(left.take(1), Err(TOO_LARGE));
        assert_eq!(left.fitting(1), 0);
    }
}
