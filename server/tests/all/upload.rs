//! Uploads of traces by clients.

use std::time::Duration;

use axum::body::Body;
use axum::http::StatusCode;
use serde_json::Value;

use crate::stage::{Stage, TRACE, request};

async fn end_of(stage: &Stage, job: &str) -> Value {
    for _ in 0..600 {
        let report = stage.json(job).await;
        if ["done", "failed", "cancelled"].contains(&report["state"].as_str().unwrap()) {
            return report;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("{job} does not end");
}

async fn send(stage: &Stage, path: &str, body: &str) -> Value {
    let answer = stage.ask(request("POST", path).body(Body::from(body.to_owned())).unwrap()).await;
    assert_eq!(answer.status, StatusCode::ACCEPTED, "{}", answer.text());
    end_of(stage, answer.header("location")).await
}

#[tokio::test]
async fn a_raw_body_becomes_a_profile() {
    let stage = Stage::new();
    let other = TRACE.replace("outer", "other");
    let report =
        send(&stage, "/api/profiles?name=..%2fx%2frank_3.json&slug=sent&display_name=Sent", &other).await;
    assert_eq!((&report["state"], &report["profile"]), (&"done".into(), &"sent".into()), "{report}");
    let profile = stage.json("/api/profiles/sent").await;
    assert_eq!(profile["entry"]["display_name"], "Sent");
    assert_eq!(
        (&profile["ranks"][0]["rank"], &profile["ranks"][0]["input"]),
        (&3.into(), &"rank_3.json".into())
    );
    assert_eq!(stage.staged(), 0);
}

#[tokio::test]
async fn the_same_trace_is_not_ingested_twice() {
    let stage = Stage::new();
    let report = send(&stage, "/api/profiles?name=again.json", TRACE).await;
    assert_eq!(report["profile"], "small");
    assert_eq!(stage.json("/api/profiles").await["profiles"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn what_is_no_trace_fails_with_a_reason_and_leaves_nothing() {
    let stage = Stage::new();
    for body in ["", "hello", "{\"a\":1}", "\u{5}\u{0}\u{0}"] {
        let report = send(&stage, "/api/profiles?name=bad.bin", body).await;
        assert_eq!(report["state"], "failed", "{body:?}: {report}");
        let error = report["error"].as_str().unwrap();
        assert!(error.contains("bad.bin"), "{report}");
        assert!(!error.contains(stage.store.root().to_str().unwrap()), "{report}");
    }
    assert_eq!(stage.json("/api/profiles").await["profiles"].as_array().unwrap().len(), 1);
    assert_eq!(stage.staged(), 0);
}

#[tokio::test]
async fn a_bad_name_is_refused_before_the_body_is_read() {
    let stage = Stage::new();
    let answer = stage.ask(request("POST", "/api/profiles?slug=..").body(Body::from("x")).unwrap()).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    assert_eq!(stage.staged(), 0);
}

#[tokio::test]
async fn a_form_with_several_files_becomes_one_profile() {
    let stage = Stage::new();
    let part = |name: &str, text: &str| {
        format!(
            "--cut\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\r\n{text}\r\n"
        )
    };
    let form = |slug: &str, parts: &[String]| {
        let body = format!("{}--cut--\r\n", parts.concat());
        let builder = request("POST", &format!("/api/profiles?slug={slug}"));
        builder.header("content-type", "multipart/form-data; boundary=cut").body(Body::from(body)).unwrap()
    };
    let both = [part("t.json", TRACE), part("t.json", &TRACE.replace("outer", "other"))];
    let answer = stage.ask(form("pair", &both)).await;
    assert_eq!(answer.status, StatusCode::CREATED, "{}", answer.text());
    let profile = answer.json();
    assert_eq!((&profile["entry"]["ranks"], &profile["entry"]["slug"]), (&2.into(), &"pair".into()));
    assert!(profile["entry"]["id"].as_str().unwrap().starts_with("p_"));
    let bad = stage.ask(form("bad", &[part("t.json", "no")])).await;
    assert_eq!(bad.status, StatusCode::UNPROCESSABLE_ENTITY);
    let taken = stage.ask(form("pair", &[part("t.json", &TRACE.replace("outer", "third"))])).await;
    assert_eq!(taken.status, StatusCode::CONFLICT, "the name belongs to another profile");
    assert_eq!(stage.ask(form("none", &[])).await.status, StatusCode::BAD_REQUEST);
    assert_eq!(stage.staged(), 0);
}

#[tokio::test]
async fn a_form_is_answered_with_a_job_to_those_who_prefer_that() {
    let stage = Stage::new();
    let body = format!(
        "--cut\r\nContent-Disposition: form-data; name=\"file\"; filename=\"t.json\"\r\n\r\n{TRACE}\r\n--cut--\r\n"
    );
    let builder = request("POST", "/api/profiles?slug=watched&force=true")
        .header("prefer", "wait=10, Respond-Async")
        .header("content-type", "multipart/form-data; boundary=cut");
    let answer = stage.ask(builder.body(Body::from(body)).unwrap()).await;
    assert_eq!(answer.status, StatusCode::ACCEPTED, "{}", answer.text());
    let report = end_of(&stage, answer.header("location")).await;
    assert_eq!((&report["state"], &report["profile"]), (&"done".into(), &"watched".into()), "{report}");
    assert_eq!(stage.staged(), 0);
}

#[tokio::test]
async fn a_job_can_be_cancelled() {
    let stage = Stage::new();
    // The first ingest delays the second, so there is time to cancel the second.
    let event = r#"{"ph":"X","pid":1,"tid":1,"ts":1,"dur":2,"name":"n"},"#;
    let long = format!("[{}]", event.repeat(200_000).trim_end_matches(','));
    let start =
        |body: String| request("POST", "/api/profiles?name=long.json").body(Body::from(body)).unwrap();
    let first = stage.ask(start(long.clone())).await;
    let second = stage.ask(start(format!("{long} "))).await;
    let (first, second) = (first.header("location").to_owned(), second.header("location").to_owned());
    for job in [&second, &first] {
        let cancelled = stage.ask(request("DELETE", job).body(Body::empty()).unwrap()).await;
        assert_eq!(cancelled.status, StatusCode::NO_CONTENT);
    }
    assert_eq!(end_of(&stage, &second).await["state"], "cancelled");
    end_of(&stage, &first).await;
    assert_eq!(stage.staged(), 0);
}

#[tokio::test]
async fn a_form_of_too_many_parts_is_refused_and_leaves_nothing() {
    let stage = Stage::new();
    let part = "--cut\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nx\r\n";
    let body = |parts: usize| format!("{}--cut--\r\n", part.repeat(parts));
    let sent = |parts| {
        let form =
            request("POST", "/api/profiles").header("content-type", "multipart/form-data; boundary=cut");
        stage.ask(form.body(Body::from(body(parts))).unwrap())
    };
    assert!(sent(16_384).await.text().contains("the form contains no file"));
    let refused = sent(16_385).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    assert!(refused.text().contains("at most 16384 parts"), "{}", refused.text());
    assert_eq!(stage.staged(), 0);
}
