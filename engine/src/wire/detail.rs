//! Everything about one slice.

use serde::{Deserialize, Serialize};

/// A slice with all its fields and neighbours.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SliceDetail {
    /// Where and what.
    pub slice: SliceEntry,
    /// Its fields that have a value, in the table's order.
    pub fields: Vec<FieldValue>,
    /// Slices that it depends on: arrows that end here.
    pub predecessors: Vec<Neighbour>,
    /// Slices that depend on it: arrows that begin here.
    pub successors: Vec<Neighbour>,
}

/// A slice without its fields.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SliceEntry {
    /// Its row.
    pub row: u32,
    /// Its track.
    pub track: u32,
    /// Its line in the track.
    pub lane: u32,
    /// How many slices of its track enclose it (where nesting means calls).
    pub depth: u32,
    /// What it shows.
    pub name: String,
    /// Start.
    pub start_ps: i64,
    /// Length; 0 for instants.
    pub duration_ps: i64,
    /// 0 complete, 1 instant, 2 unfinished.
    pub form: u8,
}

/// A field with its value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FieldValue {
    /// Index into the table's fields of [`super::catalog::RankDetail`].
    pub field: u32,
    /// As exported.
    pub name: String,
    /// A symbol; empty for none.
    pub unit: String,
    /// Heading.
    pub group: String,
    /// One sentence.
    pub doc: String,
    /// The value.
    pub value: FieldContent,
}

/// The value of a field.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FieldContent {
    /// A signed integer.
    Int(i64),
    /// An unsigned integer beyond the signed range.
    Uint(u64),
    /// A float.
    Float(f64),
    /// True or false.
    Bool(bool),
    /// Text.
    Text(String),
    /// A nested value, as JSON text.
    Json(String),
}

/// The other end of an arrow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Neighbour {
    /// What the arrow is called.
    pub flow: String,
    /// The slice there.
    pub slice: SliceEntry,
}
