//! From a reader's events to a segment.
//!
//! [`Builder`] takes events in any order ([`crate::model::Sink`]), sorts them by track and time in bounded memory
//! ([`Scratch`] holds what does not fit), then writes all tracks in one pass: lanes, blocks, postings, pyramids, arrows.

mod binder;
mod builder;
mod finish;
mod lanes;
mod row;
mod scratch;
mod sorter;
mod table_writer;

pub use builder::{BuildOptions, Builder};
pub use finish::Built;
pub use scratch::Scratch;
