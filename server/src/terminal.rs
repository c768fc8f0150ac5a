//! Text from traces for a terminal: names and titles must not move the cursor, colour the screen or
//! change the writing direction.

use std::borrow::Cow;
use std::io::{self, Write};

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

/// Returns true if a terminal can act on this character, or if nobody sees it.
fn acts(sign: char) -> bool {
    sign.is_control()
        || matches!(
            sign,
            // Line and paragraph separators; marks, embeddings, overrides and isolates of
            // direction.
            '\u{2028}' | '\u{2029}' | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}'
                | '\u{2066}'..='\u{2069}'
                // Characters without width, which make different names look alike. The joiners
                // U+200C and U+200D stay: scripts and emoji need them.
                | '\u{ad}' | '\u{200b}' | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}' | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}'
        )
}

/// Writes text to a terminal with [`visible`] lines. Each write holds whole lines.
#[derive(Debug)]
pub struct Escaping<W>(pub W);

impl<W: Write> Write for Escaping<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        let shown: Vec<Cow<'_, str>> = text.split('\n').map(visible).collect();
        self.0.write_all(shown.join("\n").as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// A text for one cell of a table: [`visible`], at most `limit` characters and a `…`.
#[must_use]
pub fn cell(text: &str, limit: usize) -> String {
    // Cut first: a text can be megabytes long. Cut again: an escape has up to ten characters.
    shortened(&visible(&shortened(text, limit)), limit).into_owned()
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
    fn names_that_only_look_alike_are_told_apart() {
        check("ru\u{200b}n", "ru\\u{200b}n");
        check("\u{feff}run\u{e0041}", "\\u{feff}run\\u{e0041}");
        check("👩\u{200d}🚀", "👩\u{200d}🚀");
    }

    #[test]
    fn a_log_keeps_its_lines_and_escapes_the_rest() {
        let mut log = Escaping(Vec::new());
        log.write_all("WARN \u{1b}[2Jone\ntwo \u{202e}\n".as_bytes()).unwrap();
        assert_eq!(String::from_utf8(log.0).unwrap(), "WARN \\u{1b}[2Jone\ntwo \\u{202e}\n");
    }

    #[test]
    fn cells_are_cut_after_they_are_escaped() {
        assert_eq!(cell("größe", 5), "größe");
        assert_eq!(cell("größe", 3), "grö…");
        assert_eq!(cell(&"\u{1b}".repeat(70_000), 9), "\\u{1b}\\u{…");
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        assert_eq!(shortened("größe", 5), "größe");
        assert_eq!(shortened("größe", 3), "grö…");
        assert_eq!(shortened("", 0), "");
    }
}
