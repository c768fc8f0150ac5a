//! The written parts of one track: blocks, columns, and what the footer tells of it.

use rustc_hash::FxHashMap;

use super::encoded_block::{EncodedBlock, EncodedColumn};
use crate::base::{Result, narrow};
use crate::block::{ColumnType, ZoneMap};
use crate::exec::step;
use crate::index::BlockTexts;
use crate::model::TrackId;
use crate::segment::{
    ColumnDirectory, ColumnRole, MAX_INLINE, MAX_INLINE_SMALL, Piece, PieceWriter, StoredAt,
};
use crate::tile::ClosedPyramid;

/// Maximum number of block texts that are kept for the postings of a column.
const MAX_POSTINGS: usize = 4 << 20;

/// Most columns of a track that are looked at one by one.
const FEW_COLUMNS: usize = 32;

/// The written parts of a track.
#[derive(Debug, Default)]
pub struct TrackOutput {
    /// Number of rows, start and end of each block.
    pub blocks: Vec<(u32, i64, i64)>,
    /// The tracks of a pack, each with one of the blocks; empty if blocks are packs of their own.
    pub packed: Vec<PackedTrack>,
    /// Columns of the track.
    pub columns: Vec<ColumnOutput>,
    /// Their positions, if they are many.
    positions: FxHashMap<(ColumnRole, ColumnType), usize>,
    /// Number of rows.
    pub rows: u32,
    /// Number of lanes.
    pub lanes: u32,
    /// Number of slices that share the last lane with slices of the same time.
    pub crowded: u64,
    /// Smallest and largest value of a counter.
    pub value_range: Option<(f64, f64)>,
    /// Pyramid, which is written after all tracks; `None` if the track has few rows.
    pub pyramid: Option<ClosedPyramid>,
    /// Location of the track's program.
    pub program: Piece,
    /// Location of the block totals.
    pub totals: Piece,
}

/// A track of a pack.
#[derive(Debug)]
pub struct PackedTrack {
    /// The track; `None` for a side table.
    pub track: Option<TrackId>,
    /// Number of rows.
    pub rows: u32,
    /// Number of lanes.
    pub lanes: u32,
    /// Smallest and largest value of a counter.
    pub value_range: Option<(f64, f64)>,
}

/// The written parts of one column of a track.
#[derive(Debug)]
pub struct ColumnOutput {
    /// Content of the column.
    pub role: ColumnRole,
    /// Stored type.
    pub kind: ColumnType,
    /// Blocks of the column. Blocks without values at the end of the track are left out.
    pub directory: ColumnDirectory,
    /// Texts of the track's blocks; `None` if there are too many.
    pub postings: Option<BlockTexts>,
    /// Bytes of the blocks.
    pub bytes: u64,
}

impl TrackOutput {
    /// Writes the columns of a pack.
    pub fn add_pack(&mut self, columns: Vec<EncodedColumn>, writer: &mut PieceWriter<'_>) -> Result<()> {
        for encoded in columns {
            let mut column = ColumnOutput::new(encoded.role, encoded.kind);
            column.add(0, encoded, writer)?;
            self.columns.push(column);
        }
        Ok(())
    }

    /// Writes the columns of a block.
    pub fn add(&mut self, block: EncodedBlock, writer: &mut PieceWriter<'_>) -> Result<()> {
        let number = narrow(self.blocks.len());
        for encoded in block.columns {
            let at = self.column(encoded.role, encoded.kind);
            self.columns[at].add(number, encoded, writer)?;
        }
        self.blocks.push((block.rows, block.start_ps, block.end_ps));
        self.rows += block.rows;
        Ok(())
    }

    /// Bytes of the columns that are drawn: all but the fields.
    pub fn core_bytes(&self) -> u64 {
        let core = self.columns.iter().filter(|column| !matches!(column.role, ColumnRole::Field(_)));
        core.map(|column| column.bytes).sum()
    }

    /// Position of a column, which is added if it is new.
    fn column(&mut self, role: ColumnRole, kind: ColumnType) -> usize {
        let known = if self.columns.len() <= FEW_COLUMNS {
            step(self.columns.len());
            self.columns.iter().position(|column| column.role == role && column.kind == kind)
        } else {
            step(1);
            let keys = self.columns.iter().map(|column| (column.role, column.kind));
            self.positions.extend(keys.zip(0..).skip(self.positions.len()));
            self.positions.get(&(role, kind)).copied()
        };
        known.unwrap_or_else(|| {
            self.columns.push(ColumnOutput::new(role, kind));
            self.columns.len() - 1
        })
    }
}

impl ColumnOutput {
    fn new(role: ColumnRole, kind: ColumnType) -> Self {
        let listed = kind.is_code() && (role == ColumnRole::Name || matches!(role, ColumnRole::Field(_)));
        Self {
            role,
            kind,
            directory: ColumnDirectory::default(),
            postings: listed.then(BlockTexts::default),
            bytes: 0,
        }
    }

    fn add(&mut self, block: u32, encoded: EncodedColumn, writer: &mut PieceWriter<'_>) -> Result<()> {
        self.pad(block as usize);
        self.bytes += encoded.bytes.len() as u64;
        let max_inline = if writer.has_annex() { MAX_INLINE_SMALL } else { MAX_INLINE };
        let place = if encoded.bytes.len() <= max_inline {
            let start = narrow(self.directory.inline.len());
            self.directory.inline.extend_from_slice(&encoded.bytes);
            StoredAt::Inline(start, encoded.bytes.len() as u32)
        } else {
            StoredAt::Piece(writer.piece(&encoded.bytes)?)
        };
        self.directory.places.push(place);
        self.directory.zones.push(encoded.zone);
        match (&mut self.postings, encoded.texts) {
            (Some(kept), Some(texts)) if kept.len() < MAX_POSTINGS => kept.push(block, &texts),
            _ => self.postings = None,
        }
        Ok(())
    }

    /// Adds packs without values until there are this many.
    pub fn pad(&mut self, packs: usize) {
        let packs = packs.max(self.directory.places.len());
        self.directory.places.resize(packs, StoredAt::Absent);
        self.directory.zones.resize(packs, ZoneMap::None);
    }
}
