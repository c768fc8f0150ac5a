//! Parser of one row.

use std::borrow::Cow;
use std::fmt;

use nprof_engine::base::time::PS_PER_NS;
use nprof_engine::model::Value;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// One value of a row.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum RowCell<'a> {
    Int(i64),
    Uint(u64),
    Float(f64),
    Bool(bool),
    Text(Cow<'a, str>),
    /// A list, an object, null, or a number that fits no other type: JSON text without spaces.
    Json(Cow<'a, str>),
}

/// The keys and values of one object.
#[derive(Debug, PartialEq)]
pub(super) struct JsonRow<'a> {
    pub(super) cells: Vec<(Cow<'a, str>, RowCell<'a>)>,
}

impl<'a> JsonRow<'a> {
    /// Reads an object.
    pub(super) fn parse(text: &'a str) -> Result<Self, serde_json::Error> {
        let Members(members) = serde_json::from_str(text)?;
        let mut cells = Vec::with_capacity(members.len());
        for (key, value) in members {
            cells.push((key, RowCell::parse(value.get())?));
        }
        Ok(Self { cells })
    }

    /// The value of a key. If a key occurs twice, the last one counts.
    pub(super) fn get(&self, key: &str) -> Option<&RowCell<'a>> {
        self.cells.iter().rev().find(|(name, _)| name == key).map(|(_, cell)| cell)
    }

    /// The text of a key; empty if there is none.
    pub(super) fn text(&self, key: &str) -> &str {
        match self.get(key) {
            Some(RowCell::Text(text)) => text,
            _ => "",
        }
    }

    /// The number of a key. neuron-profile writes queues and engines as text, which is accepted
    /// too.
    pub(super) fn number(&self, key: &str) -> Option<u32> {
        match self.get(key)? {
            RowCell::Int(value) => u32::try_from(*value).ok(),
            RowCell::Text(text) => text.parse().ok(),
            _ => None,
        }
    }

    /// The id under a key.
    pub(super) fn id(&self, key: &str) -> Option<u64> {
        match self.get(key)? {
            RowCell::Int(value) => u64::try_from(*value).ok(),
            RowCell::Uint(value) => Some(*value),
            _ => None,
        }
    }

    /// The time under a key, converted from nanoseconds to picoseconds. `Err` if the value is no
    /// time, or out of range.
    pub(super) fn time_ps(&self, key: &str) -> Option<Result<i64, ()>> {
        Some(match self.get(key)? {
            RowCell::Int(value) => value.checked_mul(PS_PER_NS).ok_or(()),
            RowCell::Float(value) => ps_from_ns(*value).ok_or(()),
            _ => Err(()),
        })
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "the range is checked before"
)]
fn ps_from_ns(ns: f64) -> Option<i64> {
    let ps = (ns * PS_PER_NS as f64).round();
    (ps.abs() < i64::MAX as f64).then_some(ps as i64)
}

impl<'a> RowCell<'a> {
    /// Parses a value of valid JSON.
    pub(super) fn parse(text: &'a str) -> Result<Self, serde_json::Error> {
        Ok(match text.as_bytes().first() {
            Some(b'"') => match text.get(1..text.len().saturating_sub(1)) {
                Some(plain) if !plain.contains('\\') => Self::Text(Cow::Borrowed(plain)),
                _ => Self::Text(Cow::Owned(serde_json::from_str(text)?)),
            },
            Some(b't') => Self::Bool(true),
            Some(b'f') => Self::Bool(false),
            Some(b'-' | b'0'..=b'9') => Self::number(text),
            _ => Self::Json(compact(text)),
        })
    }

    fn number(text: &'a str) -> Self {
        if !text.contains(['.', 'e', 'E']) {
            if let Ok(value) = text.parse() {
                return Self::Int(value);
            }
            return text.parse().map_or(Self::Json(Cow::Borrowed(text)), Self::Uint);
        }
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() => Self::Float(value),
            _ => Self::Json(Cow::Borrowed(text)),
        }
    }

    /// The value as the sink takes it.
    pub(super) fn value(&self) -> Value<'_> {
        match self {
            Self::Int(value) => Value::Int(*value),
            Self::Uint(value) => Value::unsigned(*value),
            Self::Float(value) => Value::Float(*value),
            Self::Bool(value) => Value::Bool(*value),
            Self::Text(text) => Value::Text(text),
            Self::Json(text) => Value::Json(text),
        }
    }

    /// The value as a counter's sample, and whether the conversion is exact.
    #[expect(clippy::cast_precision_loss, reason = "the loss is told to the caller")]
    pub(super) fn sample(&self) -> Option<(f64, Exactness)> {
        /// Whole numbers up to here are exact in an `f64`.
        const EXACT: u64 = 1 << f64::MANTISSA_DIGITS;
        match self {
            Self::Int(value) if value.unsigned_abs() <= EXACT => Some((*value as f64, Exactness::Exact)),
            Self::Int(value) => Some((*value as f64, Exactness::Rounded)),
            Self::Uint(value) => Some((*value as f64, Exactness::Rounded)),
            Self::Float(value) => Some((*value, Exactness::Exact)),
            Self::Bool(_) | Self::Text(_) | Self::Json(_) => None,
        }
    }
}

/// Whether a value came through a conversion unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exactness {
    Exact,
    Rounded,
}

/// Removes the spaces from valid JSON.
fn compact(text: &str) -> Cow<'_, str> {
    if !text.bytes().any(|byte| byte.is_ascii_whitespace()) {
        return Cow::Borrowed(text);
    }
    let (mut in_string, mut escaped) = (false, false);
    let keep = |c: &char| {
        let keep = in_string || !c.is_ascii_whitespace();
        match (*c, escaped) {
            (_, true) => escaped = false,
            ('\\', false) => escaped = in_string,
            ('"', false) => in_string = !in_string,
            _ => {}
        }
        keep
    };
    Cow::Owned(text.chars().filter(keep).collect())
}

struct Members<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Vec<(Cow<'de, str>, &'de RawValue)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
                let mut members = Vec::with_capacity(48);
                while let Some((JsonKey(key), value)) = map.next_entry()? {
                    members.push((key, value));
                }
                Ok(members)
            }
        }
        deserializer.deserialize_map(Collect).map(Members)
    }
}

/// A key, borrowed unless it has escapes.
struct JsonKey<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for JsonKey<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Borrow;
        impl<'de> Visitor<'de> for Borrow {
            type Value = Cow<'de, str>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Cow::Borrowed(text))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Cow::Owned(text.to_owned()))
            }
        }
        deserializer.deserialize_str(Borrow).map(JsonKey)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &RowCell<'_>) {
        let row = format!("{{\"key\" : {text} }}");
        assert_eq!(JsonRow::parse(&row).unwrap().get("key"), Some(expected), "{text}");
    }

    #[test]
    fn each_type_is_kept() {
        check("-3", &RowCell::Int(-3));
        check("9223372036854775807", &RowCell::Int(i64::MAX));
        check("18446744073709551615", &RowCell::Uint(u64::MAX));
        check("0.000416", &RowCell::Float(0.000_416));
        check("1e3", &RowCell::Float(1000.0));
        check("true", &RowCell::Bool(true));
        check(r#""a\"b\u00e9""#, &RowCell::Text("a\"bé".into()));
        check(r#"[ {"a b" : "c \" d"}, 1 ]"#, &RowCell::Json(r#"[{"a b":"c \" d"},1]"#.into()));
        check("null", &RowCell::Json("null".into()));
        check("1e999", &RowCell::Json("1e999".into()));
        check("99999999999999999999", &RowCell::Json("99999999999999999999".into()));
    }

    #[test]
    fn times_out_of_range_are_told() {
        let row = JsonRow::parse(r#"{"a":9223372036854775807,"b":1e300,"c":"x","d":1.5}"#).unwrap();
        for key in ["a", "b", "c"] {
            assert_eq!(row.time_ps(key), Some(Err(())), "{key}");
        }
        assert_eq!((row.time_ps("d"), row.time_ps("e")), (Some(Ok(1_500)), None));
    }
}
