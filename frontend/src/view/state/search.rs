//! The search.

use nprof_engine::query::Syntax;

use crate::view::Command;

/// The text and syntax of the search.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SearchState {
    /// The text or pattern. Empty if there is no search.
    pub query: String,
    /// Syntax of the text.
    pub syntax: Syntax,
}

impl SearchState {
    pub(in crate::view) fn apply(&mut self, command: &Command) {
        match command {
            Command::SearchFor(query) => self.query.clone_from(query),
            Command::SearchAs(syntax) => self.syntax = *syntax,
            _ => {}
        }
    }
}
