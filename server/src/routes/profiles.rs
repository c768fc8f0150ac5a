//! Changes to a profile. Questions about profiles are handled by [`super::ask`].

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use nprof_engine::wire::refusal::RefusalKind;
use schemars::{JsonSchema, SchemaGenerator};
use serde::Deserialize;

use super::blocking;
use super::operation::{ApiOperation, parameters_of};
use super::path::At;
use crate::app::App;
use crate::http::error::ApiError;

/// Path parameters of a profile.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ProfilePath {
    /// Name or id of the profile.
    slug: String,
}

impl ProfilePath {
    /// Name or id of the profile.
    #[must_use]
    pub fn slug(&self) -> &str {
        &self.slug
    }
}

/// `DELETE /api/profiles/{slug}`
pub async fn remove(State(app): State<App>, At(at): At<ProfilePath>) -> Result<Response, ApiError> {
    let remove = move || {
        app.store().remove(&at.slug)?;
        app.close_removed();
        Ok(())
    };
    blocking(remove).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// Describes [`remove`].
pub fn describe(_: &mut SchemaGenerator) -> ApiOperation {
    ApiOperation::new("deleteProfile", "Removes a profile from the store, with all of its names.")
        .with(parameters_of::<ProfilePath>("path"))
        .nothing(204, "Removed.")
        .refuses(&[RefusalKind::NotFound, RefusalKind::Conflict])
}
