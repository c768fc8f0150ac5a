//! Own memory while archives are opened: whatever an archive states, nprof holds the names of a
//! limited number of files.

#![expect(clippy::unwrap_used, reason = "a test and its helpers")]

use std::sync::Arc;

use nprof_capture::archive::{FileBytes, InMemory, open};
use nprof_capture::inputs::FileKind;
use nprof_engine::fixture::{Counting, alone, cost};
use tar::EntryType;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Most bytes of memory for archives of some ten megabytes.
const MOST: u64 = 4 << 20;
/// Most bytes of memory for as many files as all archives may have.
const MOST_OF_ALL: u64 = 80 << 20;

/// Opens an archive. Returns the peak of memory and the number of files, refused ones included.
#[track_caller]
fn check_refused(name: &str, bytes: Vec<u8>, most: u64) -> usize {
    let bytes = FileBytes::new(Arc::new(bytes));
    let (opened, cost) = cost(|| open(name, bytes, &InMemory));
    assert!(cost.peak < most, "{name}: {} bytes at the peak", cost.peak);
    let is_refused = |found: &FileKind| matches!(found, FileKind::Refused(_));
    assert!(opened.leaves.iter().any(|leaf| is_refused(&leaf.candidate.found)), "{name} is not refused");
    opened.leaves.len()
}

/// A tar of members, by kind and length.
fn tar_of(members: &[(EntryType, u64)]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for &(kind, len) in members {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(kind);
        header.set_path("t.json").unwrap();
        header.set_size(len);
        header.set_cksum();
        builder.append(&header, std::io::Read::take(std::io::repeat(b'n'), len)).unwrap();
    }
    builder.into_inner().unwrap()
}

#[test]
fn headers_of_a_tar_take_no_memory() {
    let _alone = alone();
    let kinds =
        [EntryType::GNULongName, EntryType::GNULongLink, EntryType::XHeader, EntryType::XGlobalHeader];
    for kind in kinds {
        let bytes = tar_of(&[(kind, 32 << 20), (EntryType::Directory, 0), (EntryType::GNULongName, 1)]);
        assert_eq!(check_refused("a.tar", bytes, MOST), 1, "{kind:?}");
    }
}

#[test]
fn the_map_of_a_sparse_file_takes_no_memory() {
    let _alone = alone();
    let mut sparse = tar::Header::new_gnu();
    sparse.set_entry_type(EntryType::GNUSparse);
    sparse.set_path("t.json").unwrap();
    let blocks = 40_000_u64;
    sparse.as_gnu_mut().unwrap().set_is_extended(true);
    sparse.set_size(0);
    sparse.set_cksum();
    let mut bytes = sparse.as_bytes().to_vec();
    for block in 0..blocks {
        let mut map = tar::GnuExtSparseHeader::new();
        map.set_is_extended(block + 1 < blocks);
        for (at, hole) in (0..).zip(map.sparse_mut()) {
            hole.set_offset(1 + block * 21 + at);
            hole.set_length(0);
        }
        bytes.extend_from_slice(map.as_bytes());
    }
    check_refused("a.tar", bytes, MOST);
}

/// A zip of entries that are only in its directory, each with a name of some letters and a comment.
fn zip_of(entries: u64, comment_len: u16) -> Vec<u8> {
    let mut zip = b"PK\x03\x04".to_vec();
    let start = zip.len() as u64;
    for entry in 0..entries {
        let name = format!("{entry:0>7}.json");
        zip.extend_from_slice(b"PK\x01\x02\x14\0\x14\0");
        zip.extend_from_slice(&[0; 20]);
        zip.extend_from_slice(&(name.len() as u16).to_le_bytes());
        zip.extend_from_slice(&[0, 0]);
        zip.extend_from_slice(&comment_len.to_le_bytes());
        zip.extend_from_slice(&[0; 12]);
        zip.extend_from_slice(name.as_bytes());
        zip.resize(zip.len() + usize::from(comment_len), b'c');
    }
    let end = zip.len() as u64;
    let (len, entries_16) = (end - start, u16::try_from(entries).unwrap_or(u16::MAX));
    zip.extend_from_slice(b"PK\x06\x06");
    zip.extend_from_slice(&44_u64.to_le_bytes());
    zip.extend_from_slice(&[45, 0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    for number in [entries, entries, len, start] {
        zip.extend_from_slice(&number.to_le_bytes());
    }
    zip.extend_from_slice(b"PK\x06\x07\0\0\0\0");
    zip.extend_from_slice(&end.to_le_bytes());
    zip.extend_from_slice(b"\x01\0\0\0PK\x05\x06\0\0\0\0");
    zip.extend_from_slice(&[entries_16.to_le_bytes(), entries_16.to_le_bytes()].concat());
    zip.extend_from_slice(&u32::try_from(len).unwrap().to_le_bytes());
    zip.extend_from_slice(&[0xff; 4]);
    zip.extend_from_slice(&[0, 0]);
    zip
}

#[test]
fn a_long_directory_of_a_zip_is_not_read() {
    let _alone = alone();
    assert_eq!(check_refused("a.zip", zip_of(200_000, 0), MOST), 1);
    assert_eq!(check_refused("a.zip", zip_of(1_000, 60_000), MOST_OF_ALL), 1);
    assert!(check_refused("a.zip", zip_of(1_000, 0), MOST) > 999, "a short directory is read");
}

#[test]
fn archives_in_archives_have_one_list() {
    let _alone = alone();
    let inner = tar_of(&vec![(EntryType::Regular, 0); 20_000]);
    let mut outer = tar::Builder::new(Vec::new());
    for nth in 0..8 {
        let mut header = tar::Header::new_gnu();
        header.set_size(inner.len() as u64);
        outer.append_data(&mut header, format!("{nth}.tar"), &inner[..]).unwrap();
    }
    assert!(check_refused("a.tar", outer.into_inner().unwrap(), MOST_OF_ALL) < 70_000);
}
