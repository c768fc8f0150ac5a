//! All routes in one table.

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::{HeaderValue, Method, header};
use axum::routing::{MethodRouter, delete, get, post};
use nprof_engine::wire::POSTCARD_ZSTD;
use nprof_engine::wire::question::Question;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{DefaultPredicate, NotForContentType, Predicate};
use tower_http::set_header::SetResponseHeaderLayer;
use tower_http::trace::TraceLayer;

use crate::access::{self, Access};
use crate::app::App;
use crate::error::ApiError;
use crate::routes::{ask, export, health, jobs, openapi, page, profiles, reply, upload};

/// One operation of the API.
pub struct Route {
    /// HTTP method in capitals.
    pub method: &'static str,
    /// Path with parameters in braces.
    pub path: &'static str,
    handler: fn() -> MethodRouter<App>,
}

macro_rules! routes {
    ($($method:literal $path:literal => $verb:ident($handler:path);)+) => {
        &[$(Route { method: $method, path: $path, handler: || $verb($handler) }),+]
    };
}

/// The operations other than the questions of [`Question::PATHS`]. `routes/openapi.json` describes
/// both.
pub const ROUTES: &[Route] = routes! {
    "GET" "/api/health" => get(health::read);
    "GET" "/api/openapi.json" => get(openapi::read);
    "GET" "/api/exports" => get(export::list);
    "POST" "/api/profiles" => post(upload::create);
    "DELETE" "/api/profiles/{slug}" => delete(profiles::remove);
    "GET" "/api/profiles/{slug}/export" => get(export::read);
    "GET" "/api/jobs/{id}" => get(jobs::read);
    "DELETE" "/api/jobs/{id}" => delete(jobs::cancel);
};

/// The service: the API, the page, and the layers for all requests.
pub fn router(app: App, access: Access) -> Router {
    let asked = Question::PATHS.iter().fold(Router::new(), |router, path| router.route(path, get(ask::read)));
    let routes = ROUTES.iter().fold(asked, |router, route| router.route(route.path, (route.handler)()));
    // Tiles are already compressed.
    let worth_packing = DefaultPredicate::new().and(NotForContentType::const_new(POSTCARD_ZSTD));
    let always = |name, value| SetResponseHeaderLayer::overriding(name, HeaderValue::from_static(value));
    routes
        .fallback(page::read)
        .method_not_allowed_fallback(|method: Method| async move {
            ApiError::MethodNotAllowed(method.to_string())
        })
        // Traces are larger than any fixed limit. Only the disk limits them.
        .layer(DefaultBodyLimit::disable())
        .layer(axum::middleware::from_fn(reply::refusals))
        .layer(CompressionLayer::new().gzip(true).compress_when(worth_packing))
        .layer(axum::middleware::from_fn_with_state(access, access::check))
        .layer(always(header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .layer(always(header::X_FRAME_OPTIONS, "DENY"))
        .layer(always(header::REFERRER_POLICY, "no-referrer"))
        .layer(TraceLayer::new_for_http())
        .with_state(app)
}
