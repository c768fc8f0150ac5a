//! The checksum of every stored piece: CRC-32 (ISO-HDLC), which finds every single flipped byte.

/// The checksum of these bytes.
#[must_use]
pub fn checksum(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}
