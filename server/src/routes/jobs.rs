//! Running ingests.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use super::path::At;
use super::reply::ReplyForm;
use crate::app::App;
use crate::http::error::ApiError;

/// Path parameters of a job.
#[derive(Debug, Deserialize)]
pub struct JobPath {
    id: u64,
}

/// `GET /api/jobs/{id}`
pub async fn read(
    State(app): State<App>,
    At(at): At<JobPath>,
    form: ReplyForm,
) -> Result<Response, ApiError> {
    form.reply(&app.jobs().find(at.id)?.report())
}

/// `DELETE /api/jobs/{id}`
pub async fn cancel(State(app): State<App>, At(at): At<JobPath>) -> Result<Response, ApiError> {
    app.jobs().find(at.id)?.cancel();
    Ok(StatusCode::NO_CONTENT.into_response())
}
