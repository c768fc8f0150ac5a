//! Files: the only part of the engine with IO. Memory-mapped segments, and segments written atomically.
#![cfg(feature = "native")]

mod beside;
mod cores;
mod map;
mod relayed;
mod threads;
mod write;

pub use cores::AllCores;
pub use map::{Mapped, SegmentFile};
pub use threads::TwoThreads;
pub use write::{GoesOn, Taking, WriteError, write_segment, write_segment_while};
