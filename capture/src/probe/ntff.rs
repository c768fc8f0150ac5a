//! NTFF: a version byte, then the length of the protobuf part.

use super::Confidence;

/// The version that is read.
pub const VERSION: u8 = 5;
/// Offset of the length of the protobuf part, a little-endian `u64`.
pub const PROTOBUF_LEN_AT: usize = 1;
/// Most bytes of the protobuf part. A larger one would not leave memory for the records.
pub const PROTOBUF_MAX_LEN: u64 = 1 << 30;

/// Whether this is an NTFF of the version that is read.
#[must_use]
pub fn probe(head: &[u8]) -> Option<Confidence> {
    let [VERSION, rest @ ..] = head else { return None };
    let len = rest.first_chunk().map(|len| u64::from_le_bytes(*len));
    match len {
        Some(len) if len > PROTOBUF_MAX_LEN => Some(Confidence::Possible),
        Some(_) => Some(Confidence::Certain),
        None => Some(Confidence::Possible),
    }
}
