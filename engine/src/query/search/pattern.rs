//! The search pattern.

use super::needle::{LetterCase, Needle};
use super::pattern_error::PatternError;
use super::regex::Regex;
use crate::codec::ColumnTexts;

/// Syntax of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Syntax {
    /// Plain text.
    #[default]
    Text,
    /// A regular expression in the syntax of the crate `regex`, without look-around and back
    /// references. Search time therefore grows only with the length of the texts.
    Regex,
    /// Words, fields and numbers ([`WordFilter`](crate::query::WordFilter)).
    Query,
}

/// A compiled query. Case matters if a capital letter was typed. In a regular expression only a
/// literal capital letter counts.
#[derive(Debug, Clone)]
pub struct SearchPattern(Compiled);

#[derive(Debug, Clone)]
enum Compiled {
    /// An empty query, which finds nothing.
    Nothing,
    Text(Needle),
    Regex(Box<Regex>),
}

impl SearchPattern {
    /// Compiles a query. An empty query finds nothing.
    ///
    /// ```
    /// use nprof_engine::query::{SearchPattern, Syntax};
    ///
    /// assert!(SearchPattern::new("matmul|conv", Syntax::Regex).is_ok());
    /// let refused = SearchPattern::new("matmul|conv(", Syntax::Regex).unwrap_err();
    /// assert_eq!(refused.at, Some(11));
    /// ```
    ///
    /// # Errors
    /// If the query is not a regular expression, or one that is too large.
    pub fn new(query: &str, syntax: Syntax) -> Result<Self, PatternError> {
        match syntax {
            Syntax::Regex if !query.is_empty() => Ok(Self(Compiled::Regex(Box::new(Regex::new(query)?)))),
            Syntax::Regex | Syntax::Text | Syntax::Query => Ok(Self::text(query)),
        }
    }

    /// A plain-text query. An empty query finds nothing.
    #[must_use]
    pub fn text(query: &str) -> Self {
        if query.is_empty() {
            return Self(Compiled::Nothing);
        }
        Self(Compiled::Text(Needle::new(query, LetterCase::of(query.chars()))))
    }

    pub(super) fn is_nothing(&self) -> bool {
        matches!(self.0, Compiled::Nothing)
    }

    /// Calls `found` with the position of every text that matches, ascending. Stops when
    /// `is_wanted` returns `false`.
    pub(in crate::query) fn for_each_match(
        &self,
        texts: &ColumnTexts,
        is_wanted: impl Fn() -> bool,
        found: impl FnMut(usize),
    ) {
        match &self.0 {
            Compiled::Nothing => {}
            Compiled::Text(needle) => needle.for_each_match(texts, found),
            Compiled::Regex(regex) => regex.for_each_match(texts, is_wanted, found),
        }
    }
}
