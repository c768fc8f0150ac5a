//! Download of a profile as a file, in the formats of [`crate::export::EXPORTS`].

use std::path::Path;

use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use http_body_util::BodyExt;
use http_body_util::channel::Channel;
use nprof_engine::exec::{Cancel, Work};
use nprof_engine::wire::ask::RankId;
use nprof_engine::wire::export::{ExportFormat, ExportList};
use nprof_engine::wire::percent::percent_encoded;
use nprof_engine::wire::rank_ref::RankRef;
use nprof_engine::wire::refusal::{Refusal, RefusalKind};
use schemars::{JsonSchema, SchemaGenerator};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::sync::oneshot;

use super::download_body::{Sending, WAITING};
use super::operation::{ApiOperation, parameters_of};
use super::path::{At, With};
use super::profiles::ProfilePath;
use super::reply::ReplyForm;
use crate::app::App;
use crate::export::cut::{PartOf, TakenPart};
use crate::export::requested_part::{Ranks, numbers, view_of};
use crate::export::table::{Prepare, files, of_rank};
use crate::export::track_pattern::TrackPattern;
use crate::export::{Choice, Comparing, Export, ExportChoices, ExportError, RanksOf, Scope, find};
use crate::http::error::ApiError;
use crate::http::peer::Peer;
use crate::http::turns::Weight;
use crate::store::ATTEMPTS;
use crate::units::{size_bytes, time_ps};

/// Query of an export.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExportQuery {
    /// A format of /api/exports.
    #[schemars(required, extend("enum" = keys()))]
    format: Option<String>,
    /// These ranks, such as 0,3-5; all by default. A format with a file for each rank takes one.
    ranks: Option<String>,
    /// From this time on, counted from the first event: a number and ps, ns, us, ms or s, such as
    /// 10ms.
    from: Option<String>,
    /// Up to this time.
    to: Option<String>,
    /// These tracks: names with their groups, separated by commas, `*` for any text, such as
    /// Engines/*,DMA/q*.
    tracks: Option<String>,
    /// perfetto: whether arrows between slices are written.
    #[schemars(extend("default" = false))]
    flows: Option<bool>,
    /// csv: this table; all slices by default.
    table: Option<String>,
    /// html: refuse a larger file, such as 50MiB.
    max_size: Option<String>,
    /// html: the file opens at this view, an address of the page such as
    /// /profile/run-7?v=2&rank=1.
    view: Option<String>,
    /// html: whether the file has the dependency graph of the run, so that its page answers what-if
    /// questions.
    #[schemars(extend("default" = false))]
    what_if: Option<bool>,
}

/// Keys of the formats that are one file.
fn keys() -> Vec<&'static str> {
    files().map(|export| export.key).collect()
}

/// Describes [`list`].
pub fn describe_list(schemas: &mut SchemaGenerator) -> ApiOperation {
    let summary = "The formats in which a profile can be downloaded.";
    ApiOperation::new("listExports", summary).message::<ExportList>(200, schemas)
}

/// Describes [`read`].
pub fn describe_read(_: &mut SchemaGenerator) -> ApiOperation {
    let content: Map<String, Value> = files().map(|export| (media_type(export), schema(export))).collect();
    let refusals = [RefusalKind::BadQuestion, RefusalKind::NotFound, RefusalKind::TooSlow];
    ApiOperation::new("exportProfile", "A profile, or a part of it, as a file to keep.")
        .with(parameters_of::<ProfilePath>("path"))
        .with(parameters_of::<ExportQuery>("query"))
        .answers(200, "The file.", &content.into())
        .headers(200, &["Content-Disposition"])
        .refuses(&refusals)
}

/// The media type without its parameters.
fn media_type(export: &Export) -> String {
    export.media_type.split(';').next().unwrap_or_default().to_owned()
}

fn schema(export: &Export) -> Value {
    match media_type(export).as_str() {
        "application/json" => json!({ "schema": { "type": "object" } }),
        media_type if media_type.starts_with("text/") => json!({ "schema": { "type": "string" } }),
        _ => json!({ "schema": { "type": "string", "format": "binary" } }),
    }
}

/// `GET /api/exports`
pub async fn list(form: ReplyForm) -> Result<Response, ApiError> {
    let formats = files().map(|export| ExportFormat {
        key: export.key.to_owned(),
        title: export.title.to_owned(),
        doc: export.doc.to_owned(),
        extension: export.extension.to_owned(),
        is_per_rank: export.is_per_rank(),
        has_view: export.choices.contains(&Choice::View),
    });
    form.reply(&ExportList { formats: formats.collect() })
}

/// `GET /api/profiles/{slug}/export?format=…`
pub async fn read(
    State(app): State<App>,
    peer: Option<Extension<Peer>>,
    At(at): At<ProfilePath>,
    With(query): With<ExportQuery>,
) -> Result<Response, ApiError> {
    let wanted = ExportRequest::of(query)?;
    let peer = peer.map_or(Peer::Local(None), |Extension(peer)| peer);
    let place = app.turns().download(peer).ok_or_else(too_many)?;
    wanted.compare(&app, at.slug()).await;
    let turn = app.turns().wait(Weight::Heavy).await;
    let (head, answered) = oneshot::channel();
    let (sender, body) = Channel::<Bytes, ExportError>::new(WAITING);
    let sending = Sending::new(sender, app.clone(), turn);
    tokio::task::spawn_blocking(move || {
        wanted.answer(&app, at.slug(), head, sending);
        drop(place);
    });
    let lost = |_| ApiError::Internal("the export ended early".to_owned());
    let headers = answered.await.map_err(lost)??;
    // The layer that compresses asks again after the end, which a channel must not be asked.
    Ok((headers, Body::new(body.fuse())).into_response())
}

fn too_many() -> ApiError {
    let what = "too many downloads run at once; wait for one of them";
    Refusal::new(RefusalKind::TooSlow, what).into()
}

/// The sender of the response's head.
type HeadSender = oneshot::Sender<Result<HeaderMap, ApiError>>;

/// A request for an export.
struct ExportRequest {
    export: &'static Export,
    prepare: Prepare,
    ranks: Option<Ranks>,
    part: PartOf,
    choices: ExportChoices,
}

impl ExportRequest {
    fn of(query: ExportQuery) -> Result<Self, ApiError> {
        let (export, prepare) = format(query.format.as_deref())?;
        let part = PartOf {
            from_ps: parsed("from", query.from.as_deref(), time_ps)?,
            to_ps: parsed("to", query.to.as_deref(), time_ps)?,
            tracks: parsed("tracks", query.tracks.as_deref(), TrackPattern::parse_all)?.unwrap_or_default(),
        };
        let choices = ExportChoices {
            has_flows: query.flows.unwrap_or(false),
            max_bytes: parsed("max_size", query.max_size.as_deref(), size_bytes)?,
            table: query.table,
            view: parsed("view", query.view.as_deref(), view_of)?,
            has_graph: query.what_if.unwrap_or(false),
        };
        if let Some(choice) = export.foreign(&choices) {
            return Err(wrong(
                choice.parameter(),
                &format!("it goes with format={} alone", choice.formats()),
            ));
        }
        let ranks = parsed("ranks", query.ranks.as_deref(), Ranks::parse)?;
        Ok(Self { export, prepare, ranks, part, choices })
    }

    /// Compares the ranks in a process of their own, if the export shows them together. Without a
    /// comparison, it shows them one by one.
    async fn compare(&self, app: &App, slug: &str) {
        if self.export.key == "html" && self.ranks.is_none() && self.part == PartOf::default() {
            let all = RankId { profile: slug.to_owned(), rank: RankRef::All };
            if let Err(error) = app.compare(&all).await {
                tracing::warn!("the export has no view of all ranks: {error}");
            }
        }
    }

    /// Sends the head and writes the file. Blocks. An error before the first byte is the answer; a
    /// later one closes the connection, so that the browser discards the file. Work ends soon after
    /// the client has left.
    fn answer(self, app: &App, slug: &str, head: HeadSender, sending: Sending) {
        let mut attempt = 0;
        loop {
            attempt += 1;
            // Unreadable files can have been removed or replaced meanwhile.
            let is_final = |error: &ApiError| attempt == ATTEMPTS || !error.is_internal();
            let (taken, name) = match self.take(app, slug, &head) {
                Ok(taken) => taken,
                Err(error) if is_final(&error) => return drop(head.send(Err(error))),
                Err(_) => continue,
            };
            let is_gone = || head.is_closed();
            let work = Work { cancel: Cancel::when(&is_gone), ..Work::IN_PLACE };
            let file = match (self.prepare)(taken.ranks(), &self.choices, work).map_err(ApiError::from) {
                Ok(file) => file,
                Err(error) if is_final(&error) => return drop(head.send(Err(error))),
                Err(_) => continue,
            };
            let headers = headers(self.export, &name, file.size_bytes());
            if head.send(Ok(headers)).is_ok() {
                sending.send(|out| file.write(out));
            }
            return;
        }
    }

    /// The requested part of the profile, and the name of the file.
    fn take(&self, app: &App, slug: &str, head: &HeadSender) -> Result<(TakenPart, String), ApiError> {
        let profile = app.store().find(slug)?;
        let all = &profile.manifest.ranks;
        let ranks = self.ranks.as_ref().map_or_else(|| Ok(all.clone()), |ranks| ranks.of(&profile))?;
        let mut name = format!("{}.{}", profile.manifest.slug(), self.export.extension);
        if self.export.is_per_rank()
            && let [first, others @ ..] = &ranks[..]
        {
            if !others.is_empty() {
                let (format, first, known) = (self.export.key, first.rank, numbers(&ranks));
                return Err(ExportError::SeveralRanks { format, first, known }.into());
            }
            if all.len() > 1 {
                name = of_rank(Path::new(&name), first.rank).to_string_lossy().into_owned();
            }
        }
        let is_gone = || head.is_closed();
        let of = RanksOf { comparing: Comparing::Apart, ..RanksOf::some(&profile, &ranks) };
        Ok((self.part.take(|| app.store().stage_anywhere(), of, Cancel::when(&is_gone))?, name))
    }
}

/// The format with this key. It must be one file.
fn format(key: Option<&str>) -> Result<(&'static Export, Prepare), ApiError> {
    let known = || keys().join(", ");
    let export =
        key.and_then(find).ok_or_else(|| wrong("format", &format!("it should be one of {}", known())))?;
    match export.scope {
        Scope::Rank(prepare) | Scope::Profile(prepare) => Ok((export, prepare)),
        Scope::Folder(_) => {
            let key = export.key;
            Err(wrong("format", &format!("a {key} is a folder: `nprof export NAME --format {key} -o DIR`")))
        }
    }
}

fn parsed<T>(
    parameter: &str,
    text: Option<&str>,
    parse: impl FnOnce(&str) -> Result<T, String>,
) -> Result<Option<T>, ApiError> {
    text.map(parse).transpose().map_err(|error| wrong(parameter, &error))
}

fn wrong(parameter: &str, why: &str) -> ApiError {
    ApiError::BadRequest(format!("the parameter \"{parameter}\": {why}"))
}

fn headers(export: &Export, name: &str, size_bytes: Option<u64>) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(export.media_type));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // A name that no header can hold is left out: the browser takes one from the URL.
    let attachment = HeaderValue::from_str(&attachment(name));
    headers.insert(
        header::CONTENT_DISPOSITION,
        attachment.unwrap_or_else(|_| HeaderValue::from_static("attachment")),
    );
    if let Some(size_bytes) = size_bytes {
        headers.insert(header::CONTENT_LENGTH, size_bytes.into());
        // Compression would drop the length, by which browsers show progress and find a cut file.
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("identity"));
    }
    headers
}

/// The header that names the file. A name with letters beyond ASCII is also given as RFC 6266 asks.
fn attachment(name: &str) -> String {
    if name.is_ascii() {
        return format!("attachment; filename=\"{name}\"");
    }
    let plain: String = name.chars().map(|sign| if sign.is_ascii() { sign } else { '_' }).collect();
    format!("attachment; filename=\"{plain}\"; filename*=UTF-8''{}", percent_encoded(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_any_script_are_named() {
        assert_eq!(attachment("run.json"), "attachment; filename=\"run.json\"");
        assert_eq!(
            attachment("lauf-ü.json"),
            "attachment; filename=\"lauf-_.json\"; filename*=UTF-8''lauf-%C3%BC.json"
        );
    }

    #[track_caller]
    fn check_refused(query: ExportQuery, expected: &str) {
        let said = ExportRequest::of(query).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(said.contains(expected), "{said}");
    }

    #[test]
    fn a_wrong_parameter_is_named_with_what_it_takes() {
        let of = |format: &str| ExportQuery { format: Some(format.to_owned()), ..ExportQuery::default() };
        let text = |text: &str| Some(text.to_owned());
        check_refused(ExportQuery::default(), "\"format\": it should be one of html, perfetto, json, csv");
        check_refused(of("none"), "\"format\": it should be one of html");
        check_refused(of("site"), "`nprof export NAME --format site -o DIR`");
        check_refused(ExportQuery { ranks: text("5-3"), ..of("json") }, "\"ranks\": \"5-3\" is not a range");
        check_refused(ExportQuery { from: text("10"), ..of("json") }, "\"from\": \"10\" is not a time");
        let stars = Some("*a".repeat(30_000));
        check_refused(
            ExportQuery { tracks: stars, ..of("json") },
            "\"tracks\": a pattern has at most 1024 bytes",
        );
        check_refused(
            ExportQuery { table: text("slice"), ..of("json") },
            "\"table\": it goes with format=csv",
        );
        check_refused(
            ExportQuery { flows: Some(true), ..of("csv") },
            "\"flows\": it goes with format=perfetto",
        );
        check_refused(ExportQuery { view: text("run-7"), ..of("html") }, "\"view\": \"run-7\" is not the");
        check_refused(
            ExportQuery { view: text("/profile/run-7"), ..of("perfetto") },
            "\"view\": it goes with format=html or site",
        );
        assert!(ExportRequest::of(ExportQuery { max_size: text("1kB"), ..of("HTML") }).is_ok());
    }
}
