//! The timeline's keys.

use super::command::Command;

/// What a key asks the timeline for.
#[derive(Debug, Clone, PartialEq)]
pub enum KeyAction {
    /// A command as it is.
    Do(Command),
    /// The slice after the selected one.
    Next,
    /// The slice before the selected one.
    Previous,
    /// The slice in the lane above.
    Up,
    /// The slice in the lane below.
    Down,
    /// Zooms to the selected slice.
    Focus,
    /// Marks the span of the selected slice.
    MarkSelected,
    /// Drops the mark, or the selection where nothing is marked.
    Drop,
}

/// One press of W: the window becomes this much of itself.
const ZOOM: f64 = 0.75;
/// One press of D moves by this share of the window.
const PAN: f64 = 0.15;

/// What a key, as [`KeyboardEvent.key`](https://www.w3.org/TR/uievents-key/) names it, asks for.
#[must_use]
pub fn action(key: &str) -> Option<KeyAction> {
    Some(match key {
        "w" | "W" | "+" | "=" => KeyAction::Do(Command::ZoomMiddle { factor: ZOOM }),
        "s" | "S" | "-" => KeyAction::Do(Command::ZoomMiddle { factor: 1.0 / ZOOM }),
        "a" | "A" => KeyAction::Do(Command::Pan { windows: -PAN }),
        "d" | "D" => KeyAction::Do(Command::Pan { windows: PAN }),
        "0" => KeyAction::Do(Command::ShowAll),
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
