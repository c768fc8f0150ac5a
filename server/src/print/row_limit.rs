//! The most rows of a list in an answer.

use std::str::FromStr;

/// The most rows of a list; `None` for all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowLimit(Option<usize>);

impl FromStr for RowLimit {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        match text {
            "all" => Ok(Self(None)),
            number => {
                number.parse().map(|most| Self(Some(most))).map_err(|_| "a number or `all` is expected")
            }
        }
    }
}

impl RowLimit {
    /// Most rows.
    #[must_use]
    pub fn most(self) -> usize {
        self.0.unwrap_or(usize::MAX)
    }

    /// The rows that are shown.
    pub fn shown<T>(self, rows: &[T]) -> &[T] {
        &rows[..rows.len().min(self.most())]
    }
}
