//! The texts of an open segment. A chunk is decoded when one of its texts is first needed, and then
//! kept.

use std::sync::OnceLock;

use super::dictionary_writer::CHUNK_TEXTS;
use super::layout::Piece;
use super::once::get_or_try;
use super::open_file::OpenFile;
use super::pieces::read_pieces;
use super::source::Bytes;
use super::spare::Spare;
use crate::base::{Error, Result};
use crate::codec::Texts;
use crate::model::NameId;

const NO_SUCH_TEXT: Error = Error::Inconsistent { what: "number of a missing text" };

/// The decoded chunks of the dictionary.
#[derive(Debug)]
pub struct Dictionary {
    /// Number of texts.
    len: u32,
    /// Pieces of the chunks.
    pieces: OnceLock<Vec<Piece>>,
    chunks: Vec<OnceLock<Texts>>,
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
    ///
    /// # Errors
    /// If bytes are missing or damaged.
    pub fn chunk_pieces<B: Bytes>(&self, file: &OpenFile<B>) -> Result<&[Piece]> {
        let pieces = get_or_try(&self.pieces, || {
            let mut cursor = file.cursor(file.footer().dictionary.chunks, "dictionary directory")?;
            read_pieces(&mut cursor, self.chunks.len())
        })?;
        Ok(pieces)
    }

    /// Texts of a chunk.
    ///
    /// # Errors
    /// If bytes are missing or damaged.
    pub fn chunk<B: Bytes>(&self, chunk: usize, file: &OpenFile<B>, spare: &Spare) -> Result<&Texts> {
        get_or_try(&self.chunks[chunk], || {
            let pieces = self.chunk_pieces(file)?;
            let count = (self.len as usize - chunk * CHUNK_TEXTS).min(CHUNK_TEXTS);
            let bytes = file.piece(pieces[chunk], "dictionary chunk")?;
            spare.with_decoder(|decoder| decoder.texts(bytes, count))
        })
    }

    /// A text.
    ///
    /// # Errors
    /// If bytes are missing or damaged, or the number is unknown.
    pub fn text<B: Bytes>(&self, id: NameId, file: &OpenFile<B>, spare: &Spare) -> Result<&str> {
        let at = id.0 as usize;
        if id.0 >= self.len {
            return Err(NO_SUCH_TEXT);
        }
        Ok(self.chunk(at / CHUNK_TEXTS, file, spare)?.get(at % CHUNK_TEXTS))
    }

    /// Appends the texts with these numbers, in their order. Adjacent numbers that are equal, or in
    /// the same chunk, share one look-up.
    ///
    /// # Errors
    /// Same as [`Dictionary::text`].
    pub fn texts<'s, B: Bytes>(
        &'s self,
        numbers: &[i64],
        file: &OpenFile<B>,
        spare: &Spare,
        out: &mut Vec<&'s str>,
    ) -> Result<()> {
        let count = self.len as usize;
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
                        _ => self.chunk(at / CHUNK_TEXTS, file, spare)?,
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
