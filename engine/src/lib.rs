//! The nprof store and everything that is computed on it.
//!
//! Pure: bytes in, values out. No files, threads, clocks, randomness, colours or pixels, so that the server and the
//! page run the same code. The one exception is [`native`], behind a feature of that name, which brings files and
//! memory maps to the server.
//!
//! Layers, each importing only those before it (checked by `tests/tests/tidy.rs`):
//! [`base`] < [`model`] < [`codec`] < [`block`] < [`segment`] < [`index`] < [`tile`] < [`query`] < [`metrics`] <
//! [`wire`] < [`native`].

#![warn(missing_docs)]

pub mod base;
pub mod codec;
pub mod model;
pub mod tile;
pub mod wire;

#[cfg(feature = "fixture")]
pub mod fixture;
