//! Texts, numbers and words as parameters.

use std::fmt;
use std::str::FromStr;

#[cfg(test)]
use proptest::prelude::*;

use super::address::Address;
use super::doc::{ParameterDoc, ParameterPlace, ValueForm};
use super::given_address::{GivenAddress, missing, wrong};
use super::parameter::Parameter;
use crate::wire::percent::percent_escapes;
use crate::wire::refusal::Refusal;

/// A text, which must be given.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Text {
    /// Part of the address.
    pub place: ParameterPlace,
    /// Name of the parameter.
    pub name: &'static str,
}

impl Text {
    /// A text in the path. It is never empty.
    #[must_use]
    pub const fn in_path(name: &'static str) -> Self {
        Self { place: ParameterPlace::Path, name }
    }

    /// A text in the query.
    #[must_use]
    pub const fn in_query(name: &'static str) -> Self {
        Self { place: ParameterPlace::Query, name }
    }
}

impl Parameter for Text {
    type Value = String;

    fn describe(&self, doc: &'static str, all: &mut Vec<ParameterDoc>) {
        let Self { place, name } = *self;
        all.push(ParameterDoc { name, place, is_required: true, doc: doc.into(), form: ValueForm::Text });
    }

    fn read(&self, given: &GivenAddress<'_>) -> Result<String, Refusal> {
        let text = given.value(self.place, self.name)?.ok_or_else(|| missing(self.name))?;
        Ok(text.into_owned())
    }

    fn write(&self, value: &String, address: &mut Address) {
        address.push(self.place, self.name, percent_escapes(value));
    }

    #[cfg(any(test, feature = "fixture"))]
    fn example(&self) -> String {
        "a b".to_owned()
    }

    #[cfg(test)]
    fn any(&self) -> BoxedStrategy<String> {
        match self.place {
            ParameterPlace::Path => "\\PC{1,12}".boxed(),
            ParameterPlace::Query => "\\PC{0,12}".boxed(),
        }
    }
}

/// A text in the query. `None` if the parameter is not given.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TextIfAny(pub &'static str);

impl Parameter for TextIfAny {
    type Value = Option<String>;

    fn describe(&self, doc: &'static str, all: &mut Vec<ParameterDoc>) {
        let (name, place) = (self.0, ParameterPlace::Query);
        all.push(ParameterDoc { name, place, is_required: false, doc: doc.into(), form: ValueForm::Text });
    }

    fn read(&self, given: &GivenAddress<'_>) -> Result<Option<String>, Refusal> {
        Ok(given.value(ParameterPlace::Query, self.0)?.map(std::borrow::Cow::into_owned))
    }

    fn write(&self, value: &Option<String>, address: &mut Address) {
        if let Some(text) = value {
            address.push(ParameterPlace::Query, self.0, percent_escapes(text));
        }
    }

    #[cfg(any(test, feature = "fixture"))]
    fn example(&self) -> Option<String> {
        Some("a b".to_owned())
    }

    #[cfg(test)]
    fn any(&self) -> BoxedStrategy<Option<String>> {
        prop::option::of("\\PC{0,12}").boxed()
    }
}

/// Types of whole numbers.
pub(crate) trait Whole:
    FromStr + fmt::Display + fmt::Debug + Copy + Into<i64> + From<u8> + 'static
{
    /// The smallest number, if numbers have no sign.
    const LEAST: Option<i64>;

    /// All numbers.
    #[cfg(test)]
    fn any() -> BoxedStrategy<Self>;
}

impl Whole for u8 {
    const LEAST: Option<i64> = Some(0);

    #[cfg(test)]
    fn any() -> BoxedStrategy<Self> {
        any::<Self>().boxed()
    }
}

impl Whole for u32 {
    const LEAST: Option<i64> = Some(0);

    #[cfg(test)]
    fn any() -> BoxedStrategy<Self> {
        any::<Self>().boxed()
    }
}

impl Whole for i64 {
    const LEAST: Option<i64> = None;

    #[cfg(test)]
    fn any() -> BoxedStrategy<Self> {
        any::<Self>().boxed()
    }
}

/// A whole number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Number<T> {
    /// Part of the address.
    pub place: ParameterPlace,
    /// Name of the parameter.
    pub name: &'static str,
    /// The largest number, if it is not that of the type.
    pub most: Option<i64>,
    /// The number if none is given. `None` if it must be given.
    pub default: Option<T>,
}

impl<T> Number<T> {
    /// A number in the path.
    #[must_use]
    pub const fn in_path(name: &'static str) -> Self {
        Self { place: ParameterPlace::Path, name, most: None, default: None }
    }

    /// A number in the query that must be given.
    #[must_use]
    pub const fn required(name: &'static str) -> Self {
        Self { place: ParameterPlace::Query, name, most: None, default: None }
    }

    /// A number in the query, with a default.
    #[must_use]
    pub const fn or(name: &'static str, default: T) -> Self {
        Self { place: ParameterPlace::Query, name, most: None, default: Some(default) }
    }
}

impl<T: Whole> Parameter for Number<T> {
    type Value = T;

    fn describe(&self, doc: &'static str, all: &mut Vec<ParameterDoc>) {
        let Self { place, name, most, default } = *self;
        let form = ValueForm::Integer { least: T::LEAST, most, default: default.map(Into::into) };
        all.push(ParameterDoc { name, place, is_required: default.is_none(), doc: doc.into(), form });
    }

    fn read(&self, given: &GivenAddress<'_>) -> Result<T, Refusal> {
        match given.value(self.place, self.name)? {
            Some(text) => number(self.name, &text),
            None => self.default.ok_or_else(|| missing(self.name)),
        }
    }

    fn write(&self, value: &T, address: &mut Address) {
        address.push(self.place, self.name, value);
    }

    #[cfg(any(test, feature = "fixture"))]
    fn example(&self) -> T {
        T::from(2)
    }

    #[cfg(test)]
    fn any(&self) -> BoxedStrategy<T> {
        T::any()
    }
}

/// Numbers in the query, separated by commas. `None` if the parameter is not given.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Numbers(pub &'static str);

impl Parameter for Numbers {
    type Value = Option<Vec<u32>>;

    fn describe(&self, doc: &'static str, all: &mut Vec<ParameterDoc>) {
        let place = ParameterPlace::Query;
        let form = ValueForm::Numbers;
        all.push(ParameterDoc { name: self.0, place, is_required: false, doc: doc.into(), form });
    }

    fn read(&self, given: &GivenAddress<'_>) -> Result<Option<Vec<u32>>, Refusal> {
        let name = self.0;
        let bad = |_| wrong(name, &format!("a list of numbers, such as {name}=3,5,7"));
        let Some(text) = given.value(ParameterPlace::Query, name)? else { return Ok(None) };
        let parts = text.split(',').filter(|part| !part.is_empty());
        parts.map(|part| part.trim().parse().map_err(bad)).collect::<Result<_, _>>().map(Some)
    }

    fn write(&self, value: &Option<Vec<u32>>, address: &mut Address) {
        if let Some(numbers) = value {
            address.push(ParameterPlace::Query, self.0, WithCommas(numbers));
        }
    }

    #[cfg(any(test, feature = "fixture"))]
    fn example(&self) -> Option<Vec<u32>> {
        Some(vec![3, 5])
    }

    #[cfg(test)]
    fn any(&self) -> BoxedStrategy<Option<Vec<u32>>> {
        prop::option::of(prop::collection::vec(any::<u32>(), 0..4)).boxed()
    }
}

/// Numbers in the query, separated by commas. None if the parameter is not given.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NumberList(pub &'static str);

impl Parameter for NumberList {
    type Value = Vec<u32>;

    fn describe(&self, doc: &'static str, all: &mut Vec<ParameterDoc>) {
        Numbers(self.0).describe(doc, all);
    }

    fn read(&self, given: &GivenAddress<'_>) -> Result<Vec<u32>, Refusal> {
        Numbers(self.0).read(given).map(Option::unwrap_or_default)
    }

    fn write(&self, value: &Vec<u32>, address: &mut Address) {
        if !value.is_empty() {
            address.push(ParameterPlace::Query, self.0, WithCommas(value));
        }
    }

    #[cfg(any(test, feature = "fixture"))]
    fn example(&self) -> Vec<u32> {
        vec![8, 9]
    }

    #[cfg(test)]
    fn any(&self) -> BoxedStrategy<Vec<u32>> {
        prop::collection::vec(any::<u32>(), 0..4).boxed()
    }
}

struct WithCommas<'a>(&'a [u32]);

impl fmt::Display for WithCommas<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().enumerate().try_for_each(|(at, number)| match at {
            0 => write!(f, "{number}"),
            _ => write!(f, ",{number}"),
        })
    }
}

/// Words of the grammar with their values.
pub(crate) type Words<T> = &'static [(&'static str, T)];

/// One of several words in the query.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Word<T: 'static> {
    /// Name of the parameter.
    pub name: &'static str,
    /// The words. Each value has one.
    pub words: Words<T>,
    /// The value if no word is given. `None` if one must be given.
    pub default: Option<T>,
}

impl<T: Copy + PartialEq + fmt::Debug> Parameter for Word<T> {
    type Value = T;

    fn describe(&self, doc: &'static str, all: &mut Vec<ParameterDoc>) {
        let words = self.words.iter().map(|(word, _)| *word).collect();
        let default = self.default.map(|default| name_of(self.words, default));
        all.push(ParameterDoc {
            name: self.name,
            place: ParameterPlace::Query,
            is_required: default.is_none(),
            doc: doc.into(),
            form: ValueForm::Word { words, default },
        });
    }

    fn read(&self, given: &GivenAddress<'_>) -> Result<T, Refusal> {
        let Some(word) = given.value(ParameterPlace::Query, self.name)? else {
            return self.default.ok_or_else(|| missing(self.name));
        };
        meaning_of(self.words, &word).ok_or_else(|| {
            let all: Vec<&str> = self.words.iter().map(|(word, _)| *word).collect();
            wrong(self.name, &format!("one of {}", all.join(", ")))
        })
    }

    fn write(&self, value: &T, address: &mut Address) {
        address.push(ParameterPlace::Query, self.name, name_of(self.words, *value));
    }

    #[cfg(any(test, feature = "fixture"))]
    fn example(&self) -> T {
        self.words.last().expect("a word for each value").1
    }

    #[cfg(test)]
    fn any(&self) -> BoxedStrategy<T> {
        prop::sample::select(self.words.iter().map(|(_, meaning)| *meaning).collect::<Vec<_>>()).boxed()
    }
}

pub(crate) fn name_of<T: PartialEq + Copy>(words: Words<T>, meaning: T) -> &'static str {
    // Every value has a word, which the law of addresses checks.
    words.iter().find(|(_, known)| *known == meaning).map_or("", |(name, _)| name)
}

pub(crate) fn meaning_of<T: Copy>(words: Words<T>, word: &str) -> Option<T> {
    words.iter().find(|(known, _)| *known == word).map(|(_, meaning)| *meaning)
}

pub(crate) fn number<T: FromStr>(name: &str, text: &str) -> Result<T, Refusal> {
    text.parse().map_err(|_| wrong(name, &format!("a whole number in range, not `{text}`")))
}
