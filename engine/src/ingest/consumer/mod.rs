//! The consumer's half of a build: receives groups of rows in their final order, learns the program
//! of each track, encodes blocks and packs, and writes them.

mod assemble;
mod encode;
mod held;
mod learn;
mod pipeline;
mod predicted;
mod track_output;
mod track_writer;
mod written;

pub(super) use pipeline::{Consumed, Direct, NO_TRACK, Rest, Size};
pub use pipeline::{Consumer, EmptiedRows, GroupKey, Pipeline, TrackGroup};
pub(super) use written::WrittenTracks;
