//! The consumer's half of a build: receives groups of rows in their final order, learns the program
//! of each track, encodes blocks and packs, and writes them.

mod assemble;
mod encode;
mod held;
mod learn;
mod pipeline;
mod predicted;
mod track_writer;

pub(super) use assemble::TableAssembler;
pub(super) use pipeline::{Consumed, Direct, NO_TRACK, Rest, Size};
pub use pipeline::{Consumer, EmptiedRows, GroupKey, Pipeline, TrackGroup};
pub(super) use track_writer::TrackOutput;
