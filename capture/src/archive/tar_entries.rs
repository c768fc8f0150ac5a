//! Entries of a tar, with the places of their bytes. Headers are read where they lie: nothing that
//! an archive states is allocated, but a name of a limited length.

use nprof_engine::base::in_memory;
use tar::{EntryType, Header, PaxExtensions};

use super::{ArchiveEntry, EntryList, EntryPlace, entry_name};
use crate::refusal::FileRefusal;

/// Length of a block in bytes. A header is a block, and contents are filled up to whole ones.
const BLOCK_LEN: usize = 512;
/// Place of the checksum in a header.
const CHECKSUM: std::ops::Range<usize> = 148..156;
/// Byte of a block of a sparse file's map that says whether another one follows.
const HAS_MORE_AT: usize = 504;
/// Most bytes of a header that states a long name or attributes of the file behind it. No system
/// has longer paths than a sixteenth of that.
const MAX_EXTENSION_LEN: u64 = 64 << 10;

/// The files of an archive. A truncated archive has all files up to the cut.
pub(super) fn list(bytes: &[u8], listing: &mut EntryList<'_>) {
    let mut walk = TarWalk { bytes, at: 0, name: None, size: None };
    for number in 0.. {
        let place = |at: usize| format!("entry {number}, byte {at}");
        let member = match walk.next() {
            Ok(Some(member)) => member,
            Ok(None) => return,
            Err(what) => {
                let what = format!("the tar archive cannot be read ({what})");
                listing.damage = Some(FileRefusal::damaged(what, place(walk.at.min(bytes.len()))));
                return;
            }
        };
        let TarEntry { kind, start, len, .. } = member;
        let is_cut = start as u64 + len > bytes.len() as u64;
        let Some(name) = entry_name(&member.name) else { continue };
        let content = if kind.is_gnu_sparse() {
            let what = "this is a sparse file of a tar archive, which nprof does not read";
            Err(FileRefusal::unsupported(what, format!("byte {start}"), super::UNPACK))
        } else if kind.is_file() || kind.is_contiguous() {
            Ok(EntryPlace { start: start as u64, len, layers: Vec::new() })
        } else {
            continue;
        };
        let cut = format!("the tar archive ends in the middle of \"{name}\"");
        if !listing.push(ArchiveEntry { name, content }) {
            return;
        }
        if is_cut {
            listing.damage = Some(FileRefusal::damaged(cut, place(bytes.len())));
            return;
        }
    }
}

/// An entry.
struct TarEntry {
    name: Vec<u8>,
    kind: EntryType,
    /// Place of the contents.
    start: usize,
    len: u64,
}

/// Steps through an archive.
struct TarWalk<'b> {
    bytes: &'b [u8],
    /// Offset of the next header.
    at: usize,
    /// Name and length that headers before the next entry state for it.
    name: Option<Vec<u8>>,
    size: Option<u64>,
}

impl<'b> TarWalk<'b> {
    /// The next entry; `None` at the end of the archive.
    ///
    /// # Errors
    /// If the archive is damaged, with the reason.
    fn next(&mut self) -> Result<Option<TarEntry>, String> {
        while let Some(header) = self.header()? {
            let said = header.entry_size().map_err(|error| error.to_string())?;
            let kind = header.entry_type();
            let is_known = header.as_gnu().is_some() || header.as_ustar().is_some();
            let is_extension = is_known && Self::is_extension(kind);
            // A length that does not fit into a header is 0 there.
            let stated = self.size.filter(|_| said == 0 && !is_extension);
            let len = stated.unwrap_or(said);
            self.at += BLOCK_LEN;
            if kind.is_gnu_sparse() && header.as_gnu().is_some_and(tar::GnuHeader::is_extended) {
                self.skip_map();
            }
            let start = self.at;
            self.at = in_memory(len.div_ceil(BLOCK_LEN as u64))
                .checked_mul(BLOCK_LEN)
                .and_then(|len| start.checked_add(len))
                .ok_or("a length that no file has")?;
            if is_extension {
                let at = start - BLOCK_LEN;
                if len > MAX_EXTENSION_LEN {
                    return Err(format!("a header of {len} bytes about the next file, at byte {at}"));
                }
                let content = self.bytes.get(start..start + in_memory(len));
                self.extend(kind, content.ok_or("it ends within a header about the next file")?);
                continue;
            }
            self.size = None;
            let name = self.name.take().unwrap_or_else(|| header.path_bytes().into_owned());
            return Ok(Some(TarEntry { name, kind, start, len }));
        }
        match (&self.name, self.size) {
            (None, None) => Ok(None),
            _ => Err("it ends behind a header about the next file".to_owned()),
        }
    }

    /// The header at this place; `None` at the end of the archive.
    fn header(&self) -> Result<Option<&'b Header>, String> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let Some(block) = rest.get(..BLOCK_LEN) else {
            return if rest.is_empty() { Ok(None) } else { Err("it ends within a header".to_owned()) };
        };
        if block.iter().all(|&byte| byte == 0) {
            return Ok(None);
        }
        let header = Header::from_byte_slice(block);
        let stated = header.cksum().map_err(|error| error.to_string())?;
        let sum = |part: &[u8]| part.iter().map(|&byte| u32::from(byte)).sum::<u32>();
        let spaces = u32::from(b' ') * CHECKSUM.len() as u32;
        if sum(block) - sum(&block[CHECKSUM]) + spaces != stated {
            return Err("the checksum of a header is wrong".to_owned());
        }
        Ok(Some(header))
    }

    /// Whether an entry says something about the entry behind it.
    fn is_extension(kind: EntryType) -> bool {
        kind.is_gnu_longname() || kind.is_gnu_longlink() || kind.is_pax_local_extensions()
    }

    /// Takes what a header says about the next entry.
    fn extend(&mut self, kind: EntryType, content: &[u8]) {
        if kind.is_gnu_longname() {
            self.name = Some(content.strip_suffix(b"\0").unwrap_or(content).to_owned());
        } else if kind.is_pax_local_extensions() {
            for extension in PaxExtensions::new(content).flatten() {
                match extension.key_bytes() {
                    b"path" => {
                        self.name.get_or_insert_with(|| extension.value_bytes().to_owned());
                    }
                    b"size" => self.size = extension.value().ok().and_then(|size| size.parse().ok()),
                    _ => {}
                }
            }
        }
    }

    /// Skips the further blocks of a sparse file's map.
    fn skip_map(&mut self) {
        while let Some(block) = self.bytes.get(self.at..self.at + BLOCK_LEN) {
            self.at += BLOCK_LEN;
            if block[HAS_MORE_AT] == 0 {
                break;
            }
        }
    }
}
