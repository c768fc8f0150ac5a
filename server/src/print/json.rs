//! Rows as JSON. Values that a row lacks are absent.

use std::io::{self, Write};

use nprof_engine::model::{FieldSpec, OwnedValue, Unit, ValueTable};
use nprof_engine::wire::detail::FieldContent;
use serde::Serialize;
use serde_json::{Map, Value as Json};

/// Writes a document with line breaks for people.
pub fn document(document: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, document)?;
    writeln!(out)
}

/// A value of a metric as JSON.
#[must_use]
pub fn content(value: &FieldContent) -> Json {
    match value {
        FieldContent::Int(number) => Json::from(*number),
        FieldContent::Uint(number) => Json::from(*number),
        FieldContent::Float(number) => {
            // JSON has no infinity and no NaN.
            if number.is_finite() { Json::from(*number) } else { Json::from(number.to_string()) }
        }
        FieldContent::Bool(truth) => Json::from(*truth),
        FieldContent::Text(text) => Json::from(text.as_str()),
        FieldContent::Json(text) => serde_json::from_str(text).unwrap_or_else(|_| Json::from(text.as_str())),
    }
}

/// The rows of a table as objects.
#[must_use]
pub fn rows(table: &ValueTable) -> Vec<Json> {
    let keys: Vec<String> = table.fields.iter().map(super::key).collect();
    table.rows.iter().map(|row| Json::Object(object(&table.fields, &keys, row))).collect()
}

/// A row as an object.
pub(super) fn object(fields: &[FieldSpec], keys: &[String], row: &[Option<OwnedValue>]) -> Map<String, Json> {
    let cells = fields.iter().zip(keys).zip(row);
    let present =
        cells.filter_map(|((field, key), cell)| Some((key.clone(), value(field.unit, cell.as_ref()?))));
    present.collect()
}

fn value(unit: Unit, value: &OwnedValue) -> Json {
    match value {
        OwnedValue::Int(ps) if unit == Unit::Picoseconds => Json::from(*ps as f64 / 1e3),
        OwnedValue::Int(number) => Json::from(*number),
        OwnedValue::Uint(number) => Json::from(*number),
        OwnedValue::Float(number) => Json::from(*number),
        OwnedValue::Bool(truth) => Json::from(*truth),
        OwnedValue::Text(text) => Json::from(text.as_str()),
        OwnedValue::Json(text) => serde_json::from_str(text).unwrap_or_else(|_| Json::from(text.as_str())),
    }
}
