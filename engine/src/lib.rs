//! The nprof store, and all computations on it.
//!
//! Pure: bytes in, values out. No files, threads, clocks, randomness, colours or pixels, so that
//! the server and the page run the same code. The one exception is [`native`], behind a feature of
//! that name: files and threads for the server.
//!
//! Layers, each importing only those before it (checked by `tests/tests/tidy.rs`):
//! [`base`] < [`exec`] < [`spill`] < [`model`] < [`codec`] < [`block`] < [`index`] < [`segment`] <
//! [`tile`] < [`ingest`] < [`query`] < [`metrics`] < [`vendor`] < [`rank`] < [`analysis`] <
//! [`wire`] < [`native`].

#![warn(missing_docs)]

pub mod analysis;
pub mod base;
pub mod block;
pub mod codec;
pub mod exec;
pub mod index;
pub mod ingest;
pub mod metrics;
pub mod model;
#[cfg(feature = "native")]
pub mod native;
pub mod query;
pub mod rank;
pub mod segment;
pub mod spill;
pub mod tile;
pub mod vendor;
pub mod wire;

#[cfg(feature = "fixture")]
pub mod fixture;
