//! Findings on the command line, over HTTP and in an HTML file: one answer for all of them.

use std::fs;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::http::StatusCode;
use nprof_engine::exec::{Cancel, Work};
use nprof_engine::insight::finding::RuleName;
use nprof_engine::insight::finding::sentence::NO_WORK;
use nprof_engine::wire::bundle::{Bundle, OpenBundle};
use nprof_engine::wire::clock::Clock;
use nprof_engine::wire::findings::Findings;
use nprof_engine::wire::questions::{Answer, FindingsQuestion, Question, answer};
use nprof_engine::wire::refusal::RefusalKind;
use nprof_server::analysis::findings::FILE;
use nprof_server::analysis::kept_answers::key_of;
use nprof_server::app::App;
use nprof_server::export::html::{EmbeddedRanks, bundle};
use nprof_server::export::{Comparing, RanksOf};
use nprof_server::http::turns::Weight;
use nprof_server::store::Store;
use serde_json::Value;

use crate::cli::fail;
use crate::ranks::{json_of, succeed};
use crate::stage::{Stage, process};

const PATH: &str = "/api/profiles/small/findings";

/// A store with the simulated job `job`, whose rank 1 is slow.
pub fn job() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let store = dir.path().join("store");
    let shape = ["--ranks", "4", "--events", "20000", "--fault", "slow-rank=1", "--db-bucket", "job"];
    succeed(&store, &[&["demo", "--ingest-only"][..], &shape].concat());
    (dir, store)
}

pub fn app(store: &Path) -> App {
    App::new(Arc::new(Store::open(store).unwrap()), process())
}

fn asked(app: &App, limit: u32) -> Value {
    let question = FindingsQuestion { profile: "job".to_owned(), limit };
    json(&answer(app, &question.into(), Work::IN_PLACE).unwrap())
}

/// An answer as a client reads it: the last digit of a number can be lost with its text.
pub fn json(of: &Answer) -> Value {
    serde_json::from_str(&serde_json::to_string(of).unwrap()).unwrap()
}

fn about(name: &str) -> Question {
    FindingsQuestion::about(name).into()
}

/// The answer of an HTML file.
pub fn bundled(of: RanksOf<'_>, question: &Question) -> Value {
    answer_of_file(of.into(), question)
}

/// The answer of a file with this content.
pub fn answer_of_file(embedded: EmbeddedRanks<'_>, question: &Question) -> Value {
    let bytes = postcard::to_allocvec(&bundle(embedded, Work::IN_PLACE).unwrap()).unwrap();
    let mut opened = OpenBundle::<Vec<u8>>::new(postcard::from_bytes::<Bundle>(&bytes).unwrap()).unwrap();
    let RanksOf { profile, ranks, .. } = embedded.of;
    for (at, rank) in ranks.iter().enumerate() {
        opened.open(at, std::fs::read(profile.segment_path(rank)).unwrap()).unwrap();
    }
    json(&answer(&&opened, question, Work::IN_PLACE).unwrap())
}

/// A text without its lines, which also end behind a hyphen.
fn letters(text: &str) -> String {
    text.split_whitespace().collect()
}

#[test]
fn command_line_server_and_file_give_the_same_answer() {
    let (_dir, store) = job();
    let app = app(&store);
    let of_server = asked(&app, 1_000);
    let rows = of_server["findings"].as_array().unwrap();
    let late = RuleName::LateRank.rule();
    let of_rank = rows.iter().find(|row| row["rule"] == late.id && row["rank"] == 1);
    let of_rank = of_rank.unwrap_or_else(|| panic!("{rows:?}"));
    assert_eq!((&of_rank["advice"], &of_rank["title"]), (&late.advice.into(), &late.title.into()));

    let document = json_of(&store, &["findings", "job", "--output-format", "json"]);
    for (key, value) in of_server.as_object().unwrap() {
        assert_eq!(&document[key], value, "{key}");
    }
    assert_eq!(document["shown"], rows.len());
    let profile = app.store().find("job").unwrap();
    assert_eq!(bundled(RanksOf::all(&profile), &about("job")), of_server);

    let text = succeed(&store, &["findings", "job"]);
    let of: Findings = serde_json::from_value(of_server.clone()).unwrap();
    assert_eq!(text.lines().next(), Some(of.answer.as_str()));
    for line in of.rest() {
        assert!(text.lines().any(|shown| shown == line), "{line} is not in {text}");
    }
    for row in rows.iter().filter(|row| row["state"] == "found") {
        let sentence = format!("{}: {}", row["rule"].as_str().unwrap(), row["text"].as_str().unwrap());
        assert!(letters(&text).contains(&letters(&sentence)), "{sentence} is not in {text}");
    }
    let first = asked(&app, 1);
    assert_eq!(first["findings"].as_array().unwrap().as_slice(), &rows[..1]);
    assert_eq!(first["total"], rows.len());
}

/// Nobody can tell from a part which rank is late.
#[test]
fn a_file_with_some_ranks_has_no_findings() {
    let (_dir, store) = job();
    let profile = Store::open(&store).unwrap().find("job").unwrap();
    let found = bundled(RanksOf::some(&profile, &profile.manifest.ranks[..2]), &about("job"));
    assert!(found["answer"].as_str().unwrap().contains("left out"), "{found}");
    assert_eq!((&found["recorded_ps"], found["findings"].as_array().unwrap().len()), (&Value::Null, 0));
}

#[test]
fn another_clock_needs_another_answer() {
    let (_dir, store) = job();
    let app = app(&store);
    let before = asked(&app, 1_000);
    let profile = app.store().find("job").unwrap();
    assert_eq!(key_of(&profile), key_of(&app.store().find("job").unwrap()));
    succeed(&store, &["clock", "job", "--rank", "2", "--offset", "3ms"]);
    let moved = app.store().find("job").unwrap();
    assert_ne!(key_of(&profile), key_of(&moved));
    let found = asked(&app, 1_000);
    assert_ne!(found, before, "the answer of the old clocks");
    // The analysis finds a clock that the calls show anew, and moves steps by that one.
    let clock: Clock = serde_json::from_value(serde_json::json!({"offset_ps": 5})).unwrap();
    let aligned = app.store().align(&profile.manifest.id, &[(0, Some(clock))]).unwrap();
    assert_eq!(key_of(&moved), key_of(&aligned));
    let anew = self::app(&store);
    assert_eq!(asked(&anew, 1_000), found);
}

#[tokio::test]
async fn a_profile_without_work_says_so() {
    let counter = r#"{"ph":"C","pid":1,"ts":0,"name":"memory","args":{"bytes":5}}"#;
    let stage = Stage::with(&format!("{{\"traceEvents\":[{counter}]}}"));
    let found = stage.json(PATH).await;
    assert_eq!((&found["answer"], &found["recorded_ps"]), (&NO_WORK.into(), &Value::Null));
    assert_eq!(found["findings"].as_array().unwrap().len(), 0);
    assert!(fail(stage.store.root(), &["findings", "small"], 1).contains(NO_WORK));
    assert_eq!(stage.get("/api/profiles/none/findings").await.status, StatusCode::NOT_FOUND);
}

/// A question that nobody waits for ends, and keeps nobody else from the answer.
#[tokio::test]
async fn findings_end_with_their_client_and_are_kept_for_the_next_one() {
    let (_dir, store) = job();
    let app = app(&store);
    let question = Question::from(FindingsQuestion::about("job"));
    let looks = AtomicUsize::new(0);
    let is_left = || looks.fetch_add(1, Ordering::Relaxed) > 20;
    let work = Work { cancel: Cancel::when(&is_left), ..Work::IN_PLACE };
    let refused = answer(&app, &question, work).map_err(|refusal| refusal.kind);
    assert_eq!(refused.err(), Some(RefusalKind::Cancelled));
    assert!(app.kept_findings("job").unwrap().is_none());
    let found = asked(&app, 1_000);
    // Kept answers look at no cancellation but the first one.
    let is_left = || true;
    let work = Work { cancel: Cancel::when(&is_left), ..Work::IN_PLACE };
    let kept = answer(&app, &question, work).unwrap();
    assert_eq!(json(&kept), found);
}

#[tokio::test]
async fn a_kept_answer_needs_no_turn() {
    let stage = Stage::new();
    let first = stage.json(PATH).await;
    let turns = stage.app.turns();
    let mut all = Vec::new();
    while let Some(turn) = turns.take(Weight::Heavy) {
        all.push(turn);
    }
    assert!(!all.is_empty());
    assert_eq!(stage.json(PATH).await, first);
    // After the server's restart, the kept file needs no turn either.
    let mut again = Stage::new();
    assert_eq!(again.json(PATH).await, first);
    again.restart();
    let mut all = Vec::new();
    while let Some(turn) = again.app.turns().take(Weight::Heavy) {
        all.push(turn);
    }
    assert_eq!(again.json(PATH).await, first);
    drop(all);
    // Without the file it is computed again, and waits for its turn.
    fs::remove_file(kept(&again)).unwrap();
    again.restart();
    let turns = again.app.turns();
    let mut all = Vec::new();
    while let Some(turn) = turns.take(Weight::Heavy) {
        all.push(turn);
    }
    let mut asked = pin!(again.json(PATH));
    while turns.waiting(Weight::Heavy) == 0 {
        tokio::select! {
            biased;
            _ = asked.as_mut() => panic!("an answer without a turn"),
            () = tokio::time::sleep(std::time::Duration::from_millis(1)) => {}
        }
    }
    drop(all);
    assert_eq!(asked.await["answer"], first["answer"]);
}

/// The file with the kept findings of the profile `small`.
fn kept(stage: &Stage) -> PathBuf {
    stage.store.find("small").unwrap().dir.join(FILE)
}

#[tokio::test]
async fn findings_are_found_once_also_over_a_restart() {
    let mut stage = Stage::large();
    let path = kept(&stage);
    assert!(!path.exists());
    let first = stage.json(PATH).await;
    assert!(first["recorded_ps"].is_i64(), "{first}");
    let bytes = fs::read(&path).unwrap();
    // The segment's rows cannot be read any more, and no code reads them.
    stage.lose_rows();
    stage.restart();
    assert_eq!(stage.json(PATH).await, first);
    let document = json_of(stage.store.root(), &["findings", "small", "--output-format", "json"]);
    assert_eq!(document["findings"], first["findings"]);
    assert_eq!(fs::read(&path).unwrap(), bytes);
    // Without the file the rows are read again.
    fs::remove_file(&path).unwrap();
    stage.restart();
    assert_eq!(stage.get(PATH).await.status, StatusCode::INTERNAL_SERVER_ERROR);
}

#[tokio::test]
async fn stale_or_damaged_findings_are_found_anew() {
    let mut stage = Stage::new();
    let first = stage.json(PATH).await;
    let path = kept(&stage);
    stage.check_computed_anew(PATH, &path).await;
    // A place that cannot be written costs only time.
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    stage.restart();
    assert_eq!(stage.json(PATH).await, first);
    assert!(path.is_dir());
}

#[test]
fn verify_knows_the_kept_findings() {
    let stage = Stage::new();
    let (store, path) = (stage.store.root(), kept(&stage));
    let text = succeed(store, &["findings", "small"]);
    succeed(store, &["verify"]);
    let mut bytes = fs::read(&path).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&path, &bytes).unwrap();
    let said = fail(store, &["verify"], 1);
    assert!(said.contains("in kept answers only") && !said.contains("--force"), "{said}");
    assert_eq!(succeed(store, &["findings", "small"]), text);
    succeed(store, &["verify"]);
}

/// A server knows findings of the command line without a graph of its own.
#[tokio::test]
async fn a_profile_that_is_too_large_for_a_server_has_the_findings_of_the_command_line() {
    let mut stage = Stage::new();
    let manifest = stage.store.find("small").unwrap().dir.join("manifest.json");
    let mut changed: Value = serde_json::from_slice(&fs::read(&manifest).unwrap()).unwrap();
    changed["ranks"][0]["events"] = 20_000_000.into();
    fs::write(&manifest, changed.to_string()).unwrap();
    stage.restart();
    let before = stage.json(PATH).await;
    assert!(before["answer"].as_str().unwrap().contains("`nprof findings small` has no limit"), "{before}");
    let profile = stage.store.find("small").unwrap();
    let of = RanksOf { comparing: Comparing::Apart, ..RanksOf::all(&profile) };
    let findings_of_file = || bundled(of, &about("small"));
    assert_eq!(findings_of_file(), before);
    let document = json_of(stage.store.root(), &["findings", "small", "--output-format", "json"]);
    let after = stage.json(PATH).await;
    assert!(after["recorded_ps"].is_i64(), "{after}");
    assert_eq!(document["findings"], after["findings"]);
    assert_eq!(findings_of_file(), after);
}

/// The command line answers alike from a file and without one.
#[test]
fn parts_of_kept_findings_are_those_of_new_ones() {
    let (_dir, store) = job();
    let region = ["--region", "wait"];
    succeed(&store, &["regions", "job", "--add", "wait=0ms..2ms"]);
    let file = Store::open(&store).unwrap().find("job").unwrap().dir.join(FILE);
    for part in [&[][..], &["--rule", "late-rank"], &region, &["--rule", "late-rank", "--region", "wait"]] {
        for form in ["text", "json"] {
            let args = [&["findings", "job", "--output-format", form], part].concat();
            drop(fs::remove_file(&file));
            let new = succeed(&store, &args);
            assert!(file.exists());
            assert_eq!(succeed(&store, &args), new, "{args:?}");
        }
    }
    let late = json_of(&store, &["findings", "job", "--rule", "late-rank", "--output-format", "json"]);
    let rows = late["findings"].as_array().unwrap();
    assert!(!rows.is_empty() && rows.iter().all(|row| row["rule"] == "late-rank"), "{late}");
    assert_eq!(late["total"], rows.len());
}
