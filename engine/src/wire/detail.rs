//! Details of one slice.

use serde::{Deserialize, Serialize};

use super::message_times::{TimeField, Timed};
use crate::model::SliceForm;

/// A slice with all its fields and neighbours.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SliceDetail {
    /// The slice itself.
    pub slice: SliceEntry,
    /// Fields that have a value, in the table's order.
    pub fields: Vec<FieldValue>,
    /// Slices that this slice depends on: arrows that end here.
    pub predecessors: Vec<Neighbour>,
    /// Slices that depend on this slice: arrows that begin here.
    pub successors: Vec<Neighbour>,
    /// The calls of all ranks of an operation, in the details of the operation and of its calls.
    pub members: Vec<OperationMember>,
    /// The transfers from rank to rank within this operation, if the traces tell them.
    pub transfers: Vec<OperationTransfer>,
}

/// A transfer from a rank to another one. Times are in picoseconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OperationTransfer {
    /// Row of its slice.
    pub row: u32,
    /// Number of the rank that sends.
    pub from: u32,
    /// Number of the rank that receives.
    pub to: u32,
    /// Start of the send.
    pub sent_ps: i64,
    /// The time when the other rank has the data. Wrong clocks can put it before the send.
    pub received_ps: i64,
}

/// The call of a rank in an operation. Times are in picoseconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OperationMember {
    /// Number of the rank.
    pub rank: u32,
    /// Row of the slice of its transfer.
    pub row: u32,
    /// Row of the call in the timeline of its rank.
    pub call: u32,
    /// The time when the rank came.
    pub start_ps: i64,
    /// Time that it waited for others.
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub wait_ps: i64,
    /// The time when its call ended.
    pub end_ps: i64,
    /// Whether the others waited for this rank.
    pub is_awaited: bool,
}

/// A slice without its fields.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SliceEntry {
    /// Row number.
    pub row: u32,
    /// Number of the track.
    pub track: u32,
    /// Lane in the track.
    pub lane: u32,
    /// Number of enclosing slices of its track (if nesting means calls).
    pub depth: u32,
    /// Displayed name.
    pub name: String,
    /// Start, in picoseconds.
    pub start_ps: i64,
    /// Duration in picoseconds; 0 for instants.
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub duration_ps: i64,
    /// Form of the slice.
    pub form: SliceForm,
}

/// A field with its value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FieldValue {
    /// Index into the fields of the table, as the rank lists them. Fields that are computed for one
    /// row have numbers beyond it.
    pub field: u32,
    /// Exported name.
    pub name: String,
    /// Symbol of the unit; empty if there is none.
    pub unit: String,
    /// Heading in the details.
    pub group: String,
    /// Explanation in one sentence.
    pub doc: String,
    /// The value.
    pub value: FieldContent,
}

/// The value of a field.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FieldContent {
    /// A signed integer.
    Int(i64),
    /// An unsigned integer beyond the signed range.
    Uint(u64),
    /// A float; `null` in JSON if it is not a number.
    Float(#[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))] f64),
    /// True or false.
    Bool(bool),
    /// Text.
    Text(String),
    /// A nested value, as JSON text.
    Json(String),
}

impl FieldContent {
    /// The number. `None` for other values.
    #[must_use]
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Int(number) => Some(*number as f64),
            Self::Uint(number) => Some(*number as f64),
            Self::Float(number) => Some(*number),
            Self::Bool(_) | Self::Text(_) | Self::Json(_) => None,
        }
    }
}

/// The slice at the other end of an arrow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Neighbour {
    /// Name of the arrow.
    pub flow: String,
    /// The slice at the other end.
    pub slice: SliceEntry,
}

impl Timed for SliceEntry {
    fn each_time(&mut self, f: &mut dyn FnMut(TimeField<'_>)) {
        f(TimeField::Span { start_ps: &mut self.start_ps, duration_ps: &mut self.duration_ps });
    }
}

impl Timed for SliceDetail {
    fn each_time(&mut self, f: &mut dyn FnMut(TimeField<'_>)) {
        self.slice.each_time(f);
        for neighbour in self.predecessors.iter_mut().chain(&mut self.successors) {
            neighbour.slice.each_time(f);
        }
        for member in &mut self.members {
            f(TimeField::Instant(&mut member.start_ps));
            f(TimeField::Instant(&mut member.end_ps));
        }
        for transfer in &mut self.transfers {
            f(TimeField::Instant(&mut transfer.sent_ps));
            f(TimeField::Instant(&mut transfer.received_ps));
        }
    }
}
