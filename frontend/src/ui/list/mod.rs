//! The list of profiles: find, open and delete profiles, or drop a trace to create one.

#[cfg(feature = "browser")]
mod delete;
#[cfg(feature = "browser")]
mod drop;
#[cfg(feature = "browser")]
mod list_state;
#[cfg(feature = "browser")]
mod page;
#[cfg(feature = "browser")]
mod profiles;
#[cfg(feature = "browser")]
mod table;

#[cfg(feature = "browser")]
pub use page::{ListPage, ListScroll};
