//! Reads the arrows of a segment.

use super::flows::{ArrowEnd, CHUNK_ARROWS, SliceArrow};
use super::layout::Piece;
use super::limits::MIN_ARROWS_BYTES;
use super::pieces::{PIECE_BYTES, read_pieces};
use super::reader::Segment;
use super::source::Bytes;
use crate::base::{Result, in_memory};
use crate::block::list;
use crate::model::NameId;

/// Memory that reading the entry of a chunk takes, in bytes.
const CHUNK_BYTES: usize = PIECE_BYTES + size_of::<i64>() + size_of::<(i64, Piece)>();

impl<B: Bytes> Segment<B> {
    /// Arrows that begin at this row.
    pub fn arrows_from(&self, row: u32) -> Result<Vec<SliceArrow>> {
        self.arrows(row, ArrowEnd::From)
    }

    /// Arrows that end at this row.
    pub fn arrows_to(&self, row: u32) -> Result<Vec<SliceArrow>> {
        self.arrows(row, ArrowEnd::To)
    }

    fn arrows(&self, row: u32, end: ArrowEnd) -> Result<Vec<SliceArrow>> {
        let mut found = Vec::new();
        let chunks = self.arrow_chunks(end)?;
        let first = chunks.partition_point(|&(last, _)| last < i64::from(row));
        for &(last, piece) in &chunks[first..] {
            let chunk = self.arrow_chunk(piece)?;
            found.extend(chunk.iter().filter(|arrow| end.row_of(arrow) == row));
            if last > i64::from(row) {
                break;
            }
        }
        Ok(found)
    }

    /// Piece of the list of chunks sorted by this end.
    #[must_use]
    pub fn arrow_directory(&self, end: ArrowEnd) -> Piece {
        if end == ArrowEnd::From { self.footer().flows.by_from } else { self.footer().flows.by_to }
    }

    /// Chunks of arrows sorted by this end, each with its last row.
    pub fn arrow_chunks(&self, end: ArrowEnd) -> Result<Vec<(i64, Piece)>> {
        if self.footer().flows.arrows == 0 {
            return Ok(Vec::new());
        }
        let directory = self.piece(self.arrow_directory(end), "arrow directory")?;
        let mut cursor = directory.cursor();
        let bytes = self.footer().flows.bytes;
        let most = in_memory(bytes / MIN_ARROWS_BYTES);
        let chunks = list::stated_len(&cursor, most)?;
        // The chunks are not kept: their memory is given back when they are decoded.
        self.room().part().grow(chunks, CHUNK_BYTES)?;
        let lasts = list::read_ints_of(&mut cursor, chunks)?;
        let pieces = read_pieces(&mut cursor, chunks, bytes)?;
        Ok(lasts.into_iter().zip(pieces).collect())
    }

    /// Arrows of a chunk.
    pub fn arrow_chunk(&self, piece: Piece) -> Result<Vec<SliceArrow>> {
        let bytes = self.piece(piece, "arrows")?;
        let mut cursor = bytes.cursor();
        let count = list::stated_len(&cursor, CHUNK_ARROWS)?;
        let from = list::read_ints_of(&mut cursor, count)?;
        let to = list::read_ints_of(&mut cursor, count)?;
        let names = list::read_ints_of(&mut cursor, count)?;
        let narrow = |value: i64| u32::try_from(value).map_err(|_| cursor.corrupt());
        from.iter()
            .zip(&to)
            .zip(&names)
            .map(|((&from, &to), &name)| {
                Ok(SliceArrow { from: narrow(from)?, to: narrow(to)?, name: NameId(narrow(name)?) })
            })
            .collect()
    }

    /// Calls `each` with every arrow, sorted by the row where it begins.
    pub fn for_each_arrow(&self, mut each: impl FnMut(SliceArrow) -> Result<()>) -> Result<()> {
        for (_, piece) in self.arrow_chunks(ArrowEnd::From)? {
            self.arrow_chunk(piece)?.into_iter().try_for_each(&mut each)?;
        }
        Ok(())
    }
}
