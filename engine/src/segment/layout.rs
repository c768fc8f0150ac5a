//! The fixed parts of a segment: the header, the trailer, and the pieces between them.

use crate::base::bytes::{Cursor, Put};
use crate::base::{ANNEX, Error, Result};

/// First bytes of a file. The line ends and the end-of-file mark reveal damage by text conversion.
pub const MAGIC: [u8; 8] = *b"NPROF\r\n\x1a";
/// Version of the format that this program writes, and the newest that it reads.
pub const VERSION: u16 = 5;
/// Oldest version that this program reads.
pub const OLDEST_VERSION: u16 = 5;

/// Texts that footers often have, the zstd dictionary of their frames. Part of the format: other
/// words need a new version.
pub const WORDS: &[u8] = include_bytes!("words.txt");

const RESERVED_LEN: usize = 6;
/// Length of the header: magic, version, reserved zeros.
pub const HEADER_LEN: usize = MAGIC.len() + size_of::<u16>() + RESERVED_LEN;
const _: () = assert!(HEADER_LEN == 16, "docs/format.md, Header");

/// Length of the trailer: footer offset, stored length, unpacked length, checksum, version,
/// reserved zeros, magic.
pub const TRAILER_LEN: usize =
    size_of::<u64>() + 3 * size_of::<u32>() + size_of::<u16>() + RESERVED_LEN + MAGIC.len();
const _: () = assert!(TRAILER_LEN == 36, "docs/format.md, Trailer");

/// Bytes with one checksum, in the file or in the annex (the last part of the footer).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Piece {
    /// Offset of the first byte: in the file, or in the annex with [`ANNEX`] added.
    pub offset: u64,
    /// Length in bytes; 0 for a piece that does not exist.
    pub len: u32,
    /// CRC-32 of the bytes; 0 in the annex, which the footer's checksum covers.
    pub checksum: u32,
}

/// Codes of a piece's place, in the lowest bit of its stored length.
const IN_FILE: u64 = 0;
const IN_ANNEX: u64 = 1;

impl Piece {
    /// Offset in the annex; `None` for a piece of the file.
    #[must_use]
    pub fn annex_at(self) -> Option<u64> {
        self.offset.checked_sub(ANNEX)
    }

    /// Bytes that the piece takes in the file: 0 for a piece of the annex.
    #[must_use]
    pub fn file_bytes(self) -> u64 {
        if self.annex_at().is_none() { u64::from(self.len) } else { 0 }
    }

    /// Appends the piece. `next` is the end of the previous piece in the annex, and afterwards the
    /// end of this one.
    pub(super) fn encode(self, next: &mut u64, out: &mut Vec<u8>) {
        let len = u64::from(self.len);
        match self.annex_at() {
            Some(at) => {
                out.put_varint(len << 1 | IN_ANNEX);
                out.put_signed(at.wrapping_sub(*next).cast_signed());
                *next = at + len;
            }
            None => {
                out.put_varint(len << 1 | IN_FILE);
                if self.len > 0 {
                    out.put_varint(self.offset);
                    out.extend_from_slice(&self.checksum.to_le_bytes());
                }
            }
        }
    }

    /// Reads what [`Piece::encode`] wrote.
    pub(super) fn decode(next: &mut u64, cursor: &mut Cursor<'_>) -> Result<Self> {
        let word = cursor.varint()?;
        let len = u32::try_from(word >> 1).map_err(|_| cursor.corrupt())?;
        if word & 1 == IN_ANNEX {
            let at = next.wrapping_add(cursor.signed()?.cast_unsigned());
            *next = at.saturating_add(u64::from(len));
            let offset = at.checked_add(ANNEX).filter(|_| at < ANNEX).ok_or_else(|| cursor.corrupt())?;
            return Ok(Self { offset, len, checksum: 0 });
        }
        if len == 0 {
            return Ok(Self::default());
        }
        let offset = cursor.varint()?;
        if offset >= ANNEX {
            return Err(cursor.corrupt());
        }
        Ok(Self { offset, len, checksum: cursor.u32()? })
    }
}

/// The header's bytes.
pub fn header() -> [u8; HEADER_LEN] {
    let mut bytes = [0; HEADER_LEN];
    bytes[..MAGIC.len()].copy_from_slice(&MAGIC);
    bytes[MAGIC.len()..MAGIC.len() + size_of::<u16>()].copy_from_slice(&VERSION.to_le_bytes());
    bytes
}

/// Content of the trailer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trailer {
    /// Footer as stored: one zstd frame, with [`WORDS`] as its dictionary.
    pub footer: Piece,
    /// Unpacked length of the footer, in bytes.
    pub footer_len: u32,
}

impl Trailer {
    /// Bytes of the trailer.
    pub fn encode(self) -> [u8; TRAILER_LEN] {
        let mut out = Vec::with_capacity(TRAILER_LEN);
        out.extend_from_slice(&self.footer.offset.to_le_bytes());
        out.extend_from_slice(&self.footer.len.to_le_bytes());
        out.extend_from_slice(&self.footer_len.to_le_bytes());
        out.extend_from_slice(&self.footer.checksum.to_le_bytes());
        out.extend_from_slice(&VERSION.to_le_bytes());
        out.extend_from_slice(&[0; RESERVED_LEN]);
        out.extend_from_slice(&MAGIC);
        let mut bytes = [0; TRAILER_LEN];
        bytes.copy_from_slice(&out);
        bytes
    }

    /// Reads the last bytes of a file that has `file_len` bytes.
    pub fn decode(bytes: &[u8], file_len: u64) -> Result<Self> {
        let start = file_len.saturating_sub(TRAILER_LEN as u64);
        let mut cursor = Cursor::new(bytes, start, "trailer");
        let offset = cursor.u64()?;
        let len = cursor.u32()?;
        let footer_len = cursor.u32()?;
        let checksum = cursor.u32()?;
        let version = cursor.u16()?;
        let reserved = cursor.take(RESERVED_LEN)?;
        if cursor.take(MAGIC.len())? != MAGIC {
            // A cut file has other bytes here. A damaged magic looks the same, and its remedy is
            // the same.
            return Err(Error::Truncated { needed: file_len + 1, available: file_len });
        }
        check_version(version)?;
        if reserved != [0; RESERVED_LEN] || offset.checked_add(u64::from(len)) != Some(start) {
            return Err(Error::Corrupt { what: "trailer", offset: start });
        }
        Ok(Self { footer: Piece { offset, len, checksum }, footer_len })
    }
}

/// Identifies a file's content by the footer's checksum, which covers all others, and the file's
/// length, in hexadecimal.
#[must_use]
pub fn content_id(footer_checksum: u32, file_len: u64) -> String {
    format!("{footer_checksum:08x}{file_len:08x}")
}

fn check_version(found: u16) -> Result<()> {
    if (OLDEST_VERSION..=VERSION).contains(&found) {
        Ok(())
    } else {
        Err(Error::UnsupportedVersion { found, newest: VERSION })
    }
}

/// Checks the first bytes of a file.
pub fn check_header(bytes: &[u8]) -> Result<()> {
    let mut cursor = Cursor::new(bytes, 0, "header");
    if cursor.take(MAGIC.len())? != MAGIC {
        return Err(Error::Corrupt {
            what: "this is not an nprof segment (the first bytes differ)",
            offset: 0,
        });
    }
    let version = cursor.u16()?;
    check_version(version)?;
    if cursor.take(RESERVED_LEN)? != [0; RESERVED_LEN] {
        return Err(Error::Corrupt { what: "header", offset: 0 });
    }
    Ok(())
}
