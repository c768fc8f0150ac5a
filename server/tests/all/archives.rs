//! Packed traces and archives give the same profiles as plain traces.

use std::fs;
use std::path::Path;

use nprof_capture::archive::fixture::{gzip, tar, zip, zstd};
use nprof_capture::formats::ntff::fixture::varied;
use nprof_capture::importer::TABLE;
use serde_json::Value;

use crate::cli::{fail, stage, succeed};
use crate::stage::TRACE;

/// Ingests these files and returns rank, content and input of each rank.
fn ingested(store: &Path, directory: &Path, files: &[(&str, Vec<u8>)]) -> Vec<(u64, String, String)> {
    let mut arguments =
        vec!["ingest".to_owned(), "--force".to_owned(), "--db-bucket".to_owned(), "x".to_owned()];
    for (name, bytes) in files {
        fs::write(directory.join(name), bytes).unwrap();
        arguments.push(directory.join(name).to_str().unwrap().to_owned());
    }
    succeed(store, &arguments.iter().map(String::as_str).collect::<Vec<_>>());
    let profiles = fs::read_dir(store.join("profiles")).unwrap();
    let manifests = profiles.map(|entry| fs::read(entry.unwrap().path().join("manifest.json")).unwrap());
    let manifest = manifests
        .map(|text| serde_json::from_slice::<Value>(&text).unwrap())
        .find(|manifest| manifest["name"] == "x")
        .unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let rank =
        |rank: &Value| (rank["rank"].as_u64().unwrap(), text(&rank["content"]), text(&rank["inputs"][0]));
    manifest["ranks"].as_array().unwrap().iter().map(rank).collect()
}

#[test]
fn packed_and_archived_traces_give_the_same_segments() {
    let (dir, _) = stage();
    let store = dir.path().join("store");
    let (zero, one) = (TRACE.as_bytes().to_vec(), TRACE.replace("outer", "other").into_bytes());
    let plain = [("rank_0.json", zero.clone()), ("rank_1.json", one.clone())];
    let expected = ingested(&store, dir.path(), &plain);
    assert_eq!(expected.iter().map(|rank| rank.0).collect::<Vec<_>>(), [0, 1]);
    let entries: [(&str, &[u8]); 2] = [("a/rank_1.json", &one), ("a/rank_0.json.gz", &gzip(&zero))];
    for (name, bytes) in [
        ("job.zip", zip(&entries)),
        ("job.tar", tar(&entries)),
        ("job.tgz", gzip(&tar(&entries))),
        ("anything", zstd(&zip(&entries))),
    ] {
        let ranks = ingested(&store, dir.path(), &[(name, bytes)]);
        let inputs: Vec<&str> = ranks.iter().map(|rank| rank.2.as_str()).collect();
        assert_eq!(inputs, [format!("{name}/a/rank_0.json.gz"), format!("{name}/a/rank_1.json")]);
        for (rank, expected) in ranks.iter().zip(&expected) {
            assert_eq!((rank.0, &rank.1), (expected.0, &expected.1), "{name}");
        }
    }
    let packed = [("rank_0.json.gz", gzip(&zero)), ("rank_1", zstd(&one))];
    let ranks = ingested(&store, dir.path(), &packed);
    assert_eq!(ranks.iter().map(|rank| &rank.1).collect::<Vec<_>>(), [&expected[0].1, &expected[1].1]);
    assert_eq!(fs::read_dir(store.join("tmp")).unwrap().count(), 0, "nothing is left behind");
}

#[test]
fn a_packed_device_trace_is_read_as_the_plain_one() {
    let (dir, _) = stage();
    let store = dir.path().join("store");
    let trace = varied().bytes();
    let expected = ingested(&store, dir.path(), &[("a.ntff", trace.clone())]);
    let tarred = tar(&[("x/a.ntff", &trace)]);
    for (name, bytes) in
        [("a.ntff.gz", gzip(&trace)), ("b.tar", tarred.clone()), ("c.tar.zst", zstd(&tarred))]
    {
        let ranks = ingested(&store, dir.path(), &[(name, bytes)]);
        assert_eq!(ranks.iter().map(|rank| &rank.1).collect::<Vec<_>>(), [&expected[0].1], "{name}");
    }
    assert_eq!(fs::read_dir(store.join("tmp")).unwrap().count(), 0, "nothing is left behind");
}

#[test]
fn an_archive_names_what_it_leaves_out() {
    let (dir, _) = stage();
    let store = dir.path().join("store");
    let path = dir.path().join("job.zip");
    fs::write(&path, zip(&[("good.json", TRACE.as_bytes()), ("bad.json", b"no"), ("notes.txt", b"no")]))
        .unwrap();
    let output = crate::cli::run(&store, &["ingest", path.to_str().unwrap()]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("job.zip/bad.json: this is not a trace"), "{said}");
    assert!(!said.contains("notes.txt"), "{said}");
    fs::write(&path, zip(&[("bad.json", b"no")])).unwrap();
    let said = fail(&store, &["ingest", path.to_str().unwrap()], 1);
    assert!(said.contains("job.zip/bad.json: this is not a trace that nprof can read"), "{said}");
}

#[test]
fn the_docs_name_every_format() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/inputs.md");
    let text = fs::read_to_string(docs).unwrap();
    for importer in &TABLE {
        assert!(text.contains(&format!("formats/{}.md", importer.name)), "{}", importer.name);
    }
}
