//! The page: all paths outside the API.

use axum::body::Bytes;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{Html, IntoResponse, Redirect, Response};

use crate::assets::{self, Asset};
use crate::http::error::ApiError;
use crate::http::negotiation::{Known, accepts, accepts_encoding, known};
use crate::markup::{self, escaped};

/// Begins the addresses of the page's places: of a profile, and of several beside each other.
const PLACES: [&str; 2] = ["/profile/", "/compare/"];

/// Serves a file of the page. `/` and the places give the page itself, whose own router reads the
/// rest of the address. `/profile_cc/NAME`, which neuron-profile prints for several ranks, leads to
/// the profile.
pub async fn read(method: Method, uri: Uri, headers: HeaderMap) -> Result<Response, ApiError> {
    let path = uri.path();
    if path == "/api" || path.starts_with("/api/") {
        return Err(unknown(path));
    }
    if method != Method::GET && method != Method::HEAD {
        return Err(ApiError::MethodNotAllowed(method.to_string()));
    }
    if let Some(name) = path.strip_prefix("/profile_cc/").filter(|name| !name.is_empty()) {
        let query = uri.query().map_or_else(String::new, |query| format!("?{query}"));
        return Ok(Redirect::temporary(&format!("/profile/{name}{query}")).into_response());
    }
    let asset = match path {
        "/" => Some(assets::index()),
        path if PLACES.iter().any(|place| path.starts_with(place)) => Some(assets::index()),
        path => assets::find(path.trim_start_matches('/')),
    };
    match asset {
        Some(asset) => Ok(reply(asset, &headers)),
        None if accepts(&headers, "text/html") => Ok(nothing_here(path)),
        None => Err(unknown(path)),
    }
}

fn unknown(path: &str) -> ApiError {
    ApiError::NotFound(format!("there is no resource at {path}"))
}

/// A "not found" answer for people.
fn nothing_here(path: &str) -> Response {
    let path = escaped(path);
    let body = format!(
        "<h1>Not found</h1>\n<p>There is no page at <code>{path}</code>.</p>\n\
         <p><a href=\"/\">All profiles</a></p>"
    );
    let page = markup::page("Not found · nprof", "", &body);
    let headers = [(header::CACHE_CONTROL, "no-store"), (header::VARY, "accept")];
    (StatusCode::NOT_FOUND, headers, Html(page)).into_response()
}

fn reply(asset: &'static Asset, headers: &HeaderMap) -> Response {
    let form = asset.forms().find(|(encoding, _)| accepts_encoding(headers, encoding));
    let etag = asset.etag(form.map(|(encoding, _)| encoding));
    let is_known = known(headers, &etag) != Known::No;
    let caching = [
        (header::CACHE_CONTROL, asset.cache_control().to_owned()),
        (header::ETAG, etag),
        (header::VARY, "accept-encoding".to_owned()),
    ];
    if is_known {
        return (StatusCode::NOT_MODIFIED, caching).into_response();
    }
    let kind = [(header::CONTENT_TYPE, asset.media_type)];
    if let Some((encoding, bytes)) = form {
        let packed = [(header::CONTENT_ENCODING, encoding)];
        return (caching, kind, packed, Bytes::from_static(bytes)).into_response();
    }
    (caching, kind, asset.content().into_owned()).into_response()
}
