//! The places of the page, and the panels around them.

pub mod panel;
pub mod place;
