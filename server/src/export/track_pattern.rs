//! Patterns of tracks: `*` stands for any text, `?` for any character, capitals for small letters.
//! All other characters stand for themselves.
//!
//! *Cost.* A match needs no stack and no memory. It takes at most the product of both lengths, so
//! the length of patterns is limited. Names of tracks can have any length.

use std::fmt;

use wildmatch::WildMatch;

/// Longest pattern in bytes.
const MAX_BYTES: usize = 1024;
/// Most patterns of one export.
const MAX_PATTERNS: usize = 256;

/// A pattern of the paths of tracks.
#[derive(Clone, PartialEq)]
pub struct TrackPattern(WildMatch);

impl TrackPattern {
    /// Reads a pattern.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.len() > MAX_BYTES {
            let len = text.len();
            return Err(format!(
                "a pattern has at most {MAX_BYTES} bytes, this one {len}; use `*` for a part"
            ));
        }
        Ok(Self(WildMatch::new_case_insensitive(text)))
    }

    /// Reads several patterns with commas between them.
    ///
    /// # Errors
    /// If there are too many, or one is too long.
    pub fn parse_all(text: &str) -> Result<Vec<Self>, String> {
        let patterns = text.split(',').filter(|pattern| !pattern.is_empty());
        Self::limited(patterns.map(Self::parse).collect::<Result<_, _>>()?)
    }

    /// These patterns, if they are few enough.
    pub fn limited(patterns: Vec<Self>) -> Result<Vec<Self>, String> {
        match patterns.len() {
            0..=MAX_PATTERNS => Ok(patterns),
            count => Err(format!("{count} patterns; use at most {MAX_PATTERNS}, and `*` for several tracks")),
        }
    }

    /// Returns true for the whole path of a track or a group.
    #[must_use]
    pub fn matches(&self, path: &str) -> bool {
        self.0.matches(path)
    }
}

impl fmt::Debug for TrackPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0.pattern())
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[track_caller]
    fn check(pattern: &str, path: &str, expected: bool) {
        assert_eq!(TrackPattern::parse(pattern).unwrap().matches(path), expected, "{pattern} of {path}");
    }

    #[test]
    fn a_star_is_any_text_and_all_else_but_a_question_mark_is_itself() {
        check("Engines/*", "engines/Tensor/q0", true);
        check("*/q?", "Engines/q7", true);
        check("*/q?", "Engines/q70", false);
        check("Engines", "Engines/q7", false);
        check("a***b", "a/b", true);
        check("nc[0]/{a}/q\\1", "NC[0]/{A}/Q\\1", true);
        check("nc[0]", "nc0", false);
        check("*ä*", "Größe Ä", true);
        check("", "", true);
    }

    /// The threads of a server have 2 MiB of stack.
    #[test]
    fn stars_take_no_stack() {
        const STARS: usize = 30_000;
        let matches = || TrackPattern(WildMatch::new(&"*a".repeat(STARS))).matches(&"a".repeat(2 * STARS));
        let thread = thread::Builder::new().stack_size(2 << 20).spawn(matches).unwrap();
        assert!(thread.join().unwrap());
    }

    #[test]
    fn long_patterns_and_many_patterns_are_refused() {
        let long = "*a".repeat(MAX_BYTES);
        assert!(TrackPattern::parse(&long).unwrap_err().contains("at most 1024 bytes, this one 2048"));
        assert!(TrackPattern::parse_all(&format!("b,{long}")).is_err());
        assert!(
            TrackPattern::parse_all(&"a,".repeat(MAX_PATTERNS + 1)).unwrap_err().starts_with("257 patterns")
        );
        assert_eq!(TrackPattern::parse_all(&"a,,".repeat(MAX_PATTERNS)).unwrap().len(), MAX_PATTERNS);
    }
}
