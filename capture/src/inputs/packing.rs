//! Packings and archives, by their first bytes.

use crate::probe::neff::{TAR_MAGIC, TAR_MAGIC_AT};

/// A kind of packing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PackingKind {
    /// One file (RFC 1952), in one or more members.
    Gzip,
    /// One file (RFC 8878), in one or more frames.
    Zstd,
    /// An archive whose entries are packed one by one.
    Zip,
    /// An archive whose entries are not packed.
    Tar,
}

/// First bytes of the packings that have magic bytes. The second zip is empty, the third a part of
/// several.
const MAGICS: [(&[u8], PackingKind); 5] = [
    (b"\x1f\x8b", PackingKind::Gzip),
    (b"\x28\xb5\x2f\xfd", PackingKind::Zstd),
    (b"PK\x03\x04", PackingKind::Zip),
    (b"PK\x05\x06", PackingKind::Zip),
    (b"PK\x07\x08", PackingKind::Zip),
];

/// Endings of packed single files.
const ENDINGS: [&str; 4] = [".gz", ".gzip", ".zst", ".zstd"];

impl PackingKind {
    /// The packing of a file with these first bytes.
    #[must_use]
    pub fn of(head: &[u8]) -> Option<Self> {
        let by_magic = MAGICS.iter().find(|(magic, _)| head.starts_with(magic)).map(|(_, of)| *of);
        by_magic.or_else(|| (head.get(TAR_MAGIC_AT) == Some(TAR_MAGIC)).then_some(Self::Tar))
    }

    /// Name for messages.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Zip => "zip",
            Self::Tar => "tar",
        }
    }

    /// Whether the packing holds any number of files, each with a name.
    #[must_use]
    pub fn is_archive(self) -> bool {
        matches!(self, Self::Zip | Self::Tar)
    }
}

/// A name without the ending that its packing gave it.
pub(super) fn without_ending(name: &str) -> &str {
    ENDINGS.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name)
}
