//! Readers of trace formats: bytes in, events out.
//!
//! Each takes bytes at hand, a `std::io::Read`, or either, and hands the events to an
//! [`nprof_engine::model::Sink`] as it goes, so that memory stays bounded whatever the input's size.
//! Nothing here opens files, starts threads or looks at clocks. [`crate::importer::TABLE`] lists the
//! formats that are traces; `neff` serves several of them.

pub mod error;
pub mod neff;
pub mod neuron_json;
pub mod ntff;
mod room;
pub mod trace_event;

pub use error::Error;
