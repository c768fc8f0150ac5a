//! The words of a filter, and how they are written.

use std::fmt;

use super::known_field;

/// The name of the field for regions.
pub(super) const IN_REGION: &str = "in";

/// A query: words that must all match. Without words it lets everything pass.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WordFilter {
    /// The words, as they were written.
    pub words: Vec<FilterWord>,
}

/// A word of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilterWord {
    /// Whether it leaves out what it finds.
    pub excludes: bool,
    /// Its test.
    pub test: WordTest,
}

/// The test of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WordTest {
    /// A name or a field with one of these texts.
    Text(Vec<String>),
    /// A name or a field that the regular expression matches.
    Regex(String),
    /// A test of one field.
    Field {
        /// Its name, as the user wrote it.
        name: String,
        /// The test.
        test: FieldTest,
    },
}

/// The test of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldTest {
    /// It has one of these texts, is one of these numbers, or lies in one of the ranges `a..b`.
    Has(Vec<String>),
    /// It is one of these texts or numbers.
    Is(Vec<String>),
    /// The regular expression matches its text.
    Regex(String),
    /// Its number compares like this with the quantity.
    Number(NumberComparison, String),
}

/// A comparison of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumberComparison {
    /// `>`
    Above,
    /// `>=`
    AtLeast,
    /// `<`
    Below,
    /// `<=`
    AtMost,
}

impl NumberComparison {
    /// The signs; a longer one before its beginning.
    pub(super) const SIGNS: [(&'static str, Self); 4] =
        [(">=", Self::AtLeast), ("<=", Self::AtMost), (">", Self::Above), ("<", Self::Below)];

    fn sign(self) -> &'static str {
        Self::SIGNS.iter().find(|(_, of)| *of == self).map_or("", |(sign, _)| sign)
    }
}

impl FieldTest {
    /// Its values as they were written, for messages.
    pub(super) fn wanted(&self) -> String {
        match self {
            Self::Has(texts) | Self::Is(texts) => texts.join(","),
            Self::Regex(text) | Self::Number(_, text) => text.clone(),
        }
    }
}

impl WordFilter {
    /// The query for a text, whatever its letters are. An empty text is an empty query.
    #[must_use]
    pub fn of_text(text: &str) -> Self {
        let word = |text: &str| FilterWord { excludes: false, test: WordTest::Text(vec![text.to_owned()]) };
        Self { words: (!text.is_empty()).then(|| word(text)).into_iter().collect() }
    }

    /// The query for slices of which this field passes a test.
    #[must_use]
    pub fn of_field(name: &str, test: FieldTest) -> Self {
        let test = WordTest::Field { name: name.to_owned(), test };
        Self { words: vec![FilterWord { excludes: false, test }] }
    }

    /// Whether a word asks for regions.
    #[must_use]
    pub fn needs_regions(&self) -> bool {
        let is_place = |name: &str| known_field::plain(name) == IN_REGION;
        self.words.iter().any(|word| matches!(&word.test, WordTest::Field { name, .. } if is_place(name)))
    }

    /// Whether it lets everything pass.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }
}

impl fmt::Display for WordFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, word) in self.words.iter().enumerate() {
            write!(f, "{}{word}", if at > 0 { " " } else { "" })?;
        }
        Ok(())
    }
}

impl fmt::Display for FilterWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.excludes {
            f.write_str("-")?;
        }
        match &self.test {
            // After a dash, a number would be one below zero.
            WordTest::Text(texts) => write_list(f, texts, |text| self.excludes && text.starts_with(digit)),
            WordTest::Regex(pattern) => write_regex(f, pattern),
            WordTest::Field { name, test } => {
                f.write_str(name)?;
                match test {
                    FieldTest::Has(values) => {
                        f.write_str(":")?;
                        write_list(f, values, |_| false)
                    }
                    FieldTest::Is(values) => {
                        f.write_str("=")?;
                        write_list(f, values, |_| false)
                    }
                    FieldTest::Regex(pattern) => {
                        f.write_str("~")?;
                        write_regex(f, pattern)
                    }
                    FieldTest::Number(comparison, quantity) => {
                        f.write_str(comparison.sign())?;
                        write_list(f, std::slice::from_ref(quantity), |_| false)
                    }
                }
            }
        }
    }
}

/// Whether a letter ends the name of a field.
pub(super) fn is_sign(letter: char) -> bool {
    matches!(letter, ':' | '=' | '<' | '>' | '~')
}

fn digit(letter: char) -> bool {
    letter.is_ascii_digit()
}

/// Values with commas between them, in quotes where a letter would mean something else.
fn write_list(
    f: &mut fmt::Formatter<'_>,
    values: &[String],
    needs_quotes: impl Fn(&str) -> bool,
) -> fmt::Result {
    for (at, value) in values.iter().enumerate() {
        if at > 0 {
            f.write_str(",")?;
        }
        let means_more = |letter: char| letter.is_whitespace() || is_sign(letter) || "\",\\".contains(letter);
        let is_plain = !value.is_empty() && !value.starts_with(['-', '/']) && !value.contains(means_more);
        if needs_quotes(value) || !is_plain {
            write!(f, "\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))?;
        } else {
            f.write_str(value)?;
        }
    }
    Ok(())
}

/// A regular expression between slashes; those inside get a backslash.
fn write_regex(f: &mut fmt::Formatter<'_>, pattern: &str) -> fmt::Result {
    let mut written = String::new();
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '/' => written.push_str("\\/"),
            '\\' => {
                written.push(letter);
                written.extend(letters.next());
            }
            _ => written.push(letter),
        }
    }
    write!(f, "/{written}/")
}
