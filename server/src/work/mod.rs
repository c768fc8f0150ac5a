//! Code shared by all long work: ingests, exports and checks.

mod meter;

pub use meter::{Meter, Metered, Progress, Stage};
