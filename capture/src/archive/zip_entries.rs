//! The directory of a zip. Entries are unpacked by [`super::unpack`], as all other files.

use std::io::Cursor;

use zip::{CompressionMethod, ZipArchive};

use super::unpack::Layer;
use super::{Content, Entry, Listing, entry_name};
use crate::refusal::Refusal;

/// The files of an archive.
pub(super) fn list(bytes: &[u8]) -> Listing {
    let mut archive = match ZipArchive::new(Cursor::new(bytes)) {
        Ok(archive) => archive,
        Err(error) => {
            let what = format!("the zip archive cannot be read ({error})");
            return Listing::damaged(what, "directory at its end".to_owned());
        }
    };
    let mut listing = Listing { entries: Vec::new(), damage: None };
    // A small archive can claim to be large by entries that share their bytes.
    let mut claimed_len = 0_u64;
    for number in 0..archive.len() {
        let entry = match archive.by_index_raw(number) {
            Ok(entry) => entry,
            Err(error) => {
                let what = format!("the entry cannot be read ({error})");
                let refusal = Refusal::damaged(what, format!("entry {number}"));
                if !listing.push(Entry { name: format!("entry {number}"), content: Err(refusal) }) {
                    break;
                }
                continue;
            }
        };
        let Some(name) = entry_name(entry.name_raw()).filter(|_| entry.is_file()) else { continue };
        let (start, len) = (entry.data_start().unwrap_or(0), entry.compressed_size());
        claimed_len = claimed_len.saturating_add(len);
        let layers = match entry.compression() {
            CompressionMethod::STORE => Ok(Vec::new()),
            CompressionMethod::DEFLATE => Ok(vec![Layer::Deflate { crc: entry.crc32() }]),
            CompressionMethod::ZSTD => Ok(vec![Layer::Zstd]),
            other => Err(format!("this entry is compressed by a method that nprof does not read ({other})")),
        };
        let place = || format!("entry {number}");
        let content = match layers {
            _ if entry.encrypted() => Err(Refusal::damaged("this entry is encrypted", place())),
            _ if claimed_len > bytes.len() as u64 || start > bytes.len() as u64 => Err(Refusal::damaged(
                "the entries of the archive claim more bytes than the archive has",
                place(),
            )),
            Ok(layers) => Ok(Content { start, len, layers }),
            Err(what) => Err(Refusal::damaged(what, place())),
        };
        if !listing.push(Entry { name, content }) {
            break;
        }
    }
    if archive.has_duplicate_names() && listing.damage.is_none() {
        let what =
            "the archive has several entries with the same name; nprof reads the last entry of each name";
        listing.damage = Some(Refusal::damaged(what, "directory at its end"));
    }
    listing
}
