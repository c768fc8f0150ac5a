//! Groups changes of the view into steps of the browser's history, and remembers windows for
//! "undo".
//!
//! Zooms and moves without a rest of [`REST_MS`] between them are one step. The first change of a
//! step creates a new entry at once, so "back" always finds the view before the step. The others
//! rewrite that entry.

use nprof_engine::base::Interval;

use super::command::History;

/// Length of a rest that ends a step, in milliseconds.
pub const REST_MS: f64 = 800.0;
/// Limit of remembered windows.
const MOST_WINDOWS: usize = 100;

/// A view's window: `None` is the whole profile.
type Window = Option<Interval>;

/// Effect of a change on the browser's history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    /// A new entry.
    New,
    /// The current entry is rewritten.
    Same,
}

/// The history of one profile's window.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Trail {
    /// The window before each step that changed it.
    before: Vec<Window>,
    /// Time of the last change in the last step, in milliseconds. `None` after a rest.
    changed_ms: Option<f64>,
    /// True if the window before the last step is remembered.
    is_remembered: bool,
}

impl Trail {
    /// Records a change of the window from `before` to `after` at `now_ms`. Other changes have
    /// equal windows.
    pub fn step(&mut self, history: History, before: Window, after: Window, now_ms: f64) -> Entry {
        let is_begun = self.changed_ms.is_some_and(|changed_ms| now_ms - changed_ms < REST_MS);
        let entry = match history {
            History::Replace => return Entry::Same,
            History::Settle if is_begun => Entry::Same,
            History::Push | History::Settle => Entry::New,
        };
        self.changed_ms = Some(now_ms);
        self.is_remembered &= entry == Entry::Same;
        if before != after && !std::mem::replace(&mut self.is_remembered, true) {
            if self.before.len() == MOST_WINDOWS {
                self.before.remove(0);
            }
            self.before.push(before);
        }
        entry
    }

    /// The window before the last zoom that differs from the shown one. It is removed from the
    /// history.
    pub fn undo(&mut self, shown: Window) -> Option<Window> {
        self.rest();
        while let Some(before) = self.before.pop() {
            if before != shown {
                return Some(before);
            }
        }
        None
    }

    /// Returns true if a window before the shown one is remembered.
    #[must_use]
    pub fn can_undo(&self, shown: Window) -> bool {
        self.before.iter().any(|before| *before != shown)
    }

    /// Ends the last step, so the next change begins a new one.
    pub fn rest(&mut self) {
        self.changed_ms = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(number: i64) -> Window {
        (number > 0).then(|| Interval::new(number, number + 1_000))
    }

    /// Changes as time, history and number of the window afterwards, with the expected entries.
    #[track_caller]
    fn check(changes: &[(f64, History, i64)], entries: &str) -> (Trail, Window) {
        let (mut trail, mut now, mut made) = (Trail::default(), None, String::new());
        for (at_ms, history, number) in changes {
            let entry = trail.step(*history, now, window(*number), *at_ms);
            now = window(*number);
            made.push(if entry == Entry::New { 'n' } else { '.' });
        }
        assert_eq!(made, entries);
        (trail, now)
    }

    #[test]
    fn changes_without_a_rest_are_one_step() {
        use History::{Push, Replace, Settle};
        check(&[(0.0, Settle, 1), (700.0, Settle, 2), (1_400.0, Settle, 3)], "n..");
        check(&[(0.0, Settle, 1), (800.0, Settle, 2)], "nn");
        check(&[(0.0, Push, 1), (10.0, Push, 2)], "nn");
        check(&[(0.0, Push, 0), (10.0, Settle, 2)], "n.");
        check(&[(0.0, Replace, 1), (1_000.0, Replace, 2), (1_001.0, Settle, 3)], "..n");
    }

    #[test]
    fn undo_goes_back_step_by_step() {
        use History::{Push, Replace, Settle};
        let steps = [(0.0, Settle, 1), (5.0, Settle, 2), (2_000.0, Push, 3), (4_000.0, Replace, 4)];
        let (mut trail, now) = check(&steps, "n.n.");
        assert!(trail.can_undo(now));
        assert_eq!(trail.undo(now), Some(window(2)));
        assert_eq!(trail.undo(window(2)), Some(None));
        assert!(!trail.can_undo(None));
        assert_eq!(trail.undo(None), None);
    }

    #[test]
    fn a_zoom_to_what_was_just_selected_can_be_undone() {
        let (mut trail, now) = check(&[(0.0, History::Push, 0), (200.0, History::Settle, 5)], "n.");
        assert_eq!(trail.undo(now), Some(None));
    }

    #[test]
    fn windows_that_are_shown_already_are_passed_over() {
        let (mut trail, _) = check(&[(0.0, History::Push, 1), (1.0, History::Push, 2)], "nn");
        assert_eq!(trail.undo(window(1)), Some(None));
    }

    #[test]
    fn old_windows_are_forgotten() {
        let changes: Vec<_> = (1..500).map(|at| (0.0, History::Push, at)).collect();
        let (trail, _) = check(&changes, &"n".repeat(499));
        assert_eq!(trail.before.len(), MOST_WINDOWS);
    }
}
