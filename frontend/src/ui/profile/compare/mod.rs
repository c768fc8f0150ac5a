//! The Compare place: whether the second of two runs is faster, and what differs.

mod choices;
mod duration_cell;
mod findings;
mod page;
mod run_part;

pub use page::ComparePage;
