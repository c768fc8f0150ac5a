//! The `nprof` binary: command line, store directory, HTTP server, exports.
//!
//! ```text
//! cli ──► ingest ──► store ◄── app ◄── routes ◄── listening ◄── cli
//!   │       ▲           ▲       │
//!   │     child ◄────── jobs ◄──┘        child: a process of its own
//!   └───► export ──► store
//! ```
//! *Invariant.* Only [`cli`] uses clap, only [`http::error`] maps errors to status codes, and only
//! [`store`] knows the layout of the store's directory.

pub mod aiu;
pub mod analysis;
pub mod app;
pub mod assets;
pub mod child;
pub mod child_end;
pub mod cli;
pub mod end_signals;
pub mod export;
pub(crate) mod file_map;
pub mod http;
pub mod ingest;
pub mod jobs;
pub mod kept_file;
pub mod links;
pub mod listener;
pub mod markup;
pub mod memory;
pub mod output;
pub mod print;
pub mod routes;
pub mod standard_output;
pub mod store;
pub mod summary;
pub mod terminal;
pub mod units;
pub mod verify;
pub mod warnings;
pub mod work;
