//! What the benches share.

pub mod generate;
pub mod tally;
