//! The dictionary of texts in the file: chunks in the order of numbers, so that a text costs one small piece.

use super::pieces::put_pieces;
use super::{Piece, PieceWriter};
use crate::base::Result;
use crate::codec;
use crate::model::Names;

/// Texts of a chunk; all but the last are full. Operands of loops are alike over some thousand texts: with 1,024 a chunk they
/// took half as much again.
pub const CHUNK_TEXTS: usize = 4096;

/// Where the dictionary is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DictionaryMeta {
    /// Number of texts.
    pub texts: u32,
    /// The list of chunks.
    pub chunks: Piece,
    /// Bytes of all chunks.
    pub bytes: u64,
}

/// Writes all texts.
///
/// # Errors
/// Those of the output.
pub fn write_dictionary(names: &Names, writer: &mut PieceWriter<'_>) -> Result<DictionaryMeta> {
    let texts: Vec<&str> = names.iter().collect();
    let mut pieces = Vec::new();
    let mut bytes = Vec::new();
    for chunk in texts.chunks(CHUNK_TEXTS) {
        bytes.clear();
        codec::encode_texts(chunk.iter().copied(), &mut bytes);
        pieces.push(writer.piece(&bytes)?);
    }
    let mut directory = Vec::new();
    put_pieces(&pieces, &mut directory);
    let total = pieces.iter().map(|piece| u64::from(piece.len)).sum();
    let count = u32::try_from(texts.len()).unwrap_or(u32::MAX);
    Ok(DictionaryMeta { texts: count, chunks: writer.piece(&directory)?, bytes: total })
}
