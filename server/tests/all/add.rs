//! Ranks that come later: `nprof ingest --into PROFILE`.

use std::fs;
use std::path::{Path, PathBuf};

use nprof_engine::base::ClockFit;
use nprof_engine::wire::clock::Clock;
use nprof_server::store::{Manifest, Profile, Store};

use crate::cli::{fail, succeed};

/// A rank whose wall clock begins at `base_ns`, with one slice of this name.
fn trace(dir: &Path, file: &str, base_ns: u64, name: &str) -> String {
    let path = dir.join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let event = format!(r#"{{"ph":"X","pid":1,"tid":1,"ts":5,"dur":2,"name":"{name}"}}"#);
    fs::write(&path, format!(r#"{{"baseTimeNanoseconds":{base_ns},"traceEvents":[{event}]}}"#)).unwrap();
    path.to_str().unwrap().to_owned()
}

/// A store with the profile "job" of two ranks.
fn job(dir: &Path) -> PathBuf {
    let store = dir.join("store");
    let ranks = [("node0/rank_0.json", "a"), ("node0/rank_1.json", "b")];
    let [zero, one] = ranks.map(|(file, name)| trace(dir, file, 1_000_000_000, name));
    succeed(&store, &["ingest", &zero, &one, "--db-bucket", "job", "--display-name", "The job"]);
    store
}

fn profile(store: &Path) -> Profile {
    Store::open(store).unwrap().find("job").unwrap()
}

/// Number and first input of each rank.
fn ranks(manifest: &Manifest) -> Vec<(u32, &str)> {
    manifest.ranks.iter().map(|rank| (rank.rank, rank.inputs[0].as_str())).collect()
}

#[test]
fn another_node_becomes_further_ranks_of_the_same_profile() {
    let dir = tempfile::tempdir().unwrap();
    let store = job(dir.path());
    succeed(&store, &["clock", "job", "--rank", "1", "--offset", "3us"]);
    succeed(&store, &["summary", "job", "--all"]);
    let before = profile(&store);
    let node = dir.path().join("node1");
    trace(dir.path(), "node1/rank_0.json", 1_000_002_000, "c");
    trace(dir.path(), "node1/rank_7.json", 1_000_002_000, "d");
    succeed(&store, &["ingest", node.to_str().unwrap(), "--into", "job"]);
    let after = profile(&store);
    let [old, new] = [&before, &after].map(|profile| &profile.manifest);
    assert_eq!((&new.id, new.slug(), new.shown_name()), (&old.id, "job", "The job"));
    assert_eq!(after.dir, before.dir);
    // The old ranks are as they were, and so is the clock that was set by hand.
    assert_eq!(new.ranks[..2], old.ranks[..]);
    assert!(after.dir.join("rank_0.summary").exists(), "the summary was lost");
    // The number 0 is taken. Time zero of the new ranks is 2 µs after that of the others.
    assert_eq!(ranks(new)[2..], [(2, "rank_0.json"), (7, "rank_7.json")]);
    let late = ClockFit::new(0, 2_000_000, 0, None).unwrap();
    assert_eq!((new.ranks[2].clock, new.ranks[3].clock), (Some(Clock(late)), Some(Clock(late))));
    let notes = new.ranks[2].notes.join("\n");
    assert!(notes.contains("rank 0 is taken by another file; this file became rank 2"), "{notes}");
    assert!(notes.contains("2000 ns after time zero of the profile"), "{notes}");
    assert_eq!(new.warnings, old.warnings + 2);
    assert!(new.names.len() > old.names.len(), "colours are given over all ranks");
    let verified = succeed(&store, &["verify"]);
    assert!(!verified.contains("damaged"), "{verified}");
    let table = succeed(&store, &["ranks", "job", "--output-format", "json"]);
    let table: serde_json::Value = serde_json::from_str(&table).unwrap();
    assert_eq!(table["ranks"].as_array().unwrap().len(), 4, "the ranks were compared again");
}

#[test]
fn a_trace_that_is_there_is_not_added_again() {
    let dir = tempfile::tempdir().unwrap();
    let store = job(dir.path());
    let before = profile(&store);
    let one = trace(dir.path(), "again/rank_1.json", 1_000_000_000, "b");
    succeed(&store, &["ingest", &one, "--into", "job"]);
    assert_eq!(profile(&store), before);
    let new = trace(dir.path(), "again/rank_2.json", 1_000_000_000, "c");
    succeed(&store, &["ingest", &one, &new, "--into", "job"]);
    let after = profile(&store);
    assert_eq!(ranks(&after.manifest)[2..], [(2, "rank_2.json")]);
    let left_out = after.manifest.ranks[2].left_out.join("\n");
    assert_eq!(left_out, "rank_1.json: the profile has this trace already");
    assert_eq!(fs::read_dir(&after.dir).unwrap().filter(is_segment).count(), 3, "one file a rank");
}

fn is_segment(file: &std::io::Result<fs::DirEntry>) -> bool {
    let name = file.as_ref().unwrap().file_name().into_string().unwrap();
    name.starts_with("rank_") && name.ends_with(".nseg")
}

#[test]
fn what_cannot_be_added_leaves_the_profile_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let store = job(dir.path());
    let before = profile(&store);
    let good = trace(dir.path(), "rank_5.json", 0, "e");
    let unknown = fail(&store, &["ingest", &good, "--into", "other"], 1);
    assert!(unknown.contains("no profile \"other\""), "{unknown}");
    let bad = dir.path().join("rank_6.json");
    fs::write(&bad, "[{").unwrap();
    fail(&store, &["ingest", &good, bad.to_str().unwrap(), "--into", "job"], 1);
    let both = fail(&store, &["ingest", &good, "--into", "job", "--force"], 2);
    assert!(both.contains("cannot be used with"), "{both}");
    assert_eq!(profile(&store), before);
    assert_eq!(fs::read_dir(store.join("tmp")).unwrap().count(), 0);
}

#[test]
fn ranks_that_changed_meanwhile_are_not_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    let path = job(dir.path());
    let before = profile(&path);
    let two = trace(dir.path(), "rank_2.json", 0, "c");
    succeed(&path, &["ingest", &two, "--into", "job"]);
    let store = Store::open(&path).unwrap();
    let staging = store.stage().unwrap();
    let refused = store.replace(&before, &staging, &before.manifest).unwrap_err();
    assert!(refused.to_string().contains("was changed while the traces were read"), "{refused}");
    assert_eq!(profile(&path).manifest.ranks.len(), 3);
}
