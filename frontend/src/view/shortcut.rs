//! All keys and gestures of the page in one table, from which the dialog of keys is made; and the
//! keys that are the page's own, not the timeline's. Tests compare the table with what the keys do.

/// A command of the page that has a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageKey {
    /// Puts the focus into the search.
    Search,
    /// Opens or closes the panel.
    Panel,
    /// Shows all keys.
    Help,
}

/// The command of a key: of Q by its place on the keyboard, of all others by the character.
///
/// Both are named as [UI Events](https://www.w3.org/TR/uievents-code/) does; `code` is empty on
/// keyboards on the screen.
#[must_use]
pub fn page_key(key: &str, code: &str) -> Option<PageKey> {
    match (key, code) {
        ("/", _) => Some(PageKey::Search),
        ("?", _) => Some(PageKey::Help),
        (_, "KeyQ") | ("q" | "Q", "") => Some(PageKey::Panel),
        _ => None,
    }
}

/// A line of the dialog.
#[derive(Debug, Clone, Copy)]
pub struct Shortcut {
    /// As they are shown: alternatives, or keys that are held with a gesture.
    pub shown: &'static [&'static str],
    /// The characters, as `KeyboardEvent.key` names them; none for a gesture.
    pub keys: &'static [&'static str],
    /// Their effect.
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
    /// Its lines.
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
        title: "Page",
        shortcuts: &[
            keys(&["[", "]"], &["[", "]"], "Previous, next rank"),
            keys(&["<", ">"], &["<", ">"], "The same, with Shift and comma or period"),
            keys(&["?"], &["?"], "These keys"),
        ],
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::keys::{Press, action, rank_step};

    /// Everything that a key can type here.
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
        // On a French keyboard A lies there, and Q where A moves the window.
        assert_eq!(page_key("a", "KeyQ"), Some(PageKey::Panel));
        assert_eq!(page_key("q", "KeyA"), None);
        assert_eq!(page_key("Q", ""), Some(PageKey::Panel));
    }
}
