//! Annotations: the arguments of an event. Nested ones become compact JSON.

use std::borrow::Cow;
use std::fmt::Write;

use nprof_engine::model::{Unit, Value, WarningKind};

use super::field::RowTable;
use super::output::{PacketOutput, ReadStop};
use super::sequence::{InternedKind, Sequence};
use crate::formats::trace_event::json;
use crate::protobuf::{MessageDamage, MessageFields, varint};

/// Deepest nesting of values.
const MAX_DEPTH: usize = 64;
/// Fields of nprof's own that annotations can have the names of.
const OWN: [&str; 5] = ["cat", "correlation_id", "source_location", "ph", "id"];
/// Bytes that the value of an annotation can always have. Interned texts can repeat in it, so its
/// length has a limit besides that of the packet.
const FREE_LEN: usize = 64 << 10;
/// Most bytes of a value for each byte of its annotation.
const MAX_GROWTH: usize = 16;

/// Value of an annotation.
#[derive(Debug, Clone, Copy)]
enum AnnotationValue<'a> {
    None,
    Bool(bool),
    Uint(u64),
    Int(i64),
    Float(f64),
    Text(&'a [u8]),
    Interned(u64),
    Pointer(u64),
    /// The older form of nested values.
    Nested(&'a [u8]),
    Json(&'a [u8]),
    /// A message whose description is elsewhere.
    Proto(&'a [u8]),
    Dict,
    Array,
}

/// Field numbers of the entries of nested annotations.
const DICT_ENTRY: u32 = 11;
const ARRAY_VALUE: u32 = 12;

/// An annotation.
#[derive(Debug, Clone, Copy)]
pub(super) struct TraceAnnotation<'a> {
    bytes: &'a [u8],
    name_iid: u64,
    name: Option<&'a [u8]>,
    value: AnnotationValue<'a>,
}

impl<'a> TraceAnnotation<'a> {
    /// Reads an annotation.
    pub(super) fn parse(bytes: &'a [u8]) -> Result<Self, MessageDamage> {
        let mut annotation = Self { bytes, name_iid: 0, name: None, value: AnnotationValue::None };
        let mut fields = MessageFields::new(bytes);
        while let Some((number, value)) = fields.next()? {
            let given = match number {
                1 => {
                    annotation.name_iid = value.number();
                    continue;
                }
                10 => {
                    annotation.name = Some(value.bytes());
                    continue;
                }
                2 => AnnotationValue::Bool(value.number() != 0),
                3 => AnnotationValue::Uint(value.number()),
                4 => AnnotationValue::Int(value.signed()),
                5 => AnnotationValue::Float(f64::from_bits(value.number())),
                6 => AnnotationValue::Text(value.bytes()),
                7 => AnnotationValue::Pointer(value.number()),
                8 => AnnotationValue::Nested(value.bytes()),
                9 => AnnotationValue::Json(value.bytes()),
                14 => AnnotationValue::Proto(value.bytes()),
                17 => AnnotationValue::Interned(value.number()),
                DICT_ENTRY => AnnotationValue::Dict,
                ARRAY_VALUE => AnnotationValue::Array,
                _ => continue,
            };
            annotation.value = given;
        }
        Ok(annotation)
    }

    /// The name. `None` if it is interned and unknown.
    pub(super) fn name<'n>(&self, sequence: &'n Sequence) -> Option<Cow<'n, str>>
    where
        'a: 'n,
    {
        match self.name {
            Some(name) => Some(String::from_utf8_lossy(name)),
            None => sequence.text(InternedKind::Key, self.name_iid).map(Cow::Borrowed),
        }
    }

    /// The value as a number, if it is one.
    #[expect(clippy::cast_precision_loss, reason = "a counter's value is a float")]
    pub(super) fn number(&self) -> Option<f64> {
        match self.value {
            AnnotationValue::Bool(bool) => Some(f64::from(u8::from(bool))),
            AnnotationValue::Uint(uint) => Some(uint as f64),
            AnnotationValue::Int(int) => Some(int as f64),
            AnnotationValue::Float(float) => Some(float),
            AnnotationValue::Text(text) => str::from_utf8(text).ok()?.trim().parse().ok(),
            _ => None,
        }
    }

    /// The value as text, if it is one.
    pub(super) fn text<'n>(&self, sequence: &'n Sequence) -> Option<Cow<'n, str>>
    where
        'a: 'n,
    {
        match self.value {
            AnnotationValue::Text(text) => Some(String::from_utf8_lossy(text)),
            AnnotationValue::Interned(iid) => sequence.text(InternedKind::Text, iid).map(Cow::Borrowed),
            _ => None,
        }
    }
}

/// Adds an annotation to the row.
pub(super) fn add(
    out: &mut PacketOutput<'_>,
    sequence: &mut Sequence,
    of: RowTable,
    bytes: &[u8],
) -> Result<(), ReadStop> {
    let annotation = TraceAnnotation::parse(bytes)?;
    let name = annotation.name(sequence).map(Cow::into_owned);
    let name = name.unwrap_or_else(|| {
        out.warn(WarningKind::MissingData, MISSING_TEXT);
        format!("annotation {}", annotation.name_iid)
    });
    let mut text = std::mem::take(&mut out.text);
    text.clear();
    let unit =
        if matches!(annotation.value, AnnotationValue::Pointer(_)) { Unit::Hexadecimal } else { Unit::None };
    let value = value(out, sequence, &annotation, &mut text);
    let added = value.and_then(|value| Ok(put(out, of, &name, unit, value)?));
    out.text = text;
    added
}

/// Warning about a text that an earlier packet had.
pub(super) const MISSING_TEXT: &str =
    "a text that an earlier packet of its sequence has, which is not in the trace";

fn put(
    out: &mut PacketOutput<'_>,
    of: RowTable,
    name: &str,
    unit: Unit,
    value: Value<'_>,
) -> nprof_engine::base::Result<()> {
    let is_taken = OWN.contains(&name) && out.keys.known(of, name).is_some_and(|id| out.row.has(id));
    let longer;
    let name = if is_taken {
        longer = format!("args.{name}");
        &longer
    } else {
        name
    };
    out.put(of, name, unit, "Arguments", value)
}

fn value<'t>(
    out: &mut PacketOutput<'_>,
    sequence: &mut Sequence,
    annotation: &TraceAnnotation<'_>,
    text: &'t mut String,
) -> Result<Value<'t>, ReadStop> {
    let whole = |number: u64| i64::try_from(number).map_or(Value::Uint(number), Value::Int);
    Ok(match annotation.value {
        AnnotationValue::Bool(bool) => Value::Bool(bool),
        AnnotationValue::Int(int) => Value::Int(int),
        AnnotationValue::Uint(uint) | AnnotationValue::Pointer(uint) => whole(uint),
        AnnotationValue::Float(float) => Value::Float(float),
        AnnotationValue::Text(bytes) => {
            let shown = String::from_utf8_lossy(bytes);
            if matches!(shown, Cow::Owned(_)) {
                out.warn(WarningKind::AdjustedValue, "a text that is not UTF-8; replaced by U+FFFD");
            }
            text.push_str(&shown);
            Value::Text(text)
        }
        AnnotationValue::Interned(iid) => match sequence.name(out.sink, InternedKind::Text, iid)? {
            Some((name, _)) => Value::Name(name),
            None => {
                out.warn(WarningKind::MissingData, MISSING_TEXT);
                Value::Json("null")
            }
        },
        AnnotationValue::Json(bytes) => {
            let shown = String::from_utf8_lossy(bytes);
            if is_json(&shown) && append_json(&shown, text) {
                Value::Json(text)
            } else {
                out.warn(WarningKind::AdjustedValue, "a nested value that is not JSON; kept as text");
                text.push_str(&shown);
                Value::Text(text)
            }
        }
        AnnotationValue::Proto(bytes) => {
            for byte in bytes {
                let _ = write!(text, "{byte:02x}");
            }
            Value::Text(text)
        }
        AnnotationValue::None => Value::Json("null"),
        AnnotationValue::Nested(_) | AnnotationValue::Dict | AnnotationValue::Array => {
            let limit = FREE_LEN + annotation.bytes.len().saturating_mul(MAX_GROWTH);
            let mut writer =
                AnnotationWriter { sequence: &*sequence, text: &mut *text, limit, is_whole: true };
            writer.annotation(annotation, 0)?;
            if !writer.is_whole {
                let what = "a value nested more than 64 deep, or too long; parts of it are null";
                out.warn(WarningKind::AdjustedValue, what);
            }
            Value::Json(text)
        }
    })
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

/// Appends JSON without white space between its parts. `false` without a change if that fails.
fn append_json(text: &str, out: &mut String) -> bool {
    let text = text.trim();
    if !text.starts_with(['{', '[']) {
        out.push_str(text);
        return true;
    }
    json::compact(text.as_bytes(), out).is_ok()
}

/// Writes nested values as JSON.
struct AnnotationWriter<'w> {
    sequence: &'w Sequence,
    text: &'w mut String,
    limit: usize,
    is_whole: bool,
}

impl AnnotationWriter<'_> {
    fn annotation(&mut self, annotation: &TraceAnnotation<'_>, depth: usize) -> Result<(), MessageDamage> {
        if depth > MAX_DEPTH || self.text.len() > self.limit {
            return self.cut();
        }
        match annotation.value {
            AnnotationValue::None => self.text.push_str("null"),
            AnnotationValue::Bool(bool) => self.text.push_str(if bool { "true" } else { "false" }),
            AnnotationValue::Uint(uint) | AnnotationValue::Pointer(uint) => self.shown(uint),
            AnnotationValue::Int(int) => self.shown(int),
            AnnotationValue::Float(float) => self.float(float),
            AnnotationValue::Text(bytes) => self.string(&String::from_utf8_lossy(bytes)),
            AnnotationValue::Interned(iid) => match self.sequence.text(InternedKind::Text, iid) {
                Some(text) if text.len() <= self.limit => self.string(text),
                _ => return self.cut(),
            },
            AnnotationValue::Json(bytes) => {
                let shown = String::from_utf8_lossy(bytes);
                if !is_json(&shown) || !append_json(&shown, self.text) {
                    self.string(&shown);
                }
            }
            AnnotationValue::Proto(bytes) => {
                let shown: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                self.string(&shown);
            }
            AnnotationValue::Nested(bytes) => return self.nested(bytes, depth + 1),
            AnnotationValue::Dict => return self.list(annotation.bytes, DICT_ENTRY, depth),
            AnnotationValue::Array => return self.list(annotation.bytes, ARRAY_VALUE, depth),
        }
        Ok(())
    }

    fn cut(&mut self) -> Result<(), MessageDamage> {
        self.is_whole = false;
        self.text.push_str("null");
        Ok(())
    }

    /// The entries of a dictionary or an array.
    fn list(&mut self, bytes: &[u8], wanted: u32, depth: usize) -> Result<(), MessageDamage> {
        let is_dict = wanted == DICT_ENTRY;
        self.text.push(if is_dict { '{' } else { '[' });
        let mut fields = MessageFields::new(bytes);
        let mut is_first = true;
        while let Some((number, value)) = fields.next()? {
            if number != wanted {
                continue;
            }
            if self.text.len() > self.limit {
                self.is_whole = false;
                break;
            }
            if !std::mem::take(&mut is_first) {
                self.text.push(',');
            }
            let entry = TraceAnnotation::parse(value.bytes())?;
            if is_dict {
                match entry.name(self.sequence) {
                    Some(name) if name.len() <= self.limit => self.string(&name),
                    _ => {
                        self.is_whole = false;
                        self.string(&format!("annotation {}", entry.name_iid));
                    }
                }
                self.text.push(':');
            }
            self.annotation(&entry, depth + 1)?;
        }
        self.text.push(if is_dict { '}' } else { ']' });
        Ok(())
    }

    /// The older form: keys and values in two lists.
    fn nested(&mut self, bytes: &[u8], depth: usize) -> Result<(), MessageDamage> {
        if depth > MAX_DEPTH || self.text.len() > self.limit {
            return self.cut();
        }
        let (mut kind, mut keys, mut values) = (0, Vec::new(), Vec::new());
        let mut leaf = None;
        let mut fields = MessageFields::new(bytes);
        while let Some((number, value)) = fields.next()? {
            match number {
                1 => kind = value.number(),
                2 => keys.push(value.bytes()),
                3 | 4 => values.push(value.bytes()),
                5..=8 => leaf = Some((number, value)),
                _ => {}
            }
        }
        if let Some((number, value)) = leaf {
            match number {
                5 => self.shown(value.signed()),
                6 => self.float(f64::from_bits(value.number())),
                7 => self.shown(value.number() != 0),
                _ => self.string(&String::from_utf8_lossy(value.bytes())),
            }
            return Ok(());
        }
        let is_dict = kind == 1 || !keys.is_empty();
        if kind == 0 && values.is_empty() && !is_dict {
            self.text.push_str("null");
            return Ok(());
        }
        self.text.push(if is_dict { '{' } else { '[' });
        for (at, value) in values.iter().enumerate() {
            if at > 0 {
                self.text.push(',');
            }
            if is_dict {
                let key = keys.get(at).map_or(Cow::Borrowed(""), |key| String::from_utf8_lossy(key));
                self.string(&key);
                self.text.push(':');
            }
            self.nested(value, depth + 1)?;
        }
        self.text.push(if is_dict { '}' } else { ']' });
        Ok(())
    }

    fn shown(&mut self, number: impl std::fmt::Display) {
        let _ = write!(self.text, "{number}");
    }

    fn float(&mut self, float: f64) {
        if float.is_finite() {
            let _ = write!(self.text, "{float:?}");
        } else {
            let _ = write!(self.text, "\"{float}\"");
        }
    }

    fn string(&mut self, text: &str) {
        self.text.push('"');
        for sign in text.chars() {
            match sign {
                '"' => self.text.push_str("\\\""),
                '\\' => self.text.push_str("\\\\"),
                '\0'..='\x1f' => {
                    let _ = write!(self.text, "\\u{:04x}", u32::from(sign));
                }
                _ => self.text.push(sign),
            }
        }
        self.text.push('"');
    }
}

/// Calls `visit` for the numbers of a repeated field, which can be packed.
pub(super) fn each_number(
    value: crate::protobuf::WireValue<'_>,
    mut visit: impl FnMut(u64),
) -> Result<(), MessageDamage> {
    let crate::protobuf::WireValue::Bytes(mut rest) = value else {
        visit(value.number());
        return Ok(());
    };
    while !rest.is_empty() {
        let (number, after) = varint(rest)?;
        visit(number);
        rest = after;
    }
    Ok(())
}

/// Calls `visit` for the numbers of eight bytes of a repeated field, which can be packed.
pub(super) fn each_fixed(value: crate::protobuf::WireValue<'_>, mut visit: impl FnMut(u64)) {
    let crate::protobuf::WireValue::Bytes(rest) = value else { return visit(value.number()) };
    for bits in rest.as_chunks::<8>().0 {
        visit(u64::from_le_bytes(*bits));
    }
}
