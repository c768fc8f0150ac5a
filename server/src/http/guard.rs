//! The guard in front of every request. It knows the token, pages of other sites, and foreign names
//! of this machine.
//!
//! *Invariant.* A request passes if its host name is known, no page of another site sent it in
//! secret, and its sender is the user of the server or has the token.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{Html, IntoResponse, Response};

use super::access::{Access, Changes, is_same_user, texts};
use super::error::ApiError;
use super::negotiation::accepts;
use super::peer::Peer;
use super::token;
use crate::markup::{escaped, page};

/// A token that is never right. The page of [`Verdict::Again`] leads to an address with it, so that
/// a browser without the cookie asks twice and not for ever.
const AGAIN: &str = "again";

/// Verdict of the guard about a request.
#[derive(Debug)]
enum Verdict {
    /// The request passes.
    Pass,
    /// The address contains the token: the browser keeps the token as a cookie, if it is right, and
    /// loads the address without it.
    Exchange { address: String, cookie: Option<String> },
    /// A link on the page of another site led here, so the browser did not send its cookie. It
    /// sends it when a page of this server leads to the address.
    Again { address: String },
    /// The request is refused.
    Refuse(ApiError),
}

/// Lets a request pass, or answers it.
pub async fn check(State(access): State<Arc<Access>>, request: Request, next: Next) -> Response {
    let peer = request.extensions().get().copied();
    match verdict(&access, peer, request.method(), request.uri(), request.headers()) {
        Verdict::Pass => next.run(request).await,
        Verdict::Exchange { address, cookie } => exchange(&address, cookie.as_deref()),
        Verdict::Again { address } => again(&address),
        Verdict::Refuse(error) => error.into_response(),
    }
}

fn verdict(access: &Access, peer: Option<Peer>, method: &Method, uri: &Uri, headers: &HeaderMap) -> Verdict {
    if let Some(error) = foreign(access, method, uri, headers) {
        return Verdict::Refuse(error);
    }
    let is_user = is_same_user(peer, headers);
    let is_known = is_user || access.has_token(headers);
    let given = match token::split(uri.query().unwrap_or_default()) {
        Some((given, rest)) if is_reading(method) => {
            let is_right = access.token.is(&given);
            if is_right || is_known {
                let cookie = is_right.then(|| access.cookie(headers));
                return Verdict::Exchange { address: address(uri.path(), &rest), cookie };
            }
            Some(given)
        }
        _ => None,
    };
    if !is_known {
        return match given {
            None if can_lack_its_cookie(headers) && accepts(headers, "text/html") => {
                let query = uri.query().map_or_else(String::new, |query| format!("{query}&"));
                let query = format!("{query}{}={AGAIN}", token::PARAMETER);
                Verdict::Again { address: address(uri.path(), &query) }
            }
            given => Verdict::Refuse(unknown(given.as_deref())),
        };
    }
    if !is_reading(method) && access.changes == Changes::SameUser && !is_user {
        return Verdict::Refuse(ApiError::Forbidden(
            "this server takes no changes from other machines; its user can start it with --allow-changes"
                .to_owned(),
        ));
    }
    Verdict::Pass
}

/// The refusal of a foreign host name, or of a request that the page of another site sent.
fn foreign(access: &Access, method: &Method, uri: &Uri, headers: &HeaderMap) -> Option<ApiError> {
    // Browsers always send `Host`. A request without it comes from an HTTP/1.0 tool.
    let mut hosts = texts(headers, &header::HOST).chain(uri.authority().map(|authority| authority.as_str()));
    if let Some(host) = hosts.find(|host| !access.has_name(host)) {
        return Some(ApiError::Forbidden(format!(
            "this server does not know the name \"{host}\"; its user can start it with --allow-name NAME"
        )));
    }
    let other_site = "a page of another site cannot ask this server";
    let is_own = values(headers, "sec-fetch-site").all(|site| matches!(site, "same-origin" | "none"));
    let is_link = is_reading(method) && is_link_of_another_site(headers);
    if !is_own && !is_link {
        return Some(ApiError::Forbidden(other_site.to_owned()));
    }
    let host = texts(headers, &header::HOST).next();
    let is_of_host = |origin: &str| origin.split_once("://").map(|(_, rest)| rest) == host;
    if !is_reading(method) && !texts(headers, &header::ORIGIN).all(is_of_host) {
        return Some(ApiError::Forbidden("a page of another site cannot change the store".to_owned()));
    }
    None
}

/// Whether a user followed a link of another site to this server, or went there in the same tab.
fn is_link_of_another_site(headers: &HeaderMap) -> bool {
    let is = |name, known: &[&str]| values(headers, name).all(|value| known.contains(&value));
    let has = |name| values(headers, name).next().is_some();
    has("sec-fetch-site")
        && is("sec-fetch-site", &["cross-site", "same-site"])
        && has("sec-fetch-mode")
        && is("sec-fetch-mode", &["navigate"])
        && is("sec-fetch-dest", &["document"])
}

/// Whether a browser can have a cookie that it did not send, because a link of another site led
/// here. Beyond this machine, browsers do not tell a server without TLS where a request comes from.
fn can_lack_its_cookie(headers: &HeaderMap) -> bool {
    is_link_of_another_site(headers) || values(headers, "sec-fetch-site").next().is_none()
}

/// Only these methods change nothing.
fn is_reading(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

/// All values of a header. A sender that repeats one gets no rights by it: each of them counts.
fn values<'a>(headers: &'a HeaderMap, name: &'static str) -> impl Iterator<Item = &'a str> {
    headers.get_all(name).iter().map(|value| value.to_str().unwrap_or_default())
}

fn unknown(given: Option<&str>) -> ApiError {
    let reason = match given {
        None | Some(AGAIN) => "this server needs its token",
        Some(_) => "this token is not that of the running server, which makes a new one at each start",
    };
    ApiError::Unauthorized(format!(
        "{reason}; open the link with \"?token=\" that nprof printed, or send \"Authorization: Bearer TOKEN\""
    ))
}

/// The address within this server. Two slashes at its start would lead to another host.
fn address(path: &str, query: &str) -> String {
    let mark = if query.is_empty() { "" } else { "?" };
    format!("/{}{mark}{query}", path.trim_start_matches(['/', '\\']))
}

fn exchange(address: &str, cookie: Option<&str>) -> Response {
    let mut response = StatusCode::SEE_OTHER.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    for (name, value) in [(header::LOCATION, Some(address)), (header::SET_COOKIE, cookie)] {
        // Every request's path and query are those of a header.
        if let Some(value) = value.and_then(|value| HeaderValue::from_str(value).ok()) {
            headers.insert(name, value);
        }
    }
    response
}

fn again(address: &str) -> Response {
    let address = escaped(address);
    let head = format!("<meta http-equiv=\"refresh\" content=\"0;url={address}\">\n");
    let body = format!("<p><a href=\"{address}\">Continue to nprof</a></p>");
    let page = Html(page("nprof", &head, &body));
    (StatusCode::UNAUTHORIZED, [(header::CACHE_CONTROL, "no-store")], page).into_response()
}
