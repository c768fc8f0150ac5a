//! Small archives, for tests and as seeds for the fuzz targets.

use std::io::{Cursor, Write};

use flate2::Compression;
use flate2::write::DeflateEncoder;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

pub use crate::formats::neff::fixture::tar;

/// Packs bytes in gzip.
#[must_use]
pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    crate::formats::neff::fixture::gzip(bytes)
}

/// Packs bytes in zstd.
#[must_use]
pub fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::bulk::compress(bytes, 3).expect("memory is enough")
}

/// A zip whose entries are stored without compression.
#[must_use]
pub fn zip(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in entries {
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
        writer.start_file(*name, options).expect("names are short");
        writer.write_all(bytes).expect("memory is enough");
    }
    writer.finish().expect("memory is enough").into_inner()
}

/// A tar of members, each with the code of its kind, a name and its contents.
#[must_use]
pub fn tar_of_kinds(members: &[(u8, &str, &[u8])]) -> Vec<u8> {
    let mut builder = ::tar::Builder::new(Vec::new());
    for (kind, name, content) in members {
        let mut header = ::tar::Header::new_gnu();
        header.set_entry_type(::tar::EntryType::new(*kind));
        header.set_path(name).expect("names are short");
        header.set_size(content.len() as u64);
        header.set_cksum();
        builder.append(&header, *content).expect("memory is enough");
    }
    builder.into_inner().expect("memory is enough")
}

/// A zip with one stored entry and with the records that archives of many entries have at their end
/// (APPNOTE.TXT, 4.3.14 to 4.3.16). They state this number of entries.
#[must_use]
pub fn zip_of_many(name: &str, bytes: &[u8], entries: u64) -> Vec<u8> {
    const END_LEN: usize = 22;
    let zip = zip(&[(name, bytes)]);
    let (contents, end) = zip.split_at(zip.len() - END_LEN);
    let at = (contents.len() as u64).to_le_bytes();
    let [len, start] = [&end[12..16], &end[16..20]];
    let (record_len, entries) = (44_u64.to_le_bytes(), entries.to_le_bytes());
    let record = [b"PK\x06\x06", &record_len[..], &[45, 0, 45, 0], &[0; 8], &entries, &entries].concat();
    let places = [len, &[0; 4], start, &[0; 4]].concat();
    let locator = [b"PK\x06\x07", &[0; 4][..], &at, &[1, 0, 0, 0]].concat();
    let end = [&end[..8], &[0xff; 12], &[0, 0]].concat();
    [contents, &record, &places, &locator, &end].concat()
}

/// A zip with one deflated entry, the usual case. The zip states this checksum.
#[must_use]
pub fn deflated(name: &str, bytes: &[u8], crc: u32) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("memory is enough");
    let packed = encoder.finish().expect("memory is enough");
    packed_by(8, name, &packed, EntryHeader { len: bytes.len(), crc })
}

/// Length and checksum that a zip states for an entry. They can be wrong on purpose.
#[derive(Debug, Clone, Copy)]
pub struct EntryHeader {
    /// Unpacked length in bytes.
    pub len: usize,
    /// CRC-32 of the unpacked bytes.
    pub crc: u32,
}

/// A zip with one entry, packed by a method number (APPNOTE.TXT, 4.4.5).
#[must_use]
pub fn packed_by(method: u16, name: &str, packed: &[u8], stated: EntryHeader) -> Vec<u8> {
    let number = |number: usize| u32::try_from(number).expect("archives are small").to_le_bytes();
    let middle = [&method.to_le_bytes()[..], &[0, 0, 0x21, 0x50], &stated.crc.to_le_bytes()].concat();
    let sizes = [number(packed.len()), number(stated.len)].concat();
    let name_len = u16::try_from(name.len()).expect("names are short").to_le_bytes();
    let named = [&middle[..], &sizes, &name_len].concat();
    let local = [b"PK\x03\x04\x14\0\0\0", &named[..], &[0, 0], name.as_bytes(), packed].concat();
    let central = [b"PK\x01\x02\x14\0\x14\0\0\0", &named[..], &[0; 16], name.as_bytes()].concat();
    let counts = [&b"PK\x05\x06\0\0\0\0"[..], &[1, 0, 1, 0]].concat();
    let end = [&counts[..], &number(central.len()), &number(local.len()), &[0, 0]].concat();
    [local, central, end].concat()
}
