//! Text from traces for a terminal: names and titles must not move the cursor, colour the screen or
//! change the writing direction.

use std::borrow::Cow;

/// The text with control characters, line breaks and direction marks as escapes (`\u{1b}`).
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(acts) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for sign in text.chars() {
        match sign {
            '\n' => shown.push_str("\\n"),
            '\r' => shown.push_str("\\r"),
            '\t' => shown.push_str("\\t"),
            sign if acts(sign) => shown.extend(sign.escape_unicode()),
            sign => shown.push(sign),
        }
    }
    Cow::Owned(shown)
}

/// Returns true if a terminal can act on this character.
fn acts(sign: char) -> bool {
    sign.is_control()
        || matches!(
            sign,
            // Line and paragraph separators; marks, embeddings, overrides and isolates of
            // direction.
            '\u{2028}' | '\u{2029}' | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}'
                | '\u{2066}'..='\u{2069}'
        )
}

/// The first `limit` characters of a text, with `…` for the rest.
#[must_use]
pub fn shortened(text: &str, limit: usize) -> Cow<'_, str> {
    match text.char_indices().nth(limit) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(visible(text), expected);
    }

    #[test]
    fn what_a_terminal_acts_on_is_escaped() {
        check("größe 日本 🦀", "größe 日本 🦀");
        check("\u{1b}[31mred", "\\u{1b}[31mred");
        check("two\r\nlines\tand \u{7f}\u{9b}", "two\\r\\nlines\\tand \\u{7f}\\u{9b}");
        check("abc\u{202e}fdp\u{2066}", "abc\\u{202e}fdp\\u{2066}");
        check("a\u{2028}b", "a\\u{2028}b");
        check("a\\nb", "a\\nb");
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        assert_eq!(shortened("größe", 5), "größe");
        assert_eq!(shortened("größe", 3), "grö…");
        assert_eq!(shortened("", 0), "");
    }
}
