//! The checksum of every stored piece: CRC-32 (ISO-HDLC), which finds every single flipped byte.

/// The checksum of these bytes.
#[must_use]
pub fn checksum(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}

/// Whether these bytes are those that the checksum was computed of. Always so under `--cfg fuzzing`: a fuzzer cannot
/// guess checksums, and the code behind them must stand any bytes, as a hostile file has the right ones.
#[must_use]
pub fn is_intact(bytes: &[u8], expected: u32) -> bool {
    cfg!(fuzzing) || checksum(bytes) == expected
}
