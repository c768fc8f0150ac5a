//! The current row of a table and the rows marked for a copy.

use leptos::prelude::*;

/// Places of rows in the shown order.
#[derive(Debug, Clone, Copy)]
pub struct MarkedRows {
    /// The current row and the other end of the marked ones.
    ends: RwSignal<Option<(u32, u32)>>,
}

impl MarkedRows {
    /// No row.
    #[must_use]
    pub fn new() -> Self {
        Self { ends: RwSignal::new(None) }
    }

    /// The current row.
    #[must_use]
    pub fn current(self) -> Option<u32> {
        self.ends.get().map(|(current, _)| current)
    }

    /// Whether a row is marked.
    #[must_use]
    pub fn has(self, place: u32) -> bool {
        self.ends.get().is_some_and(|(a, b)| (a.min(b)..=a.max(b)).contains(&place))
    }

    /// First and last marked row.
    #[must_use]
    pub fn span(self) -> Option<(u32, u32)> {
        self.ends.get().map(|(a, b)| (a.min(b), a.max(b)))
    }

    /// Makes a row the current one. With `extends`, all rows between stay marked.
    pub fn go(self, place: u32, extends: bool) {
        self.ends.update(|ends| {
            let other = ends.filter(|_| extends).map_or(place, |(_, other)| other);
            *ends = Some((place, other));
        });
    }

    /// Forgets all rows.
    pub fn clear(self) {
        self.ends.set(None);
    }
}

impl Default for MarkedRows {
    fn default() -> Self {
        Self::new()
    }
}
