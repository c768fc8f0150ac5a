//! An open segment: one place to ask for its footer, lists, texts and pieces.
//!
//! Lists and chunks of the dictionary are decoded once and kept. Blocks are decoded at each call
//! (`block_reader.rs`), except for the last few of packs and of the edges of tiles.

use std::ops::Range;
use std::sync::OnceLock;

use super::blocks::BlockList;
use super::code_spans::CodeSpans;
use super::dictionary::{ChunkTexts, Dictionary};
use super::directory::ColumnDirectory;
use super::footer::{ColumnRole, Footer};
use super::layout::Piece;
use super::lists::Lists;
use super::open_file::{OpenFile, PieceBytes};
use super::pages::PyramidPage;
use super::program::Program;
use super::room::SegmentRoom;
use super::source::Bytes;
use super::spare::Spare;
use super::totals::BlockTotalsList;
use crate::base::{Error, Result};
use crate::block::{ColumnType, ZoneMap};
use crate::codec::BlockDecoder;
use crate::model::{NameId, TableId, TrackId};

/// An open segment.
#[derive(Debug)]
pub struct Segment<B> {
    /// Bytes and footer.
    file: OpenFile<B>,
    /// Decoded lists of each table, column and track.
    lists: Lists,
    /// Decoded texts.
    dictionary: Dictionary,
    /// Working memory.
    spare: Spare,
}

/// Position of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowPlace {
    /// Table of the row.
    pub table: TableId,
    /// Block of the row, counted within the table.
    pub block: usize,
    /// Position of the row in its block.
    pub at: usize,
}

impl<B> Segment<B> {
    /// Source of the bytes.
    #[must_use]
    pub fn bytes(&self) -> &B {
        self.file.bytes()
    }

    /// Memory that the lists and texts may take.
    pub(super) fn room(&self) -> &SegmentRoom {
        self.file.room()
    }

    /// Working memory of all readers.
    pub(super) fn spare(&self) -> &Spare {
        &self.spare
    }
}

impl<B: Bytes> Segment<B> {
    /// Opens a segment: reads header, trailer and footer.
    ///
    /// # Errors
    /// `Truncated`, `Corrupt` or `UnsupportedVersion`; errors of the bytes' source.
    pub fn open(bytes: B) -> Result<Self> {
        let file = OpenFile::open(bytes)?;
        let lists = Lists::new(file.footer());
        let dictionary = Dictionary::new(file.footer().dictionary.texts);
        Ok(Self { file, lists, dictionary, spare: Spare::default() })
    }

    /// Content of the segment.
    #[must_use]
    pub fn footer(&self) -> &Footer {
        self.file.footer()
    }

    /// Length of the file in bytes.
    #[must_use]
    pub fn file_len(&self) -> u64 {
        self.file.bytes().file_len()
    }

    /// Bytes of memory that the decoded lists and texts take now. They grow with the questions.
    #[must_use]
    pub fn kept_bytes(&self) -> u64 {
        self.file.room().taken()
    }

    /// Length in bytes of the file if the footer of a small segment were not compressed. Equals
    /// [`Segment::file_len`] for a large segment.
    #[must_use]
    pub fn unpacked_len(&self) -> u64 {
        self.file_len().saturating_add(self.file.saved())
    }

    /// Identifies the content by the footer's checksum, which covers all others, and the file's
    /// length, in hexadecimal.
    #[must_use]
    pub fn content(&self) -> &str {
        self.file.content()
    }

    /// Bytes of a piece, checked.
    ///
    /// # Errors
    /// `Corrupt` with `what` if the checksum differs; errors of the bytes' source.
    pub fn piece(&self, piece: Piece, what: &'static str) -> Result<PieceBytes<'_>> {
        self.file.piece(piece, what)
    }

    /// Calls `work` with a decoder that is reused from call to call.
    pub fn with_decoder<R>(&self, work: impl FnOnce(&mut BlockDecoder) -> R) -> R {
        self.spare.with_decoder(work)
    }
}

/// Tables, columns and tracks.
impl<B: Bytes> Segment<B> {
    /// The table with this name.
    #[must_use]
    pub fn table(&self, name: &str) -> Option<TableId> {
        let at = self.footer().tables.iter().position(|table| table.spec.name == name)?;
        u16::try_from(at).ok().map(TableId)
    }

    /// The block list of a table.
    pub fn blocks(&self, table: TableId) -> Result<&BlockList> {
        self.lists.blocks(table, &self.file)
    }

    /// The directory of a column, by its position in the footer.
    pub fn directory(&self, column: usize) -> Result<&ColumnDirectory> {
        self.lists.directory(column, &self.file, &self.spare)
    }

    /// Value ranges of a column's blocks, by the column's position in the footer. A block has the
    /// range of its pack.
    pub fn zones(&self, column: usize) -> Result<&[ZoneMap]> {
        self.lists.zones(column, &self.file, &self.spare)
    }

    /// Slots for the codes of each block of a column, by the column's position in the footer. A
    /// slot is filled only if every row of the block has a code.
    pub fn code_spans(&self, column: usize) -> Result<&[OnceLock<CodeSpans>]> {
        self.lists.code_spans(column, &self.file)
    }

    /// Columns of a table, by their positions in the footer.
    pub fn columns_of(&self, table: TableId) -> impl Iterator<Item = usize> + '_ {
        (0..self.footer().columns.len()).filter(move |&at| self.footer().columns[at].table == table)
    }

    /// First column of a table with this role. A field can have several columns.
    #[must_use]
    pub fn column(&self, table: TableId, role: ColumnRole) -> Option<usize> {
        self.columns_of(table).find(|&at| self.footer().columns[at].role == role)
    }

    /// Position of a table's column with this role and type.
    #[must_use]
    pub fn column_of_kind(&self, table: TableId, role: ColumnRole, kind: ColumnType) -> Option<usize> {
        self.columns_of(table).find(|&at| {
            let meta = &self.footer().columns[at];
            meta.role == role && meta.kind == kind
        })
    }

    /// Type of a column's values, by its position in the footer.
    #[must_use]
    pub fn kind(&self, column: usize) -> ColumnType {
        self.footer().columns[column].kind
    }

    /// The program of a track, if it has one.
    pub fn program(&self, track: TrackId) -> Result<Option<&Program>> {
        self.lists.program(track, &self.file, &self.spare)
    }

    /// Totals of a track's blocks, if they are stored.
    pub fn totals(&self, track: TrackId) -> Result<Option<&BlockTotalsList>> {
        self.lists.totals(track, &self.file)
    }

    /// Pages of a track's pyramid, by level, lane and time. Empty if the track has few rows.
    pub fn pages(&self, track: TrackId) -> Result<&[PyramidPage]> {
        self.lists.pages(track, &self.file)
    }

    /// Table that holds a track's rows.
    #[must_use]
    pub fn table_of(&self, track: TrackId) -> Option<TableId> {
        self.footer().table_of(track)
    }

    /// Blocks of a track, as positions in its table's list.
    pub fn blocks_of(&self, track: TrackId) -> Result<Range<usize>> {
        self.lists.blocks_of(track, &self.file)
    }

    /// Table, block and position of a row.
    ///
    /// # Errors
    /// `Invalid` if the row does not exist.
    pub fn place(&self, row: u32) -> Result<RowPlace> {
        let unknown = Error::Invalid { what: "the row does not exist" };
        let at = self.footer().tables.partition_point(|table| table.first_row <= row);
        // Empty tables share their first row with the next table, so the last match is the one that
        // can hold the row.
        let at = at.checked_sub(1).ok_or(unknown)?;
        let table = TableId(u16::try_from(at).map_err(|_| unknown)?);
        let in_table = row - self.footer().tables[at].first_row;
        let blocks = self.blocks(table)?;
        let block = blocks.block_of(in_table).ok_or(unknown)?;
        Ok(RowPlace { table, block, at: (in_table - blocks.first_row(block)) as usize })
    }

    /// Track of a row; `None` for rows of side tables.
    #[must_use]
    pub fn track_of(&self, row: u32) -> Option<TrackId> {
        self.lists.track_of(row, self.footer())
    }
}

/// Texts.
impl<B: Bytes> Segment<B> {
    /// A text of the dictionary.
    ///
    /// # Errors
    /// If bytes are missing or damaged, the number is unknown, or there is no room for the texts.
    pub fn text(&self, id: NameId) -> Result<&str> {
        self.dictionary.text(id, &self.file, &self.spare)
    }

    /// Appends the texts of a column's numbers, in their order. Adjacent numbers that are equal, or
    /// in the same chunk, share one look-up.
    pub fn texts<'s>(&'s self, numbers: &[i64], out: &mut Vec<&'s str>) -> Result<()> {
        self.dictionary.texts(numbers, &self.file, &self.spare, out)
    }

    /// Texts of a chunk of the dictionary. They are kept if there is room.
    pub fn chunk(&self, chunk: usize) -> Result<ChunkTexts<'_>> {
        self.dictionary.chunk(chunk, &self.file, &self.spare)
    }

    /// Pieces of the dictionary's chunks.
    pub fn chunk_pieces(&self) -> Result<&[Piece]> {
        self.dictionary.chunk_pieces(&self.file)
    }

    /// Number of dictionary chunks.
    #[must_use]
    pub fn chunk_count(&self) -> usize {
        self.dictionary.chunk_count()
    }
}
