//! The handlers, one file per subject. Each returns `Result<_, ApiError>`. The table in
//! [`router`] names them.

pub mod ask;
mod client_presence;
mod download_body;
pub mod export;
pub mod health;
pub mod jobs;
pub mod openapi;
pub mod operation;
pub mod page;
pub mod path;
pub mod profiles;
pub mod regions;
pub mod reply;
pub mod router;
pub mod tiles;
pub mod upload;

use crate::http::error::ApiError;

/// Runs blocking work, such as file reads, on a thread where it does not delay other requests.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    // A panic of the work is an error of this request alone.
    tokio::task::spawn_blocking(work).await?
}
