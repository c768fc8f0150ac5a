//! Profiles of AWS Neuron devices.

mod engine;
pub mod group;
pub mod metrics;
pub mod schema;
mod tracks;

pub use engine::{Engine, MATRIX, MATRIX_PRODUCT};
pub use tracks::{CounterTrack, Tracks, name_on_core};

/// The instruction that waits for a semaphore and then changes it. Waiting is no work.
pub use crate::model::wait::NEURON_WAIT as SEMAPHORE_WAIT;

/// What [`crate::model::RankInfo::source`] says of a Neuron profile.
pub const SOURCE: &str = "neuron";
