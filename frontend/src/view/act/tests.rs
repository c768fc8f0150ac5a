//! Tests of the table of commands: what keys mean, and what help and docs say about them.

use super::keys::Held;
use super::*;
use crate::view::shell::panel::PANELS;

/// Positions of keys, with what an English keyboard types there, alone and with Shift.
const POSITIONS: &[(&str, &str, &str)] = &[
    ("Comma", ",", "<"),
    ("Period", ".", ">"),
    ("Slash", "/", "?"),
    ("BracketLeft", "[", "{"),
    ("BracketRight", "]", "}"),
    ("Digit0", "0", ")"),
    ("Minus", "-", "_"),
    ("Equal", "=", "+"),
    ("Semicolon", ";", ":"),
    ("Quote", "'", "\""),
    ("Space", " ", " "),
];
const NAMES: &[&str] = &[
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

/// Meaning of keys in each scope: the pressed keys as they are shown, and the command.
fn meanings() -> Vec<(Scope, bool, String, Act)> {
    let letters: Vec<_> = ('A'..='Z')
        .map(|letter| (format!("Key{letter}"), letter.to_ascii_lowercase().to_string(), letter.to_string()))
        .collect();
    let positions = POSITIONS.iter().map(|(code, alone, shifted)| (*code, *alone, *shifted));
    let letters = letters.iter().map(|(code, alone, shifted)| (&**code, &**alone, &**shifted));
    let names = NAMES.iter().map(|name| (*name, *name, *name));
    let mut found = Vec::new();
    for (code, alone, shifted) in positions.chain(letters).chain(names) {
        for bits in 0..16 {
            let [control, alt, meta, shift] = [1, 2, 4, 8].map(|bit| bits & bit != 0);
            let key = if shift { shifted } else { alone };
            let press = KeyPress { key, code, held: Held { control, alt, meta, shift } };
            for scope in [Scope::Page, Scope::Search, Scope::Field] {
                for is_going in [false, true] {
                    if let Pressed::Row(row) = pressed(press, scope, is_going) {
                        found.push((scope, is_going, format!("{press:?}"), row.act));
                    }
                    let chords = |row: &&ActRow, is_pair| {
                        let kind = |chord: &&Chord| matches!(chord, Chord::Go(_)) == is_pair;
                        row.keys.iter().filter(kind).any(|chord| chord.is(press, scope, is_going))
                    };
                    for is_pair in [false, true] {
                        let same = rows().filter(|row| chords(row, is_pair)).count();
                        assert!(same <= 1, "{press:?} in {scope:?} means {same} commands");
                    }
                }
            }
        }
    }
    found
}

#[test]
fn every_key_of_the_table_does_what_its_row_says_and_no_other_key_does_anything() {
    let meanings = meanings();
    for row in rows() {
        let is_told = meanings.iter().any(|(.., act)| *act == row.act);
        assert_eq!(is_told, !row.keys.is_empty(), "{row:?}");
    }
    // The handler knows nothing but the table: a command that it finds has a row with keys.
    for (scope, is_going, press, act) in &meanings {
        assert!(!act.row().keys.is_empty(), "{press} in {scope:?}, {is_going}");
    }
    // Fields keep all their keys but one.
    let in_field = meanings.iter().filter(|(scope, ..)| *scope == Scope::Field);
    assert!(in_field.map(|(.., act)| act).all(|act| *act == Act::OpenPalette));
}

#[test]
fn a_pair_of_keys_leads_to_each_place_and_each_panel() {
    let after = |letter, is_going| {
        let press = KeyPress { key: letter, ..KeyPress::default() };
        match pressed(press, Scope::Page, is_going) {
            Pressed::Row(row) => Some(row.act),
            Pressed::First | Pressed::Nothing => None,
        }
    };
    for place in ProfilePlace::ALL {
        assert_eq!(after(place.letter(), true), Some(Act::GoTo(place)));
    }
    for panel in &PANELS {
        assert_eq!(after(panel.letter, true), Some(Act::ShowTab(panel.tab)));
    }
    // Alone, the second key has a meaning of its own.
    assert_eq!(after("s", false), Some(Act::ZoomOut));
    let first = pressed(KeyPress { key: "G", ..KeyPress::default() }, Scope::Page, false);
    assert!(matches!(first, Pressed::First));
}

#[test]
fn q_goes_by_its_place() {
    let act = |key, code| match pressed(KeyPress { key, code, ..KeyPress::default() }, Scope::Page, false) {
        Pressed::Row(row) => Some(row.act),
        Pressed::First | Pressed::Nothing => None,
    };
    assert_eq!(act("q", "KeyQ"), Some(Act::SwitchDrawer));
    // On a French keyboard A is in that position, and Q is where A moves the window.
    assert_eq!(act("a", "KeyQ"), Some(Act::SwitchDrawer));
    assert_eq!(act("q", "KeyA"), Some(Act::MoveLeft));
    assert_eq!(act("Q", ""), Some(Act::SwitchDrawer));
}

#[test]
fn a_command_says_what_it_misses() {
    let row = Act::ZoomToSlice.row();
    assert_eq!(row.missing(&[]), Some(Need::Profile));
    assert_eq!(row.missing(&[Need::Profile, Need::Timeline]).map(Need::words), Some("with a selected slice"));
    assert_eq!(row.missing(&[Need::Slice, Need::Timeline, Need::Profile]), None);
    assert_eq!(Act::GoTo(ProfilePlace::Data).titled("Data"), "Data (G D)");
    assert_eq!(Act::SwitchTheme.titled("Theme"), "Theme");
}

/// `docs/keys.md` as the table says it.
fn keys_page() -> String {
    let kbd = |keys: &str| format!("`{keys}`");
    let mut page =
        "# Keys\n\nThis page is printed from the table of commands, `frontend/src/view/act/table.rs`. \
                    In the\nprogram, `?` shows the keys, and `Ctrl` `K` finds a command by its words.\n"
            .to_owned();
    for group in GROUPS {
        page += &format!("\n## {}\n\n| keys | effect | works |\n|---|---|---|\n", group.title);
        for row in group.rows {
            let chord =
                |chord: &Chord| chord.shown().iter().map(|key| kbd(key)).collect::<Vec<_>>().join(" ");
            let keys: Vec<String> = row.keys.iter().map(chord).collect();
            let keys = if keys.is_empty() { "palette".to_owned() } else { keys.join(" or ") };
            let works = row.needs.last().map_or("everywhere", |need| need.words());
            page += &format!("| {keys} | {} | {works} |\n", row.what);
        }
        for Gesture { shown, what } in group.gestures {
            page += &format!("| {} | {what} | |\n", shown.join(", "));
        }
    }
    page
}

#[test]
fn the_docs_list_the_table() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/keys.md");
    if std::env::var_os("NPROF_WRITE_KEYS").is_some() {
        std::fs::write(path, keys_page()).unwrap();
    }
    let kept = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        kept == keys_page(),
        "docs/keys.md differs from the table: run this test with NPROF_WRITE_KEYS=1"
    );
}

#[test]
fn the_readme_names_keys_of_the_table() {
    let readme = include_str!("../../../../README.md");
    let (_, part) = readme.split_once("In the page, drag to zoom").expect("the part about the page");
    let part = part.split_once("\n\n").map_or(part, |(part, _)| part);
    let known: Vec<String> = rows().flat_map(|row| row.keys).flat_map(|chord| chord.shown()).collect();
    let named: Vec<&str> = part.split('`').skip(1).step_by(2).collect();
    assert!(named.len() > 8, "{named:?}");
    for key in named {
        assert!(known.iter().any(|shown| shown == key), "README.md names the key {key}");
    }
}
