//! A path and its query, as a client gave them.

use std::borrow::Cow;

use super::doc::ParameterPlace;
use crate::wire::percent::{parameter_decoded, percent_decoded};
use crate::wire::refusal::{Refusal, RefusalKind};

/// The decoded parts of a path; `None` if an escape is broken.
#[must_use]
pub fn parts_of(path: &str) -> Option<Vec<Cow<'_, str>>> {
    let mut parts = Vec::with_capacity(path.bytes().filter(|byte| *byte == b'/').count() + 1);
    for part in path.split('/') {
        parts.push(percent_decoded(part)?);
    }
    Some(parts)
}

/// An address that fits the template of a path.
#[derive(Debug, Clone, Copy)]
pub struct GivenAddress<'a> {
    template: &'static str,
    parts: &'a [Cow<'a, str>],
    query: &'a str,
}

impl<'a> GivenAddress<'a> {
    /// The address, if its parts fit the template: the same words, and any text that is not empty
    /// for a parameter in braces.
    #[must_use]
    pub fn of(template: &'static str, parts: &'a [Cow<'a, str>], query: &'a str) -> Option<Self> {
        let mut left = parts.iter();
        for expected in template.split('/') {
            let part = left.next()?;
            let fits = if expected.starts_with('{') { !part.is_empty() } else { &**part == expected };
            if !fits {
                return None;
            }
        }
        left.next().is_none().then_some(Self { template, parts, query })
    }

    /// The value of a parameter, if it is given.
    ///
    /// # Errors
    /// `BadQuestion` if the value has a broken escape.
    pub fn value(&self, place: ParameterPlace, name: &str) -> Result<Option<Cow<'a, str>>, Refusal> {
        match place {
            ParameterPlace::Path => Ok(self.in_path(name).map(Cow::Borrowed)),
            ParameterPlace::Query => self.in_query(name),
        }
    }

    fn in_path(&self, name: &str) -> Option<&'a str> {
        let is_it = |part: &str| part.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) == Some(name);
        let at = self.template.split('/').position(is_it)?;
        self.parts.get(at).map(|part| &**part)
    }

    /// Does not look at other parameters. If a parameter is given twice, the first one counts.
    fn in_query(&self, name: &str) -> Result<Option<Cow<'a, str>>, Refusal> {
        let mut pairs = self.query.split('&').filter(|pair| !pair.is_empty());
        let found = pairs.find_map(|pair| {
            let (known, value) = pair.split_once('=').unwrap_or((pair, ""));
            (known == name).then_some(value)
        });
        let decoded =
            |value| parameter_decoded(value).ok_or_else(|| wrong(name, "UTF-8 text, with escapes by %"));
        found.map(decoded).transpose().map(|value| value.map(Cow::Owned))
    }
}

pub(crate) fn missing(name: &str) -> Refusal {
    Refusal::new(RefusalKind::BadQuestion, format!("the parameter {name} is missing"))
}

pub(crate) fn wrong(name: &str, expected: &str) -> Refusal {
    Refusal::new(RefusalKind::BadQuestion, format!("the parameter {name} should be {expected}"))
}
