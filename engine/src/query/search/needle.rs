//! A text to look for in many texts.

use memchr::memmem::Finder;

use super::any_case::AnyCase;
use crate::codec::ColumnTexts;

/// Comparison of letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LetterCase {
    /// Capitals and small letters are equal.
    Any,
    /// Capitals and small letters differ.
    Same,
}

impl LetterCase {
    /// The rule for typed text: case matters if a capital letter was typed.
    pub fn of(mut typed: impl Iterator<Item = char>) -> Self {
        if typed.any(char::is_uppercase) { Self::Same } else { Self::Any }
    }
}

/// A text to look for.
#[derive(Debug, Clone)]
pub struct Needle(TextComparison);

#[derive(Debug, Clone)]
enum TextComparison {
    Same(Box<Finder<'static>>),
    Any(AnyCase),
    /// Letters beyond ASCII can change length with their case, so texts are compared one by one, in
    /// small letters.
    Folded(String),
}

impl Needle {
    /// Creates a needle of at least one byte.
    pub fn new(text: &str, case: LetterCase) -> Self {
        Self(match case {
            LetterCase::Any if !text.is_ascii() => TextComparison::Folded(text.to_lowercase()),
            LetterCase::Any if text.bytes().any(|byte| byte.is_ascii_alphabetic()) => {
                TextComparison::Any(AnyCase::new(text))
            }
            _ => TextComparison::Same(Box::new(Finder::new(text).into_owned())),
        })
    }

    /// Calls `found` with the position of every text that contains the needle, ascending.
    ///
    /// All texts are searched as one run of bytes. A match across the end of a text does not count.
    /// Letters beyond ASCII stay as they are, because an ASCII needle cannot match them.
    pub fn for_each_match(&self, texts: &ColumnTexts, found: impl FnMut(usize)) {
        let bytes = texts.bytes.as_bytes();
        match &self.0 {
            TextComparison::Same(finder) => {
                let len = finder.needle().len();
                walk(texts, len, |from| finder.find(&bytes[from..]).map(|at| from + at), found);
            }
            TextComparison::Any(finder) => {
                let probes = finder.probes(bytes);
                walk(texts, finder.len(), |from| finder.find(probes, bytes, from), found);
            }
            TextComparison::Folded(needle) => {
                let matching =
                    texts.iter().enumerate().filter(|(_, text)| text.to_lowercase().contains(needle));
                matching.map(|(at, _)| at).for_each(found);
            }
        }
    }
}

/// Visits all matches. `next` finds the first `len` bytes of a match from a position on.
fn walk(
    texts: &ColumnTexts,
    len: usize,
    next: impl Fn(usize) -> Option<usize>,
    mut found: impl FnMut(usize),
) {
    let (mut from, mut text) = (0, 0);
    while let Some(at) = next(from) {
        // A linear step: most matches are near the previous one, and all steps together are at most
        // the number of texts.
        while texts.ends.get(text).is_some_and(|&end| end as usize <= at) {
            text += 1;
        }
        let end = texts.ends.get(text).map_or(texts.bytes.len(), |&end| end as usize);
        if at + len <= end {
            found(text);
            from = end;
        } else {
            from = at + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn finds_what_a_comparison_text_by_text_finds(
            of in prop::collection::vec("[abAB\u{e4}]{0,4}", 0..40),
            query in "[abB\u{e4}]{1,3}",
        ) {
            let case = LetterCase::of(query.chars());
            let fold = |text: &str| if case == LetterCase::Any { text.to_lowercase() } else { text.to_owned() };
            let mut found = Vec::new();
            Needle::new(&query, case).for_each_match(&of.iter().collect(), |at| found.push(at));
            let expected: Vec<usize> =
                (0..of.len()).filter(|&at| fold(&of[at]).contains(&fold(&query))).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
