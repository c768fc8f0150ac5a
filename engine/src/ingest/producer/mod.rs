//! The producer's half of a build: takes events, keeps their rows by track or sorts them, and sends
//! groups of rows to the consumer.

mod builder;
mod checks;
mod finish;
mod next_field;
mod push;
mod sorted_tracks;
mod take;
mod take_run;

pub use builder::{BuildOptions, Builder};
pub use finish::Built;
pub(super) use next_field::NextField;
