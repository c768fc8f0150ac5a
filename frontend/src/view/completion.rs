//! Completions of the query in the box.

use nprof_engine::wire::completions::{CompletionEntry, CompletionKindEntry};

/// A text after a completion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completed {
    /// The text.
    pub text: String,
    /// Characters before the cursor.
    pub cursor: u32,
}

/// The text with a completion in place of the characters from `from` to the cursor. `None` if it is
/// there already, or nothing was typed and nobody chose it.
#[must_use]
pub fn completed(
    text: &str,
    from: u32,
    cursor: u32,
    entry: &CompletionEntry,
    is_chosen: bool,
) -> Option<Completed> {
    let letters: Vec<char> = text.chars().collect();
    let cursor = (cursor as usize).min(letters.len());
    let from = (from as usize).min(cursor);
    let typed: String = letters[from..cursor].iter().collect();
    let is_there = typed == entry.text && entry.kind != CompletionKindEntry::Field;
    if is_there || typed.is_empty() && !is_chosen {
        return None;
    }
    let mut new: String = letters[..from].iter().collect();
    new.push_str(&entry.text);
    if entry.kind == CompletionKindEntry::Field {
        new.push(':');
    }
    let cursor_after = new.chars().count();
    new.extend(&letters[cursor..]);
    Some(Completed { text: new, cursor: u32::try_from(cursor_after).unwrap_or(u32::MAX) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(text: &str, kind: CompletionKindEntry) -> CompletionEntry {
        CompletionEntry { text: text.to_owned(), kind, slices: Some(3) }
    }

    #[track_caller]
    fn check(text: &str, from: u32, cursor: u32, of: &CompletionEntry, expected: Option<(&str, u32)>) {
        let found = completed(text, from, cursor, of, false);
        assert_eq!(found.as_ref().map(|of| (of.text.as_str(), of.cursor)), expected);
    }

    #[test]
    fn a_completion_replaces_the_word_before_the_cursor() {
        let (field, value) = (CompletionKindEntry::Field, CompletionKindEntry::Value);
        check("dur>5us opc", 8, 11, &entry("opcode", field), Some(("dur>5us opcode:", 15)));
        check("opcode:MA dur>5us", 7, 9, &entry("MATMUL", value), Some(("opcode:MATMUL dur>5us", 13)));
        check("opcode:MATMUL", 7, 13, &entry("MATMUL", value), None);
        check("opcode", 0, 6, &entry("opcode", field), Some(("opcode:", 7)));
        check("äö", 0, 2, &entry("äöü", value), Some(("äöü", 3)));
        check("", 0, 0, &entry("MATMUL", value), None);
        let chosen = completed("", 0, 0, &entry("MATMUL", value), true);
        assert_eq!(chosen.map(|of| of.text).as_deref(), Some("MATMUL"));
    }

    #[test]
    fn a_cursor_behind_the_text_is_at_its_end() {
        let found = completed("ma", 0, 99, &entry("MATMUL", CompletionKindEntry::Value), false).unwrap();
        assert_eq!((found.text.as_str(), found.cursor), ("MATMUL", 6));
    }
}
