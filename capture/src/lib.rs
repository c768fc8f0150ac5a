//! Importing profiles: recognising inputs, readers of trace formats, clocks, devices.
//!
//! Without the feature `read` only the recognition is compiled. The page uses that part: it sees
//! the first bytes of files and decides which of them make one profile.

#![warn(missing_docs)]

#[cfg(feature = "read")]
pub mod archive;
#[cfg(feature = "read")]
pub mod clock;
#[cfg(feature = "read")]
pub mod device;
#[cfg(feature = "read")]
pub mod error;
#[cfg(feature = "read")]
pub mod files;
#[cfg(feature = "read")]
pub mod formats;
pub mod importer;
pub mod inputs;
mod json;
#[cfg(feature = "read")]
pub mod origin;
#[cfg(feature = "read")]
pub mod owners;
pub mod probe;
mod protobuf;
pub mod refusal;
