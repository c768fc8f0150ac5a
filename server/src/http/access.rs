//! The rules of one server: its token, the names it answers to, and who may change the store.

use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, header};

use super::peer::Peer;
use super::token::Token;

/// Headers that proxies add, in small letters. A request with one of them comes from somebody else
/// than its sender. No browser and no usual tool sends them by itself.
const FORWARDED: [&str; 18] = [
    "cdn-loop",
    "client-ip",
    "fastly-client-ip",
    "forwarded",
    "forwarded-for",
    "remote-addr",
    "true-client-ip",
    "via",
    "x-amzn-trace-id",
    "x-appengine-user-ip",
    "x-arr-log-id",
    "x-client-ip",
    "x-cluster-client-ip",
    "x-proxyuser-ip",
    "x-real-ip",
    "x-real-port",
    "x-remote-addr",
    "x-remote-ip",
];
/// Starts of the names of such headers.
const FORWARDED_STARTS: [&str; 5] = ["cf-", "x-azure-", "x-envoy-", "x-forwarded", "x-original-"];
/// Longest name of a host.
const MAX_NAME: usize = 253;

/// Clients that may change the store: upload, delete, cancel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Changes {
    /// Everybody who may ask.
    All,
    /// Only the user who runs the server, on the same machine.
    SameUser,
}

/// The rules of one server.
#[derive(Debug, Clone)]
pub struct Access {
    /// Admits everybody who sends it.
    pub token: Token,
    /// Port of the server. It is part of the cookie's name, because cookies do not know ports.
    pub port: u16,
    /// Host names under which the server can be addressed, besides `localhost` and all IP
    /// addresses.
    pub names: Vec<String>,
    /// Clients that may change the store.
    pub changes: Changes,
}

impl Access {
    /// Whether the server can be addressed by this `Host` header. An IP address needs no list: a
    /// site whose name points at this machine (DNS rebinding) sends its name, not the address.
    #[must_use]
    pub fn has_name(&self, host: &str) -> bool {
        let Ok(authority) = host.parse::<Authority>() else { return false };
        if host.contains('@') {
            return false;
        }
        let name = authority.host().trim_end_matches('.').to_ascii_lowercase();
        let bare = name.trim_start_matches('[').trim_end_matches(']');
        bare.parse::<std::net::IpAddr>().is_ok()
            || name == "localhost"
            || name.ends_with(".localhost")
            || self.names.iter().any(|known| known.trim_end_matches('.').eq_ignore_ascii_case(&name))
    }

    /// Whether the request has the token, as a cookie or as `Authorization: Bearer TOKEN`.
    #[must_use]
    pub fn has_token(&self, headers: &HeaderMap) -> bool {
        let bearer = texts(headers, &header::AUTHORIZATION).any(|text| {
            let Some((scheme, token)) = text.split_once(' ') else { return false };
            scheme.eq_ignore_ascii_case("bearer") && self.token.is(token.trim())
        });
        let name = self.cookie_name();
        let mut cookies = texts(headers, &header::COOKIE).flat_map(|text| text.split(';'));
        bearer
            || cookies.any(|cookie| {
                cookie.trim().split_once('=').is_some_and(|(of, token)| of == name && self.token.is(token))
            })
    }

    /// The value of `Set-Cookie` that keeps the token until the browser ends. Pages of other sites
    /// and scripts cannot use it.
    #[must_use]
    pub fn cookie(&self, headers: &HeaderMap) -> String {
        let is_https = texts(headers, &HeaderName::from_static("x-forwarded-proto")).any(|by| by == "https");
        let secure = if is_https { "; Secure" } else { "" };
        let (name, token) = (self.cookie_name(), self.token.text());
        format!("{name}={token}; Path=/; HttpOnly; SameSite=Strict{secure}")
    }

    fn cookie_name(&self) -> String {
        format!("nprof-{}", self.port)
    }
}

/// Whether the sender of a request is the user who runs the server. A proxy of this user is not:
/// it forwards the requests of others.
#[must_use]
pub fn is_same_user(peer: Option<Peer>, headers: &HeaderMap) -> bool {
    peer == Some(Peer::SameUser) && !headers.keys().any(|name| is_of_proxy(name.as_str()))
}

fn is_of_proxy(name: &str) -> bool {
    FORWARDED.contains(&name) || FORWARDED_STARTS.iter().any(|start| name.starts_with(start))
}

/// Reads the name of a host, as browsers send it.
///
/// # Errors
/// If no request can have this name.
pub fn host_name(text: &str) -> Result<String, String> {
    let is_label = |label: &str| {
        let is_of_label = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '-' | '_');
        !label.is_empty() && label.chars().all(is_of_label)
    };
    let name = text.strip_suffix('.').unwrap_or(text);
    if name.len() <= MAX_NAME && name.split('.').all(is_label) {
        return Ok(name.to_ascii_lowercase());
    }
    let what = if text.is_ascii() { "" } else { ", in ASCII as browsers send it (`xn--…`)" };
    Err(format!("\"{text}\" is no name of a host; write one, such as profiles.example.com{what}"))
}

/// Texts of a header. A value that is not text counts as empty, so it matches nothing.
pub(super) fn texts<'a>(headers: &'a HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'a str> {
    headers.get_all(name).iter().map(|value| value.to_str().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access() -> Access {
        let token = Token::random().unwrap();
        Access { token, port: 3001, names: vec!["Profiles.example".to_owned()], changes: Changes::All }
    }

    #[track_caller]
    fn check_name(host: &str, expected: bool) {
        assert_eq!(access().has_name(host), expected, "{host}");
    }

    #[test]
    fn names_of_this_machine_addresses_and_allowed_names() {
        for host in [
            "localhost",
            "LOCALHOST:3001",
            "127.0.0.1:3001",
            "127.1.2.3",
            "[::1]:80",
            "a.localhost",
            "localhost.",
            "10.0.0.1",
            "[2001:db8::2]:3001",
            "profiles.EXAMPLE:443",
            "profiles.example.",
        ] {
            check_name(host, true);
        }
        for host in [
            "",
            "evil.example",
            "localhost.evil.example",
            "evillocalhost",
            "127.0.0.1.evil.example:3001",
            "x@localhost",
            "evil.example@localhost:3001",
            "a.profiles.example",
            "localhost/",
        ] {
            check_name(host, false);
        }
    }

    #[test]
    fn the_token_comes_as_a_cookie_or_in_a_header() {
        let access = access();
        let token = access.token.text();
        let check = |name: HeaderName, value: &str, expected: bool| {
            let headers = HeaderMap::from_iter([(name, value.parse().unwrap())]);
            assert_eq!(access.has_token(&headers), expected, "{value}");
        };
        check(header::AUTHORIZATION, &format!("bearer {token}"), true);
        check(header::AUTHORIZATION, &format!("Basic {token}"), false);
        check(header::AUTHORIZATION, token, false);
        check(header::COOKIE, &format!("a=b; nprof-3001={token}"), true);
        check(header::COOKIE, &format!("nprof-3002={token}"), false);
        check(header::COOKIE, "nprof-3001=", false);
        let cookie = access.cookie(&HeaderMap::new());
        assert_eq!(cookie, format!("nprof-3001={token}; Path=/; HttpOnly; SameSite=Strict"));
        let proxied = HeaderMap::from_iter([(
            HeaderName::from_static("x-forwarded-proto"),
            header::HeaderValue::from_static("https"),
        )]);
        assert!(access.cookie(&proxied).ends_with("; Secure"));
    }

    #[test]
    fn a_proxy_is_not_its_user() {
        let direct = HeaderMap::new();
        assert!(is_same_user(Some(Peer::SameUser), &direct));
        assert!(!is_same_user(Some(Peer::Local(Some(7))), &direct));
        assert!(!is_same_user(None, &direct));
        let is_user = |name: &'static str| {
            let name = HeaderName::from_static(name);
            let headers = HeaderMap::from_iter([(name, header::HeaderValue::from_static("x"))]);
            is_same_user(Some(Peer::SameUser), &headers)
        };
        for name in FORWARDED {
            assert!(!is_user(name), "{name}");
        }
        let started =
            ["x-forwarded-for", "x-forwarded-prefix", "x-original-forwarded-for", "cf-connecting-ip"];
        for name in started.into_iter().chain(["x-envoy-external-address", "x-azure-clientip"]) {
            assert!(!is_user(name), "{name}");
        }
        for name in ["host", "cookie", "accept", "user-agent", "sec-fetch-site", "origin", "cache-control"] {
            assert!(is_user(name), "{name}");
        }
    }

    #[test]
    fn names_that_match_nothing_are_refused() {
        assert_eq!(host_name("Profiles.Example.").as_deref(), Ok("profiles.example"));
        for name in ["gpu_7", "localhost", "10.0.0.1", "xn--mnchen-3ya.example"] {
            assert_eq!(host_name(name).as_deref(), Ok(name));
        }
        let long = "a.".repeat(128);
        for wrong in
            ["", ".", "*", "*.example", "a, b", "a..b", "http://a", "a:80", "a/b", "münchen.example", &long]
        {
            let said = host_name(wrong).unwrap_err();
            assert!(said.contains("is no name of a host"), "{said}");
        }
        assert!(host_name("ü").unwrap_err().contains("xn--"));
    }
}
