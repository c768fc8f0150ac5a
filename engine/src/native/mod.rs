//! Files: the only part of the engine with IO. Segments that are read piece by piece, and segments
//! that are written atomically.
#![cfg(feature = "native")]

mod atomic_file;
mod builder_thread;
mod consumer_thread;
mod cores;
pub mod disk;
mod regions;
mod regular_file;
mod segment_file;
mod threads;
mod write;

pub use atomic_file::{AtomicFile, TEMPORARY};
pub use cores::AllCores;
pub use disk::directory_of;
pub use regular_file::{open_regular, read_regular};
pub use segment_file::{OpenError, SegmentFile, StoredFile};
pub use threads::start_threads;
pub use write::{Taking, WriteError, write_segment, write_segment_while};
