//! Running ingests.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use nprof_engine::wire::job::JobReport;
use nprof_engine::wire::refusal::RefusalKind;
use schemars::{JsonSchema, SchemaGenerator};
use serde::Deserialize;

use super::operation::{ApiOperation, parameters_of};
use super::path::At;
use super::reply::ReplyForm;
use crate::app::App;
use crate::http::error::ApiError;

/// Path parameters of a job.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct JobPath {
    /// The job's number.
    #[schemars(range(min = 1))]
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

/// Describes [`read`].
pub fn describe_read(schemas: &mut SchemaGenerator) -> ApiOperation {
    of_job("readJob", "How far an ingest is.").message::<JobReport>(200, schemas)
}

/// Describes [`cancel`].
pub fn describe_cancel(_: &mut SchemaGenerator) -> ApiOperation {
    of_job("cancelJob", "Asks an ingest to stop.").nothing(204, "Asked.")
}

fn of_job(id: &'static str, summary: &'static str) -> ApiOperation {
    let refusals = [RefusalKind::BadQuestion, RefusalKind::NotFound];
    ApiOperation::new(id, summary).with(parameters_of::<JobPath>("path")).refuses(&refusals)
}
