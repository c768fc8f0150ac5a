//! The list of profiles: find one, open it, delete it, drop a trace to make one.

pub mod order;

#[cfg(feature = "browser")]
mod delete;
#[cfg(feature = "browser")]
mod drop;
#[cfg(feature = "browser")]
mod page;
#[cfg(feature = "browser")]
mod table;

#[cfg(feature = "browser")]
pub use page::{ListPage, ListScroll};
