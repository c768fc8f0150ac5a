//! Files: the only part of the engine with IO. Memory-mapped segments, and atomically written
//! segments.
#![cfg(feature = "native")]

mod atomic_file;
mod beside;
mod cores;
pub mod disk;
mod map;
mod relayed;
mod write;

pub use atomic_file::{AtomicFile, TEMPORARY};
pub use cores::AllCores;
pub use map::{Mapped, OpenError, SegmentFile};
pub use write::{Taking, WriteError, write_segment, write_segment_while};
