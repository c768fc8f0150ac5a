//! Regions of a profile: those that are found, and those that users name.

use axum::body::{Body, to_bytes};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use nprof_engine::exec::Cancel;
use nprof_engine::wire::ask::Weight;
use nprof_engine::wire::notes::{NotedRegion, Notes};
use nprof_engine::wire::refusal::RefusalKind;
use schemars::{JsonSchema, SchemaGenerator};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::blocking;
use super::client_presence::Waiting;
use super::operation::{ApiOperation, parameters_of};
use super::path::{At, With};
use super::profiles::ProfilePath;
use super::reply::ReplyForm;
use crate::analysis::region_json;
use crate::analysis::regions::regions_of;
use crate::app::App;
use crate::export::requested_part::rank_of;
use crate::http::error::ApiError;
use crate::print::answer_keys::head;
use crate::store::RankFile;

/// Most bytes of a region in a request.
const MOST_BYTES: usize = 16 << 10;

/// Path parameters of a region that a user named.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct RegionPath {
    /// Name or id of the profile.
    slug: String,
    /// Name of the region.
    name: String,
}

/// The ranks whose regions are found.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct RegionsQuery {
    /// Only this rank; all of them without it.
    rank: Option<u32>,
}

/// The new name of a region.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct NewRegionName {
    /// The name.
    name: String,
}

/// `GET /api/profiles/{slug}/regions`
pub async fn read(
    State(app): State<App>,
    At(at): At<ProfilePath>,
    With(query): With<RegionsQuery>,
) -> Result<Response, ApiError> {
    let (waiting, wanted) = Waiting::new();
    let of = app.clone();
    let found = move || {
        let profile = of.store().find(at.slug())?;
        let ranks: Vec<&RankFile> = match query.rank {
            Some(rank) => vec![rank_of(&profile, rank)?],
            None => profile.manifest.ranks.iter().collect(),
        };
        let is_cancelled = || !wanted.is_wanted();
        let found = regions_of(&profile, &ranks, Cancel::when(&is_cancelled))
            .map_err(|error| ApiError::logged(&error, &error.without_path()))?;
        let rows = region_json::rows(&found, &profile.notes()?);
        let mut document = head(&profile, rows.len(), rows.len());
        document.insert("first_event_ps".to_owned(), json!(profile.manifest.shared_start().0));
        document.insert("steps".to_owned(), region_json::steps(&found).into());
        document.insert("regions".to_owned(), rows.into());
        Ok::<Value, ApiError>(Value::Object(document))
    };
    let found = app.turns().run(Weight::Heavy, move |_| found()).await?;
    drop(waiting);
    ReplyForm::Json.reply(&found?)
}

/// Describes [`read`].
pub fn describe_read(_: &mut SchemaGenerator) -> ApiOperation {
    let content = json!({ "application/json": { "schema": { "type": "object" } } });
    ApiOperation::new(
        "readRegions",
        "Steps, layers and phases of a profile, and the regions that users named.",
    )
    .with(parameters_of::<ProfilePath>("path"))
    .with(parameters_of::<RegionsQuery>("query"))
    .answers(200, "The regions.", &content)
    .refuses(&[RefusalKind::BadQuestion, RefusalKind::NotFound])
}

/// `POST /api/profiles/{slug}/notes/regions`
pub async fn add(
    State(app): State<App>,
    At(at): At<ProfilePath>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let region: NotedRegion = message(body).await?;
    let change = move || changed(&app, at.slug(), |notes| notes.add(region));
    let notes = blocking(change).await?;
    Ok((StatusCode::CREATED, ReplyForm::of(&headers).reply(&notes)?).into_response())
}

/// Describes [`add`].
pub fn describe_add(schemas: &mut SchemaGenerator) -> ApiOperation {
    ApiOperation::new("addRegion", "Names a span of a profile. Answered with all notes.")
        .with(parameters_of::<ProfilePath>("path"))
        .takes(&json!({ "application/json": { "schema": schemas.subschema_for::<NotedRegion>() } }))
        .message::<Notes>(201, schemas)
        .refuses(&[RefusalKind::BadQuestion, RefusalKind::NotFound, RefusalKind::Conflict])
}

/// `PATCH /api/profiles/{slug}/notes/regions/{name}`
pub async fn rename(
    State(app): State<App>,
    At(at): At<RegionPath>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let new: NewRegionName = message(body).await?;
    let notes = blocking(move || changed(&app, &at.slug, |notes| notes.rename(&at.name, &new.name))).await?;
    ReplyForm::of(&headers).reply(&notes)
}

/// Describes [`rename`].
pub fn describe_rename(schemas: &mut SchemaGenerator) -> ApiOperation {
    ApiOperation::new(
        "renameRegion",
        "Gives a region that a user named another name. Answered with all notes.",
    )
    .with(parameters_of::<RegionPath>("path"))
    .takes(&json!({ "application/json": { "schema": schemas.subschema_for::<NewRegionName>() } }))
    .message::<Notes>(200, schemas)
    .refuses(&[RefusalKind::BadQuestion, RefusalKind::NotFound, RefusalKind::Conflict])
}

/// `DELETE /api/profiles/{slug}/notes/regions/{name}`
pub async fn remove(
    State(app): State<App>,
    At(at): At<RegionPath>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let notes = blocking(move || changed(&app, &at.slug, |notes| notes.delete(&at.name).map(drop))).await?;
    ReplyForm::of(&headers).reply(&notes)
}

/// Describes [`remove`].
pub fn describe_remove(schemas: &mut SchemaGenerator) -> ApiOperation {
    ApiOperation::new("deleteRegion", "Deletes a region that a user named. Answered with all notes.")
        .with(parameters_of::<RegionPath>("path"))
        .message::<Notes>(200, schemas)
        .refuses(&[RefusalKind::NotFound])
}

/// The notes after a change.
fn changed(
    app: &App,
    slug: &str,
    change: impl FnOnce(&mut Notes) -> Result<(), nprof_engine::wire::notes::NotesError>,
) -> Result<Notes, ApiError> {
    let id = app.store().find(slug)?.manifest.id.clone();
    let changed = app.store().change_notes(&id, |notes| {
        change(notes)?;
        Ok(notes.clone())
    });
    Ok(changed?)
}

/// The message in the body of a request.
async fn message<T: DeserializeOwned>(body: Body) -> Result<T, ApiError> {
    let bytes = to_bytes(body, MOST_BYTES).await;
    let bytes =
        bytes.map_err(|error| ApiError::BadRequest(format!("the request cannot be read ({error})")))?;
    serde_json::from_slice(&bytes)
        .map_err(|error| ApiError::BadRequest(format!("the request is not what is expected ({error})")))
}
