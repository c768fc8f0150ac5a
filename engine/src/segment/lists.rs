//! The lists of an open segment. A list is decoded when it is first needed, and then kept.

use std::ops::Range;
use std::sync::OnceLock;

use super::blocks::{BlockList, TrackRows};
use super::code_spans::CodeSpans;
use super::directory::ColumnDirectory;
use super::footer::{Footer, TrackMeta};
use super::lazy_value::get_or_keep;
use super::open_file::OpenFile;
use super::pages::{PyramidPage, read_pages};
use super::program::Program;
use super::room::RoomShare;
use super::source::Bytes;
use super::spare::Spare;
use super::totals::BlockTotalsList;
use crate::base::order::sort_by_key;
use crate::base::{Error, Result};
use crate::block::ZoneMap;
use crate::model::{TableId, TableKind, TrackId};

/// A value that is not decoded yet, or kept.
type ListSlot<T> = OnceLock<T>;

/// The decoded lists of a segment's tables, columns and tracks.
#[derive(Debug)]
pub struct Lists {
    /// Block lists, by table.
    blocks: Vec<ListSlot<BlockList>>,
    /// Directories, by column.
    directories: Vec<ListSlot<ColumnDirectory>>,
    /// Value ranges of the blocks, by column.
    zones: Vec<ListSlot<Vec<ZoneMap>>>,
    /// Codes that occur in each block, by column. Filled by searches, not from the file.
    code_spans: Vec<ListSlot<Vec<ListSlot<CodeSpans>>>>,
    /// Offsets of the programs, ascending. Tracks can share one, which is then read once.
    program_offsets: Vec<u64>,
    /// Programs, by offset.
    programs: Vec<ListSlot<Program>>,
    /// Totals of the blocks, by track.
    totals: Vec<ListSlot<BlockTotalsList>>,
    /// Pages of the pyramids, by track.
    pages: Vec<ListSlot<Vec<PyramidPage>>>,
    /// Tracks with rows, in the order of their rows.
    row_order: Vec<TrackId>,
}

impl Lists {
    /// Creates the lists of a segment with this footer; none is decoded.
    pub fn new(footer: &Footer) -> Self {
        let mut row_order: Vec<TrackId> =
            (0_u32..).zip(&footer.tracks).filter(|(_, t)| t.rows > 0).map(|(id, _)| TrackId(id)).collect();
        sort_by_key(&mut row_order, |id| footer.tracks[id.0 as usize].first_row);
        let of_tracks = footer.tracks.iter().map(|track| track.program);
        let mut program_offsets: Vec<u64> =
            of_tracks.filter(|piece| piece.len > 0).map(|piece| piece.offset).collect();
        sort_by_key(&mut program_offsets, |offset| *offset);
        program_offsets.dedup();
        Self {
            blocks: slots(footer.tables.len()),
            directories: slots(footer.columns.len()),
            zones: slots(footer.columns.len()),
            code_spans: slots(footer.columns.len()),
            programs: slots(program_offsets.len()),
            program_offsets,
            totals: slots(footer.tracks.len()),
            pages: slots(footer.tracks.len()),
            row_order,
        }
    }

    /// Track of a row; `None` for rows of side tables.
    pub fn track_of(&self, row: u32, footer: &Footer) -> Option<TrackId> {
        let tracks = &footer.tracks;
        let at =
            self.row_order.partition_point(|id| tracks[id.0 as usize].first_row <= row).checked_sub(1)?;
        let id = self.row_order[at];
        let track = &tracks[id.0 as usize];
        (row - track.first_row < track.rows).then_some(id)
    }

    /// The rows of a table's tracks, in the order of rows. A side table is a single entry.
    fn track_rows(&self, table: TableId, footer: &Footer) -> Vec<TrackRows> {
        let meta = &footer.tables[usize::from(table.0)];
        if meta.spec.kind == TableKind::Side {
            let all = TrackRows { rows: meta.rows, start_ps: 0, end_ps: 0 };
            return if meta.rows > 0 { vec![all] } else { Vec::new() };
        }
        let tracks = self.row_order.iter().map(|id| (*id, &footer.tracks[id.0 as usize]));
        let of_table = tracks.filter(|(id, _)| footer.table_of(*id) == Some(table));
        let rows = |(_, track): (TrackId, &TrackMeta)| TrackRows {
            rows: track.rows,
            start_ps: track.start_ps,
            end_ps: track.end_ps,
        };
        of_table.map(rows).collect()
    }

    /// The block list of a table.
    pub fn blocks<B: Bytes>(&self, table: TableId, file: &OpenFile<B>) -> Result<&BlockList> {
        let at = usize::from(table.0);
        let (slot, meta) = self
            .blocks
            .get(at)
            .zip(file.footer().tables.get(at))
            .ok_or(Error::Invalid { what: "the table does not exist" })?;
        get_or_keep(slot, file.room(), |taken| {
            let bytes = file.piece(meta.blocks, "block list")?;
            let mut cursor = bytes.cursor();
            BlockList::decode(&mut cursor, &self.track_rows(table, file.footer()), taken)
        })
    }

    /// Blocks of a track, as positions in its table's list.
    pub fn blocks_of<B: Bytes>(&self, track: TrackId, file: &OpenFile<B>) -> Result<Range<usize>> {
        let footer = file.footer();
        let meta = &footer.tracks[track.0 as usize];
        let Some(table) = footer.table_of(track).filter(|_| meta.rows > 0) else { return Ok(0..0) };
        let first = meta.first_row - footer.tables[usize::from(table.0)].first_row;
        let blocks = self.blocks(table, file)?;
        let damaged = Error::Inconsistent { what: "track without its blocks" };
        let start = blocks.block_of(first).ok_or(damaged)?;
        let last = blocks.block_of(first + meta.rows - 1).ok_or(damaged)?;
        Ok(start..last + 1)
    }

    /// The directory of a column.
    pub fn directory<B: Bytes>(
        &self,
        column: usize,
        file: &OpenFile<B>,
        spare: &Spare,
    ) -> Result<&ColumnDirectory> {
        let meta = &file.footer().columns[column];
        let packs = self.blocks(meta.table, file)?.packs();
        get_or_keep(&self.directories[column], file.room(), |taken| {
            let bytes = file.piece(meta.directory, "column directory")?;
            let mut cursor = bytes.cursor();
            spare.with_decoder(|decoder| ColumnDirectory::decode(&mut cursor, packs, decoder, taken))
        })
    }

    /// Value ranges of a column's blocks. A block has the range of its pack.
    pub fn zones<B: Bytes>(&self, column: usize, file: &OpenFile<B>, spare: &Spare) -> Result<&[ZoneMap]> {
        let meta = &file.footer().columns[column];
        let blocks = self.blocks(meta.table, file)?;
        let read = |taken: &mut RoomShare<'_>| {
            let bytes = file.piece(meta.directory, "column directory")?;
            let mut cursor = bytes.cursor();
            let zones = spare.with_decoder(|decoder| {
                ColumnDirectory::decode_zones(&mut cursor, blocks.packs(), decoder, taken)
            })?;
            if blocks.packs() == blocks.len() {
                return Ok(zones);
            }
            taken.grow(blocks.len(), size_of::<ZoneMap>())?;
            Ok((0..blocks.len()).map(|block| zones[blocks.pack_of(block)]).collect())
        };
        get_or_keep(&self.zones[column], file.room(), read).map(Vec::as_slice)
    }

    /// Slots for the codes of each block of a column.
    pub fn code_spans<B: Bytes>(&self, column: usize, file: &OpenFile<B>) -> Result<&[ListSlot<CodeSpans>]> {
        let blocks = self.blocks(file.footer().columns[column].table, file)?.len();
        let empty = |taken: &mut RoomShare<'_>| {
            taken.grow(blocks, CodeSpans::BYTES + size_of::<ListSlot<CodeSpans>>())?;
            Ok(slots(blocks))
        };
        get_or_keep(&self.code_spans[column], file.room(), empty).map(Vec::as_slice)
    }

    /// The program of a track, if it has one.
    pub fn program<B: Bytes>(
        &self,
        track: TrackId,
        file: &OpenFile<B>,
        spare: &Spare,
    ) -> Result<Option<&Program>> {
        let piece = file.footer().tracks[track.0 as usize].program;
        if piece.len == 0 {
            return Ok(None);
        }
        let decode = |taken: &mut RoomShare<'_>| {
            let bytes = file.piece(piece, "program")?;
            let mut cursor = bytes.cursor();
            spare.with_decoder(|decoder| Program::decode(&mut cursor, decoder, taken))
        };
        let at = self.program_offsets.partition_point(|&offset| offset < piece.offset);
        get_or_keep(&self.programs[at], file.room(), decode).map(Some)
    }

    /// Totals of a track's blocks, if they are stored.
    pub fn totals<B: Bytes>(&self, track: TrackId, file: &OpenFile<B>) -> Result<Option<&BlockTotalsList>> {
        let piece = file.footer().tracks[track.0 as usize].totals;
        if piece.len == 0 {
            return Ok(None);
        }
        let blocks = self.blocks_of(track, file)?.len();
        let decode = |taken: &mut RoomShare<'_>| {
            BlockTotalsList::decode(&mut file.piece(piece, "totals")?.cursor(), blocks, taken)
        };
        get_or_keep(&self.totals[track.0 as usize], file.room(), decode).map(Some)
    }

    /// Pages of a track's pyramid. Empty if the track has few rows.
    pub fn pages<B: Bytes>(&self, track: TrackId, file: &OpenFile<B>) -> Result<&[PyramidPage]> {
        let meta = &file.footer().tracks[track.0 as usize];
        if meta.pyramid.len == 0 {
            return Ok(&[]);
        }
        let decode = |taken: &mut RoomShare<'_>| {
            read_pages(&mut file.piece(meta.pyramid, "pyramid directory")?.cursor(), meta, taken)
        };
        get_or_keep(&self.pages[track.0 as usize], file.room(), decode).map(Vec::as_slice)
    }
}

fn slots<T>(count: usize) -> Vec<ListSlot<T>> {
    (0..count).map(|_| ListSlot::new()).collect()
}
