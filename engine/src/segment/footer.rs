//! The footer: all that a reader must know before it asks for rows.

use super::layout::Piece;
use crate::block::ColumnType;
use crate::model::{
    FieldId, FieldSpec, RankInfo, TableId, TableSpec, TrackContent, TrackId, TrackSpec, WaitNames, Warning,
};

/// Content of a segment, and the positions of its parts.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Footer {
    /// Rank that was traced.
    pub rank: RankInfo,
    /// Tables. Rows are numbered through all tables, in this order.
    pub tables: Vec<TableMeta>,
    /// Fields, each with its table.
    pub fields: Vec<(TableId, FieldSpec)>,
    /// Columns, grouped by table.
    pub columns: Vec<ColumnMeta>,
    /// Tracks, in the order of definition.
    pub tracks: Vec<TrackMeta>,
    /// Dictionary of texts.
    pub dictionary: DictionaryMeta,
    /// The texts that name waits ([`crate::model::is_wait`]).
    pub waits: WaitNames,
    /// Arrows between slices.
    pub flows: FlowsMeta,
    /// Warnings of the ingest.
    pub warnings: Vec<Warning>,
}

impl Footer {
    /// Table that holds a track's rows.
    #[must_use]
    pub fn table_of(&self, track: TrackId) -> Option<TableId> {
        match self.tracks.get(track.0 as usize)?.spec.kind {
            TrackContent::Slices(table, _) | TrackContent::Counter(table) => Some(table),
            TrackContent::Group => None,
        }
    }
}

/// Position and size of the dictionary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DictionaryMeta {
    /// Number of texts.
    pub texts: u32,
    /// The list of chunks.
    pub chunks: Piece,
    /// Bytes of all chunks.
    pub bytes: u64,
}

/// Position and size of the arrows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FlowsMeta {
    /// Number of arrows.
    pub arrows: u64,
    /// List of chunks sorted by `from`.
    pub by_from: Piece,
    /// List of chunks sorted by `to`.
    pub by_to: Piece,
    /// Bytes of all chunks.
    pub bytes: u64,
}

/// A table in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableMeta {
    /// Name, kind and explanation.
    pub spec: TableSpec,
    /// Number of the table's first row.
    pub first_row: u32,
    /// Number of rows.
    pub rows: u32,
    /// Piece of the table's [`super::BlockList`].
    pub blocks: Piece,
}

/// A column in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColumnMeta {
    /// Table of the column.
    pub table: TableId,
    /// Meaning of the values.
    pub role: ColumnRole,
    /// Type of the stored values.
    pub kind: ColumnType,
    /// Piece of the column's [`super::ColumnDirectory`].
    pub directory: Piece,
    /// Piece of the [`crate::index::Postings`], for a column of codes; else empty.
    pub postings: Piece,
    /// Bytes of all blocks of the column.
    pub bytes: u64,
}

/// Meaning of a column's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ColumnRole {
    /// Start of a slice or time of a sample, in picoseconds.
    Start,
    /// Duration of a slice in picoseconds.
    Duration,
    /// Number of a slice's name in the dictionary.
    Name,
    /// Code of a slice's form.
    Form,
    /// Lane of a slice within its track.
    Lane,
    /// Lane minus nesting depth: 0 in a well-nested track.
    LaneShift,
    /// Value of a sample.
    Value,
    /// Value of a field.
    Field(FieldId),
}

impl ColumnRole {
    /// The roles before the fields; the position is the code in the format (`docs/format.md`,
    /// Columns).
    pub const CORE: [Self; 7] =
        [Self::Start, Self::Duration, Self::Name, Self::Form, Self::Lane, Self::LaneShift, Self::Value];
}

/// A track in the file.
#[derive(Debug, Clone, PartialEq)]
pub struct TrackMeta {
    /// Name, kind, parent and identity.
    pub spec: TrackSpec,
    /// Number of the track's first row.
    pub first_row: u32,
    /// Number of rows.
    pub rows: u32,
    /// Number of lanes.
    pub lanes: u32,
    /// Start of the first row, in picoseconds.
    pub start_ps: i64,
    /// Latest end, in picoseconds.
    pub end_ps: i64,
    /// Smallest and largest value of a counter.
    pub value_range: Option<(f64, f64)>,
    /// Piece of the tile pyramid's pages ([`crate::tile`]); empty if the track has few rows.
    pub pyramid: Piece,
    /// Bytes of the pyramid's pages.
    pub pyramid_bytes: u64,
    /// Piece of the track's [`super::Program`]; empty if it has none.
    pub program: Piece,
    /// Piece of the track's [`super::BlockTotalsList`]; empty if it has none.
    pub totals: Piece,
}
