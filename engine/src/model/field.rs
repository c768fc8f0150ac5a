//! Fields: the typed attributes of slices, samples and rows.

use super::NameId;

/// A field of a table, in the order of definition; unique within its segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FieldId(pub u32);

/// What a field is, for people: name, unit, display group, explanation.
///
/// A field has no declared type. Traces disagree with themselves (a Chrome argument may be a number here and text
/// there), so the store keeps one column per type that occurs and a row has its value in exactly one of them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FieldSpec {
    /// As exported, e.g. `evt_wait_time`.
    pub name: String,
    /// What one means.
    pub unit: Unit,
    /// Heading in the details panel, e.g. "Timing"; empty for none.
    pub group: String,
    /// One sentence for a person; empty where nothing is known.
    pub doc: String,
}

impl FieldSpec {
    /// A field of which only the name is known.
    #[must_use]
    pub fn named(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }

    /// A documented field.
    #[must_use]
    pub fn new(name: &str, unit: Unit, group: &str, doc: &str) -> Self {
        Self { name: name.to_owned(), unit, group: group.to_owned(), doc: doc.to_owned() }
    }
}

/// What one of a field's numbers means.
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
}

impl Unit {
    /// All units; the position is the code in the format (`docs/format.md`, Units).
    pub const ALL: [Self; 12] = [
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
    ];

    /// Its symbol, for people and messages; empty for a plain number.
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
        }
    }
}

/// One value on its way in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'a> {
    /// A signed integer.
    Int(i64),
    /// An unsigned integer beyond `i64::MAX`; smaller ones should come as `Int`.
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

/// One value on its way out.
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
    /// Borrowed.
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
