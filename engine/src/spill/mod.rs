//! Data that does not fit into memory while a trace is read: sorted, or kept in order, with the
//! help of scratch space.
//!
//! Readers and the segment builder use three types. A [`Sorter`] takes items in any order and
//! returns them sorted. [`Ordered`] does the same while items come, if they come nearly in order. A
//! [`Pile`] returns items in the order in which they came. All take a bounded part of memory,
//! whatever the trace's size.
//!
//! Long lists of an analysis are [`Shelved`]: they read like slices wherever they are.

mod key;
mod merge;
mod pile;
mod scratch;
pub(crate) mod shelf;
mod sorter;
mod space;
mod streaming_sorter;

pub use key::{ByteSpan, NoBytes, SpanKind, SpillKey};
pub use pile::{Pile, PileReader};
pub use scratch::{MemoryScratch, Scratch};
pub use shelf::{NoShelf, Shelf, ShelfBytes, ShelfItem, Shelved};
pub use sorter::{Sorted, Sorter, sort_nearly};
pub use space::Space;
pub use streaming_sorter::Ordered;
