//! The package in a NEFF: a tar archive, mostly gzip'd. Only the small members that describe the program are kept.
//!
//! Nothing is written anywhere, so paths can do no harm; sizes are capped, so that a small file cannot fill the memory.

use std::io::Read;

use flate2::read::MultiGzDecoder;

use crate::formats::Error;

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
/// Where a tar header says what it is.
const TAR_MAGIC_AT: usize = 257;
const TAR_MAGIC: &[u8] = b"ustar";
/// Bytes of a tar block; an archive has at least one.
const TAR_BLOCK_LEN: usize = 512;
/// A larger member describes no program that a person can look at.
const MEMBER_MAX_LEN: u64 = 64 << 20;
/// All kept members together.
const KEPT_MAX_LEN: u64 = 256 << 20;
/// Weights may make packages large, but no package unpacks to more.
const UNPACKED_MAX_LEN: u64 = 64 << 30;

/// A member that was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Its path, without `./` before it.
    pub path: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// What came out of a package.
#[derive(Debug, Default)]
pub struct Package {
    /// The members that were asked for.
    pub members: Vec<Member>,
    /// Members that were asked for and are too large to keep.
    pub skipped: Vec<String>,
}

/// Whether these bytes look like a package without a header.
#[must_use]
pub fn is_package(bytes: &[u8]) -> bool {
    bytes.starts_with(&GZIP_MAGIC)
        || bytes.get(TAR_MAGIC_AT..).is_some_and(|rest| rest.starts_with(TAR_MAGIC))
}

/// Reads the members that `wanted` accepts by their path.
///
/// # Errors
/// Where the bytes are no archive, or end in the middle of it.
pub fn read(bytes: &[u8], wanted: impl Fn(&str) -> bool) -> Result<Package, Error> {
    if bytes.starts_with(&GZIP_MAGIC) {
        unpack(MultiGzDecoder::new(bytes).take(UNPACKED_MAX_LEN), wanted)
    } else if bytes.len() >= TAR_BLOCK_LEN {
        unpack(bytes, wanted)
    } else {
        Err(Error::format(
            "the NEFF's package is neither gzip nor tar",
            "package",
            "the file is damaged or no NEFF: copy it again from where it was compiled",
        ))
    }
}

fn unpack(reader: impl Read, wanted: impl Fn(&str) -> bool) -> Result<Package, Error> {
    let damaged = |place: String, error: std::io::Error| {
        Error::format(
            format!("the NEFF's package cannot be unpacked: {error}"),
            place,
            "the file is damaged or was cut off: copy it again from where it was compiled",
        )
    };
    let mut package = Package::default();
    let mut kept = 0;
    let mut archive = tar::Archive::new(reader);
    // Raw: extensions for long names and large sizes are handed out as members, and none of them is wanted here.
    let entries = archive.entries().map_err(|error| damaged("package".to_owned(), error))?.raw(true);
    for (number, entry) in entries.enumerate() {
        let entry = entry.map_err(|error| damaged(format!("package, member {number}"), error))?;
        let path = String::from_utf8_lossy(&entry.path_bytes()).trim_start_matches("./").to_owned();
        if !entry.header().entry_type().is_file() || !wanted(&path) {
            continue;
        }
        let size = entry.size();
        if size > MEMBER_MAX_LEN || kept + size > KEPT_MAX_LEN {
            package.skipped.push(path);
            continue;
        }
        let mut bytes = Vec::new();
        entry
            .take(MEMBER_MAX_LEN)
            .read_to_end(&mut bytes)
            .map_err(|error| damaged(format!("package, member {path}"), error))?;
        kept += size;
        package.members.push(Member { path, bytes });
    }
    Ok(package)
}
