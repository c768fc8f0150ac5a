//! Tables: rows of one kind with the same fields.

/// A table of a segment, in the order of definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TableId(pub u16);

/// What the rows of a table are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TableKind {
    /// Slices and instants on tracks.
    Slices,
    /// Samples of counters on tracks.
    Samples,
    /// Rows without a place on the timeline: metadata, tensors, queues …, kept in the order of arrival.
    Side,
}

/// What a table is, for people and exports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableSpec {
    /// As exported, e.g. `instruction`.
    pub name: String,
    /// What its rows are.
    pub kind: TableKind,
    /// The export's key for the slice's name (`opcode`), or empty where the name is not exported.
    pub name_key: String,
    /// One sentence for a person.
    pub doc: String,
}
