//! The difference of two runs: what takes longer in the second one, what takes less, and whether
//! that is more than chance.
//!
//! A run is its repetitions: the steps of all of its ranks, else the spans of a region, else one
//! span. The time of a repetition is the work of each name, less what ran beside other work, plus
//! the time in which nothing ran. So the differences of all rows sum up to that of the whole, to
//! the picosecond.

mod alignment;
#[cfg(test)]
mod chance_tests;
mod comparison;
mod duration_counts;
mod interval;
#[cfg(test)]
mod law_tests;
mod rank_sample;
mod repetition;
mod run_sample;
mod samples;
pub mod sentence;
mod shared_work;
mod slice_sample;
mod work_key;

pub(in crate::insight) use alignment::function;
pub use comparison::{ComparedRow, Doubt, RunComparison, SharedRanks, SpeedVerdict, TimeChange, TimeKind};
pub use duration_counts::DurationBars;
pub use rank_sample::RankSample;
pub use repetition::{RunRepetition, repetitions};
pub use run_sample::RunSample;
pub use shared_work::SharedWork;
pub use work_key::{WorkKey, WorkKeys};
