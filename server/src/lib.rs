//! The `nprof` binary: command line, store directory, HTTP server, exports.
//!
//! ```text
//! cli ──► ingest ──► store ◄── app ◄── routes ◄── router ◄── cli
//!   └───► export ◄──────┘
//! ```
//! *Invariant.* clap stops at [`cli`], status codes at [`error`], files of the store at [`store`].

pub mod store;
