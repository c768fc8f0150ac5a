//! Damage in a store: `nprof verify` reports it, and so does every answer that needs the damaged
//! part. All other answers are unchanged.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use axum::http::StatusCode;
use nprof_engine::native::SegmentFile;
use nprof_engine::query::{self, SegmentPart};
use nprof_engine::segment::{ColumnRole, MAGIC, VERSION};
use serde_json::Value;

use crate::stage::{Stage, segment_path};

fn verify(store: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nprof"));
    command.arg("verify").args(args).arg("--store").arg(store).env_remove("NPROF_LOG").stdin(Stdio::null());
    command.output().unwrap()
}

fn texts(output: &Output) -> (String, String) {
    (
        String::from_utf8_lossy(&output.stdout).into_owned(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

fn small_segment(stage: &Stage) -> PathBuf {
    segment_path(&stage.store.find("small").unwrap(), 0)
}

/// Flips a bit of the file and returns the byte.
pub fn flip(path: &Path, offset: u64) {
    let mut bytes = fs::read(path).unwrap();
    bytes[usize::try_from(offset).unwrap()] ^= 4;
    // Write a new file and rename it: the old file can be open.
    let beside = path.with_extension("new");
    fs::write(&beside, bytes).unwrap();
    fs::rename(beside, path).unwrap();
}

/// Offset and name of the first part that fits.
pub fn find(path: &Path, fits: impl Fn(&SegmentFile, SegmentPart) -> bool) -> (u64, String) {
    let segment = SegmentFile::open_file(path).unwrap();
    let map = query::part::map(&segment);
    let (bytes, part) = map.iter().find(|(_, part)| fits(&segment, *part)).unwrap();
    (bytes.start, query::part::name(&segment, *part).to_string())
}

#[tokio::test]
async fn a_whole_store_is_whole() {
    let stage = Stage::new();
    let output = verify(stage.store.root(), &[]);
    let (out, err) = texts(&output);
    assert!(output.status.success(), "{err}");
    let bytes = fs::metadata(small_segment(&stage)).unwrap().len();
    assert!(out.starts_with("1 profile checked: ") && out.ends_with(" in 1 segment\n"), "{out}");
    let json: Value =
        serde_json::from_slice(&verify(stage.store.root(), &["small", "--json"]).stdout).unwrap();
    assert_eq!((&json["profiles"], &json["bytes"]), (&1.into(), &bytes.into()));
    assert_eq!(json["damages"], serde_json::json!([]));
}

#[tokio::test]
async fn damage_is_named_and_what_does_not_need_it_is_answered() {
    let mut stage = Stage::large();
    let path = small_segment(&stage);
    let rank = "/api/profiles/small/ranks/0";
    let row = stage.row("outer").await;
    let whole = stage.json(&format!("{rank}/events?start_ps=0&end_ps=100000000")).await;
    // The list of columns of a field that only the details show.
    let (offset, name) = find(&path, |segment, part| match part {
        SegmentPart::Directory(column) => {
            let role = segment.footer().columns[column].role;
            matches!(role, ColumnRole::Field(_)) && segment.column_name(column) == "text"
        }
        _ => false,
    });
    assert!(name.starts_with("directory of column \"text (text)\" of table "), "{name}");
    flip(&path, offset + 1);
    // An open segment has already read its lists.
    stage.restart();

    let refused = stage.get(&format!("{rank}/slices/{row}")).await;
    assert_eq!(refused.status, StatusCode::INTERNAL_SERVER_ERROR);
    let said = refused.json()["error"].as_str().unwrap().to_owned();
    assert!(said.starts_with(&format!("profile \"small\" rank 0: {name} is damaged; ")), "{said}");
    assert!(said.contains("`nprof verify small`"), "{said}");
    let (_, table) = name.rsplit_once(" of table ").unwrap();
    let refused = stage.get(&format!("{rank}/tables/{}", table.trim_matches('"'))).await;
    assert_eq!(refused.json()["error"].as_str().unwrap(), said);
    stage.json(&format!("{rank}/tables/counter")).await;
    assert_eq!(stage.json(&format!("{rank}/events?start_ps=0&end_ps=100000000")).await, whole);
    stage.json(rank).await;
    let tile = stage.tile_path().await;
    assert_eq!(stage.get(&tile).await.status, StatusCode::OK);

    let output = verify(stage.store.root(), &[]);
    let (out, err) = texts(&output);
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert_eq!(out.lines().next().unwrap(), format!("small rank 0 byte {offset}: {name} is damaged"));
    assert_eq!(out.lines().count(), 2, "{out}");
    let last = err.lines().last().unwrap();
    assert_eq!(
        last,
        "nprof: 1 damaged place in 1 profile; ingest the traces of these profiles again with --force: small"
    );
    let json: Value = serde_json::from_slice(&verify(stage.store.root(), &["--json"]).stdout).unwrap();
    let damage = &json["damages"][0];
    assert_eq!((&damage["rank"], &damage["offset"]), (&0.into(), &offset.into()));
    assert_eq!((&damage["part"], &damage["column"]), (&"directory".into(), &"text (text)".into()));
    assert!(damage["table"].is_string(), "{damage}");
}

#[tokio::test]
async fn another_segment_than_the_manifest_names_is_refused() {
    let (mut stage, large) = (Stage::new(), Stage::large());
    let (path, other) = (small_segment(&stage), small_segment(&large));
    let rank = "/api/profiles/small/ranks/0";
    let (tile, whole) = (stage.tile_path().await, fs::read(&path).unwrap());
    let beside = path.with_extension("new");
    fs::copy(&other, &beside).unwrap();
    fs::rename(&beside, &path).unwrap();
    SegmentFile::open_file(&path).expect("the other segment is undamaged");
    stage.restart();
    let refusal = "profile \"small\" rank 0, rank_0.nseg: parts of the file contradict each other (this is not the \
                   segment that the manifest names)";
    for question in [rank, &format!("{rank}/slices/0"), &format!("{rank}/summary"), &tile] {
        let refused = stage.get(question).await;
        assert_eq!(refused.status, StatusCode::INTERNAL_SERVER_ERROR, "{question}");
        let said = refused.json()["error"].as_str().unwrap().to_owned();
        assert!(said.starts_with(refusal), "{question}: {said}");
    }
    assert_eq!(stage.get("/api/profiles").await.status, StatusCode::OK);
    let mut command = Command::new(env!("CARGO_BIN_EXE_nprof"));
    let command = command.args(["summary", "small", "--store"]).arg(stage.store.root());
    let (_, err) = texts(&command.stdin(Stdio::null()).output().unwrap());
    assert!(err.contains("not the segment that the manifest names"), "{err}");
    assert!(err.contains("nprof: profile \"small\" rank 0, "), "{err}");
    let (out, _) = texts(&verify(stage.store.root(), &[]));
    assert!(out.contains("it is not the segment that the manifest names"), "{out}");
    fs::write(&beside, whole).unwrap();
    fs::rename(&beside, &path).unwrap();
    stage.restart();
    assert_eq!(stage.get(rank).await.status, StatusCode::OK, "the right segment is opened again");
}

#[tokio::test]
async fn every_flipped_byte_of_a_profile_shows() {
    let stage = Stage::new();
    let path = small_segment(&stage);
    let whole = fs::read(&path).unwrap();
    let meter = nprof_server::work::Meter::default();
    for at in 0..whole.len() {
        flip(&path, at as u64);
        let verified = nprof_server::verify::verify(&stage.store, &[], &meter).unwrap();
        assert!(!verified.damages.is_empty(), "byte {at} of {}", whole.len());
        flip(&path, at as u64);
    }
    assert_eq!(fs::read(&path).unwrap(), whole);
    let dir = path.parent().unwrap();
    fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    let (out, _) = texts(&verify(stage.store.root(), &[]));
    assert!(out.starts_with("small rank 0: rank_0.nseg: the file is cut off"), "{out}");
    fs::remove_file(&path).unwrap();
    let (out, _) = texts(&verify(stage.store.root(), &[]));
    assert!(out.starts_with("small rank 0: rank_0.nseg: cannot read"), "{out}");
    fs::write(dir.join("manifest.json"), "{").unwrap();
    let (out, err) = texts(&verify(stage.store.root(), &[]));
    assert!(out.contains("manifest.json: this is not a manifest"), "{out}");
    assert!(err.contains("1 damaged place in 1 profile"), "{err}");
    fs::remove_file(dir.join("manifest.json")).unwrap();
    let (out, _) = texts(&verify(stage.store.root(), &[]));
    assert!(out.contains("the file is missing"), "{out}");
}

#[tokio::test]
async fn a_name_that_is_not_there_is_no_damage() {
    let stage = Stage::new();
    let output = verify(stage.store.root(), &["nothing"]);
    let (_, err) = texts(&output);
    assert_eq!(output.status.code(), Some(1));
    assert!(err.contains("no profile \"nothing\""), "{err}");
}

#[tokio::test]
async fn a_segment_of_a_newer_version_asks_for_a_newer_nprof() {
    let stage = Stage::new();
    let path = small_segment(&stage);
    let mut bytes = fs::read(&path).unwrap();
    bytes[MAGIC.len()..MAGIC.len() + 2].copy_from_slice(&(VERSION + 1).to_le_bytes());
    fs::write(&path, &bytes).unwrap();
    let (out, err) = texts(&verify(stage.store.root(), &[]));
    assert!(out.contains("upgrade nprof"), "{out}");
    assert!(err.contains("upgrade nprof to check small") && !err.contains("--force"), "{err}");
}
