//! The components.

pub mod timeline;
