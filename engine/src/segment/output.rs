//! Writing a segment front to back.

use super::layout::{self, Piece, Trailer};
use crate::base::checksum::checksum;
use crate::base::{Error, Result};
use crate::codec;

/// Takes a segment's bytes in order.
pub trait Output {
    /// Appends these bytes.
    ///
    /// # Errors
    /// `Storage` where the disk is full, for example; the implementor keeps the cause.
    fn write(&mut self, bytes: &[u8]) -> Result<()>;
}

impl Output for Vec<u8> {
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.extend_from_slice(bytes);
        Ok(())
    }
}

/// Writes pieces and keeps count of where they are.
pub struct PieceWriter<'a> {
    output: &'a mut (dyn Output + Send),
    at: u64,
}

impl<'a> PieceWriter<'a> {
    /// Begins a segment.
    ///
    /// # Errors
    /// Those of the output.
    pub fn new(output: &'a mut (dyn Output + Send)) -> Result<Self> {
        output.write(&layout::header())?;
        Ok(Self { output, at: layout::HEADER_LEN as u64 })
    }

    /// Writes a piece.
    ///
    /// # Errors
    /// Those of the output; `Invalid` beyond 4 GiB.
    pub fn piece(&mut self, bytes: &[u8]) -> Result<Piece> {
        let len = u32::try_from(bytes.len()).map_err(|_| Error::Invalid { what: "piece beyond 4 GiB" })?;
        let piece = Piece { offset: self.at, len, checksum: checksum(bytes) };
        self.output.write(bytes)?;
        self.at += u64::from(len);
        Ok(piece)
    }

    /// Writes footer and trailer. Returns the length of the file and the checksum of its footer, which covers, through
    /// the checksums in it, all of the file.
    ///
    /// # Errors
    /// As [`PieceWriter::piece`].
    pub fn finish(mut self, footer: &[u8]) -> Result<(u64, u32)> {
        let footer_len =
            u32::try_from(footer.len()).map_err(|_| Error::Invalid { what: "footer beyond 4 GiB" })?;
        let mut packed = Vec::new();
        codec::compress(footer, &mut packed);
        let piece = self.piece(&packed)?;
        self.output.write(&Trailer { footer: piece, footer_len }.encode())?;
        Ok((self.at + layout::TRAILER_LEN as u64, piece.checksum))
    }
}
