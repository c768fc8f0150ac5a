//! The consumer's half of a build: receives groups of rows in their final order, learns the program
//! of each track, encodes blocks and packs, and writes them.

mod assemble;
mod encode;
mod encoded_block;
mod group;
mod held_rows;
mod learn;
mod pipeline;
mod predicted_columns;
mod sample_column;
mod shared_program;
mod track_output;
mod track_writer;
mod written_tracks;

pub use group::{GroupKey, TrackGroup};
pub(super) use group::{GroupRest, NO_TRACK};
pub(super) use pipeline::{Consumed, Direct, Size};
pub use pipeline::{Consumer, EmptiedRows, Pipeline};
pub use shared_program::SharedProgram;
pub(super) use written_tracks::WrittenTracks;
