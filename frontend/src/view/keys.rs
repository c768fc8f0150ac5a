//! The page's keys.
//!
//! Keys that are identified by position (W, A, S, D, comma, period) use
//! [`KeyboardEvent.code`](https://www.w3.org/TR/uievents-code/), so they are in the same place on
//! every keyboard. All others use [`KeyboardEvent.key`](https://www.w3.org/TR/uievents-key/), the
//! character that they type.

use super::command::Command;

/// Action of a key on the timeline.
#[derive(Debug, Clone, PartialEq)]
pub enum KeyAction {
    /// Executes a command.
    Do(Command),
    /// The slice after the selected one.
    Next,
    /// The slice before the selected one.
    Previous,
    /// The slice in the lane above, or in the track above.
    Up,
    /// The slice in the lane below, or in the track below.
    Down,
    /// Zooms to the selected slice.
    Focus,
    /// Marks the span of the selected slice.
    MarkSelected,
    /// Drops the mark, or the selection if nothing is marked.
    Drop,
}

/// A key press.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Press<'a> {
    /// The character that the key types.
    pub key: &'a str,
    /// Position of the key. Empty on on-screen keyboards.
    pub code: &'a str,
    /// The other keys that are held.
    pub held: Held,
}

/// The keys that are held during a key press.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Held {
    /// Control.
    pub control: bool,
    /// Alt, or Option.
    pub alt: bool,
    /// The command or Windows key.
    pub meta: bool,
    /// Shift.
    pub shift: bool,
}

/// Another rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RankStep {
    /// The one before.
    Previous,
    /// The one after.
    Next,
    /// One more below the shown ones.
    More,
    /// The last shown one goes.
    Fewer,
}

/// Zoom factor of one press of W: the window becomes this share of itself.
const ZOOM: f64 = 0.75;
/// Distance of one press of D, as a share of the window.
const PAN: f64 = 0.15;

/// The action of a key on the timeline.
#[must_use]
pub fn action(press: Press) -> Option<KeyAction> {
    // The character tells the position of a key only if the keyboard does not report it.
    let place = if press.code.is_empty() { press.key } else { press.code };
    let by_place = match place {
        "KeyW" | "w" | "W" => Some(Command::ZoomMiddle { factor: ZOOM }),
        "KeyS" | "s" | "S" => Some(Command::ZoomMiddle { factor: 1.0 / ZOOM }),
        "KeyA" | "a" | "A" => Some(Command::Pan { windows: -PAN }),
        "KeyD" | "d" | "D" => Some(Command::Pan { windows: PAN }),
        _ => None,
    };
    if let Some(command) = by_place {
        return Some(KeyAction::Do(command));
    }
    Some(match press.key {
        "+" | "=" => KeyAction::Do(Command::ZoomMiddle { factor: ZOOM }),
        "-" => KeyAction::Do(Command::ZoomMiddle { factor: 1.0 / ZOOM }),
        "0" => KeyAction::Do(Command::ShowAll),
        "Backspace" => KeyAction::Do(Command::Undo),
        "f" | "F" => KeyAction::Focus,
        "m" | "M" => KeyAction::MarkSelected,
        "ArrowRight" => KeyAction::Next,
        "ArrowLeft" => KeyAction::Previous,
        "ArrowUp" => KeyAction::Up,
        "ArrowDown" => KeyAction::Down,
        "Escape" => KeyAction::Drop,
        _ => return None,
    })
}

/// The rank step of a key: brackets, also typed with AltGr or Option, and shift with comma or
/// period.
#[must_use]
pub fn rank_step(press: Press) -> Option<RankStep> {
    let Held { control, alt, meta, shift } = press.held;
    // Some systems report AltGr as control with alt. Control alone belongs to the browser.
    if meta || (control && !alt) {
        return None;
    }
    match (press.key, press.code) {
        ("[", _) => Some(RankStep::Previous),
        ("]", _) => Some(RankStep::Next),
        ("{", _) => Some(RankStep::Fewer),
        ("}", _) => Some(RankStep::More),
        _ if control || alt => None,
        ("<", _) => Some(RankStep::Previous),
        (">", _) => Some(RankStep::Next),
        (_, "Comma") if shift => Some(RankStep::Previous),
        (_, "Period") if shift => Some(RankStep::Next),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press<'a>(key: &'a str, code: &'a str, held: &str) -> Press<'a> {
        let has = |letter| held.contains(letter);
        Press { key, code, held: Held { control: has('c'), alt: has('a'), meta: has('m'), shift: has('s') } }
    }

    #[test]
    fn the_keys_that_move_lie_alike_on_every_keyboard() {
        let zoom = Some(KeyAction::Do(Command::ZoomMiddle { factor: ZOOM }));
        assert_eq!(action(press("w", "KeyW", "")), zoom);
        // French: Z is in that position, and W elsewhere.
        assert_eq!(action(press("z", "KeyW", "")), zoom);
        assert_eq!(action(press("w", "KeyZ", "")), None);
        assert_eq!(action(press("q", "KeyA", "")), Some(KeyAction::Do(Command::Pan { windows: -PAN })));
        // Cyrillic.
        assert_eq!(action(press("в", "KeyD", "")), Some(KeyAction::Do(Command::Pan { windows: PAN })));
        assert_eq!(action(press("w", "", "")), zoom);
    }

    #[test]
    fn other_keys_go_by_what_they_type() {
        assert_eq!(action(press("m", "Semicolon", "")), Some(KeyAction::MarkSelected));
        assert_eq!(action(press("Backspace", "Backspace", "")), Some(KeyAction::Do(Command::Undo)));
        assert_eq!(action(press("x", "KeyX", "")), None);
    }

    #[track_caller]
    fn check_rank(key: &str, code: &str, held: &str, expected: Option<RankStep>) {
        assert_eq!(rank_step(press(key, code, held)), expected, "{key} {code} {held}");
    }

    #[test]
    fn ranks_change_on_every_keyboard() {
        check_rank("[", "BracketLeft", "", Some(RankStep::Previous));
        // German with AltGr on Windows, French with Option on a Mac.
        check_rank("]", "Digit9", "ca", Some(RankStep::Next));
        check_rank("[", "Digit5", "as", Some(RankStep::Previous));
        check_rank("<", "Comma", "s", Some(RankStep::Previous));
        check_rank("{", "BracketLeft", "s", Some(RankStep::Fewer));
        check_rank("}", "Digit0", "ca", Some(RankStep::More));
        check_rank(":", "Period", "s", Some(RankStep::Next));
        check_rank(".", "Period", "", None);
        check_rank("[", "BracketLeft", "c", None);
        check_rank("]", "BracketRight", "m", None);
        check_rank(">", "Period", "as", None);
    }
}
