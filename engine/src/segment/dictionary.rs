//! The texts of an open segment. A chunk is decoded when one of its texts is first needed, and then
//! kept. A chunk without room to be kept is decoded for callers that need no longer than one call.

use std::ops::Deref;
use std::sync::OnceLock;

use super::dictionary_writer::CHUNK_TEXTS;
use super::layout::Piece;
use super::lazy_value::get_or_keep;
use super::open_file::{OpenFile, PieceBytes};
use super::pieces::{PIECE_BYTES, read_pieces};
use super::room::{self, RoomShare};
use super::source::Bytes;
use super::spare::Spare;
use crate::base::{Error, Result};
use crate::codec::ColumnTexts;
use crate::model::NameId;

const NO_SUCH_TEXT: Error = Error::Inconsistent { what: "number of a missing text" };

/// Most bytes that decoding a chunk takes if it cannot be kept.
const UNKEPT_BYTES: usize = 32 << 20;

/// Texts of a chunk: kept by the segment, or the caller's own.
#[derive(Debug)]
pub enum ChunkTexts<'s> {
    /// Kept with the segment.
    Kept(&'s ColumnTexts),
    /// Decoded for one caller.
    Own(ColumnTexts),
}

impl Deref for ChunkTexts<'_> {
    type Target = ColumnTexts;

    fn deref(&self) -> &ColumnTexts {
        match self {
            Self::Kept(texts) => texts,
            Self::Own(texts) => texts,
        }
    }
}

/// The decoded chunks of the dictionary.
#[derive(Debug)]
pub struct Dictionary {
    /// Number of texts.
    len: u32,
    /// Pieces of the chunks.
    pieces: OnceLock<Vec<Piece>>,
    chunks: Vec<OnceLock<ColumnTexts>>,
}

impl Dictionary {
    /// Creates a dictionary of this many texts, with no decoded chunk.
    pub fn new(len: u32) -> Self {
        let chunks = (len as usize).div_ceil(CHUNK_TEXTS);
        Self { len, pieces: OnceLock::new(), chunks: (0..chunks).map(|_| OnceLock::new()).collect() }
    }

    /// Number of chunks.
    pub fn chunk_count(&self) -> usize {
        self.chunks.len()
    }

    /// Pieces of the chunks.
    pub fn chunk_pieces<B: Bytes>(&self, file: &OpenFile<B>) -> Result<&[Piece]> {
        let meta = file.footer().dictionary;
        let pieces = get_or_keep(&self.pieces, file.room(), |taken| {
            taken.grow(self.chunks.len(), PIECE_BYTES)?;
            let bytes = file.piece(meta.chunks, "dictionary directory")?;
            read_pieces(&mut bytes.cursor(), self.chunks.len(), meta.bytes)
        })?;
        Ok(pieces)
    }

    /// Texts of a chunk. They are kept if there is room.
    pub fn chunk<B: Bytes>(&self, chunk: usize, file: &OpenFile<B>, spare: &Spare) -> Result<ChunkTexts<'_>> {
        match self.kept(chunk, file, spare) {
            Err(room::FULL) => {
                let (bytes, count) = self.stored(chunk, file)?;
                let texts = spare.with_decoder(|decoder| decoder.texts(&bytes, count, UNKEPT_BYTES));
                texts.map(ChunkTexts::Own)
            }
            kept => kept.map(ChunkTexts::Kept),
        }
    }

    /// Texts of a chunk, which is kept.
    fn kept<B: Bytes>(&self, chunk: usize, file: &OpenFile<B>, spare: &Spare) -> Result<&ColumnTexts> {
        get_or_keep(&self.chunks[chunk], file.room(), |taken: &mut RoomShare<'_>| {
            let (bytes, count) = self.stored(chunk, file)?;
            let mut room = |bytes| taken.grow(bytes, 1);
            let texts = spare.with_decoder(|decoder| decoder.texts_with_room(&bytes, count, &mut room))?;
            taken.shrink(texts.memory_bytes());
            Ok(texts)
        })
    }

    /// The bytes of a chunk, and its number of texts.
    fn stored<'f, B: Bytes>(&self, chunk: usize, file: &'f OpenFile<B>) -> Result<(PieceBytes<'f>, usize)> {
        let count = (self.len as usize - chunk * CHUNK_TEXTS).min(CHUNK_TEXTS);
        Ok((file.piece(self.chunk_pieces(file)?[chunk], "dictionary chunk")?, count))
    }

    /// A text.
    ///
    /// # Errors
    /// If bytes are missing or damaged, the number is unknown, or there is no room for the texts.
    pub fn text<B: Bytes>(&self, id: NameId, file: &OpenFile<B>, spare: &Spare) -> Result<&str> {
        let at = id.0 as usize;
        if id.0 >= self.len {
            return Err(NO_SUCH_TEXT);
        }
        Ok(self.kept(at / CHUNK_TEXTS, file, spare)?.get(at % CHUNK_TEXTS))
    }

    /// Appends the texts with these numbers, in their order. Adjacent numbers that are equal, or in
    /// the same chunk, share one look-up.
    pub fn texts<'s, B: Bytes>(
        &'s self,
        numbers: &[i64],
        file: &OpenFile<B>,
        spare: &Spare,
        out: &mut Vec<&'s str>,
    ) -> Result<()> {
        let count = self.len as usize;
        let mut chunk: Option<(usize, &ColumnTexts)> = None;
        let mut known: Option<(i64, &str)> = None;
        out.reserve(numbers.len());
        for &number in numbers {
            let text = match known {
                Some((same, text)) if same == number => text,
                _ => {
                    let at = usize::try_from(number).ok().filter(|&at| at < count).ok_or(NO_SUCH_TEXT)?;
                    let texts = match chunk {
                        Some((of, texts)) if of == at / CHUNK_TEXTS => texts,
                        _ => self.kept(at / CHUNK_TEXTS, file, spare)?,
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
}
