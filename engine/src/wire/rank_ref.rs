//! Reference to a rank of a profile, or to what all its ranks show together.

use std::fmt;
use std::str::FromStr;

use serde::de::{Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A rank by its number, or the view of all ranks: their job segment.
///
/// In addresses and in JSON it is a number or the word `all`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RankRef {
    /// The view of all ranks together. It comes before the ranks.
    All,
    /// The rank with this number.
    Number(u32),
}

impl RankRef {
    /// How [`Self::All`] is written.
    pub const ALL_WORD: &str = "all";

    /// Number of the rank; `None` for all ranks.
    #[must_use]
    pub fn number(self) -> Option<u32> {
        match self {
            Self::All => None,
            Self::Number(number) => Some(number),
        }
    }

    /// Whether all ranks are meant.
    #[must_use]
    pub fn is_all(self) -> bool {
        self == Self::All
    }

    /// The rank in a sentence: `rank 3`, or `the view of all ranks`.
    #[must_use]
    pub fn in_words(self) -> String {
        match self {
            Self::All => "the view of all ranks".to_owned(),
            Self::Number(number) => format!("rank {number}"),
        }
    }
}

impl From<u32> for RankRef {
    fn from(number: u32) -> Self {
        Self::Number(number)
    }
}

impl fmt::Display for RankRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str(Self::ALL_WORD),
            Self::Number(number) => number.fmt(f),
        }
    }
}

/// A text that is neither the number of a rank nor `all`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoRankRef;

impl fmt::Display for NoRankRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "neither the number of a rank nor \"{}\"", RankRef::ALL_WORD)
    }
}

impl std::error::Error for NoRankRef {}

impl FromStr for RankRef {
    type Err = NoRankRef;

    fn from_str(text: &str) -> Result<Self, NoRankRef> {
        if text == Self::ALL_WORD {
            Ok(Self::All)
        } else {
            text.parse().map(Self::Number).map_err(|_| NoRankRef)
        }
    }
}

/// The form in postcard.
#[derive(Serialize, Deserialize)]
#[serde(rename = "RankRef")]
enum Tagged {
    All,
    Number(u32),
}

impl Serialize for RankRef {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match (serializer.is_human_readable(), *self) {
            (true, Self::All) => serializer.serialize_str(Self::ALL_WORD),
            (true, Self::Number(number)) => serializer.serialize_u32(number),
            (false, Self::All) => Tagged::All.serialize(serializer),
            (false, Self::Number(number)) => Tagged::Number(number).serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for RankRef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            return deserializer.deserialize_any(NumberOrWord);
        }
        Ok(match Tagged::deserialize(deserializer)? {
            Tagged::All => Self::All,
            Tagged::Number(number) => Self::Number(number),
        })
    }
}

/// Reads the form in JSON.
struct NumberOrWord;

impl Visitor<'_> for NumberOrWord {
    type Value = RankRef;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the number of a rank or \"{}\"", RankRef::ALL_WORD)
    }

    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<RankRef, E> {
        let unexpected = |_| E::invalid_value(Unexpected::Unsigned(number), &self);
        u32::try_from(number).map(RankRef::Number).map_err(unexpected)
    }

    fn visit_str<E: serde::de::Error>(self, word: &str) -> Result<RankRef, E> {
        let unexpected = || E::invalid_value(Unexpected::Str(word), &self);
        if word == RankRef::ALL_WORD { Ok(RankRef::All) } else { Err(unexpected()) }
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for RankRef {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "RankRef".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "A rank by its number, or the view of all ranks.",
            "anyOf": [
                { "type": "integer", "format": "uint32", "minimum": 0 },
                { "const": Self::ALL_WORD },
            ],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(rank: RankRef, text: &str, json: &str) {
        assert_eq!((rank.to_string().as_str(), text.parse()), (text, Ok(rank)));
        assert_eq!(serde_json::to_string(&rank).unwrap(), json);
        assert_eq!(serde_json::from_str::<RankRef>(json).unwrap(), rank);
        let bytes = postcard::to_allocvec(&rank).unwrap();
        assert_eq!(postcard::from_bytes::<RankRef>(&bytes).unwrap(), rank);
    }

    #[test]
    fn a_reference_survives_addresses_json_and_postcard() {
        check(RankRef::All, "all", "\"all\"");
        check(RankRef::Number(0), "0", "0");
        check(RankRef::Number(u32::MAX), "4294967295", "4294967295");
    }

    #[test]
    fn other_texts_are_no_ranks() {
        for text in ["", "ALL", "-1", "4294967296", "1.5"] {
            assert_eq!(text.parse::<RankRef>(), Err(NoRankRef), "{text}");
        }
        for json in ["\"0\"", "-1", "4294967296", "null", "1.5"] {
            assert!(serde_json::from_str::<RankRef>(json).is_err(), "{json}");
        }
    }

    #[test]
    fn all_ranks_come_first() {
        assert!(RankRef::All < RankRef::Number(0) && RankRef::Number(2) < RankRef::Number(10));
    }
}
