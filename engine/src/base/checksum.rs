//! The checksum of every stored piece: CRC-32 (ISO-HDLC), which finds every single flipped byte.

/// Checksum of these bytes.
#[must_use]
pub fn checksum(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}

/// Whether these bytes have the expected checksum. Always `true` under `--cfg fuzzing`: a fuzzer
/// cannot guess checksums. The code that reads checked bytes must withstand any bytes, because a
/// hostile file has correct checksums.
#[must_use]
pub fn is_intact(bytes: &[u8], expected: u32) -> bool {
    cfg!(fuzzing) || checksum(bytes) == expected
}
