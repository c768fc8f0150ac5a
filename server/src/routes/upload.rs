//! Uploads of traces. The body is one file, answered with a job, or a form with several files. A
//! form is answered when the profile is complete, or with a job if the client prefers that.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{FromRequest, Multipart, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use http_body_util::BodyExt;
use nprof_engine::wire::catalog::ProfileInfo;
use nprof_engine::wire::job::JobReport;
use nprof_engine::wire::refusal::RefusalKind;
use schemars::{JsonSchema, SchemaGenerator};
use serde::Deserialize;
use serde_json::json;
use tokio::fs::File;
use tokio::io::AsyncWriteExt;

use super::blocking;
use super::operation::{ApiOperation, described, parameters_of};
use super::path::With;
use super::reply::ReplyForm;
use crate::app::App;
use crate::http::error::ApiError;
use crate::ingest::IngestSettings;
use crate::jobs::Job;
use crate::store::{Existing, Slug, Staging};

/// Most parts of a form.
const MAX_PARTS: usize = 16_384;
/// Most files that the name of a job names.
const MAX_NAMED: usize = 4;
/// Longest file name in common file systems.
const MAX_NAME_BYTES: usize = 255;

/// Query of an upload.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct UploadQuery {
    /// Name of the file in a raw body. A number of a rank in the name is used.
    name: Option<String>,
    /// Name of the profile in URLs; by default its id.
    slug: Option<String>,
    /// Name of the profile that the page shows.
    display_name: Option<String>,
    /// Whether the upload replaces an existing profile.
    #[serde(default)]
    force: bool,
}

impl UploadQuery {
    fn settings(&self) -> Result<IngestSettings, ApiError> {
        let slug = self.slug.as_deref().map(str::parse::<Slug>).transpose()?;
        let existing = if self.force { Existing::Replace } else { Existing::Keep };
        Ok(IngestSettings {
            existing,
            slug,
            display_name: self.display_name.clone(),
            ..IngestSettings::default()
        })
    }
}

/// `POST /api/profiles`
pub async fn create(
    State(app): State<App>,
    With(query): With<UploadQuery>,
    form: ReplyForm,
    request: Request,
) -> Result<Response, ApiError> {
    let settings = query.settings()?;
    let staging = {
        let app = app.clone();
        blocking(move || Ok(app.store().stage()?)).await?
    };
    let content_type = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let is_form =
        content_type.is_some_and(|value| value.to_ascii_lowercase().starts_with("multipart/form-data"));
    let is_watched = !is_form || prefers_a_job(request.headers());
    let mut received = Received::default();
    if is_form {
        let multipart = Multipart::from_request(request, &())
            .await
            .map_err(|rejection| ApiError::BadRequest(rejection.body_text()))?;
        receive_form(multipart, &staging, &mut received).await?;
    } else {
        let name = query.name.as_deref().unwrap_or("trace");
        receive(request.into_body(), &staging, name, &mut received).await?;
    }
    if received.files.is_empty() {
        return Err(ApiError::BadRequest("the form contains no file; add at least one trace".to_owned()));
    }
    let name = received.title();
    let job = app.jobs().start(staging, received.files, name, settings);
    if is_watched {
        let place = format!("/api/jobs/{}", job.id());
        return Ok(
            (StatusCode::ACCEPTED, [(header::LOCATION, place)], form.reply(&job.report())?).into_response()
        );
    }
    let mut watched = CancelOnDrop(Some(job));
    let profile = watched.outcome().await?;
    Ok((StatusCode::CREATED, form.reply(&profile.manifest.profile_info())?).into_response())
}

const SUMMARY: &str = "Ingests a trace, or an archive of traces. A raw body is one file and is answered with a job \
    as soon as it is received; a form may hold several files (ranks, a NEFF) and is answered when the profile \
    is there, or with a job to those who send `Prefer: respond-async`.";

/// Describes [`create`].
pub fn describe(schemas: &mut SchemaGenerator) -> ApiOperation {
    let file = json!({ "type": "string", "format": "binary" });
    let form = json!({ "type": "object", "additionalProperties": file });
    let watch = "`respond-async`: a form, too, is answered with a job (RFC 7240).";
    ApiOperation::new("createProfile", SUMMARY)
        .with(parameters_of::<UploadQuery>("query"))
        .with([described("Prefer", "header", false, watch, &json!({ "type": "string" }))])
        .takes(&json!({
            "application/octet-stream": { "schema": file },
            "multipart/form-data": { "schema": form },
        }))
        .message::<ProfileInfo>(201, schemas)
        .message::<JobReport>(202, schemas)
        .refuses(&[RefusalKind::BadQuestion, RefusalKind::Conflict, RefusalKind::BadTrace])
}

/// Returns true if the client prefers to watch the ingest over waiting for its end (`Prefer:
/// respond-async`, RFC 7240).
fn prefers_a_job(headers: &HeaderMap) -> bool {
    let values = headers.get_all("prefer").iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|part| part.trim().eq_ignore_ascii_case("respond-async"))
}

/// Cancels the job when the client disconnects, because nobody waits for the profile then.
struct CancelOnDrop(Option<Arc<Job>>);

impl CancelOnDrop {
    async fn outcome(&mut self) -> Result<crate::store::Profile, ApiError> {
        let Some(job) = &self.0 else { return Err(ApiError::NotFound("there is no such job".to_owned())) };
        let outcome = job.outcome().await;
        self.0 = None;
        outcome
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        if let Some(job) = &self.0 {
            job.cancel();
        }
    }
}

/// Writes the body to a file.
async fn receive(
    mut body: Body,
    staging: &Staging,
    name: &str,
    received: &mut Received,
) -> Result<(), ApiError> {
    let (mut file, path) = received.create(staging, name).await?;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| {
            ApiError::BadRequest(format!("the upload was interrupted ({error}); send the file again"))
        })?;
        if let Ok(bytes) = frame.into_data() {
            file.write_all(&bytes).await.map_err(|error| write_failed(&path, &error))?;
        }
    }
    file.flush().await.map_err(|error| write_failed(&path, &error))
}

/// Writes each file of a form to a file.
async fn receive_form(
    mut form: Multipart,
    staging: &Staging,
    received: &mut Received,
) -> Result<(), ApiError> {
    let broken = |error: axum::extract::multipart::MultipartError| ApiError::BadRequest(error.body_text());
    let mut parts = 0;
    while let Some(mut field) = form.next_field().await.map_err(broken)? {
        parts += 1;
        if parts > MAX_PARTS {
            let what = format!("a form has at most {MAX_PARTS} parts; send more traces as one archive");
            return Err(ApiError::BadRequest(what));
        }
        let Some(name) = field.file_name().map(str::to_owned) else { continue };
        let (mut file, path) = received.create(staging, &name).await?;
        while let Some(bytes) = field.chunk().await.map_err(broken)? {
            file.write_all(&bytes).await.map_err(|error| write_failed(&path, &error))?;
        }
        file.flush().await.map_err(|error| write_failed(&path, &error))?;
    }
    Ok(())
}

/// The files of an upload.
#[derive(Default)]
struct Received {
    files: Vec<PathBuf>,
    /// How often each name has come.
    counts: HashMap<String, usize>,
}

impl Received {
    /// Creates a file. Files of one name are in numbered directories. All others share the first
    /// directory: on some file systems, to remove a directory takes milliseconds.
    async fn create(&mut self, staging: &Staging, name: &str) -> Result<(File, PathBuf), ApiError> {
        let name = safe_name(name);
        let count = self.counts.entry(name.clone()).or_default();
        let folder = staging.scratch_path("upload").join(count.to_string());
        *count += 1;
        // The first file of the upload, or of those that have come so often.
        if self.files.is_empty() || *count > 1 {
            tokio::fs::create_dir_all(&folder).await.map_err(|error| write_failed(&folder, &error))?;
        }
        let path = folder.join(name);
        let file = File::create(&path).await.map_err(|error| write_failed(&path, &error))?;
        self.files.push(path.clone());
        Ok((file, path))
    }

    /// The names of the first files, and the number of the others.
    fn title(&self) -> String {
        let name = |path: &PathBuf| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let first = self.files.iter().take(MAX_NAMED).map(name).collect::<Vec<_>>().join(", ");
        match self.files.len().saturating_sub(MAX_NAMED) {
            0 => first,
            more => format!("{first} and {more} more"),
        }
    }
}

fn write_failed(path: &Path, error: &std::io::Error) -> ApiError {
    let what = format!("cannot write the upload ({error}); check the free space of the store");
    ApiError::logged(&format_args!("{}: {what}", path.display()), &what)
}

/// The last component of a name, which can be a path of another system, without characters that
/// file names must not have.
fn safe_name(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let mut safe: String = last.chars().filter(|sign| !sign.is_control()).collect();
    while safe.len() > MAX_NAME_BYTES {
        // Remove characters from the start: the end tells the kind of the file.
        safe.remove(0);
    }
    if matches!(safe.as_str(), "" | "." | "..") { "trace".to_owned() } else { safe }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, expected: &str) {
        assert_eq!(safe_name(name), expected, "{name:?}");
    }

    #[test]
    fn names_cannot_leave_the_directory() {
        check("profile_rank_1.ntff", "profile_rank_1.ntff");
        check("../../etc/passwd", "passwd");
        check("C:\\traces\\a.json", "a.json");
        check("..", "trace");
        check("a/", "trace");
        check("a\0b\n.json", "ab.json");
        check(&format!("{}.json", "é".repeat(200)), &format!("{}.json", "é".repeat(125)));
    }

    #[tokio::test]
    async fn only_files_of_one_name_need_directories_and_a_title_is_short() {
        let dir = tempfile::tempdir().unwrap();
        let staging = Staging::lent(dir.path());
        let mut received = Received::default();
        for name in ["a.json", "b.json", "a.json", "c.json", "a.json", "d.json"] {
            received.create(&staging, name).await.unwrap();
        }
        let below = |path: &PathBuf| path.strip_prefix(dir.path()).unwrap().display().to_string();
        let places: Vec<String> = received.files.iter().map(below).collect();
        let expected = ["0/a.json", "0/b.json", "1/a.json", "0/c.json", "2/a.json", "0/d.json"];
        assert_eq!(places, expected.map(|place| format!("upload/{place}")));
        assert_eq!(received.title(), "a.json, b.json, a.json, c.json and 2 more");
    }
}
