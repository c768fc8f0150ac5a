//! Parameters of a question: the words of the grammar, and the parser of query strings.

use std::str::FromStr;

use super::{DEFAULT_LIMIT, SearchQuery, StepTo, Toward};
use crate::analysis::joint::Sense;
use crate::base::Interval;
use crate::query::{Direction, HitPlace, Syntax};
use crate::wire::percent::parameter_decoded;
use crate::wire::refusal::{Refusal, RefusalKind};

/// Words of the grammar with their values.
pub(super) type Words<T, const N: usize> = [(&'static str, T); N];

pub(super) const DIRECTIONS: Words<StepTo, 6> = [
    ("next", StepTo::Slice(Direction::Next)),
    ("previous", StepTo::Slice(Direction::Previous)),
    ("up", StepTo::Slice(Direction::Up)),
    ("down", StepTo::Slice(Direction::Down)),
    ("next_operation", StepTo::Operation(Sense::Next)),
    ("previous_operation", StepTo::Operation(Sense::Previous)),
];
pub(super) const SYNTAXES: Words<Syntax, 2> = [("text", Syntax::Text), ("regex", Syntax::Regex)];
pub(super) const TOWARDS: Words<Toward, 3> =
    [("next", Toward::Next), ("previous", Toward::Previous), ("around", Toward::Around)];

pub(super) fn name_of<T: PartialEq + Copy, const N: usize>(words: &Words<T, N>, meaning: T) -> &'static str {
    // Every value is in its table, which a test checks.
    words.iter().find(|(_, known)| *known == meaning).map_or("", |(name, _)| name)
}

/// The syntax that a word stands for.
#[must_use]
pub fn syntax_of(word: &str) -> Option<Syntax> {
    meaning_of(&SYNTAXES, word)
}

fn meaning_of<T: Copy, const N: usize>(words: &Words<T, N>, word: &str) -> Option<T> {
    words.iter().find(|(known, _)| *known == word).map(|(_, meaning)| *meaning)
}

/// The word for a syntax, in addresses of the page too.
#[must_use]
pub fn syntax_name(syntax: Syntax) -> &'static str {
    name_of(&SYNTAXES, syntax)
}

/// The decoded query string.
pub(super) struct Parameters<'a>(Vec<(&'a str, String)>);

impl<'a> Parameters<'a> {
    pub(super) fn new(query: &'a str) -> Result<Self, Refusal> {
        let pairs = query.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let value =
                parameter_decoded(value).ok_or_else(|| wrong(name, "UTF-8 text, with escapes by %"))?;
            Ok((name, value))
        });
        pairs.collect::<Result<_, _>>().map(Self)
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn number<T: FromStr>(&self, name: &str) -> Result<Option<T>, Refusal> {
        self.text(name).map(|text| number(name, text)).transpose()
    }

    pub(super) fn wanted<T: FromStr>(&self, name: &str) -> Result<T, Refusal> {
        self.number(name)?.ok_or_else(|| missing(name))
    }

    /// Parses the numbers in `tracks=3,5,7`.
    pub(super) fn numbers(&self, name: &str) -> Result<Option<Vec<u32>>, Refusal> {
        let bad = |_| wrong(name, &format!("a list of numbers, such as {name}=3,5,7"));
        let read = |text: &str| {
            let parts = text.split(',').filter(|part| !part.is_empty());
            parts.map(|part| part.trim().parse().map_err(bad)).collect()
        };
        self.text(name).map(read).transpose()
    }

    pub(super) fn word<T: Copy, const N: usize>(
        &self,
        name: &str,
        words: &Words<T, N>,
    ) -> Result<Option<T>, Refusal> {
        let Some(text) = self.text(name) else { return Ok(None) };
        meaning_of(words, text).map(Some).ok_or_else(|| {
            let all: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            wrong(name, &format!("one of {}", all.join(", ")))
        })
    }

    pub(super) fn span(&self) -> Result<Interval, Refusal> {
        let (start_ps, end_ps) = (self.wanted("start_ps")?, self.wanted("end_ps")?);
        if start_ps > end_ps {
            return Err(Refusal::new(RefusalKind::BadQuestion, "end_ps is before start_ps"));
        }
        Ok(Interval::new(start_ps, end_ps))
    }

    /// The span; `None` if neither of its ends is given.
    pub(super) fn span_if_any(&self) -> Result<Option<Interval>, Refusal> {
        match (self.text("start_ps"), self.text("end_ps")) {
            (None, None) => Ok(None),
            _ => self.span().map(Some),
        }
    }

    pub(super) fn search(&self) -> Result<SearchQuery, Refusal> {
        let toward = self.word("direction", &TOWARDS)?.unwrap_or_default();
        let at = match (self.number("at_ps")?, self.number("at_row")?) {
            (Some(start_ps), row) => HitPlace { start_ps, row: row.unwrap_or_default() },
            (None, None) if toward == Toward::Previous => HitPlace::LAST,
            (None, None) => HitPlace::FIRST,
            (None, Some(_)) => {
                let what = "at_row needs at_ps; add the start of the row as at_ps";
                return Err(Refusal::new(RefusalKind::BadQuestion, what));
            }
        };
        Ok(SearchQuery {
            text: self.text("q").ok_or_else(|| missing("q"))?.to_owned(),
            syntax: self.word("syntax", &SYNTAXES)?.unwrap_or_default(),
            at,
            toward,
            limit: self.number("limit")?.unwrap_or(DEFAULT_LIMIT),
        })
    }
}

pub(super) fn number<T: FromStr>(name: &str, text: &str) -> Result<T, Refusal> {
    text.parse().map_err(|_| wrong(name, &format!("a whole number in range, not `{text}`")))
}

pub(super) fn missing(name: &str) -> Refusal {
    Refusal::new(RefusalKind::BadQuestion, format!("the parameter {name} is missing"))
}

fn wrong(name: &str, expected: &str) -> Refusal {
    Refusal::new(RefusalKind::BadQuestion, format!("the parameter {name} should be {expected}"))
}
