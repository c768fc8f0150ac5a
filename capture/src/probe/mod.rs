//! What the first bytes of a file tell. One probe a format, and the formats that are known and not read.
//!
//! A probe looks at unpacked bytes, and at nothing else: names only hint. It costs a few
//! microseconds. The head may end anywhere.

pub mod json;
pub mod known;
pub mod neff;
pub mod ntff;
mod protobuf;

/// How many of the first (unpacked) bytes a probe wants. Fewer do if the file has no more.
pub const HEAD_LEN: usize = 64 << 10;

/// How sure a probe is. Of two formats that claim a file the surer one gets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// The bytes do not contradict the format, and many other files would pass as well.
    Possible,
    /// The bytes look like the format.
    Likely,
    /// The bytes state the format.
    Certain,
}
