//! Clients that may ask a server, and the rights of a browser with the answers.

use std::io::{BufReader, Read};
use std::process::Stdio;

use axum::body::Body;
use axum::http::StatusCode;
use axum::http::request::Builder;
use nprof_engine::wire::POSTCARD;
use nprof_engine::wire::refusal::{Refusal, RefusalKind};
use nprof_server::http::access::Changes;
use nprof_server::http::peer::Peer;

use crate::cli::{Running, get, line_with, nprof};
use crate::stage::{Answer, Stage, request, request_of, segment_path};

const STRANGER: Peer = Peer::Local(Some(1001));
const BROWSER: &str = "text/html,application/xhtml+xml,*/*;q=0.8";
const PATHS: [(&str, &str); 6] = [
    ("GET", "/"),
    ("GET", "/profile/small"),
    ("GET", "/api/profiles"),
    ("GET", "/api/health"),
    ("GET", "/api/profiles/small/export?format=json"),
    ("DELETE", "/api/profiles/small"),
];

async fn ask(stage: &Stage, request: Builder) -> Answer {
    stage.ask(request.body(Body::empty()).unwrap()).await
}

fn remote() -> Peer {
    Peer::Remote("10.0.0.9".parse().unwrap())
}

#[tokio::test]
async fn only_the_user_of_the_server_needs_no_token() {
    let stage = Stage::new();
    let bearer = format!("Bearer {}", stage.access.token.text());
    for peer in [STRANGER, Peer::Local(None), remote()] {
        for (method, path) in PATHS {
            let refused = ask(&stage, request_of(peer, method, path)).await;
            assert_eq!(refused.status, StatusCode::UNAUTHORIZED, "{peer:?} {method} {path}");
            assert!(refused.json()["error"].as_str().unwrap().contains("open the link"));
            assert!(refused.header("www-authenticate").starts_with("Bearer"));
            assert!(!refused.text().contains(stage.access.token.text()));
            let cookie = request_of(peer, method, path)
                .header("cookie", "nprof-3001=00000000000000000000000000000000");
            assert_eq!(ask(&stage, cookie).await.status, StatusCode::UNAUTHORIZED);
        }
        let admitted = request_of(peer, "GET", "/api/profiles").header("authorization", &bearer);
        assert_eq!(ask(&stage, admitted).await.status, StatusCode::OK, "{peer:?}");
    }
    // A connection whose owner was never looked up counts as a stranger's.
    let unknown = axum::http::Request::builder().uri("/api/profiles").header("host", "localhost");
    assert_eq!(ask(&stage, unknown).await.status, StatusCode::UNAUTHORIZED);
    // A proxy of the user forwards the requests of others.
    for header in ["x-forwarded-for", "forwarded", "via"] {
        let forwarded = request("GET", "/api/profiles").header(header, "10.0.0.9");
        assert_eq!(ask(&stage, forwarded).await.status, StatusCode::UNAUTHORIZED, "{header}");
    }
    for (method, path) in PATHS {
        assert!(ask(&stage, request(method, path)).await.status.is_success(), "{method} {path}");
    }
}

#[tokio::test]
async fn a_refusal_is_a_page_for_people_and_a_message_for_the_page() {
    let stage = Stage::new();
    let refused = |accept| {
        let request = request_of(STRANGER, "GET", "/profile/small").header("accept", accept);
        ask(&stage, request.header("sec-fetch-site", "none").header("sec-fetch-mode", "navigate"))
    };
    let page = refused(BROWSER).await;
    assert_eq!(page.status, StatusCode::UNAUTHORIZED);
    assert!(page.header("content-type").starts_with("text/html"));
    assert!(page.text().contains("<h1>Not admitted</h1>") && page.text().contains("?token="));
    let message: Refusal = postcard::from_bytes(&refused(POSTCARD).await.body).unwrap();
    assert_eq!(message.kind, RefusalKind::Unauthorized);
    // Two names at once: both must be known.
    let name =
        ask(&stage, request("GET", "/").header("host", "evil.example").header("accept", BROWSER)).await;
    assert_eq!(name.status, StatusCode::FORBIDDEN);
    assert!(name.text().contains("--allow-name"), "{}", name.text());
}

#[tokio::test]
async fn the_printed_link_becomes_a_cookie() {
    let stage = Stage::new();
    let token = stage.access.token.text().to_owned();
    let link = |peer, token: &str| {
        let path = format!("/profile/small?rank=0&token={token}&x=1");
        ask(&stage, request_of(peer, "GET", &path).header("accept", BROWSER))
    };
    let exchanged = link(STRANGER, &token).await;
    assert_eq!(exchanged.status, StatusCode::SEE_OTHER);
    assert_eq!(exchanged.header("location"), "/profile/small?rank=0&x=1");
    assert_eq!(exchanged.header("cache-control"), "no-store");
    let cookie = exchanged.header("set-cookie").to_owned();
    assert_eq!(cookie, format!("nprof-3001={token}; Path=/; HttpOnly; SameSite=Strict"));
    let cookie = cookie.split(';').next().unwrap();
    for (method, path) in PATHS {
        let admitted = ask(&stage, request_of(STRANGER, method, path).header("cookie", cookie)).await;
        assert!(admitted.status.is_success(), "{method} {path}: {}", admitted.status);
    }
    let wrong = "0".repeat(32);
    let refused = link(STRANGER, &wrong).await;
    assert_eq!(refused.status, StatusCode::UNAUTHORIZED);
    assert!(refused.text().contains("makes a new one at each start"), "{}", refused.text());
    // The user of the server comes in with an old link too. The link gives no cookie then.
    let old = link(Peer::SameUser, &wrong).await;
    assert_eq!((old.status, old.header("set-cookie")), (StatusCode::SEE_OTHER, ""));
    let changed = request_of(STRANGER, "DELETE", &format!("/api/profiles/small?token={token}"));
    assert_eq!(ask(&stage, changed).await.status, StatusCode::UNAUTHORIZED, "a link only reads");
}

#[tokio::test]
async fn a_link_never_leads_to_another_host() {
    let stage = Stage::new();
    for path in ["//evil.example/", "///evil.example/a"] {
        let path = format!("{path}?token={}", stage.access.token.text());
        let answer = ask(&stage, request("GET", &path)).await;
        assert_eq!(answer.status, StatusCode::SEE_OTHER);
        assert!(answer.header("location").starts_with("/evil.example/"), "{}", answer.header("location"));
    }
}

#[tokio::test]
async fn a_link_on_another_site_asks_again_once() {
    let stage = Stage::new();
    let from_site = |path: &str| {
        let request = request_of(STRANGER, "GET", path).header("accept", BROWSER);
        ask(&stage, request.header("sec-fetch-site", "cross-site").header("sec-fetch-mode", "navigate"))
    };
    let first = from_site("/profile/small?a=%22%3E").await;
    assert_eq!(first.status, StatusCode::UNAUTHORIZED);
    assert!(
        first.text().contains("content=\"0;url=/profile/small?a=%22%3E&amp;token=again\""),
        "{}",
        first.text()
    );
    // Beyond this machine, a browser tells a server without TLS nothing.
    let silent = ask(&stage, request_of(STRANGER, "GET", "/profile/small").header("accept", BROWSER)).await;
    assert!(silent.text().contains("http-equiv"), "{}", silent.text());
    let silent = request_of(STRANGER, "GET", "/profile/small?token=again").header("accept", BROWSER);
    let silent = ask(&stage, silent).await;
    assert!(silent.text().contains("this server needs its token"), "{}", silent.text());
    let second = from_site("/profile/small?a=%22%3E&token=again").await;
    assert!(second.text().contains("this server needs its token") && !second.text().contains("http-equiv"));
    let cookie = format!("nprof-3001={}", stage.access.token.text());
    let with_cookie = request_of(STRANGER, "GET", "/profile/small?token=again").header("cookie", cookie);
    assert_eq!(ask(&stage, with_cookie).await.header("location"), "/profile/small");
}

#[tokio::test]
async fn foreign_names_are_refused_whatever_the_address_is() {
    let mut stage = Stage::new();
    stage.access.changes = Changes::SameUser;
    stage.access.names = vec!["profiles.example".to_owned()];
    stage.restart();
    let status = async |host: &str| {
        let request = axum::http::Request::builder().uri("/api/profiles").header("host", host);
        ask(&stage, request.extension(Peer::SameUser)).await.status
    };
    for host in ["localhost:3001", "127.0.0.1:3001", "[::1]", "10.0.0.5:3001", "profiles.example"] {
        assert_eq!(status(host).await, StatusCode::OK, "{host}");
    }
    for host in ["evil.example:3001", "x@localhost", "a.profiles.example", ""] {
        assert_eq!(status(host).await, StatusCode::FORBIDDEN, "{host}");
    }
    let absolute = request("GET", "http://evil.example/api/profiles");
    assert_eq!(ask(&stage, absolute).await.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn pages_of_other_sites_can_only_lead_here() {
    let stage = Stage::new();
    let status = async |method: &str, headers: &[(&str, &str)]| {
        let request = request(method, "/api/profiles");
        let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        ask(&stage, request).await.status
    };
    let (site, mode, dest) = ("sec-fetch-site", "sec-fetch-mode", "sec-fetch-dest");
    for headers in [
        &[(site, "same-origin"), (mode, "cors"), (dest, "empty")][..],
        &[(site, "none"), (mode, "navigate"), (dest, "document")],
        &[(site, "cross-site"), (mode, "navigate"), (dest, "document")],
        &[("origin", "https://evil.example")],
    ] {
        assert_eq!(status("GET", headers).await, StatusCode::OK, "{headers:?}");
    }
    for headers in [
        &[(site, "same-origin"), (site, "cross-site"), (mode, "no-cors")][..],
        &[(site, "cross-site"), (mode, "navigate"), (mode, "no-cors"), (dest, "document")],
        &[(site, "cross-site"), (mode, "no-cors"), (dest, "image")],
        &[(site, "same-site"), (mode, "no-cors"), (dest, "image")],
        &[(site, "cross-site"), (mode, "cors")],
        &[(site, "cross-site"), (mode, "navigate"), (dest, "iframe")],
    ] {
        assert_eq!(status("GET", headers).await, StatusCode::FORBIDDEN, "{headers:?}");
    }
    for headers in [
        &[(site, "cross-site"), (mode, "navigate"), (dest, "document")][..],
        &[(site, "same-site")],
        &[("origin", "http://localhost:8080")],
        &[("origin", "null"), (site, "same-origin")],
    ] {
        assert_eq!(status("POST", headers).await, StatusCode::FORBIDDEN, "{headers:?}");
    }
    for headers in [&[][..], &[("origin", "http://localhost:3001"), (site, "same-origin")]] {
        assert_ne!(status("POST", headers).await, StatusCode::FORBIDDEN, "{headers:?}");
    }
}

#[tokio::test]
async fn other_machines_change_the_store_only_if_that_is_allowed() {
    let mut stage = Stage::new();
    stage.access.changes = Changes::SameUser;
    stage.restart();
    let bearer = format!("Bearer {}", stage.access.token.text());
    let remote = |method, path| request_of(remote(), method, path).header("authorization", &bearer);
    assert_eq!(ask(&stage, remote("GET", "/api/profiles/small")).await.status, StatusCode::OK);
    for (method, path) in
        [("DELETE", "/api/profiles/small"), ("POST", "/api/profiles"), ("DELETE", "/api/jobs/1")]
    {
        let refused = ask(&stage, remote(method, path)).await;
        assert_eq!(refused.status, StatusCode::FORBIDDEN, "{method} {path}");
        assert!(refused.json()["error"].as_str().unwrap().contains("--allow-changes"));
    }
    let own = ask(&stage, request("DELETE", "/api/profiles/small")).await;
    assert_eq!(own.status, StatusCode::NO_CONTENT);
}

#[tokio::test]
async fn every_answer_tells_browsers_its_limits() {
    let stage = Stage::new();
    let asked = [
        request("GET", "/"),
        request("GET", "/api/profiles"),
        request("GET", "/api/nothing"),
        request_of(STRANGER, "GET", "/"),
    ];
    for request in asked {
        let answer = ask(&stage, request).await;
        let policy = answer.header("content-security-policy");
        for part in [
            "default-src 'self'",
            "script-src 'self' 'wasm-unsafe-eval' 'sha256-",
            "object-src 'none'",
            "base-uri 'none'",
            "frame-ancestors 'none'",
        ] {
            assert!(policy.contains(part), "{part} is not in {policy}");
        }
        // Any further source would let a page run scripts that are not the server's.
        let sources = policy.split("; ").find_map(|part| part.strip_prefix("script-src ")).unwrap();
        let is_own = |source: &str| {
            matches!(source, "'self'" | "'wasm-unsafe-eval'") || source.starts_with("'sha256-")
        };
        assert!(sources.split(' ').all(is_own), "{sources}");
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("x-frame-options", "DENY"),
            ("referrer-policy", "no-referrer"),
            ("cross-origin-resource-policy", "same-origin"),
            ("cross-origin-opener-policy", "same-origin"),
        ] {
            assert_eq!(answer.header(name), value);
        }
    }
}

#[tokio::test]
async fn no_error_tells_where_the_store_is() {
    let stage = Stage::new();
    let segment = segment_path(&stage.store.find("small").unwrap(), 0);
    let whole = std::fs::read(&segment).unwrap();
    std::fs::remove_file(&segment).unwrap();
    let place = stage.store.root().to_str().unwrap();
    let told = async |path: &str, status: StatusCode| {
        let answer = ask(&stage, request("GET", path)).await;
        assert_eq!(answer.status, status, "{path}");
        assert!(!answer.text().contains(place), "{path}: {}", answer.text());
    };
    told("/api/profiles/other", StatusCode::NOT_FOUND).await;
    for path in ["/api/profiles/small/ranks/0", "/api/profiles/small/export?format=json"] {
        told(path, StatusCode::INTERNAL_SERVER_ERROR).await;
        std::fs::write(&segment, &whole[..whole.len() / 2]).unwrap();
        told(path, StatusCode::INTERNAL_SERVER_ERROR).await;
        std::fs::remove_file(&segment).unwrap();
    }
    let manifest = segment.with_file_name("manifest.json");
    std::fs::write(&manifest, "{}").unwrap();
    let answer = ask(&stage, request("GET", "/api/profiles/small")).await;
    assert!(!answer.text().contains(place), "{}", answer.text());
    let profiles = stage.store.root().join("profiles");
    std::fs::rename(&profiles, profiles.with_extension("away")).unwrap();
    std::fs::write(&profiles, "no directory").unwrap();
    told("/api/profiles", StatusCode::INTERNAL_SERVER_ERROR).await;
    let sent = request("POST", "/api/profiles?name=a.json").body(Body::from("[]")).unwrap();
    assert!(!stage.ask(sent).await.text().contains(place));
}

#[test]
fn the_most_detailed_log_has_no_token() {
    let dir = tempfile::tempdir().unwrap();
    let mut command = nprof(&dir.path().join("store"));
    command.args(["serve", "--port", "0"]).env("NPROF_LOG", "trace");
    let mut running = Running(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap());
    let mut reader = BufReader::new(running.0.stdout.take().unwrap());
    let link = line_with(&mut reader, "View a list of profiles at http://localhost:");
    let (port, token) = link.split_once("/?token=").unwrap();
    for path in ["/", "/api/profiles", "/profile/none"] {
        assert!(get(port, &format!("{path}?token={token}")).starts_with("HTTP/1.0 303"), "{path}");
    }
    running.0.kill().unwrap();
    let mut log = String::new();
    running.0.stderr.take().unwrap().read_to_string(&mut log).unwrap();
    assert!(log.contains("/profile/none"), "requests are logged: {log}");
    assert!(!log.contains(token), "{log}");
}

#[test]
fn release_builds_unwind() {
    let manifest = include_str!("../../../Cargo.toml");
    let release = manifest.split("[profile.release]").nth(1).unwrap().split("\n[").next().unwrap();
    assert!(release.contains("lto") && !release.contains("panic"), "a panic must not end the server");
}
