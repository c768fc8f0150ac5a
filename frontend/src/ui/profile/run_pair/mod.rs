//! Two runs as one picture: two that are compared, or one and its replay.

mod picture;
mod state;

pub use picture::paired_timelines;
pub use state::PairedPlace;
