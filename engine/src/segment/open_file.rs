//! The file of an open segment: its footer, and checked pieces of its bytes.

use std::ops::Deref;

use super::dictionary_writer::CHUNK_TEXTS;
use super::footer::Footer;
use super::layout::{self, Piece, Trailer};
use super::limits::{MIN_CHUNK_BYTES, max_footer_len};
use super::room::SegmentRoom;
use super::source::{Bytes, SourceBytes};
use crate::base::bytes::Cursor;
use crate::base::checksum::is_intact;
use crate::base::{Error, Result};
use crate::codec;

/// The bytes of a segment, and its decoded footer.
#[derive(Debug)]
pub struct OpenFile<B> {
    bytes: B,
    footer: Footer,
    /// The pieces of a small segment.
    annex: Vec<u8>,
    /// Bytes that the footer's frame saves, if the segment has an annex.
    saved: u64,
    content: String,
    room: SegmentRoom,
}

impl<B> OpenFile<B> {
    /// Source of the bytes.
    pub fn bytes(&self) -> &B {
        &self.bytes
    }

    /// Content of the segment.
    pub fn footer(&self) -> &Footer {
        &self.footer
    }

    /// The content's identifier.
    pub fn content(&self) -> &str {
        &self.content
    }

    /// Bytes that the footer's frame saves; 0 for a large segment.
    pub fn saved(&self) -> u64 {
        self.saved
    }
}

impl<B> OpenFile<B> {
    /// Memory that the lists and texts may take.
    pub fn room(&self) -> &SegmentRoom {
        &self.room
    }
}

impl<B: Bytes> OpenFile<B> {
    /// Reads header, trailer and footer.
    ///
    /// # Errors
    /// `Truncated`, `Corrupt` or `UnsupportedVersion`; errors of the bytes' source.
    pub fn open(bytes: B) -> Result<Self> {
        let file_len = bytes.file_len();
        layout::check_header(&bytes.range(0, layout::HEADER_LEN as u64)?)?;
        let trailer_len = layout::TRAILER_LEN as u64;
        let start =
            file_len.checked_sub(trailer_len).filter(|&start| start >= layout::HEADER_LEN as u64).ok_or(
                Error::Truncated { needed: trailer_len + layout::HEADER_LEN as u64, available: file_len },
            )?;
        let trailer = Trailer::decode(&bytes.range(start, trailer_len)?, file_len)?;
        if u64::from(trailer.footer_len) > max_footer_len(u64::from(trailer.footer.len)) {
            return Err(Error::Corrupt { what: "length of the unpacked footer", offset: start });
        }
        let packed = checked(&bytes, trailer.footer, "footer")?;
        let mut unpacked = codec::decompress_with(layout::WORDS, &packed, trailer.footer_len as usize)?;
        if unpacked.len() != trailer.footer_len as usize {
            return Err(Error::Corrupt { what: "trailer", offset: start });
        }
        drop(packed);
        let (footer, footer_len) = Footer::decode(&unpacked, trailer.footer.offset)?;
        let saved = u64::from(trailer.footer_len).saturating_sub(u64::from(trailer.footer.len));
        let annex = unpacked.split_off(footer_len);
        // Lists are bounded by these lengths, so they must not exceed what is there.
        let available = file_len.saturating_add(annex.len() as u64);
        let chunks = (footer.dictionary.texts as usize).div_ceil(CHUNK_TEXTS) as u64;
        let offset = trailer.footer.offset;
        if chunks.saturating_mul(MIN_CHUNK_BYTES) > available {
            return Err(Error::Corrupt { what: "dictionary size", offset });
        }
        if footer.bytes_of_lists().is_none_or(|bytes| bytes > available) {
            return Err(Error::Corrupt { what: "sizes in the footer", offset });
        }
        Ok(Self {
            content: layout::content_id(trailer.footer.checksum, file_len),
            saved: if annex.is_empty() { 0 } else { saved },
            bytes,
            footer,
            annex,
            room: SegmentRoom::of_file(file_len),
        })
    }

    /// Bytes of a piece, checked.
    ///
    /// # Errors
    /// `Corrupt` with `what` if the checksum differs; errors of the bytes' source.
    pub fn piece(&self, piece: Piece, what: &'static str) -> Result<PieceBytes<'_>> {
        let offset = piece.offset;
        let Some(at) = piece.annex_at() else {
            return Ok(PieceBytes { bytes: checked(&self.bytes, piece, what)?, offset, what });
        };
        let end = at.saturating_add(u64::from(piece.len));
        let range = usize::try_from(at).ok().zip(usize::try_from(end).ok());
        let bytes = range.and_then(|(at, end)| self.annex.get(at..end));
        let bytes = bytes.ok_or(Error::Corrupt { what, offset })?;
        Ok(PieceBytes::kept(bytes, offset, what))
    }
}

/// The checked bytes of a piece: the segment's own, or read for the caller.
#[derive(Debug)]
pub struct PieceBytes<'s> {
    bytes: SourceBytes<'s>,
    offset: u64,
    what: &'static str,
}

impl<'s> PieceBytes<'s> {
    /// Bytes that the segment keeps. They begin at `offset` of the file; `what` names their part of
    /// it.
    pub(super) fn kept(bytes: &'s [u8], offset: u64, what: &'static str) -> Self {
        Self { bytes: SourceBytes::Lent(bytes), offset, what }
    }
}

impl PieceBytes<'_> {
    /// Offset of the first byte in the file.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// A cursor over all bytes.
    #[must_use]
    pub fn cursor(&self) -> Cursor<'_> {
        Cursor::new(&self.bytes, self.offset, self.what)
    }
}

impl Deref for PieceBytes<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

fn checked<'a, B: Bytes>(bytes: &'a B, piece: Piece, what: &'static str) -> Result<SourceBytes<'a>> {
    let found = bytes.range(piece.offset, u64::from(piece.len))?;
    if is_intact(&found, piece.checksum) {
        Ok(found)
    } else {
        Err(Error::Corrupt { what, offset: piece.offset })
    }
}
