//! The footer: everything a reader must know before it asks for rows.

use super::{DictionaryMeta, FlowsMeta, Piece};
use crate::block::ColumnType;
use crate::model::{FieldId, FieldSpec, RankInfo, TableId, TableSpec, TrackSpec, Warning};

/// What a segment holds and where.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Footer {
    /// The rank it is of.
    pub rank: RankInfo,
    /// Tables; rows of all tables are numbered through, in this order.
    pub tables: Vec<TableMeta>,
    /// Fields, with their tables.
    pub fields: Vec<(TableId, FieldSpec)>,
    /// Columns, grouped by table.
    pub columns: Vec<ColumnMeta>,
    /// Tracks, in the order of definition.
    pub tracks: Vec<TrackMeta>,
    /// Texts.
    pub dictionary: DictionaryMeta,
    /// Numbers of the texts that name waits ([`crate::model::is_wait`]), ascending.
    pub waits: Vec<u32>,
    /// Arrows.
    pub flows: FlowsMeta,
    /// What ingest had to say.
    pub warnings: Vec<Warning>,
}

/// A table in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableMeta {
    /// What it is.
    pub spec: TableSpec,
    /// Number of its first row.
    pub first_row: u32,
    /// Number of rows.
    pub rows: u32,
    /// Its [`super::BlockList`].
    pub blocks: Piece,
}

/// A column in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColumnMeta {
    /// Its table.
    pub table: TableId,
    /// What it says.
    pub role: ColumnRole,
    /// How it is stored.
    pub kind: ColumnType,
    /// Its [`super::Directory`].
    pub directory: Piece,
    /// For codes: which blocks hold which text ([`crate::index::Postings`]); else empty.
    pub postings: Piece,
    /// Bytes of all its blocks.
    pub bytes: u64,
}

/// What a column says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ColumnRole {
    /// Start of a slice, time of a sample, in picoseconds.
    Start,
    /// Duration of a slice in picoseconds.
    Duration,
    /// Number of a slice's name in the dictionary.
    Name,
    /// Code of a slice's form.
    Form,
    /// Line of a slice within its track.
    Lane,
    /// Lane minus nesting depth: 0 in a well-nested track.
    LaneShift,
    /// Value of a sample.
    Value,
    /// A field.
    Field(FieldId),
}

impl ColumnRole {
    /// The roles before the fields; the position is the code in the format (`docs/format.md`, Columns).
    pub const CORE: [Self; 7] =
        [Self::Start, Self::Duration, Self::Name, Self::Form, Self::Lane, Self::LaneShift, Self::Value];
}

/// A track in the file.
#[derive(Debug, Clone, PartialEq)]
pub struct TrackMeta {
    /// What it is.
    pub spec: TrackSpec,
    /// Number of its first row.
    pub first_row: u32,
    /// Number of rows.
    pub rows: u32,
    /// Lines it needs.
    pub lanes: u32,
    /// First moment.
    pub start_ps: i64,
    /// Last moment.
    pub end_ps: i64,
    /// Smallest and largest value of a counter.
    pub value_range: Option<(f64, f64)>,
    /// Where its tile pyramid is ([`crate::tile`]); empty where its rows are few.
    pub pyramid: Piece,
    /// Bytes of the pyramid's pages.
    pub pyramid_bytes: u64,
    /// Its [`super::Program`]; empty where it has none.
    pub program: Piece,
    /// Its [`super::Totals`]; empty where it has none.
    pub totals: Piece,
}
