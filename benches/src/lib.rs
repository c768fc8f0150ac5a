//! Benches of nprof: the events they run on, how those reach the store, what it and its peers are asked, and the right
//! answers.
//!
//! `cargo bench -p nprof-benches --bench NAME -- …`:
//! - `events` makes the events; the others do so by themselves;
//! - `peers` measures nprof, and with `--peers` what could be used in its place, on the same events;
//! - `parts` measures codecs, indexes, tiles and search beside what the machine takes for the same bytes;
//! - `growth` draws how costs grow with the profile;
//! - `page` runs the page's part on the machine and as wasm;
//! - `clients` has many people zoom over HTTP;
//! - `readers` measures readers of traces, alone and all the way into the store; `store` a
//!   simulated rank.

pub mod page;

// The rest has files and clocks.
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
pub mod repeated;
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
