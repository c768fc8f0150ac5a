//! Readers of trace formats: bytes in, events out.
//!
//! Each reader takes bytes in memory, a `std::io::Read`, or either. It passes the events to an
//! [`nprof_engine::model::Sink`] while it reads, so that memory stays bounded for any size of
//! input. No reader opens files, starts threads or reads clocks. [`crate::importer::TABLE`] lists
//! the formats that are traces. `neff` serves several of them.

pub mod aiu;
pub mod error;
pub mod neff;
pub mod neuron_json;
pub mod ntff;
pub mod perfetto;
mod room;
pub mod trace_event;

pub use error::Error;
