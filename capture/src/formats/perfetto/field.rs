//! Fields of slices and samples: annotations by name, and a row of them that can wait in the
//! scratch space.

use nprof_engine::base::bytes::{Cursor, Put};
use nprof_engine::base::{Result, narrow};
use nprof_engine::model::{FieldId, FieldSpec, NameId, Sink, TableId, Unit, Value};
use rustc_hash::FxHashMap;

use crate::formats::room::FieldBuffer;

/// Most fields of a table. A trace with more has data in the place of names.
const MAX_FIELDS: usize = 4096;

/// Table of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RowTable {
    /// Slices and instants.
    Slices,
    /// Samples of counters.
    Samples,
}

/// The fields of both tables.
#[derive(Debug)]
pub(super) struct AnnotationFields {
    /// Tables of slices and samples.
    pub(super) tables: [TableId; 2],
    ids: [FxHashMap<Box<str>, FieldId>; 2],
}

impl AnnotationFields {
    /// No fields yet.
    pub(super) fn new(slices: TableId, samples: TableId) -> Self {
        Self { tables: [slices, samples], ids: Default::default() }
    }

    /// The field with this name, which is defined if it is new. `None` if there are too many.
    pub(super) fn id(
        &mut self,
        sink: &mut dyn Sink,
        of: RowTable,
        key: &str,
        unit: Unit,
        group: &str,
    ) -> Result<Option<FieldId>> {
        let ids = &mut self.ids[of as usize];
        if let Some(&id) = ids.get(key) {
            return Ok(Some(id));
        }
        if ids.len() >= MAX_FIELDS {
            return Ok(None);
        }
        let id = sink.field(self.tables[of as usize], FieldSpec::new(key, unit, group, ""))?;
        ids.insert(key.into(), id);
        Ok(Some(id))
    }

    /// The field with this name, if there is one.
    pub(super) fn known(&self, of: RowTable, key: &str) -> Option<FieldId> {
        self.ids[of as usize].get(key).copied()
    }
}

/// A value whose text is in the row's buffer.
#[derive(Debug, Clone, Copy)]
enum RowValue {
    Int(i64),
    Uint(u64),
    Float(f64),
    Bool(bool),
    Text(usize, usize),
    Name(NameId),
    Json(usize, usize),
}

/// Fields of one event. The last value of a repeated field counts.
#[derive(Debug, Default)]
pub(super) struct PacketRow {
    entries: Vec<(FieldId, RowValue)>,
    texts: String,
    /// Number of the row, from 1.
    number: u64,
    /// By field: the last row that has the field, and its position there.
    last: Vec<(u64, u32)>,
}

impl PacketRow {
    /// Starts the next row.
    pub(super) fn clear(&mut self) {
        self.entries.clear();
        self.texts.clear();
        self.number += 1;
    }

    /// Adds or replaces a field.
    pub(super) fn put(&mut self, id: FieldId, value: Value<'_>) {
        let held = match value {
            Value::Int(int) => RowValue::Int(int),
            Value::Uint(uint) => RowValue::Uint(uint),
            Value::Float(float) => RowValue::Float(float),
            Value::Bool(bool) => RowValue::Bool(bool),
            Value::Name(name) => RowValue::Name(name),
            Value::Text(text) => {
                let (start, end) = self.keep(text);
                RowValue::Text(start, end)
            }
            Value::Json(text) => {
                let (start, end) = self.keep(text);
                RowValue::Json(start, end)
            }
        };
        if let Some(at) = self.position(id) {
            self.entries[at].1 = held;
            return;
        }
        let field = id.0 as usize;
        if field >= self.last.len() {
            self.last.resize(field + 1, (0, 0));
        }
        self.last[field] = (self.number, narrow(self.entries.len()));
        self.entries.push((id, held));
    }

    fn keep(&mut self, text: &str) -> (usize, usize) {
        let start = self.texts.len();
        self.texts.push_str(text);
        (start, self.texts.len())
    }

    fn position(&self, id: FieldId) -> Option<usize> {
        let &(number, at) = self.last.get(id.0 as usize)?;
        (number == self.number && number > 0).then_some(at as usize)
    }

    /// Whether the row has a field.
    pub(super) fn has(&self, id: FieldId) -> bool {
        self.position(id).is_some()
    }

    /// Value of a field, if it is a whole number.
    pub(super) fn int(&self, id: FieldId) -> Option<i64> {
        match self.entries.get(self.position(id)?)?.1 {
            RowValue::Int(int) => Some(int),
            _ => None,
        }
    }

    /// Whether the row has a field that is true.
    pub(super) fn is_true(&self, id: FieldId) -> bool {
        let held = self.position(id).and_then(|at| self.entries.get(at));
        matches!(held, Some((_, RowValue::Bool(true))))
    }

    /// Removes a field.
    pub(super) fn remove(&mut self, id: FieldId) {
        let Some(at) = self.position(id) else { return };
        self.entries.remove(at);
        self.last[id.0 as usize] = (0, 0);
        for (place, (id, _)) in (0..).zip(&self.entries).skip(at) {
            self.last[id.0 as usize] = (self.number, place);
        }
    }

    /// Appends the row, encoded.
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.put_varint(self.entries.len() as u64);
        for &(id, held) in &self.entries {
            out.put_varint(u64::from(id.0));
            let mut put = |kind: u8, text: &str| {
                out.push(kind);
                out.put_varint(text.len() as u64);
                out.extend_from_slice(text.as_bytes());
            };
            match held {
                RowValue::Text(start, end) => put(0, &self.texts[start..end]),
                RowValue::Json(start, end) => put(1, &self.texts[start..end]),
                RowValue::Int(int) => {
                    out.push(2);
                    out.put_signed(int);
                }
                RowValue::Uint(uint) => {
                    out.push(3);
                    out.put_varint(uint);
                }
                RowValue::Float(float) => {
                    out.push(4);
                    out.extend_from_slice(&float.to_bits().to_le_bytes());
                }
                RowValue::Bool(bool) => out.push(5 + u8::from(bool)),
                RowValue::Name(name) => {
                    out.push(7);
                    out.put_varint(u64::from(name.0));
                }
            }
        }
    }

    /// Adds the fields of an encoded row. They replace those that are there.
    ///
    /// # Errors
    /// If the bytes are not what [`PacketRow::encode`] wrote.
    pub(super) fn decode(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        for _ in 0..cursor.count(2)? {
            let id = FieldId(cursor.varint_u32()?);
            let kind = cursor.u8()?;
            let value = match kind {
                0 => Value::Text(cursor.text()?),
                1 => Value::Json(cursor.text()?),
                2 => Value::Int(cursor.signed()?),
                3 => Value::Uint(cursor.varint()?),
                4 => Value::Float(f64::from_bits(cursor.u64()?)),
                5 => Value::Bool(false),
                6 => Value::Bool(true),
                _ => Value::Name(NameId(cursor.varint_u32()?)),
            };
            self.put(id, value);
        }
        Ok(())
    }

    /// The fields, in `room`, whose memory is reused.
    pub(super) fn values<'a>(&'a self, room: FieldBuffer) -> Vec<(FieldId, Value<'a>)> {
        let mut values: Vec<(FieldId, Value<'a>)> = room;
        values.clear();
        values.extend(self.entries.iter().map(|&(id, held)| {
            let value = match held {
                RowValue::Int(int) => Value::Int(int),
                RowValue::Uint(uint) => Value::Uint(uint),
                RowValue::Float(float) => Value::Float(float),
                RowValue::Bool(bool) => Value::Bool(bool),
                RowValue::Text(start, end) => Value::Text(&self.texts[start..end]),
                RowValue::Name(name) => Value::Name(name),
                RowValue::Json(start, end) => Value::Json(&self.texts[start..end]),
            };
            (id, value)
        }));
        values
    }
}
