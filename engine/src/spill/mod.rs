//! What does not fit into memory while a trace is read: sorted, or kept in order, with the help of scratch space.
//!
//! Readers and the segment builder use the same two: a [`Sorter`] gives back in order what came in any, a [`Pile`] gives
//! back what came as it came. Both take a bounded part of memory, whatever the trace's size.

mod key;
mod merge;
mod pile;
mod scratch;
mod sorter;
mod space;

pub use key::{ByteSpan, Key, NoBytes, Span};
pub use pile::{Pile, PileReader};
pub use scratch::{MemoryScratch, Scratch};
pub use sorter::{Sorted, Sorter, sort_nearly};
pub use space::Space;
