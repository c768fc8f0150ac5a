//! Writes the dictionary of texts; `dictionary.rs` reads it. Chunks are in the order of text
//! numbers, so that reading one text reads one small piece.

use super::footer::DictionaryMeta;
use super::output::PieceWriter;
use super::pieces::put_pieces;
use crate::base::Result;

/// Texts of a chunk; all chunks but the last are full. Operands of loops are alike over some
/// thousand texts: chunks of 1,024 texts took half as much again.
pub const CHUNK_TEXTS: usize = 4096;

/// Writes a dictionary of `texts` texts, from its encoded chunks.
pub fn write_dictionary(
    texts: u32,
    chunks: &[Vec<u8>],
    writer: &mut PieceWriter<'_>,
) -> Result<DictionaryMeta> {
    // The first chunks have the names that slices share. They are written last, near the overview.
    let mut pieces = chunks.iter().rev().map(|chunk| writer.piece(chunk)).collect::<Result<Vec<_>>>()?;
    pieces.reverse();
    let mut directory = Vec::new();
    put_pieces(&pieces, &mut directory);
    let total = pieces.iter().map(|piece| u64::from(piece.len)).sum();
    Ok(DictionaryMeta { texts, chunks: writer.piece(&directory)?, bytes: total })
}
