//! The page: everything that is not the API.

use axum::body::Bytes;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};

use crate::assets::{self, Asset, Encoding};
use crate::error::ApiError;

/// A file of the page; `/` and `/profile/…` are the page itself, whose own router reads the rest of the address.
pub async fn read(method: Method, uri: Uri, headers: HeaderMap) -> Result<Response, ApiError> {
    let path = uri.path();
    let unknown = || ApiError::NotFound(format!("there is nothing at {path}"));
    if path == "/api" || path.starts_with("/api/") {
        return Err(unknown());
    }
    if method != Method::GET && method != Method::HEAD {
        return Err(ApiError::MethodNotAllowed(method.to_string()));
    }
    let asset = match path {
        "/" => assets::index(),
        path if path.starts_with("/profile/") => assets::index(),
        path => assets::find(path.trim_start_matches('/')).ok_or_else(unknown)?,
    };
    Ok(reply(asset, &headers))
}

fn reply(asset: &'static Asset, headers: &HeaderMap) -> Response {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let caching = [
        (header::CACHE_CONTROL, asset.cache_control().to_owned()),
        (header::ETAG, asset.etag()),
        (header::VARY, "accept-encoding".to_owned()),
    ];
    if asset.matches(text(header::IF_NONE_MATCH)) {
        return (StatusCode::NOT_MODIFIED, caching).into_response();
    }
    let kind = [(header::CONTENT_TYPE, asset.media_type)];
    if asset.encoding == Encoding::Gzip && text(header::ACCEPT_ENCODING).contains("gzip") {
        let packed = [(header::CONTENT_ENCODING, "gzip")];
        return (caching, kind, packed, Bytes::from_static(asset.bytes)).into_response();
    }
    (caching, kind, asset.content().into_owned()).into_response()
}
