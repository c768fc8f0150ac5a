//! Fetches messages and tiles.

pub mod cache;
pub mod decode;
pub mod error;
pub mod key;
#[cfg(feature = "browser")]
pub mod page_bundle;
#[cfg(feature = "browser")]
pub mod server;
#[cfg(feature = "browser")]
pub mod source;
pub mod tile_needs;
#[cfg(feature = "browser")]
pub mod upload;

pub use error::FetchError;
pub use key::TileKey;
#[cfg(feature = "browser")]
pub use source::{RankSource, Source};
pub use tile_needs::TileNeeds;
