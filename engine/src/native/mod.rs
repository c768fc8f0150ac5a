//! Files: the only part of the engine with IO. Memory-mapped segments, and segments written atomically.
#![cfg(feature = "native")]

mod beside;
mod cores;
mod map;
mod relayed;
mod write;

pub use cores::AllCores;
pub use map::{Mapped, SegmentFile};
pub use write::{Taking, WriteError, write_segment, write_segment_while};
