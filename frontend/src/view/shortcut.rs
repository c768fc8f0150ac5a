//! All keys and gestures of the page in one table, the source of the help dialog. Also the keys
//! that belong to the page, not to the timeline. Tests compare the table with the effects of the
//! keys.

use super::place::GO_KEY;

/// A command of the page that has a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageKey {
    /// Puts the focus into the search.
    Search,
    /// Opens or closes the panel.
    Panel,
    /// Shows all keys.
    Help,
    /// Waits for the letter of a place.
    Go,
}

/// The command of a key. Q is identified by its position on the keyboard, all others by their
/// character.
///
/// Both are named as in [UI Events](https://www.w3.org/TR/uievents-code/). `code` is empty on
/// on-screen keyboards.
#[must_use]
pub fn page_key(key: &str, code: &str) -> Option<PageKey> {
    match (key, code) {
        ("/", _) => Some(PageKey::Search),
        ("?", _) => Some(PageKey::Help),
        (GO_KEY | "G", _) => Some(PageKey::Go),
        (_, "KeyQ") | ("q" | "Q", "") => Some(PageKey::Panel),
        _ => None,
    }
}

/// A line of the help dialog.
#[derive(Debug, Clone, Copy)]
pub struct Shortcut {
    /// The shown keys: alternatives, or keys that are held with a gesture.
    pub shown: &'static [&'static str],
    /// The characters, as `KeyboardEvent.key` names them. Empty for a gesture.
    pub keys: &'static [&'static str],
    /// Effect of the keys.
    pub what: &'static str,
}

const fn keys(shown: &'static [&'static str], keys: &'static [&'static str], what: &'static str) -> Shortcut {
    Shortcut { shown, keys, what }
}

const fn gesture(shown: &'static [&'static str], what: &'static str) -> Shortcut {
    Shortcut { shown, keys: &[], what }
}

/// Lines under one heading.
#[derive(Debug, Clone, Copy)]
pub struct Group {
    /// The heading.
    pub title: &'static str,
    /// The lines.
    pub shortcuts: &'static [Shortcut],
}

/// All keys and gestures.
pub const GROUPS: &[Group] = &[
    Group {
        title: "Timeline",
        shortcuts: &[
            gesture(&["drag"], "Zoom into a span"),
            gesture(&["wheel"], "Zoom at the pointer"),
            gesture(&["Shift", "wheel"], "Scroll the tracks"),
            keys(&["W", "S"], &["w", "s"], "Zoom in, out"),
            keys(&["+", "−"], &["+", "=", "-"], "Zoom in, out"),
            keys(&["A", "D"], &["a", "d"], "Move left, right"),
            gesture(&["Shift", "drag"], "Move"),
            keys(&["0"], &["0"], "Show everything"),
            keys(&["Backspace"], &["Backspace"], "Undo the last zoom"),
        ],
    },
    Group {
        title: "Overview and ruler",
        shortcuts: &[
            gesture(&["drag on the ruler"], "Mark a span and add it up"),
            gesture(&["drag the overview"], "Move the window"),
            gesture(&["drag its edge"], "Change the window's start or end"),
            gesture(&["click beside it"], "Move the window there"),
        ],
    },
    Group {
        title: "Slices",
        shortcuts: &[
            gesture(&["click"], "Select a slice, read a counter"),
            gesture(&["double click"], "Zoom to a slice"),
            keys(&["←", "→"], &["ArrowLeft", "ArrowRight"], "Previous, next slice of the track"),
            keys(&["↑", "↓"], &["ArrowUp", "ArrowDown"], "Slice in the lane or track above, below"),
            keys(&["F"], &["f"], "Zoom to the selected slice"),
            keys(&["M"], &["m"], "Add up the selected slice's span"),
            keys(&["Esc"], &["Escape"], "Drop the span, then the selection"),
        ],
    },
    Group {
        title: "Touch",
        shortcuts: &[
            gesture(&["one finger"], "Move and scroll"),
            gesture(&["two fingers"], "Zoom, and move with them"),
            gesture(&["tap"], "Select a slice"),
        ],
    },
    Group {
        title: "Search",
        shortcuts: &[
            keys(&["/"], &["/"], "Search"),
            gesture(&["Enter"], "Next hit from here"),
            gesture(&["Shift", "Enter"], "Previous hit from here"),
            gesture(&["Alt", "R"], "Text or regular expression"),
            gesture(&["Esc"], "Leave the search"),
        ],
    },
    Group {
        title: "Panel",
        shortcuts: &[
            keys(&["Q"], &["q"], "Close or open the panel"),
            gesture(&["drag its edge"], "Resize the panel"),
            gesture(&["double click its edge"], "Close or open the panel"),
        ],
    },
    Group {
        title: "Table",
        shortcuts: &[
            gesture(&["↑", "↓"], "Row above, below; with Shift more rows"),
            gesture(&["PageUp", "PageDown"], "A page up, down"),
            gesture(&["Home", "End"], "First, last row"),
            gesture(&["Enter"], "Show the row's slice in the timeline"),
            gesture(&["Ctrl", "C"], "Copy the marked rows"),
        ],
    },
    Group {
        title: "Page",
        shortcuts: &[
            keys(&["G", "T"], &["g"], "Timeline"),
            gesture(&["G", "S"], "Summary"),
            gesture(&["G", "D"], "Data: all tables"),
            keys(&["[", "]"], &["[", "]"], "Previous, next rank"),
            keys(&["<", ">"], &["<", ">"], "The same, with Shift and comma or period"),
            keys(&["{", "}"], &["{", "}"], "Show one rank fewer, one more"),
            gesture(&["Ctrl", "click"], "Show or hide a rank below the others"),
            keys(&["?"], &["?"], "These keys"),
        ],
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::keys::{Press, action, rank_step};

    /// All keys that the test tries, as `KeyboardEvent.key` names them.
    fn candidates() -> Vec<String> {
        let typed = (b' '..=b'~').map(|byte| char::from(byte.to_ascii_lowercase()).to_string());
        let named = [
            "ArrowLeft",
            "ArrowRight",
            "ArrowUp",
            "ArrowDown",
            "Escape",
            "Enter",
            "Backspace",
            "Delete",
            "Tab",
            "Home",
            "End",
            "PageUp",
            "PageDown",
            "Insert",
            "F1",
            "F2",
        ];
        typed.chain(named.map(str::to_owned)).collect()
    }

    fn answers(key: &str) -> bool {
        let press = Press { key, ..Press::default() };
        action(press).is_some() || page_key(key, "").is_some() || rank_step(press).is_some()
    }

    #[test]
    fn the_table_has_exactly_the_keys_that_do_something() {
        let told: Vec<&str> = GROUPS
            .iter()
            .flat_map(|group| group.shortcuts)
            .flat_map(|shortcut| shortcut.keys)
            .copied()
            .collect();
        for key in &told {
            assert!(answers(key), "{key} is told and does nothing");
        }
        for key in candidates() {
            assert!(!answers(&key) || told.contains(&key.as_str()), "{key} does something and is not told");
        }
    }

    #[test]
    fn q_goes_by_its_place() {
        assert_eq!(page_key("q", "KeyQ"), Some(PageKey::Panel));
        // On a French keyboard A is in that position, and Q is where A moves the window.
        assert_eq!(page_key("a", "KeyQ"), Some(PageKey::Panel));
        assert_eq!(page_key("q", "KeyA"), None);
        assert_eq!(page_key("Q", ""), Some(PageKey::Panel));
    }
}
