//! The description of the API, written by hand in `openapi.json`. Tests compare it with the table
//! of routes and with real answers, so it cannot drift from either.

use axum::http::header;
use axum::response::{IntoResponse, Response};

/// OpenAPI 3.1.
pub const DOCUMENT: &str = include_str!("openapi.json");

/// `GET /api/openapi.json`
pub async fn read() -> Response {
    ([(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-cache")], DOCUMENT)
        .into_response()
}
