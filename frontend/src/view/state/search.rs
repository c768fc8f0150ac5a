//! The search.

use nprof_engine::query::{Syntax, WordFilter};

use crate::view::Command;

/// The text and syntax of the search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchState {
    /// The query or pattern. Empty if there is no search.
    pub query: String,
    /// Syntax of the text.
    pub syntax: Syntax,
    /// Whether tracks without hits are left out.
    pub only_hits: bool,
}

impl Default for SearchState {
    fn default() -> Self {
        Self { query: String::new(), syntax: Syntax::Query, only_hits: false }
    }
}

impl SearchState {
    /// A search without a text, as addresses state it that name no syntax.
    pub(in crate::view) const OF_TEXT: Self =
        Self { query: String::new(), syntax: Syntax::Text, only_hits: false };

    /// Whether tracks without hits are left out. Never without a query.
    #[must_use]
    pub fn is_only_hits(&self) -> bool {
        self.only_hits && !self.query.is_empty()
    }

    /// The same search; that for a text as a query.
    pub(in crate::view) fn upgraded(self) -> Self {
        match self.syntax {
            Syntax::Text => {
                Self { query: WordFilter::of_text(&self.query).to_string(), syntax: Syntax::Query, ..self }
            }
            Syntax::Regex | Syntax::Query => self,
        }
    }

    pub(in crate::view) fn apply(&mut self, command: &Command) {
        match command {
            Command::SearchFor(query) => {
                self.query.clone_from(query);
                self.only_hits &= !query.is_empty();
            }
            Command::ShowOnlyHits(only) => self.only_hits = *only && !self.query.is_empty(),
            Command::SearchAs(syntax) => self.syntax = *syntax,
            Command::SearchForText(text) => {
                *self = Self { query: text.clone(), syntax: Syntax::Text, ..*self }.upgraded();
            }
            _ => {}
        }
    }
}
