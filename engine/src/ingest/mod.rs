//! Builds a segment from a reader's events.
//!
//! [`Builder`] takes events ([`crate::model::Sink`]). Rows of ordered tracks are encoded as they
//! arrive, a group of blocks at a time. All other rows are kept by track and encoded at the end.
//! If they do not fit into memory, they are packed and sorted, with the scratch space of
//! [`crate::spill`]. [`crate::exec::Exec`] shares the encoding of a group among cores. Block lists,
//! directories, postings and arrows are written last.
//!
//! Each room imports only rooms to its left: texts < rows < lanes, arrows < consumer < producer <
//! relay.

mod arrows;
mod consumer;
mod encoders;
mod lanes;
mod limits;
mod producer;
mod relay;
mod rows;
mod texts;

pub use consumer::{Consumer, EmptiedRows, GroupKey, Pipeline, SharedProgram, TrackGroup};
pub use producer::{BuildOptions, Builder, Built};
pub use relay::{CallBatch, Carrier, Player, Relay};
