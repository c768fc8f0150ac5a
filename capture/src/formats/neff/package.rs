//! The package in a NEFF: a tar archive, mostly gzip'd. Only the small members that describe the
//! program are kept.
//!
//! Nothing is written to disk, so paths can do no harm. Sizes are capped, so that a small file
//! cannot fill the memory.

use std::io::{self, Read};

use flate2::read::MultiGzDecoder;
use nprof_engine::exec::Cancel;

use crate::error::Error;

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
/// Offset of the magic bytes in a tar header.
const TAR_MAGIC_AT: usize = 257;
const TAR_MAGIC: &[u8] = b"ustar";
/// Length of a tar block in bytes. An archive has at least one.
const TAR_BLOCK_LEN: usize = 512;
/// Most bytes of a kept member. A larger one does not describe a program that a person can read.
const MEMBER_MAX_LEN: u64 = 64 << 20;
/// Most bytes of all kept members together.
const KEPT_MAX_LEN: u64 = 256 << 20;
/// Most unpacked bytes of a package. Weights can make packages large, but not larger than this.
const UNPACKED_MAX_LEN: u64 = 64 << 30;

/// A member that was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackageMember {
    /// Path of the member, without `./` before it.
    pub path: String,
    /// Contents of the member.
    pub bytes: Vec<u8>,
}

/// Contents of a package.
#[derive(Debug, Default)]
pub struct Package {
    /// The wanted members.
    pub members: Vec<PackageMember>,
    /// Paths of wanted members that are too large to keep.
    pub skipped: Vec<String>,
}

/// Whether these bytes look like a package without a header.
#[must_use]
pub fn is_package(bytes: &[u8]) -> bool {
    bytes.starts_with(&GZIP_MAGIC)
        || bytes.get(TAR_MAGIC_AT..).is_some_and(|rest| rest.starts_with(TAR_MAGIC))
}

/// Unpacks until it is cancelled: members that are not wanted can be very long.
struct Cancelling<'c, R> {
    inner: R,
    cancel: Cancel<'c>,
}

impl<R: Read> Read for Cancelling<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.cancel.check().map_err(io::Error::other)?;
        self.inner.read(buffer)
    }
}

/// Reads the members whose path `wanted` accepts.
///
/// # Errors
/// If the bytes are no archive, or end in the middle of one, or if the reading is cancelled.
pub fn read(bytes: &[u8], cancel: Cancel<'_>, wanted: impl Fn(&str) -> bool) -> Result<Package, Error> {
    if bytes.starts_with(&GZIP_MAGIC) {
        let inner = MultiGzDecoder::new(bytes).take(UNPACKED_MAX_LEN);
        unpack(Cancelling { inner, cancel }, wanted)
    } else if bytes.len() >= TAR_BLOCK_LEN {
        unpack(bytes, wanted)
    } else {
        Err(Error::format(
            "the package of the NEFF is neither gzip nor tar",
            "package",
            "the file is damaged or is not a NEFF; copy it again from the machine of the compiler",
        ))
    }
}

fn unpack(reader: impl Read, wanted: impl Fn(&str) -> bool) -> Result<Package, Error> {
    let damaged = |place: String, error: io::Error| {
        Error::format(
            format!("the package of the NEFF cannot be unpacked ({error})"),
            place,
            "the file is damaged or was cut off; copy it again from the machine of the compiler",
        )
    };
    let mut package = Package::default();
    let mut kept = 0;
    let mut archive = tar::Archive::new(reader);
    // Raw mode returns extensions for long names and large sizes as members. None of them is wanted
    // here.
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
        package.members.push(PackageMember { path, bytes });
    }
    Ok(package)
}
