//! The arguments of a slice: cycle counters and charge as numbers, the others packed in order.
//!
//! FLEX writes them under `attr` or `args`, as decimal or hexadecimal texts.

use std::borrow::Cow;

use nprof_engine::base::Result;
use nprof_engine::base::bytes::{Cursor, Put};
use nprof_engine::makers::aiu::STAMPS;
use nprof_engine::model::Value;

use super::device_slice::{HAS_CHARGE, HAS_GROUP};
use crate::formats::trace_event::layer::{LayerEvent, each_member};
use crate::formats::trace_event::value::WrittenValue;
use crate::json::tokens::ValueKind;

/// Key of the arguments in FLEX traces.
const ATTRIBUTES: &str = "attr";
/// Key of the accumulated charge.
const CHARGE: &[u8] = b"Power";
/// Key of the collective operation.
pub(super) const GROUP: &str = "CollGroup";
/// Key of the rank at the other end of a step.
pub(super) const PEER: &str = "Peer";
/// Key of the ranks at the other ends of a step.
pub(super) const PEERS: &str = "Peers";
/// Key of the step of a collective operation.
pub(super) const KIND: &str = "Type";
/// Begins of the values of [`KIND`] for steps to several ranks.
pub(super) const MULTICASTS: [&str; 2] = ["MultiCast", "Set BCList"];
/// Key of the name of a slice, if it is not among the names. No argument has this key.
pub(super) const NAME: &str = "\0name";
/// Key of the file that a slice comes from, if it is not the one that is read. No argument has this
/// key.
pub(super) const JOB: &str = "\0job";
/// Key of the bytes that a transfer moved.
pub(super) const BYTES: &str = "Bytes";

/// The arguments of a slice.
#[derive(Debug, Default)]
pub(super) struct Attributes {
    /// Counters. One that is missing is zero.
    pub(super) stamps: [u32; STAMPS],
    /// Accumulated charge.
    pub(super) charge: u32,
    /// Flags of [`super::device_slice::DeviceSlice`].
    pub(super) flags: u8,
    /// Whether a counter or the charge has more than 32 bits.
    pub(super) is_wide: bool,
    /// The file that the slice comes from, if it is not the one that is read.
    pub(super) job: Option<Box<str>>,
    /// All other arguments, for [`unpack`].
    pub(super) rest: Vec<u8>,
}

impl Attributes {
    /// Reads the arguments of an event.
    pub(super) fn read(&mut self, met: LayerEvent<'_>) {
        self.rest.clear();
        let rest = std::mem::take(&mut self.rest);
        *self = Self { rest, ..Self::default() };
        met.each_argument(|key, value| self.take(key, value));
        if let Some((_, inside)) = met.object(ATTRIBUTES) {
            each_member(inside, |key, value| self.take(key, value));
        }
    }

    /// Adds keys of the event itself.
    pub(super) fn add_extras(&mut self, met: LayerEvent<'_>) {
        met.each_extra(|key, value| {
            let is_object = key == ATTRIBUTES.as_bytes() && value.kind() == ValueKind::Object;
            if !is_object {
                pack(&mut self.rest, key, value);
            }
        });
    }

    /// Adds the name of the slice, which is not among the names.
    pub(super) fn add_name(&mut self, name: &str) {
        self.rest.put_bytes(NAME.as_bytes());
        self.rest.put_varint(TEXT);
        self.rest.put_text(name);
    }

    /// Whether the slice ran on the device.
    pub(super) fn is_of_device(&self) -> bool {
        self.flags & 1 != 0
    }

    fn take(&mut self, key: &[u8], value: WrittenValue<'_>) {
        let stamp = match key {
            [b'T', b'S', digit @ b'1'..=b'5'] => Some(usize::from(digit - b'1')),
            _ => None,
        };
        if stamp.is_none() && key != CHARGE {
            if key == JOB.as_bytes() {
                self.job = Some(value.text().into());
                return;
            }
            if key == GROUP.as_bytes()
                && matches!(value.kind(), ValueKind::Text | ValueKind::Escaped | ValueKind::Number)
            {
                self.flags |= HAS_GROUP;
            }
            pack(&mut self.rest, key, value);
            return;
        }
        let Some(number) = number(value.written()) else {
            pack(&mut self.rest, key, value);
            return;
        };
        self.is_wide |= number > u64::from(u32::MAX);
        #[expect(clippy::cast_possible_truncation, reason = "counters have 32 bits; more are counted")]
        let low = number as u32;
        match stamp {
            Some(at) => {
                self.stamps[at] = low;
                self.flags |= 1 << at;
            }
            None => {
                self.charge = low;
                self.flags |= HAS_CHARGE;
            }
        }
    }
}

/// An unsigned number, decimal or hexadecimal with `0x`.
pub(super) fn number(text: &[u8]) -> Option<u64> {
    let text = text.trim_ascii();
    let (digits, radix) = match text {
        [b'0', b'x' | b'X', digits @ ..] => (digits, 16),
        digits => (digits, 10),
    };
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0_u64, |sum, &digit| {
        let digit = char::from(digit).to_digit(radix)?;
        sum.checked_mul(u64::from(radix))?.checked_add(u64::from(digit))
    })
}

/// Kinds of packed values.
const TEXT: u64 = 0;
const PLAIN: u64 = 1;
const JSON: u64 = 2;

fn pack(out: &mut Vec<u8>, key: &[u8], value: WrittenValue<'_>) {
    let kind = match value.kind() {
        ValueKind::Text | ValueKind::Escaped => TEXT,
        ValueKind::Object | ValueKind::Array => JSON,
        _ => PLAIN,
    };
    out.put_bytes(key);
    out.put_varint(kind);
    out.put_text(&value.text());
}

/// Calls `visit` for each packed argument: its key and its value.
pub(super) fn unpack<'b>(
    packed: &'b [u8],
    mut visit: impl FnMut(Cow<'b, str>, Value<'b>) -> Result<()>,
) -> Result<()> {
    let mut cursor = Cursor::new(packed, 0, "packed arguments");
    while cursor.remaining() > 0 {
        let (key, kind, text) = (String::from_utf8_lossy(cursor.bytes()?), cursor.varint()?, cursor.text()?);
        let value = match kind {
            TEXT => Value::Text(text),
            JSON => Value::Json(text),
            _ => plain(text),
        };
        visit(key, value)?;
    }
    Ok(())
}

/// A value without quotes.
fn plain(text: &str) -> Value<'_> {
    match text {
        "true" => return Value::Bool(true),
        "false" => return Value::Bool(false),
        _ => {}
    }
    if let Ok(int) = text.parse() {
        return Value::Int(int);
    }
    match text.parse::<f64>() {
        Ok(float) if float.is_finite() => Value::Float(float),
        _ => Value::Text(text),
    }
}

/// Ranks at the other ends of a step.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Peers(pub(super) Vec<u32>);

impl Peers {
    /// Reads ranks: a number, a text of numbers with commas, or a list.
    pub(super) fn of(value: Value<'_>) -> Self {
        match value {
            Value::Int(rank) => Self(u32::try_from(rank).into_iter().collect()),
            Value::Text(text) | Value::Json(text) => {
                let parts = text.split(|sign: char| !sign.is_ascii_alphanumeric());
                Self(parts.filter_map(|rank| rank.parse().ok()).collect())
            }
            _ => Self::default(),
        }
    }
}

/// The instance of a collective operation that an argument names.
pub(super) fn group_of(value: Value<'_>) -> Option<String> {
    match value {
        Value::Text(text) => Some(text.to_owned()),
        Value::Int(number) => Some(number.to_string()),
        Value::Uint(number) => Some(number.to_string()),
        _ => None,
    }
}

/// The number of bytes in a packed argument.
pub(super) fn bytes_of(value: Value<'_>) -> Option<u64> {
    match value {
        Value::Text(text) => number(text.as_bytes()),
        Value::Int(int) => u64::try_from(int).ok(),
        _ => None,
    }
}

/// The number of bytes in an argument as written.
pub(super) fn bytes_of_argument(value: WrittenValue<'_>) -> Option<i64> {
    number(value.text().as_bytes()).and_then(|bytes| i64::try_from(bytes).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_decimal_or_hexadecimal() {
        for (text, expected) in [
            ("0xffb42130", Some(0xffb4_2130)),
            (" 12 ", Some(12)),
            ("0X1F", Some(31)),
            ("0x", None),
            ("", None),
            ("1f", None),
            ("-1", None),
            ("99999999999999999999", None),
        ] {
            assert_eq!(number(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn ranks_are_numbers_texts_or_lists() {
        for (value, expected) in [
            (Value::Int(3), &[3][..]),
            (Value::Text("0, 1,2"), &[0, 1, 2]),
            (Value::Json("[4,\"5\"]"), &[4, 5]),
            (Value::Text("none -7x"), &[]),
            (Value::Bool(true), &[]),
        ] {
            assert_eq!(Peers::of(value).0, expected, "{value:?}");
        }
        assert_eq!(group_of(Value::Int(4)).as_deref(), Some("4"));
    }
}
