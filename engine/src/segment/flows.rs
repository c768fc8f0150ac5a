//! Arrows between slices, stored twice: sorted by the row where they begin, and by the row where
//! they end. This module writes them; `arrows.rs` reads them.

use super::layout::Piece;
use super::output::PieceWriter;
use super::pieces::put_pieces;
use crate::base::Result;
use crate::block::list;
use crate::codec::Encoder;
use crate::model::NameId;

/// An arrow between two slices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SliceArrow {
    /// Row where the arrow begins.
    pub from: u32,
    /// Row where the arrow ends.
    pub to: u32,
    /// Name of the arrow.
    pub name: NameId,
}

/// Arrows of a chunk; all chunks but the last are full.
pub const CHUNK_ARROWS: usize = 2048;

/// A chunk of arrows, encoded.
#[derive(Debug)]
pub struct ArrowChunk {
    /// Row of the last arrow, at the end that the arrows are sorted by.
    last: u32,
    bytes: Vec<u8>,
}

impl ArrowChunk {
    /// Encodes 1 to [`CHUNK_ARROWS`] arrows, which are sorted by this end.
    #[must_use]
    pub fn new(arrows: &[SliceArrow], end: ArrowEnd, encoder: &mut Encoder) -> Self {
        let mut bytes = Vec::new();
        for of in [
            |arrow: &SliceArrow| arrow.from,
            |arrow: &SliceArrow| arrow.to,
            |arrow: &SliceArrow| arrow.name.0,
        ] {
            let column: Vec<i64> = arrows.iter().map(|arrow| i64::from(of(arrow))).collect();
            list::put_ints_with(&column, encoder, &mut bytes);
        }
        Self { last: arrows.last().map_or(0, |last| end.row_of(last)), bytes }
    }
}

/// Writes the chunks of one sort order.
#[derive(Debug, Default)]
pub struct FlowsWriter {
    pieces: Vec<Piece>,
    lasts: Vec<i64>,
    bytes: u64,
}

impl FlowsWriter {
    /// Takes the next chunk.
    pub fn push(&mut self, chunk: &ArrowChunk, writer: &mut PieceWriter<'_>) -> Result<()> {
        self.pieces.push(writer.piece(&chunk.bytes)?);
        self.bytes += chunk.bytes.len() as u64;
        self.lasts.push(i64::from(chunk.last));
        Ok(())
    }

    /// Writes the list of chunks. Returns its piece, and the bytes of all chunks.
    pub fn finish(self, writer: &mut PieceWriter<'_>) -> Result<(Piece, u64)> {
        let mut directory = Vec::new();
        list::put_ints(&self.lasts, &mut directory);
        put_pieces(&self.pieces, &mut directory);
        Ok((writer.piece(&directory)?, self.bytes))
    }
}

/// The end of an arrow at which a row stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ArrowEnd {
    /// The arrow begins at the row.
    From,
    /// The arrow ends at the row.
    To,
}

impl ArrowEnd {
    /// Row of an arrow at this end.
    pub fn row_of(self, arrow: &SliceArrow) -> u32 {
        if self == Self::From { arrow.from } else { arrow.to }
    }
}
