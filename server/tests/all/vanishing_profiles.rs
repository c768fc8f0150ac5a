//! Profiles that are removed or replaced while a server answers questions about them.

use std::path::Path;
use std::sync::Arc;
use std::thread;

use axum::body::Body;
use axum::http::StatusCode;
use nprof_server::ingest::{IngestSettings, NamedInputs, run};
use nprof_server::store::{Existing, Store};
use nprof_server::work::Meter;

use crate::stage::{Stage, TRACE, request};

/// The files below the store that this process has open, and that have no name any more.
#[cfg(target_os = "linux")]
fn removed_and_open(stage: &Stage) -> Vec<String> {
    let root = stage.store.root().to_str().unwrap();
    let open = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
    let targets = open.filter_map(|entry| std::fs::read_link(entry.path()).ok());
    let targets = targets.map(|target| target.display().to_string());
    targets.filter(|target| target.starts_with(root) && target.ends_with(" (deleted)")).collect()
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_removed_profile_gives_its_space_back() {
    const QUESTION: &str = "/api/profiles/small/ranks/0/search?q=inner";
    let stage = Stage::new();
    assert!(!stage.json(QUESTION).await["hits"].as_array().unwrap().is_empty());
    let deleted = stage.ask(request("DELETE", "/api/profiles/small").body(Body::empty()).unwrap()).await;
    assert_eq!(deleted.status, StatusCode::NO_CONTENT);
    assert_eq!(removed_and_open(&stage), [""; 0], "after DELETE");

    // Profiles that another process removes or replaces are closed by the store's own thread.
    let stage = Stage::new();
    stage.json(QUESTION).await;
    replace(stage.store.root(), TRACE);
    assert_eq!(removed_and_open(&stage).len(), 1, "the question has opened the segment");
    stage.app.close_removed();
    assert_eq!(removed_and_open(&stage), [""; 0], "after --force");
    stage.json(QUESTION).await;
    Store::open(stage.store.root()).unwrap().remove("small").unwrap();
    stage.app.close_removed();
    assert_eq!(removed_and_open(&stage), [""; 0], "after rm");
}

/// Ingests these events in the place of the profile, through a store of its own as another process.
fn replace(root: &Path, events: &str) {
    let trace = root.with_extension("json");
    std::fs::write(&trace, events).unwrap();
    let named = NamedInputs { files: vec![trace], ..NamedInputs::default() };
    let slug = Some("small".parse().unwrap());
    let settings = IngestSettings { existing: Existing::Replace, slug, ..IngestSettings::default() };
    run(&Store::open(root).unwrap(), &named, &settings, &Meter::default()).unwrap();
}

#[tokio::test]
async fn what_is_replaced_meanwhile_is_not_damaged() {
    const ASKED: usize = 150;
    let stage = Stage::new();
    let root = stage.store.root().to_owned();
    let alive = Arc::new(());
    let is_over = Arc::downgrade(&alive);
    let replacing = thread::spawn(move || {
        for number in 0.. {
            if is_over.upgrade().is_none() {
                return;
            }
            replace(&root, &TRACE.replace("outer", &format!("outer {}", number % 3)));
        }
    });
    let questions = ["/api/profiles/small/export?format=csv", "/api/profiles/small/ranks/0"];
    for at in 0..ASKED {
        let answer = stage.get(questions[at % questions.len()]).await;
        let is_expected = [StatusCode::OK, StatusCode::NOT_FOUND].contains(&answer.status);
        assert!(is_expected, "{}: {}", answer.status, answer.text());
        stage.app.close_removed();
    }
    drop(alive);
    replacing.join().unwrap();
}
