//! Writes an address from the template of its path.

use std::fmt::{self, Write};

use super::doc::ParameterPlace;

/// An address that is being written.
#[derive(Debug)]
pub struct Address {
    text: String,
    /// The part of the template that is not written yet.
    left: &'static str,
    has_query: bool,
}

impl Address {
    /// The address with this template of its path.
    #[must_use]
    pub fn new(template: &'static str) -> Self {
        Self { text: String::with_capacity(2 * template.len()), left: template, has_query: false }
    }

    /// Writes a parameter. Those of the path come in the order of the template, and before those of
    /// the query. The value has no character that a URL escapes.
    pub fn push(&mut self, place: ParameterPlace, name: &str, value: impl fmt::Display) {
        match place {
            ParameterPlace::Path => self.fill(name),
            ParameterPlace::Query => {
                self.text.push_str(std::mem::take(&mut self.left));
                self.text.push(if self.has_query { '&' } else { '?' });
                self.text.push_str(name);
                self.text.push('=');
                self.has_query = true;
            }
        }
        // Writing to a string cannot fail.
        let _ = write!(self.text, "{value}");
    }

    /// Writes the template up to its next parameter, which has this name.
    fn fill(&mut self, name: &str) {
        let (before, rest) = self.left.split_once('{').unwrap_or((self.left, ""));
        let (expected, after) = rest.split_once('}').unwrap_or_default();
        debug_assert_eq!(expected, name, "parameters stand in the order of the template");
        self.text.push_str(before);
        self.left = after;
    }

    /// Path and query, relative to the server.
    #[must_use]
    pub fn finish(mut self) -> String {
        self.text.push_str(self.left);
        self.text
    }
}
