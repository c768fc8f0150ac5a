//! Builds a segment from a reader's events.
//!
//! [`Builder`] takes events ([`crate::model::Sink`]). Rows of ordered tracks are encoded as they
//! arrive, a group of blocks at a time. All other rows are kept by track and encoded at the end.
//! If they do not fit into memory, they are packed and sorted, with the scratch space of
//! [`crate::spill`]. [`crate::exec::Exec`] shares the encoding of a group among cores. Block lists,
//! directories, postings and arrows are written last.

mod arrived;
mod assemble;
mod binder;
mod builder;
mod by_use;
mod checks;
mod dictionary;
mod encode;
mod encoders;
mod finish;
mod flows;
mod held;
mod lanes;
mod learn;
mod limits;
mod numbers;
mod packer;
mod pipeline;
mod player;
mod positions;
mod predicted;
mod push;
mod recent;
mod relay;
mod row;
mod rows;
mod run;
mod take;
mod template;
mod track_writer;
mod unsettled;
mod window;

pub use builder::{BuildOptions, Builder};
pub use finish::Built;
pub use pipeline::{Consumer, EmptiedRows, GroupKey, Pipeline, TrackGroup};
pub use player::Player;
pub use relay::{Batch, Carrier, Relay};
