//! From a reader's events to a segment.
//!
//! [`Builder`] takes events ([`crate::model::Sink`]). Rows of tracks that come in order are encoded as they come, a group of
//! blocks at a time; all others are sorted by track and time in bounded memory ([`crate::spill`] holds what does not fit) and
//! encoded at the end. [`crate::exec::Exec`] shares the encoding of a group. What belongs together is then put together: block lists,
//! directories, postings, arrows.

mod assemble;
mod binder;
mod builder;
mod dictionary;
mod encode;
mod encoders;
mod finish;
mod flows;
mod held;
mod lanes;
mod learn;
mod line;
mod numbers;
mod packer;
mod player;
mod recent;
mod relay;
mod row;
mod rows;
mod take;
mod template;
mod track_writer;
mod window;

pub use builder::{BuildOptions, Builder};
pub use finish::Built;
pub use line::{Back, Emptied, Line, Place, TrackGroup};
pub use player::Player;
pub use relay::{Batch, Carrier, Relay};
