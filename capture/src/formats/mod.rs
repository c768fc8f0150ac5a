//! Readers of trace formats: bytes in, events out.
//!
//! Each reads bytes at hand, or a `std::io::Read` if the input is packed, and hands what it finds to an
//! [`nprof_engine::model::Sink`] as it goes, so that memory stays bounded whatever the input's size. Nothing here opens
//! files, starts threads or looks at clocks: the page can use the same readers as the server.

pub mod detect;
pub mod error;
pub mod input;
pub mod neff;
pub mod neuron;
pub mod ntff;
mod room;
pub mod trace_event;

pub use error::Error;
