//! The components, and pure functions for them that need no browser.
//!
//! Each part imports only parts to its left: text < controls < shell < table < timeline, upload <
//! profile < list < app.

pub mod list;
pub mod profile;
pub mod text;
pub mod upload;

#[cfg(feature = "browser")]
pub mod app;
#[cfg(feature = "browser")]
pub mod controls;
#[cfg(feature = "browser")]
pub mod shell;
#[cfg(feature = "browser")]
pub mod table;
#[cfg(feature = "browser")]
pub mod timeline;
