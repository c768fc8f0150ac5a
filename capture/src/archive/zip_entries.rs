//! The directory of a zip. Entries are unpacked by [`super::unpack`], as all other files.
//!
//! The library reads a directory as a whole, so its length is limited before: by the number of
//! entries that the end of the archive states, and by the bytes that are read.

use std::io::{self, Cursor, Read, Seek, SeekFrom};

use memchr::memmem;
use zip::read::{ArchiveOffset, Config, ZipFile};
use zip::{CompressionMethod, ZipArchive};

use super::unpack::PackingLayer;
use super::{ArchiveEntry, EntryList, EntryPlace, UNPACK, entry_name, limit};
use crate::refusal::FileRefusal;

/// Place of all faults that are not those of an entry.
const DIRECTORY: &str = "directory at its end";
/// Signature of the record at the end of a zip (APPNOTE.TXT, 4.3.16), and its length without the
/// comment.
const END: (&[u8], usize) = (b"PK\x05\x06", 22);
/// Signature and length of the record before it, which tells the place of [`END_64`] (4.3.15).
const LOCATOR: (&[u8], usize) = (b"PK\x06\x07", 20);
/// Signature of the record at the end of a zip with many entries (4.3.14).
const END_64: &[u8] = b"PK\x06\x06";
/// Place of the number of entries in that record.
const ENTRIES_AT: usize = 32;
/// Most bytes of the comment at the end, with a few that the library grants.
const MAX_COMMENT_LEN: usize = (64 << 10) + 4;
/// Most bytes of a directory, and of the heads of its entries.
const MAX_DIRECTORY_LEN: usize = 32 << 20;

/// The files of an archive.
pub(super) fn list(bytes: &[u8], listing: &mut EntryList<'_>) {
    let mut archive = match opened(bytes) {
        Ok(archive) => archive,
        Err(refusal) => {
            listing.damage = Some(refusal);
            return;
        }
    };
    // A small archive can claim to be large by entries that share their bytes.
    let mut left = bytes.len() as u64;
    for number in 0..archive.len() {
        let place = || format!("entry {number}");
        let entry = match archive.by_index_raw(number) {
            Ok(entry) if entry.is_file() => {
                let Some(name) = entry_name(entry.name_raw()) else { continue };
                let start = entry.data_start().unwrap_or(0);
                let is_there = entry.compressed_size() <= left && start <= bytes.len() as u64;
                left = left.saturating_sub(entry.compressed_size());
                let what = "the entries of the archive claim more bytes than the archive has";
                let content = match content(&entry, start, &place) {
                    Ok(_) if !is_there => Err(FileRefusal::damaged(what, place())),
                    content => content,
                };
                ArchiveEntry { name, content }
            }
            Ok(_) => continue,
            Err(error) => {
                let what = format!("the entry cannot be read ({error})");
                ArchiveEntry { name: place(), content: Err(FileRefusal::damaged(what, place())) }
            }
        };
        if !listing.push(entry) {
            return;
        }
    }
    if archive.has_duplicate_names() {
        let what =
            "the archive has several entries with the same name; nprof reads the last entry of each name";
        let hint = "if the others matter, write the archive again with a name for each file";
        listing.damage = Some(FileRefusal::unsupported(what, DIRECTORY, hint));
    }
}

/// The archive with its directory, unless that is damaged or too large.
fn opened(bytes: &[u8]) -> Result<ZipArchive<ZipDirectory<'_>>, FileRefusal> {
    let too_many = || {
        let what = format!(
            "the directory of the zip archive has more than {} files or {MAX_DIRECTORY_LEN} bytes",
            limit::MAX_ENTRIES
        );
        FileRefusal::unsupported(what, DIRECTORY, UNPACK)
    };
    if most_entries(bytes) > limit::MAX_ENTRIES as u64 {
        return Err(too_many());
    }
    let directory = ZipDirectory { bytes: Cursor::new(bytes), left: MAX_DIRECTORY_LEN };
    // The start of the archive is that of the file. A search for it would cost the whole file, and
    // could find another end than `most_entries`.
    let config = Config { archive_offset: ArchiveOffset::Known(0) };
    ZipArchive::with_config(config, directory).map_err(|error| match error {
        zip::result::ZipError::Io(error) if error.kind() == io::ErrorKind::FileTooLarge => too_many(),
        error => {
            let what = format!("the zip archive cannot be read ({error})");
            FileRefusal::damaged(what, DIRECTORY)
        }
    })
}

/// Place and packing of an entry.
fn content<R: Read>(
    entry: &ZipFile<'_, R>,
    start: u64,
    place: &dyn Fn() -> String,
) -> Result<EntryPlace, FileRefusal> {
    if entry.encrypted() {
        let hint = "unpack the archive with its password, and name the files inside";
        return Err(FileRefusal::unsupported("this entry is encrypted", place(), hint));
    }
    let packing = match entry.compression() {
        CompressionMethod::STORE => None,
        CompressionMethod::DEFLATE => Some(PackingLayer::Deflate),
        CompressionMethod::ZSTD => Some(PackingLayer::Zstd),
        other => {
            let what = format!("this entry is compressed by a method that nprof does not read ({other})");
            return Err(FileRefusal::unsupported(what, place(), UNPACK));
        }
    };
    let layers = packing.into_iter().chain([PackingLayer::Checksum { crc: entry.crc32() }]).collect();
    Ok(EntryPlace { start, len: entry.compressed_size(), layers })
}

/// The largest number of entries that an end of the archive states. Bytes of a comment can look
/// like an end, and the library uses whichever it can.
fn most_entries(bytes: &[u8]) -> u64 {
    let from = bytes.len().saturating_sub(END.1 + MAX_COMMENT_LEN);
    let number = |at: usize| {
        let number = bytes.get(at..)?.first_chunk()?;
        Some(u64::from_le_bytes(*number))
    };
    let of_end = |at: usize| {
        let locator = at.checked_sub(LOCATOR.1).filter(|&at| bytes[at..].starts_with(LOCATOR.0))?;
        let end = usize::try_from(number(locator + 8)?).ok()?;
        let is_end = bytes.get(end..).is_some_and(|rest| rest.starts_with(END_64));
        if is_end { number(end + ENTRIES_AT) } else { None }
    };
    // Without such a record the number has 16 bits.
    memmem::find_iter(&bytes[from..], END.0).filter_map(|at| of_end(from + at)).max().unwrap_or(0)
}

/// The bytes of an archive, of which only so many can be read.
struct ZipDirectory<'b> {
    bytes: Cursor<&'b [u8]>,
    left: usize,
}

impl Read for ZipDirectory<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = self.bytes.read(buffer)?;
        self.left = self.left.checked_sub(len).ok_or(io::ErrorKind::FileTooLarge)?;
        Ok(len)
    }
}

impl Seek for ZipDirectory<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.bytes.seek(to)
    }
}
