//! Uploads of files to the store.

pub mod head;
pub mod stage;

#[cfg(feature = "browser")]
pub mod list;
#[cfg(feature = "browser")]
pub mod queue;

#[cfg(feature = "browser")]
pub use self::{list::UploadList, queue::Uploads};
