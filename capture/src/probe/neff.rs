//! NEFF: a header of 1024 bytes that states its length, or a tar whose members are those of a
//! program.

use super::Confidence;

/// Range of the header's length in the file.
const HEADER_LEN_AT: std::ops::Range<usize> = 8..16;
/// Length of the header in bytes.
const HEADER_LEN: u64 = 1024;
/// Range of the mark in a tar's block.
pub(crate) const TAR_MAGIC_AT: std::ops::Range<usize> = 257..262;
/// Mark of a tar's block.
pub(crate) const TAR_MAGIC: &[u8] = b"ustar";
/// Length of a tar's block. Members begin at multiples of this, with their names.
const TAR_BLOCK_LEN: usize = 512;
const TAR_NAME_LEN: usize = 100;

/// Beginnings of the names of a program's members.
const MEMBERS: [&str; 8] =
    ["neff", "info.json", "kelf", "sg0", "hlo_", "metrics.json", "tensor_map", "debug_info"];

/// Whether this is a program: with its header, or the tar alone.
#[must_use]
pub fn probe(head: &[u8]) -> Option<Confidence> {
    let stated = head.get(HEADER_LEN_AT).and_then(|bytes| bytes.try_into().ok()).map(u64::from_le_bytes);
    (stated == Some(HEADER_LEN) || is_package(head)).then_some(Confidence::Certain)
}

fn is_package(head: &[u8]) -> bool {
    let is_block = |block: &[u8]| block.get(TAR_MAGIC_AT) == Some(TAR_MAGIC);
    let mut blocks = head.chunks(TAR_BLOCK_LEN).filter(|block| is_block(block));
    is_block(head)
        && blocks.any(|block| {
            let name = block[..TAR_NAME_LEN].split(|&byte| byte == 0).next().unwrap_or_default();
            let name = std::str::from_utf8(name).unwrap_or_default().trim_start_matches("./");
            MEMBERS.iter().any(|member| name.starts_with(member))
        })
}
