//! Key presses, and the chords of the command table that they are compared with.
//!
//! Keys that are identified by position (W, A, S, D, Q, comma, period) use
//! [`KeyboardEvent.code`](https://www.w3.org/TR/uievents-code/), so they are in the same place on
//! every keyboard. All others use [`KeyboardEvent.key`](https://www.w3.org/TR/uievents-key/), the
//! character that they type.

/// A key press.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KeyPress<'a> {
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

/// The part of the page that has the focus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// No field.
    Page,
    /// The field of the search.
    Search,
    /// Any other field.
    Field,
}

/// The key before the letter of a place or a panel.
pub const GO_KEY: &str = "g";
/// Longest time between both keys, in milliseconds.
pub const GO_MS: f64 = 1_500.0;

/// Keys that are pressed together or one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chord {
    /// The key that types this character, or that has this name.
    Typed(&'static str),
    /// The key in this position.
    At(&'static str),
    /// The key that types this bracket, also with AltGr or Option.
    Bracket(&'static str),
    /// Shift and the key in this position, where most keyboards type this character.
    Shifted(&'static str, &'static str),
    /// Shift and the key of this name.
    Shift(&'static str),
    /// [`GO_KEY`], then this letter.
    Go(&'static str),
    /// Control or Command, and this letter. Works in fields, too.
    Control(&'static str),
    /// The key of this name in the field of the search.
    InSearch(&'static str),
    /// Shift and the key of this name in the field of the search.
    ShiftInSearch(&'static str),
    /// Control or Command, and the key of this name in the field of the search.
    ControlInSearch(&'static str),
    /// Alt and the key in this position in the field of the search.
    AltInSearch(&'static str),
}

/// The letter of a position such as `KeyW`.
fn letter_at(code: &'static str) -> &'static str {
    code.strip_prefix("Key").unwrap_or(code)
}

impl Chord {
    /// Returns true if this press completes the chord. `is_going` is true after [`GO_KEY`].
    #[must_use]
    pub fn is(self, press: KeyPress, scope: Scope, is_going: bool) -> bool {
        let Held { control, alt, meta, shift } = press.held;
        let is_alone = !(control || alt || meta);
        let types = |text: &str| press.key.eq_ignore_ascii_case(text);
        let in_page = scope == Scope::Page && is_alone;
        let in_search = scope == Scope::Search && is_alone;
        match self {
            // Shift belongs to some characters. With a named key it means something else.
            Self::Typed(text) => in_page && types(text) && (text.len() == 1 || !shift),
            // The character tells the position only if the keyboard does not report the position.
            Self::At(code) => {
                let is_there = press.code == code;
                in_page && (is_there || (press.code.is_empty() && types(letter_at(code))))
            }
            // Some systems report AltGr as control with alt. Control alone belongs to the browser.
            Self::Bracket(text) => scope == Scope::Page && !meta && (!control || alt) && press.key == text,
            Self::Shifted(code, text) => in_page && (press.key == text || (shift && press.code == code)),
            Self::Shift(name) => in_page && shift && types(name),
            Self::Go(letter) => in_page && is_going && types(letter),
            Self::Control(letter) => (control || meta) && !alt && !shift && types(letter),
            Self::InSearch(name) => in_search && !shift && types(name),
            Self::ShiftInSearch(name) => in_search && shift && types(name),
            Self::ControlInSearch(name) => {
                scope == Scope::Search && (control || meta) && !alt && !shift && types(name)
            }
            // By position: with Alt, some keyboards type another character.
            Self::AltInSearch(code) => {
                scope == Scope::Search && alt && !control && !meta && press.code == code
            }
        }
    }

    /// The keys as they are printed on keyboards, in order.
    #[must_use]
    pub fn shown(self) -> Vec<String> {
        let (first, key) = match self {
            Self::Shift(name) | Self::ShiftInSearch(name) => (Some("Shift"), name),
            Self::Typed(key) | Self::Bracket(key) | Self::Shifted(_, key) | Self::InSearch(key) => {
                (None, key)
            }
            Self::At(code) => (None, letter_at(code)),
            Self::Go(letter) => (Some("G"), letter),
            Self::Control(key) | Self::ControlInSearch(key) => (Some("Ctrl"), key),
            Self::AltInSearch(code) => (Some("Alt"), letter_at(code)),
        };
        let key = match key {
            "ArrowLeft" => "←".to_owned(),
            "ArrowRight" => "→".to_owned(),
            "ArrowUp" => "↑".to_owned(),
            "ArrowDown" => "↓".to_owned(),
            "Escape" => "Esc".to_owned(),
            "-" => "−".to_owned(),
            letter if letter.len() == 1 => letter.to_ascii_uppercase(),
            name => name.to_owned(),
        };
        first.map(str::to_owned).into_iter().chain([key]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(chord: Chord, key: &str, code: &str, held: &str, expected: bool) {
        let has = |letter| held.contains(letter);
        let held = Held { control: has('c'), alt: has('a'), meta: has('m'), shift: has('s') };
        let press = KeyPress { key, code, held };
        assert_eq!(chord.is(press, Scope::Page, has('g')), expected, "{chord:?} {press:?}");
    }

    #[test]
    fn positions_are_alike_on_every_keyboard() {
        check(Chord::At("KeyW"), "w", "KeyW", "", true);
        // French: Z is in that position, and W elsewhere.
        check(Chord::At("KeyW"), "z", "KeyW", "", true);
        check(Chord::At("KeyW"), "w", "KeyZ", "", false);
        check(Chord::At("KeyQ"), "q", "KeyA", "", false);
        // Cyrillic, and a keyboard on the screen.
        check(Chord::At("KeyD"), "в", "KeyD", "", true);
        check(Chord::At("KeyD"), "D", "", "s", true);
        check(Chord::At("KeyD"), "d", "KeyD", "c", false);
    }

    #[test]
    fn other_keys_go_by_what_they_type() {
        check(Chord::Typed("m"), "m", "Semicolon", "", true);
        check(Chord::Typed("?"), "?", "Slash", "s", true);
        check(Chord::Typed("ArrowLeft"), "ArrowLeft", "ArrowLeft", "", true);
        check(Chord::Typed("ArrowLeft"), "ArrowLeft", "ArrowLeft", "s", false);
        check(Chord::Typed("f"), "f", "KeyF", "c", false);
        check(Chord::Go("t"), "t", "KeyT", "", false);
        check(Chord::Go("t"), "T", "KeyT", "g", true);
        check(Chord::Control("k"), "k", "KeyK", "m", true);
        check(Chord::Control("k"), "k", "KeyK", "ca", false);
    }

    #[test]
    fn brackets_are_typed_on_every_keyboard() {
        check(Chord::Bracket("["), "[", "BracketLeft", "", true);
        // German with AltGr on Windows, French with Option on a Mac.
        check(Chord::Bracket("]"), "]", "Digit9", "ca", true);
        check(Chord::Bracket("["), "[", "Digit5", "as", true);
        check(Chord::Bracket("["), "[", "BracketLeft", "c", false);
        check(Chord::Bracket("]"), "]", "BracketRight", "m", false);
        check(Chord::Shifted("Comma", "<"), "<", "Comma", "s", true);
        check(Chord::Shifted("Period", ">"), ":", "Period", "s", true);
        check(Chord::Shifted("Period", ">"), ".", "Period", "", false);
        check(Chord::Shifted("Period", ">"), ">", "Period", "as", false);
    }

    #[test]
    fn fields_keep_their_keys() {
        let held = Held { control: true, ..Held::default() };
        for scope in [Scope::Search, Scope::Field] {
            assert!(!Chord::At("KeyW").is(KeyPress { key: "w", ..KeyPress::default() }, scope, false));
            assert!(Chord::Control("k").is(KeyPress { key: "k", held, ..KeyPress::default() }, scope, false));
            let enter = KeyPress { key: "Enter", ..KeyPress::default() };
            assert_eq!(Chord::InSearch("Enter").is(enter, scope, false), scope == Scope::Search);
        }
    }

    #[test]
    fn chords_are_shown_as_on_keyboards() {
        assert_eq!(Chord::At("KeyW").shown(), ["W"]);
        assert_eq!(Chord::Go("t").shown(), ["G", "T"]);
        assert_eq!(Chord::Typed("ArrowUp").shown(), ["↑"]);
        assert_eq!(Chord::ShiftInSearch("Enter").shown(), ["Shift", "Enter"]);
        assert_eq!(Chord::Shifted("Comma", "<").shown(), ["<"]);
    }
}
