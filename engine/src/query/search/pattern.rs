//! What is searched for.

use std::fmt;

use super::needle::{Case, Needle};
use super::regex::Regex;
use crate::codec::Texts;

/// How a query is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Syntax {
    /// The text itself.
    #[default]
    Text,
    /// A regular expression in the syntax of the crate `regex`: no look-around, no references back, so that the time to
    /// search grows with the texts and never with what they are made of.
    Regex,
}

/// A query that can be searched for. Case counts where a capital letter was typed; in a regular expression one that
/// stands for itself.
#[derive(Debug, Clone)]
pub struct Pattern(Form);

#[derive(Debug, Clone)]
enum Form {
    /// Nothing is searched for, and nothing is found.
    Nothing,
    Text(Needle),
    Regex(Box<Regex>),
}

/// Why a query is no pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternError {
    /// The character that it is about, counted from 0; `None` where it is the whole.
    pub at: Option<usize>,
    /// What is wrong.
    pub what: String,
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.at {
            Some(at) => write!(f, "the pattern is wrong at character {}: {}", at + 1, self.what),
            None => write!(f, "the pattern cannot be searched: {}", self.what),
        }
    }
}

impl std::error::Error for PatternError {}

impl Pattern {
    /// Reads a query; an empty one finds nothing.
    ///
    /// # Errors
    /// Where it is no regular expression or one that is too large.
    pub fn new(query: &str, syntax: Syntax) -> Result<Self, PatternError> {
        match syntax {
            Syntax::Regex if !query.is_empty() => Ok(Self(Form::Regex(Box::new(Regex::new(query)?)))),
            Syntax::Regex | Syntax::Text => Ok(Self::text(query)),
        }
    }

    /// The text itself; an empty one finds nothing.
    #[must_use]
    pub fn text(query: &str) -> Self {
        if query.is_empty() {
            return Self(Form::Nothing);
        }
        Self(Form::Text(Needle::new(query, Case::of(query.chars()))))
    }

    pub(super) fn is_nothing(&self) -> bool {
        matches!(self.0, Form::Nothing)
    }

    /// Calls `found` with the position of every text that matches, ascending. Gives up where `is_wanted` says no.
    pub(super) fn for_each_match(
        &self,
        texts: &Texts,
        is_wanted: impl Fn() -> bool,
        found: impl FnMut(usize),
    ) {
        match &self.0 {
            Form::Nothing => {}
            Form::Text(needle) => needle.for_each_match(texts, found),
            Form::Regex(regex) => regex.for_each_match(texts, is_wanted, found),
        }
    }
}
