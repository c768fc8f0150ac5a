//! Tables: rows of one kind with the same fields.

use serde::{Deserialize, Serialize};

/// A table of a segment, in the order of definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TableId(pub u16);

/// Kind of a table's rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TableKind {
    /// Slices and instants on tracks.
    Slices,
    /// Samples of counters on tracks.
    Samples,
    /// Rows without a position on the timeline (metadata, tensors, queues …), kept in the order of
    /// arrival.
    Side,
}

/// Description of a table, for people and exports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableSpec {
    /// Name in exports, e.g. `instruction`.
    pub name: String,
    /// Kind of the rows.
    pub kind: TableKind,
    /// Key of the slice's name in exports (`opcode`); empty if the name is not exported.
    pub name_key: String,
    /// One sentence for a person.
    pub doc: String,
}

impl TableSpec {
    /// A table whose rows export no name.
    #[must_use]
    pub fn new(name: &str, kind: TableKind, doc: &str) -> Self {
        Self { name: name.to_owned(), kind, name_key: String::new(), doc: doc.to_owned() }
    }

    /// A table of rows without a position on the timeline.
    #[must_use]
    pub fn side(name: &str, doc: &str) -> Self {
        Self::new(name, TableKind::Side, doc)
    }

    /// The table, with this key for the name of a slice in exports.
    #[must_use]
    pub fn named_by(self, name_key: &str) -> Self {
        Self { name_key: name_key.to_owned(), ..self }
    }
}
