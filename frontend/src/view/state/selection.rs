//! The selection: a slice or a counter, and a span.

use nprof_engine::base::Interval;

use crate::view::{Command, Reading};

/// The selection. A slice and a counter exclude each other.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SelectionState {
    /// Row of the selected slice in the current rank.
    pub row: Option<u32>,
    /// The counter that is read instead of a selected slice.
    pub reading: Option<Reading>,
    /// A span that the user marked to ask for its statistics.
    pub marked: Option<Interval>,
    /// The name of the slice whose span is marked.
    pub marked_slice: Option<String>,
    /// Whether only the hits of the search are added up.
    pub of_hits: bool,
}

impl SelectionState {
    /// Returns true if neither a slice nor a counter is selected.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.row.is_none() && self.reading.is_none()
    }

    /// Moves the marked span and the time of the reading.
    pub(in crate::view) fn move_times(&mut self, moved: impl Fn(i64) -> i64) {
        self.marked = self.marked.map(|span| Interval::new(moved(span.start.0), moved(span.end.0)));
        if let Some(reading) = &mut self.reading {
            reading.time_ps = moved(reading.time_ps);
        }
    }

    pub(in crate::view) fn apply(&mut self, command: &Command) {
        match command {
            Command::Select(row) => (self.row, self.reading) = (*row, None),
            Command::Read(reading) => (self.row, self.reading) = (None, Some(reading.clone())),
            Command::Reveal { row, .. } | Command::Step { row, .. } => {
                (self.row, self.reading) = (Some(*row), None);
            }
            Command::Mark(span) => (self.marked, self.marked_slice) = (*span, None),
            Command::MarkSlice { span, name } => {
                (self.marked, self.marked_slice) =
                    (Some(*span), Some(name.clone()).filter(|name| !name.is_empty()));
            }
            Command::SumOnlyHits(of_hits) => self.of_hits = *of_hits,
            // Rows and counters of the previous rank mean nothing in the next one.
            Command::OpenRank(_) | Command::InRank { .. } => (self.row, self.reading) = (None, None),
            _ => {}
        }
    }
}
