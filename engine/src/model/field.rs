//! Fields: the typed attributes of slices, samples and rows.

use super::{NameId, Names};

/// A field of a table, in the order of definition; unique within its segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FieldId(pub u32);

/// Description of a field for people: name, unit, display group, explanation.
///
/// A field has no declared type. Traces disagree with themselves: a Chrome argument can be a number
/// in one place and text in another. So the store keeps one column for each type that occurs. A row
/// has its value in exactly one of them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FieldSpec {
    /// Name in exports, e.g. `evt_wait_time`.
    pub name: String,
    /// Unit of the numbers.
    pub unit: Unit,
    /// Heading in the details panel, e.g. "Timing"; empty for none.
    pub group: String,
    /// One sentence for a person; empty if nothing is known.
    pub doc: String,
}

impl FieldSpec {
    /// Creates a field of which only the name is known.
    #[must_use]
    pub fn named(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }

    /// Creates a documented field.
    #[must_use]
    pub fn new(name: &str, unit: Unit, group: &str, doc: &str) -> Self {
        Self { name: name.to_owned(), unit, group: group.to_owned(), doc: doc.to_owned() }
    }
}

/// Unit of a field's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Unit {
    /// A plain number or a text.
    #[default]
    None,
    /// Nanoseconds.
    Nanoseconds,
    /// Picoseconds.
    Picoseconds,
    /// Bytes.
    Bytes,
    /// Bytes a second.
    BytesPerSecond,
    /// An address or a raw word, shown in hexadecimal.
    Hexadecimal,
    /// A share between 0 and 1, shown as percent.
    Ratio,
    /// A number of things.
    Count,
    /// A frequency in hertz.
    Hertz,
    /// Floating-point operations.
    Flops,
    /// Clock cycles.
    Cycles,
    /// Seconds.
    Seconds,
    /// Watts.
    Watts,
    /// Floating-point operations a second.
    FlopsPerSecond,
}

impl Unit {
    /// All units; the position is the code in the format (`docs/format.md`, Units).
    pub const ALL: [Self; 14] = [
        Self::None,
        Self::Nanoseconds,
        Self::Picoseconds,
        Self::Bytes,
        Self::BytesPerSecond,
        Self::Hexadecimal,
        Self::Ratio,
        Self::Count,
        Self::Hertz,
        Self::Flops,
        Self::Cycles,
        Self::Seconds,
        Self::Watts,
        Self::FlopsPerSecond,
    ];

    /// Symbol of the unit, for people and messages; empty for a plain number.
    #[must_use]
    pub fn symbol(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Nanoseconds => "ns",
            Self::Picoseconds => "ps",
            Self::Bytes => "B",
            Self::BytesPerSecond => "B/s",
            Self::Hexadecimal => "hex",
            Self::Ratio => "ratio",
            Self::Count => "count",
            Self::Hertz => "Hz",
            Self::Flops => "FLOP",
            Self::Cycles => "cycles",
            Self::Seconds => "s",
            Self::Watts => "W",
            Self::FlopsPerSecond => "FLOP/s",
        }
    }
}

/// A borrowed value of a field, as a reader passes it to the sink.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'a> {
    /// A signed integer.
    Int(i64),
    /// An unsigned integer beyond `i64::MAX`; use `Int` for smaller ones.
    Uint(u64),
    /// A float; NaN and infinities are kept.
    Float(f64),
    /// True or false.
    Bool(bool),
    /// Text.
    Text(&'a str),
    /// A text whose number is known.
    Name(NameId),
    /// A nested value, as compact JSON text.
    Json(&'a str),
}

impl Value<'_> {
    /// A copy. `names` has the texts whose number is known.
    #[must_use]
    pub fn owned(self, names: &Names) -> OwnedValue {
        match self {
            Self::Int(v) => OwnedValue::Int(v),
            Self::Uint(v) => OwnedValue::Uint(v),
            Self::Float(v) => OwnedValue::Float(v),
            Self::Bool(v) => OwnedValue::Bool(v),
            Self::Text(v) => OwnedValue::Text(v.to_owned()),
            Self::Name(v) => OwnedValue::Text(names.text(v).to_owned()),
            Self::Json(v) => OwnedValue::Json(v.to_owned()),
        }
    }

    /// A number without a sign: `Int` if the number fits, else `Uint`.
    #[must_use]
    pub fn unsigned(number: u64) -> Self {
        i64::try_from(number).map_or(Self::Uint(number), Self::Int)
    }
}

/// An owned value of a field, as the store returns it.
#[derive(Debug, Clone, PartialEq)]
pub enum OwnedValue {
    /// A signed integer.
    Int(i64),
    /// An unsigned integer beyond `i64::MAX`.
    Uint(u64),
    /// A float.
    Float(f64),
    /// True or false.
    Bool(bool),
    /// Text.
    Text(String),
    /// A nested value, as compact JSON text.
    Json(String),
}

impl OwnedValue {
    /// The whole number. `None` for other values.
    #[must_use]
    pub fn int(&self) -> Option<i64> {
        match self {
            Self::Int(value) => Some(*value),
            Self::Uint(value) => i64::try_from(*value).ok(),
            _ => None,
        }
    }

    /// The number with the precision of a float. `None` for other values.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "who asks for a float wants no more digits")]
    pub fn float(&self) -> Option<f64> {
        match self {
            Self::Int(value) => Some(*value as f64),
            Self::Uint(value) => Some(*value as f64),
            Self::Float(value) => Some(*value),
            _ => None,
        }
    }

    /// Borrows the value.
    #[must_use]
    pub fn as_value(&self) -> Value<'_> {
        match self {
            Self::Int(v) => Value::Int(*v),
            Self::Uint(v) => Value::Uint(*v),
            Self::Float(v) => Value::Float(*v),
            Self::Bool(v) => Value::Bool(*v),
            Self::Text(v) => Value::Text(v),
            Self::Json(v) => Value::Json(v),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_without_a_sign_stay_exact() {
        assert_eq!(Value::unsigned(i64::MAX.unsigned_abs()), Value::Int(i64::MAX));
        assert_eq!(Value::unsigned(u64::MAX), Value::Uint(u64::MAX));
    }
}
