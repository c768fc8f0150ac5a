//! Names for URLs that users give their profiles (`--db-bucket`).

use std::fmt;
use std::str::FromStr;

use nprof_engine::base::ProfileId;
use serde::{Deserialize, Serialize};

use super::StoreError;
use crate::terminal::shortened;

/// Longest name, in characters.
const MAX_LEN: usize = 100;
/// Characters of a refused name that the error shows.
const SHOWN_CHARS: usize = 60;

/// A name for URLs: letters and digits of any script, `.`, `_` and `-`. A name does not begin with
/// a dot and does not look like a profile's id. A URL percent-encodes all characters but ASCII.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Slug(String);

impl Slug {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Slug {
    type Err = StoreError;

    /// Accepts the user's spelling: spaces and other signs become `-`.
    fn from_str(name: &str) -> Result<Self, StoreError> {
        let bad = |reason| StoreError::BadName { name: shortened(name, SHOWN_CHARS).into_owned(), reason };
        let mut slug = String::with_capacity(name.len());
        for sign in name.trim().chars() {
            if sign.is_alphanumeric() || matches!(sign, '.' | '_' | '-') {
                slug.push(sign);
            } else if !slug.ends_with('-') {
                slug.push('-');
            }
        }
        let slug = slug.trim_end_matches('-').trim_start_matches(['-', '.']);
        if !slug.contains(char::is_alphanumeric) {
            return Err(bad("it needs at least one letter or digit"));
        }
        if slug.chars().count() > MAX_LEN {
            return Err(bad("it is longer than 100 characters"));
        }
        if slug.parse::<ProfileId>().is_ok() {
            return Err(bad("it looks like the id of a profile"));
        }
        Ok(Self(slug.to_owned()))
    }
}

impl TryFrom<String> for Slug {
    type Error = StoreError;

    fn try_from(name: String) -> Result<Self, StoreError> {
        name.parse()
    }
}

impl From<Slug> for String {
    fn from(slug: Slug) -> Self {
        slug.0
    }
}

impl fmt::Display for Slug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, expected: Option<&str>) {
        let slug = name.parse::<Slug>().ok().map(String::from);
        assert_eq!(slug.as_deref(), expected, "{name:?}");
        if let Some(slug) = slug {
            assert_eq!(slug.parse::<Slug>().unwrap().as_str(), slug, "a slug is its own slug");
        }
    }

    #[test]
    fn names_become_safe_in_urls_and_paths() {
        check("run_7", Some("run_7"));
        check("  my run / 7 ", Some("my-run-7"));
        check("../../etc/passwd", Some("etc-passwd"));
        check(".hidden", Some("hidden"));
        check("größe", Some("größe"));
        check("日本 2\u{202e}", Some("日本-2"));
        check("a%2Fb?c#d", Some("a-2Fb-c-d"));
        check("", None);
        check("..", None);
        check("、。", None);
        check("-_-", None);
        check(&"x".repeat(MAX_LEN), Some(&"x".repeat(MAX_LEN)));
        check(&"x".repeat(MAX_LEN + 1), None);
        check(&"ß".repeat(MAX_LEN), Some(&"ß".repeat(MAX_LEN)));
        check(&format!("n_{}", "0".repeat(40)), None);
    }

    #[test]
    fn a_refused_name_is_not_repeated_at_any_length() {
        let error = "x".repeat(5_000).parse::<Slug>().unwrap_err().to_string();
        assert!(error.len() < 200 && error.contains("longer than 100 characters"), "{error}");
    }
}
