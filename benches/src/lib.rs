//! Benches of nprof: the events they run on, how those reach the store, what it and its peers are asked, and the right
//! answers.

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
pub mod report;
#[cfg(not(target_family = "wasm"))]
pub mod store;
#[cfg(not(target_family = "wasm"))]
pub mod tally;
#[cfg(not(target_family = "wasm"))]
pub mod traces;
