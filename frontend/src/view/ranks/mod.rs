//! Ranks beside each other: their order, whom the others waited for, and the spread of their
//! operations.

pub mod members;
pub mod namesake;
pub mod rank_list;
pub mod spread;
pub mod standing;
pub mod straggler;
pub mod waits;
