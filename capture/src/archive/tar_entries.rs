//! Entries of a tar, with the places of their bytes.

use std::io::Cursor;

use super::{Content, Entry, Listing, entry_name};
use crate::refusal::Refusal;

/// The files of an archive. A truncated archive has all files up to the cut.
pub(super) fn list(bytes: &[u8]) -> Listing {
    let mut listing = Listing { entries: Vec::new(), damage: None };
    let mut archive = tar::Archive::new(Cursor::new(bytes));
    let entries = match archive.entries_with_seek() {
        Ok(entries) => entries,
        Err(error) => return Listing::damaged(cannot(&error), "byte 0".to_owned()),
    };
    let mut end = 0;
    for (number, entry) in entries.enumerate() {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                let place = format!("entry {number}, byte {end}");
                listing.damage = Some(Refusal::damaged(cannot(&error), place));
                break;
            }
        };
        let (start, len) = (entry.raw_file_position(), entry.size());
        end = start.saturating_add(len);
        let kind = entry.header().entry_type();
        let Some(name) = entry_name(&entry.path_bytes()) else { continue };
        let content = if kind.is_gnu_sparse() {
            let place = format!("byte {start}");
            Err(Refusal::damaged("this is a sparse file of a tar archive, which nprof does not read", place))
        } else if kind.is_file() || kind.is_contiguous() {
            Ok(Content { start, len, layers: Vec::new() })
        } else {
            continue;
        };
        let what = format!("the tar archive ends in the middle of \"{name}\"");
        if !listing.push(Entry { name, content }) {
            break;
        }
        if end > bytes.len() as u64 {
            listing.damage = Some(Refusal::damaged(what, format!("entry {number}, byte {}", bytes.len())));
            break;
        }
    }
    listing
}

fn cannot(error: &std::io::Error) -> String {
    format!("the tar archive cannot be read ({error})")
}
