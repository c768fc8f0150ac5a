//! Benches of nprof: their events, the ingest of events, the questions to nprof and its
//! alternatives, and the right answers.
//!
//! `cargo bench -p nprof-benches --bench NAME -- …`:
//! - `events` generates the events; the others also do so by themselves;
//! - `peers` measures nprof, and with `--peers` its alternatives, on the same events;
//! - `parts` measures codecs, indexes, tiles and search beside the machine's floor for the bytes;
//! - `growth` draws how costs grow with the profile;
//! - `page` runs the page's part on the machine and as wasm;
//! - `clients` has many clients zoom over HTTP;
//! - `readers` measures readers of traces, alone and all the way into the store; `store` a
//!   simulated rank.

pub mod page;

// The other modules use files and clocks.
#[cfg(not(target_family = "wasm"))]
pub mod chart;
#[cfg(not(target_family = "wasm"))]
pub mod figure;
#[cfg(not(target_family = "wasm"))]
pub mod generate;
#[cfg(not(target_family = "wasm"))]
pub mod ingest;
#[cfg(not(target_family = "wasm"))]
pub mod process;
#[cfg(not(target_family = "wasm"))]
pub mod questions;
#[cfg(not(target_family = "wasm"))]
pub mod reference;
#[cfg(not(target_family = "wasm"))]
pub mod repetition;
#[cfg(not(target_family = "wasm"))]
pub mod report;
#[cfg(not(target_family = "wasm"))]
pub mod source;
#[cfg(not(target_family = "wasm"))]
pub mod store;
#[cfg(not(target_family = "wasm"))]
pub mod tally;
#[cfg(not(target_family = "wasm"))]
pub mod traces;
#[cfg(not(target_family = "wasm"))]
pub mod usage;
