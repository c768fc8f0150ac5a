//! Hostile bytes for every reader: targets, and inputs to begin with.
//!
//! `tests/inputs.rs` runs each target on its inputs, and on changed ones, with every commit.
//! libFuzzer, guided by coverage, continues from there (`scripts/fuzz.sh`, feature `libfuzzer`).

#![expect(clippy::panic, reason = "a finding is a panic")]

mod bound;
pub mod seeds;
pub mod targets;
