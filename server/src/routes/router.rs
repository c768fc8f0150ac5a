//! All routes in one table.

use std::any::Any;
use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::http::{Method, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, patch, post};
use nprof_engine::wire::POSTCARD_ZSTD;
use nprof_engine::wire::questions::QUESTIONS;
use schemars::SchemaGenerator;
use serde_json::json;
use tower::ServiceBuilder;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{DefaultPredicate, NotForContentType, Predicate};
use tower_http::trace::TraceLayer;

use super::operation::{ApiOperation, Route};
use super::{ask, export, health, jobs, openapi, page, profiles, regions, reply, upload};
use crate::app::App;
use crate::http::access::Access;
use crate::http::error::ApiError;
use crate::http::{guard, headers};

macro_rules! routes {
    ($($method:literal $path:literal => $verb:ident($handler:path), $describe:path;)+) => {
        &[$(Route { method: $method, path: $path, handler: || $verb($handler), describe: $describe }),+]
    };
}

/// The operations other than those of [`QUESTIONS`], with their descriptions.
pub const ROUTES: &[Route] = routes! {
    "GET" "/api/health" => get(health::read), health::describe;
    "GET" "/api/openapi.json" => get(read_description), describe_description;
    "GET" "/api/exports" => get(export::list), export::describe_list;
    "POST" "/api/profiles" => post(upload::create), upload::describe;
    "DELETE" "/api/profiles/{slug}" => delete(profiles::remove), profiles::describe;
    "GET" "/api/profiles/{slug}/regions" => get(regions::read), regions::describe_read;
    "POST" "/api/profiles/{slug}/notes/regions" => post(regions::add), regions::describe_add;
    "PATCH" "/api/profiles/{slug}/notes/regions/{name}" => patch(regions::rename), regions::describe_rename;
    "DELETE" "/api/profiles/{slug}/notes/regions/{name}" => delete(regions::remove), regions::describe_remove;
    "GET" "/api/profiles/{slug}/export" => get(export::read), export::describe_read;
    "GET" "/api/jobs/{id}" => get(jobs::read), jobs::describe_read;
    "DELETE" "/api/jobs/{id}" => delete(jobs::cancel), jobs::describe_cancel;
};

/// The description of the API as JSON.
pub static DESCRIPTION: LazyLock<String> = LazyLock::new(|| openapi::document(ROUTES).to_string());

/// `GET /api/openapi.json`
async fn read_description() -> Response {
    let kind = [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-cache")];
    (kind, DESCRIPTION.as_str()).into_response()
}

fn describe_description(_: &mut SchemaGenerator) -> ApiOperation {
    let content = json!({ "application/json": { "schema": { "type": "object" } } });
    ApiOperation::new("openapi", "This document.").answers(200, "An OpenAPI document.", &content)
}

/// The service: the API, the page, and the layers for all requests. Requests carry their
/// [`crate::http::peer::Peer`] as an extension; without it they need the token.
pub fn router(app: App, access: Arc<Access>) -> Router {
    let asked = QUESTIONS.iter().fold(Router::new(), |router, row| router.route(row.path, get(ask::read)));
    let routes = ROUTES.iter().fold(asked, |router, route| router.route(route.path, (route.handler)()));
    let routes = routes.fallback(page::read).method_not_allowed_fallback(|method: Method| async move {
        ApiError::MethodNotAllowed(method.to_string())
    });
    guarded(routes, access).with_state(app)
}

/// Adds the layers, of which requests reach the first one first. They are one layer for the router:
/// it allocates for each of its own, and copies all that are below.
fn guarded(routes: Router<App>, access: Arc<Access>) -> Router<App> {
    // The query can contain the token, which must not reach a log.
    let span = |request: &Request| tracing::debug_span!("request", method = %request.method(), path = request.uri().path());
    // Tiles are already compressed.
    let worth_packing = DefaultPredicate::new().and(NotForContentType::const_new(POSTCARD_ZSTD));
    let layers = ServiceBuilder::new()
        .layer(TraceLayer::new_for_http().make_span_with(span))
        .map_response(headers::with_all)
        .layer(CompressionLayer::new().gzip(true).compress_when(worth_packing))
        .layer(axum::middleware::from_fn(reply::refusals))
        .layer(axum::middleware::from_fn_with_state(access, guard::check))
        .layer(CatchPanicLayer::custom(panicked))
        // Traces are larger than any fixed limit. Only the disk limits them.
        .layer(DefaultBodyLimit::disable());
    routes.layer(layers)
}

/// The answer of a handler that panicked. The panic itself is on standard error.
fn panicked(_: Box<dyn Any + Send>) -> Response {
    ApiError::Panicked.into_response()
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::http::StatusCode;
    use tower::ServiceExt;

    use super::*;
    use crate::child::IngestProcess;
    use crate::http::access::Changes;
    use crate::http::peer::Peer;
    use crate::http::token::Token;
    use crate::store::Store;

    async fn here() -> &'static str {
        panic!("in the handler")
    }

    async fn aside() -> Result<&'static str, ApiError> {
        crate::routes::blocking(|| panic!("in its work")).await
    }

    #[tokio::test]
    async fn a_handler_that_panics_answers_500_and_the_next_request_is_answered() {
        let dir = tempfile::tempdir().unwrap();
        let store = Arc::new(Store::open(&dir.path().join("store")).unwrap());
        let app = App::new(store, IngestProcess::of_this_program().unwrap());
        let access =
            Access { token: Token::random().unwrap(), port: 1, names: vec![], changes: Changes::All };
        let routes = Router::new().route("/here", get(here)).route("/aside", get(aside));
        let service = guarded(routes.route("/fine", get(async || "fine")), Arc::new(access)).with_state(app);
        for (path, status) in [
            ("/here", StatusCode::INTERNAL_SERVER_ERROR),
            ("/aside", StatusCode::INTERNAL_SERVER_ERROR),
            ("/fine", StatusCode::OK),
        ] {
            let request = Request::builder().uri(path).extension(Peer::SameUser).body(Body::empty()).unwrap();
            let answer = service.clone().oneshot(request).await.unwrap();
            assert_eq!(answer.status(), status, "{path}");
            let body = axum::body::to_bytes(answer.into_body(), usize::MAX).await.unwrap();
            assert!(!String::from_utf8_lossy(&body).contains("in "), "the message is for the log");
        }
    }
}
