//! The word of a query that is being written: what stands before the cursor.

use super::known_field::plain;
use super::word::{IN_REGION, is_sign};

/// The part of a query that a completion replaces, from its first character to the cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenWord {
    /// Position of the first character of the part.
    pub from: usize,
    /// The field whose value is being written. `None` if a name or a field can follow.
    pub field: Option<String>,
    /// The text of the part, without quotes.
    pub typed: String,
}

impl OpenWord {
    /// Whether the name of a region is being written.
    #[must_use]
    pub fn is_region(&self) -> bool {
        self.field.as_deref().is_some_and(|field| plain(field) == IN_REGION)
    }

    /// The word before the cursor, which is a number of characters. `None` where nothing can be
    /// completed: in a regular expression, and in a number behind a comparison.
    #[must_use]
    pub fn at(query: &str, cursor: usize) -> Option<Self> {
        let letters: Vec<char> = query.chars().take(cursor).collect();
        let (mut begin, mut part, mut sign, mut in_quotes) = (0, 0, None, false);
        for (at, letter) in letters.iter().enumerate() {
            match letter {
                '"' if at == 0 || letters[at - 1] != '\\' => in_quotes = !in_quotes,
                _ if in_quotes => {}
                letter if letter.is_whitespace() => (begin, part, sign) = (at + 1, at + 1, None),
                ',' => part = at + 1,
                letter if is_sign(*letter) && sign.is_none() && at > begin => {
                    (part, sign) = (at + 1, Some(at));
                }
                _ => {}
            }
        }
        let is_left_out = letters.get(begin) == Some(&'-');
        begin += usize::from(is_left_out);
        part = part.max(begin);
        let text = |from: usize, to: usize| letters[from..to].iter().collect::<String>();
        let field = sign.map(|sign| text(begin, sign));
        let is_open = match sign.map(|sign| letters[sign]) {
            None => !matches!(letters.get(part), Some('/')),
            Some(':' | '=') => true,
            Some(_) => false,
        };
        is_open.then(|| Self { from: part, field, typed: text(part, letters.len()).replace('"', "") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(query: &str, expected: Option<(usize, Option<&str>, &str)>) {
        let found = OpenWord::at(query, query.chars().count());
        let found = found.as_ref().map(|of| (of.from, of.field.as_deref(), of.typed.as_str()));
        assert_eq!(found, expected, "{query}");
    }

    #[test]
    fn the_word_before_the_cursor_is_open() {
        check("", Some((0, None, "")));
        check("mat", Some((0, None, "mat")));
        check("mat,con", Some((4, None, "con")));
        check("dur>5us opco", Some((8, None, "opco")));
        check("dur>5us -opco", Some((9, None, "opco")));
        check("opcode:MAT,AC", Some((11, Some("opcode"), "AC")));
        check("-opcode=", Some((8, Some("opcode"), "")));
        check("in:\"step 3", Some((3, Some("in"), "step 3")));
        check("\"two wo", Some((0, None, "two wo")));
        check("a ", Some((2, None, "")));
    }

    #[test]
    fn expressions_and_numbers_are_not_completed() {
        check("/mat", None);
        check("dur>5", None);
        check("opcode~/MA", None);
    }

    #[test]
    fn only_what_is_before_the_cursor_counts() {
        let found = OpenWord::at("opcode:MAT dur>5us", 9).unwrap();
        assert_eq!((found.from, found.typed.as_str()), (7, "MA"));
    }
}
