//! Writes a segment from its first byte to its last.

use super::layout::{self, Piece, Trailer};
use super::limits::max_footer_len;
use crate::base::checksum::checksum;
use crate::base::{ANNEX, Error, Result};
use crate::codec;

/// Takes a segment's bytes in order.
pub trait SegmentOutput {
    /// Appends these bytes.
    fn write(&mut self, bytes: &[u8]) -> Result<()>;
}

impl SegmentOutput for Vec<u8> {
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.extend_from_slice(bytes);
        Ok(())
    }
}

/// Writes pieces and keeps track of their offsets.
pub struct PieceWriter<'a> {
    output: &'a mut (dyn SegmentOutput + Send),
    at: u64,
    /// Pieces of a small segment, which follow its footer. `None` for a large segment.
    annex: Option<Vec<u8>>,
}

impl<'a> PieceWriter<'a> {
    /// Begins a segment.
    pub fn new(output: &'a mut (dyn SegmentOutput + Send)) -> Result<Self> {
        output.write(&layout::header())?;
        Ok(Self { output, at: layout::HEADER_LEN as u64, annex: None })
    }

    /// Sends all further pieces to the annex. In a small segment, a checksum and a place for each
    /// piece would outweigh the content.
    pub fn begin_annex(&mut self) {
        self.annex.get_or_insert_default();
    }

    /// Whether pieces go to the annex.
    #[must_use]
    pub fn has_annex(&self) -> bool {
        self.annex.is_some()
    }

    /// Writes a piece, if there are any bytes. Otherwise the piece is missing.
    pub fn piece_of(&mut self, bytes: &[u8]) -> Result<Piece> {
        if bytes.is_empty() { Ok(Piece::default()) } else { self.piece(bytes) }
    }

    /// Writes a piece.
    ///
    /// # Errors
    /// If the output fails; `Invalid` if the piece is longer than 4 GiB.
    pub fn piece(&mut self, bytes: &[u8]) -> Result<Piece> {
        let len = u32::try_from(bytes.len()).map_err(|_| Error::Invalid { what: "piece beyond 4 GiB" })?;
        if let Some(annex) = &mut self.annex {
            let piece = Piece { offset: ANNEX + annex.len() as u64, len, checksum: 0 };
            annex.extend_from_slice(bytes);
            return Ok(piece);
        }
        self.file_piece(bytes, len)
    }

    fn file_piece(&mut self, bytes: &[u8], len: u32) -> Result<Piece> {
        let piece = Piece { offset: self.at, len, checksum: checksum(bytes) };
        self.output.write(bytes)?;
        self.at += u64::from(len);
        Ok(piece)
    }

    /// Writes footer, annex and trailer. Returns the length of the file and the checksum of its
    /// footer, which covers the whole file through the checksums in the footer.
    ///
    /// # Errors
    /// Same as [`PieceWriter::piece`]; `Invalid` if the footer is longer than readers take.
    pub fn finish(mut self, mut footer: Vec<u8>) -> Result<(u64, u32)> {
        footer.extend(self.annex.take().unwrap_or_default());
        let beyond = |_| Error::Invalid { what: "footer beyond 4 GiB" };
        let footer_len = u32::try_from(footer.len()).map_err(beyond)?;
        let mut packed = Vec::new();
        codec::compress_with(layout::WORDS, &footer, &mut packed);
        if u64::from(footer_len) > max_footer_len(packed.len() as u64) {
            return Err(Error::Invalid { what: "a footer that no reader takes" });
        }
        let piece = self.file_piece(&packed, u32::try_from(packed.len()).map_err(beyond)?)?;
        self.output.write(&Trailer { footer: piece, footer_len }.encode())?;
        Ok((self.at + layout::TRAILER_LEN as u64, piece.checksum))
    }
}
