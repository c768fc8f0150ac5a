//! The directory of a column: where each of its blocks is, and its zone map.

use super::Piece;
use super::pieces::{put_pieces, read_pieces};
use crate::base::Result;
use crate::base::bytes::Cursor;
use crate::block::ZoneMap;

/// One block of a column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BlockEntry {
    /// Where; a length of 0 says that no row has a value.
    pub piece: Piece,
    /// The range of its values.
    pub zone: ZoneMap,
}

/// All blocks of a column, in the order of the table's [`super::BlockList`].
#[derive(Debug, Default, PartialEq)]
pub struct Directory {
    /// One entry a block.
    pub entries: Vec<BlockEntry>,
}

impl Directory {
    /// Appends the directory.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let pieces: Vec<Piece> = self.entries.iter().map(|entry| entry.piece).collect();
        put_pieces(&pieces, out);
        self.entries.iter().for_each(|entry| entry.zone.encode(out));
    }

    /// Reads a directory of this many blocks.
    ///
    /// # Errors
    /// Where the bytes are damaged.
    pub fn decode(cursor: &mut Cursor<'_>, blocks: usize) -> Result<Self> {
        let pieces = read_pieces(cursor, blocks)?;
        let entries: Result<Vec<BlockEntry>> = pieces
            .into_iter()
            .map(|piece| Ok(BlockEntry { piece, zone: ZoneMap::decode(cursor)? }))
            .collect();
        Ok(Self { entries: entries? })
    }
}
