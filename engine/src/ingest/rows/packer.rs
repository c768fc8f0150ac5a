//! Packs the value of a field into its stored form.

use super::row::PackedValue;
use crate::base::{Error, Result};
use crate::block::ColumnType;
use crate::ingest::limits::TEXT_BYTES;
use crate::ingest::texts::DictionaryBuilder;
use crate::model::{NameId, Value, WarningKind, Warnings};

/// Longest text of the dictionary. Longer texts are stored in place. The limit keeps every chunk of
/// the dictionary small enough for the codec.
pub const MAX_DICTIONARY_TEXT: usize = 64 << 10;
/// Longest text of a field; the rest is cut off, with a warning.
const MAX_TEXT: usize = 16 << 20;

/// The start of a text, at most `len` bytes.
pub fn cut_off(text: &str, len: usize) -> &str {
    if text.len() <= len { text } else { &text[..text.floor_char_boundary(len)] }
}

/// The start of a text, long enough to find the text by.
pub fn start_of(text: &str) -> String {
    format!("the one that begins with {:?}", cut_off(text, 40))
}

/// Packs values into the form in which they are stored.
pub struct ValuePacker<'p, 'a> {
    /// The dictionary.
    pub names: &'p mut DictionaryBuilder<'a>,
    /// Maximum bytes of texts in the dictionary.
    pub limit: usize,
    /// Receives a warning for each text that is cut.
    pub warnings: &'p mut Warnings,
}

impl ValuePacker<'_, '_> {
    /// Inlined, so that the result stays in registers. An enum that passes through memory stalls
    /// the processor on each read, which cost 7 % of ingest.
    #[inline(always)]
    pub fn pack<'v>(&mut self, value: Value<'v>) -> Result<(ColumnType, PackedValue<'v>)> {
        Ok(match value {
            Value::Int(v) => (ColumnType::Int, PackedValue::Int(v)),
            Value::Uint(v) => (ColumnType::Uint, PackedValue::Int(v.cast_signed())),
            Value::Bool(v) => (ColumnType::Bool, PackedValue::Int(i64::from(v))),
            Value::Float(v) => (ColumnType::Float, PackedValue::Float(v)),
            Value::Name(name) if self.names.has(name) => {
                (ColumnType::Text, PackedValue::Int(i64::from(name.0)))
            }
            Value::Name(_) => return Err(Error::Invalid { what: "a name that does not exist" }),
            Value::Text(text) => self.text(text, ColumnType::Text, ColumnType::LongText)?,
            Value::Json(text) => self.text(text, ColumnType::Json, ColumnType::LongJson)?,
        })
    }

    /// Number of a field's text in the dictionary; `None` if the text is new and does not fit.
    pub fn number(&mut self, text: &str) -> Result<Option<NameId>> {
        match text.len() {
            0..=MAX_DICTIONARY_TEXT if self.names.bytes() + text.len() + TEXT_BYTES <= self.limit => {
                self.names.intern(text)
            }
            0..=MAX_DICTIONARY_TEXT => self.names.find(text),
            _ => Ok(None),
        }
    }

    /// A text as its dictionary number if it fits there, else as text.
    fn text<'v>(
        &mut self,
        text: &'v str,
        coded: ColumnType,
        in_place: ColumnType,
    ) -> Result<(ColumnType, PackedValue<'v>)> {
        let id = self.number(text)?;
        if text.len() > MAX_TEXT {
            let what = "a text of more than 16 MiB; cut";
            self.warnings.add(WarningKind::AdjustedValue, what, || start_of(text));
        }
        Ok(match id {
            Some(id) => (coded, PackedValue::Int(i64::from(id.0))),
            None => (in_place, PackedValue::Text(cut_off(text, MAX_TEXT))),
        })
    }
}
