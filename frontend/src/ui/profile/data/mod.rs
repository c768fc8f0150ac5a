//! The Data place: all tables of a rank, one of them in full.

pub mod content;
pub mod entry;
pub mod lead;

#[cfg(feature = "browser")]
mod page;
#[cfg(feature = "browser")]
mod rows;
#[cfg(feature = "browser")]
mod warnings;

#[cfg(feature = "browser")]
pub use page::DataPage;
#[cfg(feature = "browser")]
pub use warnings::{warning_cells, warnings_table};
