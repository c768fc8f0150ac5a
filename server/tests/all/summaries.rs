//! The summary of a rank is computed once and stored next to its segment.

use std::fs;
use std::path::PathBuf;

use nprof_engine::base::Error;
use nprof_engine::exec::{CallerThread, Cancel, Work};
use nprof_engine::native::SegmentFile;
use nprof_engine::rank::RankView;
use nprof_engine::wire::answer;
use nprof_server::store::Store;
use serde_json::Value;

use crate::cli::{fail, stage, succeed};
use crate::stage::{Stage, segment_path};

const PATH: &str = "/api/profiles/small/ranks/0/summary";

fn kept(stage: &Stage) -> PathBuf {
    segment_path(&stage.store.find("small").unwrap(), 0).with_extension("summary")
}

#[tokio::test]
async fn a_summary_is_computed_once_also_over_a_restart() {
    let mut stage = Stage::large();
    let path = kept(&stage);
    assert!(!path.exists());
    let first = stage.json(PATH).await;
    let bytes = fs::read(&path).unwrap();
    // The segment's rows cannot be read any more, and no code reads them.
    let segment = segment_path(&stage.store.find("small").unwrap(), 0);
    let mut damaged = fs::read(&segment).unwrap();
    damaged[16..200].fill(0);
    fs::write(segment.with_extension("new"), &damaged).unwrap();
    fs::rename(segment.with_extension("new"), &segment).unwrap();
    stage.restart();
    assert_eq!(stage.json(PATH).await, first);
    assert_eq!(fs::read(&path).unwrap(), bytes);
    // Without the file the rows are read again.
    fs::remove_file(&path).unwrap();
    stage.restart();
    assert_eq!(stage.get(PATH).await.status, 500);
}

#[tokio::test]
async fn a_stale_or_damaged_summary_is_computed_anew() {
    let mut stage = Stage::new();
    let first = stage.json(PATH).await;
    let path = kept(&stage);
    let whole = fs::read(&path).unwrap();
    let mut flipped = whole.clone();
    *flipped.last_mut().unwrap() ^= 1;
    let text = String::from_utf8_lossy(&whole).into_owned();
    let content = text.split(' ').nth(3).unwrap();
    let other = String::from_utf8_lossy(&whole).replacen(content, &"0".repeat(content.len()), 1);
    for (what, bytes) in
        [("damaged", flipped), ("of other content", other.into_bytes()), ("empty", Vec::new())]
    {
        fs::write(&path, bytes).unwrap();
        stage.restart();
        assert_eq!(stage.json(PATH).await, first, "{what}");
        assert_eq!(fs::read(&path).unwrap(), whole, "{what}");
    }
}

#[test]
fn verify_and_rm_know_the_kept_summary() {
    let (dir, trace) = stage();
    let store = dir.path().join("store");
    succeed(&store, &["ingest", &trace, "--db-bucket", "small"]);
    let text = succeed(&store, &["summary", "small"]);
    let list: Value = serde_json::from_str(&succeed(&store, &["list", "--json"])).unwrap();
    let profile = store.join("profiles").join(list["profiles"][0]["id"].as_str().unwrap());
    let path = profile.join("rank_0.summary");
    assert!(path.exists());
    succeed(&store, &["verify"]);
    let mut bytes = fs::read(&path).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&path, &bytes).unwrap();
    let said = fail(&store, &["verify"], 1);
    assert!(said.contains("in kept summaries only") && !said.contains("--force"), "{said}");
    assert_eq!(succeed(&store, &["summary", "small"]), text);
    succeed(&store, &["verify"]);
    // A new segment has no old summary.
    succeed(&store, &["ingest", &trace, "--force"]);
    assert!(!path.exists());
    succeed(&store, &["summary", "small"]);
    succeed(&store, &["rm", "small"]);
    assert!(!profile.exists());
}

#[test]
fn a_summary_that_nobody_waits_for_ends() {
    let (dir, trace) = stage();
    let store = dir.path().join("store");
    succeed(&store, &["ingest", &trace]);
    succeed(&store, &["demo", "--ingest-only", "--ranks", "1", "--events", "3000"]);
    let profiles = Store::open(&store).unwrap().list().unwrap();
    assert_eq!(profiles.len(), 2, "of any trace and of a vendor");
    for profile in profiles {
        let segment = SegmentFile::open_file(&segment_path(&profile, 0)).unwrap();
        let ended = Work { exec: &CallerThread, cancel: Cancel::when(&|| true) };
        assert_eq!(answer::summary(RankView::of(&segment), 0, ended).unwrap_err(), Error::Cancelled);
        assert!(answer::summary(RankView::of(&segment), 0, Work::IN_PLACE).is_ok());
    }
}
