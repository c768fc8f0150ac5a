//! What all long work shares: ingests, exports, checks.

mod meter;

pub use meter::{Meter, Metered, Stage};
