//! The 1024 bytes before a NEFF's package.
//!
//! Source: the AWS Neuron SDK's documentation, "Work with NEFF files".

use nprof_engine::base::bytes::Cursor;

use crate::error::Error;

/// Length of the header in bytes. The second field of the header states the same number.
pub const HEADER_LEN: usize = 1024;

/// Contents of the header.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileHeader {
    /// Version of the file's layout.
    pub package_version: u64,
    /// Bytes of the header.
    pub header_size: u64,
    /// Bytes of the package after the header.
    pub data_size: u64,
    /// Major version of the program's format.
    pub major_version: u64,
    /// Minor version of the program's format.
    pub minor_version: u64,
    /// Version of the tool that built the program; often empty.
    pub build_version: String,
    /// Logical cores that the program needs.
    pub logical_cores: u32,
    /// Checksum of the package: MD5 in layout version 2, SHA-256 before.
    pub hash: Vec<u8>,
    /// The program's identity.
    pub uuid: [u8; 16],
    /// The program's name, often a path.
    pub name: String,
    /// Features that the runtime must have, a bit each.
    pub feature_bits: u64,
    /// Physical cores in a logical one.
    pub cores_per_logical: u32,
}

/// Layout version with an MD5 checksum.
const LAYOUT_WITH_MD5: u64 = 2;
const MD5_LEN: usize = 16;

impl FileHeader {
    /// Whether these bytes begin with a header.
    #[must_use]
    pub fn is_at_start(bytes: &[u8]) -> bool {
        let size = bytes.get(8..16).and_then(|size| size.try_into().ok()).map(u64::from_le_bytes);
        size == Some(HEADER_LEN as u64)
    }

    /// Reads the header from a file's first bytes.
    pub fn read(bytes: &[u8]) -> Result<Self, Error> {
        let Some(bytes) = bytes.get(..HEADER_LEN) else {
            return Err(Error::format(
                format!(
                    "the NEFF ends early: the header has {HEADER_LEN} bytes, the file has {}",
                    bytes.len()
                ),
                "header",
                "the file was cut off; copy it again",
            ));
        };
        let mut cursor = Cursor::new(bytes, 0, "NEFF header");
        let mut header = Self {
            package_version: cursor.u64()?,
            header_size: cursor.u64()?,
            data_size: cursor.u64()?,
            major_version: cursor.u64()?,
            minor_version: cursor.u64()?,
            build_version: text(cursor.take(128)?),
            logical_cores: cursor.u32()?,
            hash: cursor.take(32)?.to_vec(),
            ..Self::default()
        };
        header.uuid.copy_from_slice(cursor.take(16)?);
        header.name = text(cursor.take(256)?);
        // Skips requested cores and cores per node: the counts above are the ones that matter.
        cursor.take(4 + 64)?;
        header.feature_bits = cursor.u64()?;
        header.cores_per_logical = cursor.u32()?;
        if header.package_version == LAYOUT_WITH_MD5 {
            header.hash.truncate(MD5_LEN);
        }
        Ok(header)
    }
}

/// Decodes a C string in a field of fixed size.
fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}
