//! Access control: guards a server on loopback against other sites in the user's own browser.

use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::error::ApiError;

/// Host names under which the server can be addressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Loopback names only. A site whose name points at 127.0.0.1 (DNS rebinding) is refused,
    /// because its requests carry the site's own name.
    Loopback,
    /// Any name: the user chose another address, and nprof cannot know all names of this machine.
    AnyName,
}

/// Refuses requests under foreign host names, and changes that the page of another site requests.
pub async fn check(State(access): State<Access>, request: Request, next: Next) -> Response {
    match refusal(access, request.method(), request.headers()) {
        Some(error) => error.into_response(),
        None => next.run(request).await,
    }
}

fn refusal(access: Access, method: &Method, headers: &HeaderMap) -> Option<ApiError> {
    let host = text(headers, &header::HOST);
    // Browsers always send `Host`. A request without it comes from an HTTP/1.0 tool.
    if let Some(host) = host
        && access == Access::Loopback
        && !is_loopback(host)
    {
        return Some(ApiError::Forbidden(format!(
            "this server answers to localhost only, not to \"{host}\"; start it with --host to allow other names"
        )));
    }
    let changes = !matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS);
    let origin = text(headers, &header::ORIGIN);
    if changes && origin.is_some_and(|origin| origin.split_once("://").map(|(_, rest)| rest) != host) {
        return Some(ApiError::Forbidden("a page of another site cannot change the store".to_owned()));
    }
    None
}

/// Text of a header. A header that is not text counts as present and empty, so it matches nothing.
fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name).map(|value| value.to_str().unwrap_or_default())
}

fn is_loopback(host: &str) -> bool {
    let Ok(authority) = host.parse::<Authority>() else { return false };
    let name = authority.host().trim_end_matches('.');
    let bare = name.trim_start_matches('[').trim_end_matches(']');
    let is_address = bare.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
    is_address || name.eq_ignore_ascii_case("localhost") || name.to_ascii_lowercase().ends_with(".localhost")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_host(host: &str, expected: bool) {
        assert_eq!(is_loopback(host), expected, "{host}");
    }

    #[test]
    fn loopback_names() {
        for host in [
            "localhost",
            "LOCALHOST:3001",
            "127.0.0.1:3001",
            "127.1.2.3",
            "[::1]:80",
            "a.localhost",
            "localhost.",
        ] {
            check_host(host, true);
        }
        for host in
            ["", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example:3001", "10.0.0.1", "[::2]"]
        {
            check_host(host, false);
        }
    }

    #[track_caller]
    fn check_request(access: Access, method: Method, headers: &[(HeaderName, &str)], allowed: bool) {
        let map = headers.iter().map(|(name, value)| (name.clone(), value.parse().unwrap())).collect();
        assert_eq!(refusal(access, &method, &map).is_none(), allowed, "{access:?} {method} {headers:?}");
    }

    #[test]
    fn foreign_names_and_foreign_pages_are_refused() {
        let (host, origin) = (header::HOST, header::ORIGIN);
        let local = (host.clone(), "localhost:3001");
        check_request(Access::Loopback, Method::GET, &[], true);
        check_request(Access::Loopback, Method::GET, std::slice::from_ref(&local), true);
        check_request(Access::Loopback, Method::GET, &[(host.clone(), "evil.example")], false);
        check_request(Access::AnyName, Method::GET, &[(host, "evil.example")], true);
        let from = |site| [local.clone(), (origin.clone(), site)];
        check_request(Access::Loopback, Method::POST, &from("http://localhost:3001"), true);
        check_request(Access::Loopback, Method::POST, &from("http://localhost:8080"), false);
        check_request(Access::Loopback, Method::DELETE, &from("https://evil.example"), false);
        check_request(Access::AnyName, Method::DELETE, &from("null"), false);
        check_request(Access::Loopback, Method::GET, &from("https://evil.example"), true);
    }
}
