//! Opening a segment and reading its pieces.
//!
//! Directories and dictionary chunks are decoded once and kept. Blocks are decoded at each call,
//! except for the last few of packs and of the edges of tiles. For some columns the codes that
//! occur in each block are kept.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, OnceLock};

use super::block_reader::{KEPT_COLUMNS, KeptColumn};
use super::blocks::{BlockList, TrackRows};
use super::directory::Directory;
use super::footer::{ColumnRole, Footer, TrackMeta};
use super::layout::{self, Piece, Trailer};
use super::pieces::read_pieces;
use super::slice_columns::KeptSlices;
use super::source::Bytes;
use crate::base::bytes::Cursor;
use crate::base::checksum::is_intact;
use crate::base::{Error, Result};
use crate::block::{BlockColumn, ColumnType, ZoneMap};
use crate::codec::{self, Decoder, Texts};
use crate::model::{NameId, TableId, TableKind, TrackId, TrackKind};

use super::{CHUNK_TEXTS, CodeSpans, Page, Program, Totals};

const NO_SUCH_TEXT: Error = Error::Inconsistent { what: "number of a text that is not there" };

/// An open segment.
#[derive(Debug)]
pub struct Segment<B> {
    bytes: B,
    footer: Footer,
    /// The pieces of a small segment.
    annex: Vec<u8>,
    /// Bytes that the footer's frame saves, if the segment has an annex.
    saved: u64,
    content: String,
    blocks: Vec<OnceLock<BlockList>>,
    directories: Vec<OnceLock<Directory>>,
    zones: Vec<OnceLock<Vec<ZoneMap>>>,
    seen: Vec<OnceLock<Vec<OnceLock<CodeSpans>>>>,
    chunks: OnceLock<Vec<Piece>>,
    texts: Vec<OnceLock<Texts>>,
    programs: Vec<OnceLock<Program>>,
    totals: Vec<OnceLock<Totals>>,
    pages: Vec<OnceLock<Vec<Page>>>,
    /// Tracks with rows, in the order of their rows.
    row_order: Vec<TrackId>,
    /// Unused working memory: one item for each thread that reads at the same time.
    decoders: Mutex<Vec<Decoder>>,
    /// Columns of packs that were decoded last, the latest at the end.
    columns_of_packs: Mutex<VecDeque<KeptColumn>>,
    /// Blocks of slices at the edges of tiles, the latest at the end.
    pub(super) blocks_of_slices: Mutex<VecDeque<KeptSlices>>,
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
        &self.bytes
    }

    /// A decoded column of a pack, if it is still kept.
    pub(super) fn kept_column(&self, of: (usize, usize)) -> Option<Option<Arc<BlockColumn>>> {
        let kept = self.columns_of_packs.lock().ok()?;
        kept.iter().rev().find(|(key, _)| *key == of).map(|(_, column)| column.clone())
    }

    /// Keeps a column of a pack, and drops the oldest.
    pub(super) fn keep_column(&self, of: (usize, usize), column: Option<Arc<BlockColumn>>) {
        if let Ok(mut kept) = self.columns_of_packs.lock() {
            if kept.len() >= KEPT_COLUMNS {
                kept.pop_front();
            }
            kept.push_back((of, column));
        }
    }

    /// Takes back the working memory from [`Segment::take_decoder`].
    pub(super) fn give_back(&self, decoder: Decoder) {
        if let Ok(mut free) = self.decoders.lock() {
            free.push(decoder);
        }
    }
}

impl<B: Bytes> Segment<B> {
    /// Opens a segment: reads header, trailer and footer.
    ///
    /// # Errors
    /// `Truncated`, `Corrupt` or `UnsupportedVersion`; errors of the bytes' source.
    pub fn open(bytes: B) -> Result<Self> {
        let file_len = bytes.file_len();
        layout::check_header(bytes.range(0, layout::HEADER_LEN as u64)?)?;
        let trailer_len = layout::TRAILER_LEN as u64;
        let start =
            file_len.checked_sub(trailer_len).filter(|&start| start >= layout::HEADER_LEN as u64).ok_or(
                Error::Truncated { needed: trailer_len + layout::HEADER_LEN as u64, available: file_len },
            )?;
        let trailer = Trailer::decode(bytes.range(start, trailer_len)?, file_len)?;
        let packed = checked(&bytes, trailer.footer, "footer")?;
        let mut unpacked = codec::decompress_with(layout::WORDS, packed, trailer.footer_len as usize)?;
        if unpacked.len() != trailer.footer_len as usize {
            return Err(Error::Corrupt { what: "trailer", offset: start });
        }
        let (footer, footer_len) = Footer::decode(&unpacked, trailer.footer.offset)?;
        let saved = u64::from(trailer.footer_len).saturating_sub(u64::from(trailer.footer.len));
        let annex = unpacked.split_off(footer_len);
        let texts = (footer.dictionary.texts as usize).div_ceil(CHUNK_TEXTS);
        // A chunk takes at least a piece entry. A count that cannot be true must not cause an
        // allocation.
        if texts as u64 > file_len {
            return Err(Error::Corrupt { what: "dictionary size", offset: trailer.footer.offset });
        }
        let mut row_order: Vec<TrackId> =
            (0_u32..).zip(&footer.tracks).filter(|(_, t)| t.rows > 0).map(|(id, _)| TrackId(id)).collect();
        row_order.sort_by_key(|id| footer.tracks[id.0 as usize].first_row);
        Ok(Self {
            content: layout::content_id(trailer.footer.checksum, file_len),
            blocks: footer.tables.iter().map(|_| OnceLock::new()).collect(),
            directories: footer.columns.iter().map(|_| OnceLock::new()).collect(),
            zones: footer.columns.iter().map(|_| OnceLock::new()).collect(),
            seen: footer.columns.iter().map(|_| OnceLock::new()).collect(),
            chunks: OnceLock::new(),
            texts: (0..texts).map(|_| OnceLock::new()).collect(),
            programs: footer.tracks.iter().map(|_| OnceLock::new()).collect(),
            totals: footer.tracks.iter().map(|_| OnceLock::new()).collect(),
            pages: footer.tracks.iter().map(|_| OnceLock::new()).collect(),
            decoders: Mutex::default(),
            columns_of_packs: Mutex::default(),
            blocks_of_slices: Mutex::default(),
            row_order,
            bytes,
            footer,
            saved: if annex.is_empty() { 0 } else { saved },
            annex,
        })
    }

    /// Content of the segment.
    #[must_use]
    pub fn footer(&self) -> &Footer {
        &self.footer
    }

    /// Length of the file in bytes.
    #[must_use]
    pub fn file_len(&self) -> u64 {
        self.bytes.file_len()
    }

    /// Length in bytes of the file if the footer of a small segment were not compressed. Equals
    /// [`Segment::file_len`] for a large segment.
    #[must_use]
    pub fn unpacked_len(&self) -> u64 {
        self.file_len().saturating_add(self.saved)
    }

    /// Identifies the content by the footer's checksum, which covers all others, and the file's
    /// length, in hexadecimal.
    #[must_use]
    pub fn content(&self) -> &str {
        &self.content
    }

    /// Bytes of a piece, checked.
    ///
    /// # Errors
    /// `Corrupt` with `what` if the checksum differs; errors of the bytes' source.
    pub fn piece(&self, piece: Piece, what: &'static str) -> Result<&[u8]> {
        let Some(at) = piece.annex_at() else { return checked(&self.bytes, piece, what) };
        let end = at.saturating_add(u64::from(piece.len));
        let range = usize::try_from(at).ok().zip(usize::try_from(end).ok());
        let bytes = range.and_then(|(at, end)| self.annex.get(at..end));
        bytes.ok_or(Error::Corrupt { what, offset: piece.offset })
    }

    /// A cursor over a checked piece.
    ///
    /// # Errors
    /// Same as [`Segment::piece`].
    pub fn cursor(&self, piece: Piece, what: &'static str) -> Result<Cursor<'_>> {
        Ok(Cursor::new(self.piece(piece, what)?, piece.offset, what))
    }

    /// The block list of a table.
    ///
    /// # Errors
    /// If bytes are missing or damaged, or the table is unknown.
    pub fn blocks(&self, table: TableId) -> Result<&BlockList> {
        let at = usize::from(table.0);
        let (slot, meta) = self
            .blocks
            .get(at)
            .zip(self.footer.tables.get(at))
            .ok_or(Error::Invalid { what: "there is no such table" })?;
        get_or_try(slot, || {
            let mut cursor = self.cursor(meta.blocks, "block list")?;
            BlockList::decode(&mut cursor, &self.track_rows(table))
        })
    }

    /// The rows of a table's tracks, in the order of rows. A side table is a single entry.
    fn track_rows(&self, table: TableId) -> Vec<TrackRows> {
        let meta = &self.footer.tables[usize::from(table.0)];
        if meta.spec.kind == TableKind::Side {
            let all = TrackRows { rows: meta.rows, start_ps: 0, end_ps: 0 };
            return if meta.rows > 0 { vec![all] } else { Vec::new() };
        }
        let tracks = self.row_order.iter().map(|id| (*id, &self.footer.tracks[id.0 as usize]));
        let of_table = tracks.filter(|(id, _)| self.table_of(*id) == Some(table));
        let rows = |(_, track): (TrackId, &TrackMeta)| TrackRows {
            rows: track.rows,
            start_ps: track.start_ps,
            end_ps: track.end_ps,
        };
        of_table.map(rows).collect()
    }

    /// The directory of a column, by its position in the footer.
    ///
    /// # Errors
    /// If bytes are missing or damaged.
    pub fn directory(&self, column: usize) -> Result<&Directory> {
        let meta = &self.footer.columns[column];
        let packs = self.blocks(meta.table)?.packs();
        get_or_try(&self.directories[column], || {
            let mut cursor = self.cursor(meta.directory, "column directory")?;
            self.with_decoder(|decoder| Directory::decode(&mut cursor, packs, decoder))
        })
    }

    /// Value ranges of a column's blocks, by the column's position in the footer. A block has the
    /// range of its pack.
    ///
    /// # Errors
    /// If bytes are missing or damaged.
    pub fn zones(&self, column: usize) -> Result<&[ZoneMap]> {
        let meta = &self.footer.columns[column];
        let blocks = self.blocks(meta.table)?;
        let read = || {
            let mut cursor = self.cursor(meta.directory, "column directory")?;
            let zones =
                self.with_decoder(|decoder| Directory::decode_zones(&mut cursor, blocks.packs(), decoder))?;
            if blocks.packs() == blocks.len() {
                return Ok(zones);
            }
            Ok((0..blocks.len()).map(|block| zones[blocks.pack_of(block)]).collect())
        };
        get_or_try(&self.zones[column], read).map(Vec::as_slice)
    }

    /// Slots for the codes of each block of a column, by the column's position in the footer. A
    /// slot is filled only if every row of the block has a code.
    ///
    /// # Errors
    /// If bytes are missing or damaged.
    pub fn seen_codes(&self, column: usize) -> Result<&[OnceLock<CodeSpans>]> {
        let blocks = self.blocks(self.footer.columns[column].table)?.len();
        let places = || Ok((0..blocks).map(|_| OnceLock::new()).collect());
        get_or_try(&self.seen[column], places).map(Vec::as_slice)
    }

    /// Columns of a table, by their positions in the footer.
    pub fn columns_of(&self, table: TableId) -> impl Iterator<Item = usize> + '_ {
        (0..self.footer.columns.len()).filter(move |&at| self.footer.columns[at].table == table)
    }

    /// First column of a table with this role. A field can have several columns.
    #[must_use]
    pub fn column(&self, table: TableId, role: ColumnRole) -> Option<usize> {
        self.columns_of(table).find(|&at| self.footer.columns[at].role == role)
    }

    /// The program of a track, if it has one.
    ///
    /// # Errors
    /// If bytes are missing or damaged.
    pub fn program(&self, track: TrackId) -> Result<Option<&Program>> {
        let piece = self.footer.tracks[track.0 as usize].program;
        if piece.len == 0 {
            return Ok(None);
        }
        let decode = || {
            let mut cursor = self.cursor(piece, "program")?;
            self.with_decoder(|decoder| Program::decode(&mut cursor, decoder))
        };
        get_or_try(&self.programs[track.0 as usize], decode).map(Some)
    }

    /// Totals of a track's blocks, if they are stored.
    ///
    /// # Errors
    /// If bytes are missing or damaged.
    pub fn totals(&self, track: TrackId) -> Result<Option<&Totals>> {
        let piece = self.footer.tracks[track.0 as usize].totals;
        if piece.len == 0 {
            return Ok(None);
        }
        let blocks = self.blocks_of(track)?.len();
        let decode = || Totals::decode(&mut self.cursor(piece, "totals")?, blocks);
        get_or_try(&self.totals[track.0 as usize], decode).map(Some)
    }

    /// Pages of a track, read once.
    pub(super) fn kept_pages(
        &self,
        track: TrackId,
        read: impl FnOnce() -> Result<Vec<Page>>,
    ) -> Result<&[Page]> {
        get_or_try(&self.pages[track.0 as usize], read).map(Vec::as_slice)
    }

    /// Calls `work` with a decoder that is reused from call to call.
    pub fn with_decoder<R>(&self, work: impl FnOnce(&mut Decoder) -> R) -> R {
        let mut decoder = self.take_decoder();
        let result = work(&mut decoder);
        self.give_back(decoder);
        result
    }

    /// A decoder for one reader; [`Segment::give_back`] returns it.
    pub(super) fn take_decoder(&self) -> Decoder {
        self.decoders.lock().map_or_else(|_| Decoder::default(), |mut free| free.pop().unwrap_or_default())
    }

    /// A text of the dictionary.
    ///
    /// # Errors
    /// If bytes are missing or damaged, or the number is unknown.
    pub fn text(&self, id: NameId) -> Result<&str> {
        let at = id.0 as usize;
        if id.0 >= self.footer.dictionary.texts {
            return Err(NO_SUCH_TEXT);
        }
        Ok(self.chunk(at / CHUNK_TEXTS)?.get(at % CHUNK_TEXTS))
    }

    /// Appends the texts of a column's numbers, in their order. Adjacent numbers that are equal, or
    /// in the same chunk, share one look-up.
    ///
    /// # Errors
    /// Same as [`Segment::text`].
    pub fn texts<'s>(&'s self, numbers: &[i64], out: &mut Vec<&'s str>) -> Result<()> {
        let count = self.footer.dictionary.texts as usize;
        let mut chunk: Option<(usize, &Texts)> = None;
        let mut known: Option<(i64, &str)> = None;
        out.reserve(numbers.len());
        for &number in numbers {
            let text = match known {
                Some((same, text)) if same == number => text,
                _ => {
                    let at = usize::try_from(number).ok().filter(|&at| at < count).ok_or(NO_SUCH_TEXT)?;
                    let texts = match chunk {
                        Some((of, texts)) if of == at / CHUNK_TEXTS => texts,
                        _ => self.chunk(at / CHUNK_TEXTS)?,
                    };
                    chunk = Some((at / CHUNK_TEXTS, texts));
                    texts.get(at % CHUNK_TEXTS)
                }
            };
            known = Some((number, text));
            out.push(text);
        }
        Ok(())
    }

    /// Texts of a chunk of the dictionary.
    ///
    /// # Errors
    /// If bytes are missing or damaged.
    pub fn chunk(&self, chunk: usize) -> Result<&Texts> {
        get_or_try(&self.texts[chunk], || {
            let pieces = self.chunk_pieces()?;
            let texts = self.footer.dictionary.texts as usize;
            let count = (texts - chunk * CHUNK_TEXTS).min(CHUNK_TEXTS);
            let bytes = self.piece(pieces[chunk], "dictionary chunk")?;
            self.with_decoder(|decoder| decoder.texts(bytes, count))
        })
    }

    /// Pieces of the dictionary's chunks.
    ///
    /// # Errors
    /// If bytes are missing or damaged.
    pub fn chunk_pieces(&self) -> Result<&[Piece]> {
        let pieces = get_or_try(&self.chunks, || {
            let mut cursor = self.cursor(self.footer.dictionary.chunks, "dictionary directory")?;
            read_pieces(&mut cursor, self.texts.len())
        })?;
        Ok(pieces)
    }

    /// Number of dictionary chunks.
    #[must_use]
    pub fn chunk_count(&self) -> usize {
        self.texts.len()
    }

    /// Table, block and position of a row.
    ///
    /// # Errors
    /// `Invalid` if there is no such row.
    pub fn place(&self, row: u32) -> Result<RowPlace> {
        let unknown = Error::Invalid { what: "there is no such row" };
        let at = self.footer.tables.partition_point(|table| table.first_row <= row);
        // Empty tables share their first row with the next table, so the last match is the one that
        // can hold the row.
        let at = at.checked_sub(1).ok_or(unknown)?;
        let table = TableId(u16::try_from(at).map_err(|_| unknown)?);
        let in_table = row - self.footer.tables[at].first_row;
        let blocks = self.blocks(table)?;
        let block = blocks.block_of(in_table).ok_or(unknown)?;
        Ok(RowPlace { table, block, at: (in_table - blocks.first_row(block)) as usize })
    }

    /// Track of a row; `None` for rows of side tables.
    #[must_use]
    pub fn track_of(&self, row: u32) -> Option<TrackId> {
        let tracks = &self.footer.tracks;
        let at =
            self.row_order.partition_point(|id| tracks[id.0 as usize].first_row <= row).checked_sub(1)?;
        let id = self.row_order[at];
        let track = &tracks[id.0 as usize];
        (row - track.first_row < track.rows).then_some(id)
    }

    /// Table that holds a track's rows.
    #[must_use]
    pub fn table_of(&self, track: TrackId) -> Option<TableId> {
        match self.footer.tracks.get(track.0 as usize)?.spec.kind {
            TrackKind::Slices(table, _) | TrackKind::Counter(table) => Some(table),
            TrackKind::Group => None,
        }
    }

    /// Blocks of a track, as positions in its table's list.
    ///
    /// # Errors
    /// If bytes are missing or damaged.
    pub fn blocks_of(&self, track: TrackId) -> Result<std::ops::Range<usize>> {
        let meta = &self.footer.tracks[track.0 as usize];
        let Some(table) = self.table_of(track).filter(|_| meta.rows > 0) else { return Ok(0..0) };
        let first = meta.first_row - self.footer.tables[usize::from(table.0)].first_row;
        let blocks = self.blocks(table)?;
        let damaged = Error::Inconsistent { what: "track without its blocks" };
        let start = blocks.block_of(first).ok_or(damaged)?;
        let last = blocks.block_of(first + meta.rows - 1).ok_or(damaged)?;
        Ok(start..last + 1)
    }

    /// Type of a column's values, by its position in the footer.
    #[must_use]
    pub fn kind(&self, column: usize) -> ColumnType {
        self.footer.columns[column].kind
    }
}

fn checked<'a, B: Bytes>(bytes: &'a B, piece: Piece, what: &'static str) -> Result<&'a [u8]> {
    let found = bytes.range(piece.offset, u64::from(piece.len))?;
    if is_intact(found, piece.checksum) {
        Ok(found)
    } else {
        Err(Error::Corrupt { what, offset: piece.offset })
    }
}

/// `OnceLock::get_or_try_init` is not stable yet. Two threads can both compute a value; one result
/// is kept.
fn get_or_try<T>(slot: &OnceLock<T>, compute: impl FnOnce() -> Result<T>) -> Result<&T> {
    if let Some(value) = slot.get() {
        return Ok(value);
    }
    let value = compute()?;
    Ok(slot.get_or_init(|| value))
}
