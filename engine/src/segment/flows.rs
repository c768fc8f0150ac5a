//! Arrows between slices, stored twice: sorted by where they begin and by where they end.

use super::pieces::{put_pieces, read_pieces};
use super::{Bytes, Piece, PieceWriter, Segment};
use crate::base::Result;
use crate::block::list;
use crate::model::NameId;

/// An arrow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Arrow {
    /// The row where it begins.
    pub from: u32,
    /// The row where it ends.
    pub to: u32,
    /// What it is called.
    pub name: NameId,
}

/// Arrows of a chunk; all but the last are full.
const CHUNK_ARROWS: usize = 2048;

/// Where the arrows are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FlowsMeta {
    /// Number of arrows.
    pub arrows: u64,
    /// The list of chunks, sorted by `from`.
    pub by_from: Piece,
    /// The list of chunks, sorted by `to`.
    pub by_to: Piece,
    /// Bytes of all chunks.
    pub bytes: u64,
}

/// Writes the arrows of one direction, chunk by chunk.
#[derive(Debug)]
pub struct FlowsWriter {
    end: End,
    chunk: Vec<Arrow>,
    pieces: Vec<Piece>,
    lasts: Vec<i64>,
    bytes: u64,
}

impl FlowsWriter {
    /// For arrows that come sorted by this end.
    #[must_use]
    pub fn new(end: End) -> Self {
        Self { end, chunk: Vec::new(), pieces: Vec::new(), lasts: Vec::new(), bytes: 0 }
    }

    /// Takes the next arrow.
    ///
    /// # Errors
    /// Those of the output.
    pub fn push(&mut self, arrow: Arrow, writer: &mut PieceWriter<'_>) -> Result<()> {
        self.chunk.push(arrow);
        if self.chunk.len() == CHUNK_ARROWS { self.write_chunk(writer) } else { Ok(()) }
    }

    fn write_chunk(&mut self, writer: &mut PieceWriter<'_>) -> Result<()> {
        let Some(&last) = self.chunk.last() else { return Ok(()) };
        let mut bytes = Vec::new();
        for of in [|arrow: &Arrow| arrow.from, |arrow: &Arrow| arrow.to, |arrow: &Arrow| arrow.name.0] {
            let column: Vec<i64> = self.chunk.iter().map(|arrow| i64::from(of(arrow))).collect();
            list::put_ints(&column, &mut bytes);
        }
        self.pieces.push(writer.piece(&bytes)?);
        self.bytes += bytes.len() as u64;
        self.lasts.push(i64::from(self.end.row_of(&last)));
        self.chunk.clear();
        Ok(())
    }

    /// Writes the list of chunks: gives back where it is, and the bytes of all chunks.
    ///
    /// # Errors
    /// Those of the output.
    pub fn finish(mut self, writer: &mut PieceWriter<'_>) -> Result<(Piece, u64)> {
        self.write_chunk(writer)?;
        let mut directory = Vec::new();
        list::put_ints(&self.lasts, &mut directory);
        put_pieces(&self.pieces, &mut directory);
        Ok((writer.piece(&directory)?, self.bytes))
    }
}

/// Which end of an arrow a row stands at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum End {
    /// The arrow begins there.
    From,
    /// The arrow ends there.
    To,
}

impl End {
    fn row_of(self, arrow: &Arrow) -> u32 {
        if self == Self::From { arrow.from } else { arrow.to }
    }
}

impl<B: Bytes> Segment<B> {
    /// The arrows that begin at this row.
    ///
    /// # Errors
    /// Where bytes are missing or damaged.
    pub fn arrows_from(&self, row: u32) -> Result<Vec<Arrow>> {
        self.arrows(row, End::From)
    }

    /// The arrows that end at this row.
    ///
    /// # Errors
    /// Where bytes are missing or damaged.
    pub fn arrows_to(&self, row: u32) -> Result<Vec<Arrow>> {
        self.arrows(row, End::To)
    }

    fn arrows(&self, row: u32, end: End) -> Result<Vec<Arrow>> {
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

    /// The list of arrows sorted by this end.
    #[must_use]
    pub fn arrow_directory(&self, end: End) -> Piece {
        if end == End::From { self.footer().flows.by_from } else { self.footer().flows.by_to }
    }

    /// The chunks of arrows sorted by this end, each with the last row in it.
    ///
    /// # Errors
    /// Where bytes are missing or damaged.
    pub fn arrow_chunks(&self, end: End) -> Result<Vec<(i64, Piece)>> {
        if self.footer().flows.arrows == 0 {
            return Ok(Vec::new());
        }
        let mut cursor = self.cursor(self.arrow_directory(end), "arrow directory")?;
        let lasts = list::read_ints(&mut cursor)?;
        let pieces = read_pieces(&mut cursor, lasts.len())?;
        Ok(lasts.into_iter().zip(pieces).collect())
    }

    /// The arrows of a chunk.
    ///
    /// # Errors
    /// Where bytes are missing or damaged.
    pub fn arrow_chunk(&self, piece: Piece) -> Result<Vec<Arrow>> {
        let mut cursor = self.cursor(piece, "arrows")?;
        let from = list::read_ints(&mut cursor)?;
        let to = list::read_ints_of(&mut cursor, from.len())?;
        let names = list::read_ints_of(&mut cursor, from.len())?;
        let narrow = |value: i64| u32::try_from(value).map_err(|_| cursor.corrupt());
        from.iter()
            .zip(&to)
            .zip(&names)
            .map(|((&from, &to), &name)| {
                Ok(Arrow { from: narrow(from)?, to: narrow(to)?, name: NameId(narrow(name)?) })
            })
            .collect()
    }

    /// Calls `each` with every arrow, sorted by where it begins.
    ///
    /// # Errors
    /// Where bytes are missing or damaged, and those of `each`.
    pub fn for_each_arrow(&self, mut each: impl FnMut(Arrow) -> Result<()>) -> Result<()> {
        for (_, piece) in self.arrow_chunks(End::From)? {
            self.arrow_chunk(piece)?.into_iter().try_for_each(&mut each)?;
        }
        Ok(())
    }
}
