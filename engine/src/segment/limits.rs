//! Limits of the lists in a footer. A writer keeps them, and a reader refuses more before it
//! decodes. Most lists compress to nothing, so the length of a file bounds none of them.

/// Most tables of a rank.
pub const MAX_TABLES: u16 = 4096;
/// Most fields of all tables of a rank.
pub const MAX_FIELDS: u32 = 1 << 16;
/// Most columns of all tables. A field has one for each type of its values.
pub(super) const MAX_COLUMNS: usize = 1 << 19;
/// Most tracks of a rank.
pub const MAX_TRACKS: u32 = 1 << 18;
/// Most codes of a program.
pub const MAX_CODES: usize = 1 << 20;
/// Most lanes of a track. Segments of earlier writers can have more than an ingest makes now.
pub(super) const MAX_LANES: u32 = MAX_CODES as u32;
/// Most texts that name waits.
pub const MAX_WAITS: usize = 1 << 16;
/// Most warnings of an ingest.
pub(super) const MAX_WARNINGS: usize = 4096;

/// Unpacked bytes that every footer may have, with its annex.
const FOOTER_BYTES: u64 = 64 << 20;
/// Unpacked bytes that a footer may have for each packed byte, in addition.
const FOOTER_RATIO: u64 = 100;

/// Most unpacked bytes of a footer that takes this many bytes in the file.
pub fn max_footer_len(packed_len: u64) -> u64 {
    FOOTER_BYTES.saturating_add(packed_len.saturating_mul(FOOTER_RATIO))
}

/// Fewest bytes of a chunk of the dictionary with its entry in the chunk list: its texts differ.
pub(super) const MIN_CHUNK_BYTES: u64 = 16;
/// Fewest bytes of a chunk of arrows: three lists with a length, the length of a column, and a
/// column.
pub(super) const MIN_ARROWS_BYTES: u64 = 12;
