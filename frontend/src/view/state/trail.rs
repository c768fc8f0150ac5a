//! Groups changes of the view into steps of the browser's history, and knows which of its entries
//! belong to the open profile. "Undo" and "redo" are the browser's "back" and "forward" among them.
//!
//! Zooms and moves without a rest of [`REST_MS`] between them are one step. The first change of a
//! step creates a new entry at once, so "back" always finds the view before the step. The others
//! rewrite that entry.

use std::fmt;
use std::str::FromStr;

use super::command::History;

/// Length of a rest that ends a step, in milliseconds.
pub const REST_MS: f64 = 800.0;

/// Effect of a change on the browser's history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    /// A new entry.
    New,
    /// The current entry is rewritten.
    Same,
}

/// The place of an entry among those of the page. The browser keeps it beside the address, also
/// over a reload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TrailPlace {
    /// Number of the entry.
    at: u32,
    /// Number of the first entry of the same profile.
    first: u32,
}

impl fmt::Display for TrailPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.at, self.first)
    }
}

impl FromStr for TrailPlace {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (at, first) = text.split_once(' ').ok_or(())?;
        let number = |text: &str| text.parse().map_err(drop);
        Ok(Self { at: number(at)?, first: number(first)? })
    }
}

/// The entries of the page, as far as it made them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Trail {
    place: TrailPlace,
    /// Number of the last entry.
    last: u32,
    /// Time of the last change in the last step, in milliseconds. `None` after a rest.
    changed_ms: Option<f64>,
}

impl Trail {
    /// A trail at an entry. A page that was loaded anew does not know the entries after it.
    #[must_use]
    pub fn at(place: TrailPlace) -> Self {
        Self { place, last: place.at, changed_ms: None }
    }

    /// The place of the current entry.
    #[must_use]
    pub fn place(&self) -> TrailPlace {
        self.place
    }

    /// Records a change at `now_ms`.
    pub fn step(&mut self, history: History, now_ms: f64) -> Entry {
        let is_begun = self.changed_ms.is_some_and(|changed_ms| now_ms - changed_ms < REST_MS);
        let entry = match history {
            History::Replace => return Entry::Same,
            History::Settle if is_begun => Entry::Same,
            History::Push | History::Settle => Entry::New,
        };
        self.changed_ms = Some(now_ms);
        if entry == Entry::New {
            self.push(false);
        }
        entry
    }

    /// Records a new entry, which is of another profile or page if `is_other`.
    pub fn push(&mut self, is_other: bool) {
        self.place.at = self.place.at.saturating_add(1);
        self.last = self.place.at;
        if is_other {
            self.place.first = self.place.at;
        }
    }

    /// Records that the browser went to an entry. One without a place was typed by the user.
    pub fn come_to(&mut self, place: Option<TrailPlace>) {
        self.rest();
        match place {
            Some(place) => self.place = place,
            None => self.push(true),
        }
        self.last = self.last.max(self.place.at);
    }

    /// Returns true if the entry before this one is of the same profile.
    #[must_use]
    pub fn can_undo(&self) -> bool {
        self.place.at > self.place.first
    }

    /// Returns true if there is an entry after this one.
    #[must_use]
    pub fn can_redo(&self) -> bool {
        self.place.at < self.last
    }

    /// Ends the last step, so the next change begins a new one.
    pub fn rest(&mut self) {
        self.changed_ms = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Changes as time and history, with the expected entries.
    #[track_caller]
    fn check(changes: &[(f64, History)], entries: &str) -> Trail {
        let (mut trail, mut made) = (Trail::default(), String::new());
        for (at_ms, history) in changes {
            let entry = trail.step(*history, *at_ms);
            made.push(if entry == Entry::New { 'n' } else { '.' });
        }
        assert_eq!(made, entries);
        trail
    }

    #[test]
    fn changes_without_a_rest_are_one_step() {
        use History::{Push, Replace, Settle};
        check(&[(0.0, Settle), (700.0, Settle), (1_400.0, Settle)], "n..");
        check(&[(0.0, Settle), (800.0, Settle)], "nn");
        check(&[(0.0, Push), (10.0, Push)], "nn");
        check(&[(0.0, Push), (10.0, Settle)], "n.");
        check(&[(0.0, Replace), (1_000.0, Replace), (1_001.0, Settle)], "..n");
    }

    #[test]
    fn undo_and_redo_stay_among_the_entries_of_a_profile() {
        let mut trail = check(&[(0.0, History::Push), (10.0, History::Push)], "nn");
        let ways = |trail: &Trail| (trail.can_undo(), trail.can_redo());
        assert_eq!(ways(&trail), (true, false));
        let after = trail.place();
        trail.come_to(Some(TrailPlace { at: 1, first: 0 }));
        assert_eq!(ways(&trail), (true, true));
        trail.come_to(Some(TrailPlace { at: 0, first: 0 }));
        assert_eq!(ways(&trail), (false, true));
        trail.come_to(Some(after));
        assert_eq!(ways(&trail), (true, false));
        // Another profile.
        trail.push(true);
        assert_eq!(ways(&trail), (false, false));
        // A step after "back" drops what came after.
        trail.come_to(Some(TrailPlace { at: 1, first: 0 }));
        trail.step(History::Push, 5_000.0);
        assert_eq!(ways(&trail), (true, false));
        trail.come_to(None);
        assert_eq!(ways(&trail), (false, false));
    }

    #[test]
    fn a_place_survives_a_reload() {
        let trail = check(&[(0.0, History::Push)], "n");
        let place: TrailPlace = trail.place().to_string().parse().unwrap();
        let anew = Trail::at(place);
        assert_eq!((anew.place(), anew.can_undo(), anew.can_redo()), (trail.place(), true, false));
        for damaged in ["", "1", "x 0", "1 2 3", "-1 0"] {
            assert_eq!(damaged.parse::<TrailPlace>(), Err(()), "{damaged}");
        }
    }
}
