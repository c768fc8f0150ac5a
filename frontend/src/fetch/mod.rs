//! Fetches messages and tiles.

pub mod cache;
pub mod decode;
#[cfg(feature = "browser")]
pub mod embedded;
pub mod error;
pub mod key;
#[cfg(feature = "browser")]
pub mod server;
#[cfg(feature = "browser")]
pub mod source;
#[cfg(feature = "browser")]
pub mod upload;
pub mod wanted;

pub use error::FetchError;
pub use key::TileKey;
#[cfg(feature = "browser")]
pub use source::{RankSource, Source};
pub use wanted::Wanted;
