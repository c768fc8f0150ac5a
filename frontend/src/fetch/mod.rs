//! Brings messages and tiles to the page.

pub mod cache;
#[cfg(feature = "browser")]
pub mod client;
pub mod decode;
pub mod error;
#[cfg(feature = "browser")]
pub mod upload;
pub mod wanted;

#[cfg(feature = "browser")]
pub use client::{Client, Step};
pub use error::FetchError;
pub use wanted::Wanted;
