//! The handlers, one file per subject. Each returns `Result<_, ApiError>`; the table that names them is
//! [`crate::router`].

pub mod ask;
pub mod export;
pub mod health;
pub mod jobs;
pub mod openapi;
pub mod page;
pub mod path;
pub mod profiles;
pub mod reply;
pub mod tiles;
pub mod upload;
mod waiting;

use crate::error::ApiError;

/// Runs what reads files or computes where it holds up no other request.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    tokio::task::spawn_blocking(work).await?
}
