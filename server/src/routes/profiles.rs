//! The list of profiles, and one profile.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use nprof_engine::wire::catalog::ProfileList;
use serde::Deserialize;

use super::blocking;
use super::path::At;
use super::reply::Form;
use crate::app::App;
use crate::error::ApiError;

/// Which profile.
#[derive(Debug, Deserialize)]
pub struct ProfilePath {
    slug: String,
}

/// `GET /api/profiles`
pub async fn list(State(app): State<App>, form: Form) -> Result<Response, ApiError> {
    let profiles = blocking(move || Ok(app.store().list()?)).await?;
    form.reply(&ProfileList { profiles: profiles.iter().map(|profile| profile.manifest.entry()).collect() })
}

/// `GET /api/profiles/{slug}`
pub async fn read(State(app): State<App>, At(at): At<ProfilePath>, form: Form) -> Result<Response, ApiError> {
    let profile = blocking(move || Ok(app.store().find(&at.slug)?)).await?;
    form.reply(&profile.manifest.profile_info())
}

/// `DELETE /api/profiles/{slug}`
pub async fn remove(State(app): State<App>, At(at): At<ProfilePath>) -> Result<Response, ApiError> {
    blocking(move || Ok(app.store().remove(&at.slug)?)).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}
