//! Recognition of files by their first bytes. There is one probe per format, and a list of formats
//! that are known and not read.
//!
//! A probe sees unpacked bytes only, and no names. A probe costs a few microseconds. The head may
//! end anywhere.

pub mod aiu;
mod aiu_export;
pub mod json;
pub mod known_formats;
pub mod neff;
pub mod ntff;
mod outline;
pub mod perfetto;
pub mod process;
mod protobuf;

/// Number of first (unpacked) bytes that a probe wants. Fewer are enough if the file has no more.
pub const HEAD_LEN: usize = 64 << 10;

/// Confidence of a probe. If two formats claim a file, the surer one gets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// The bytes do not contradict the format, but many other files would pass as well.
    Possible,
    /// The bytes look like the format.
    Likely,
    /// The bytes state the format.
    Certain,
}
