//! A profile as one HTML file: its content, and that its answers equal a server's.

use std::fs;
use std::path::Path;

use axum::http::StatusCode;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use nprof_engine::exec::{Cancel, Work};
use nprof_engine::wire::bundle::{Bundle, OpenBundle};
use nprof_engine::wire::questions::{Question, answer};
use nprof_server::assets;
use nprof_server::export::cut::PartOf;
use nprof_server::export::html::{Html, bundle};
use nprof_server::export::{ExportChoices, RanksOf};
use nprof_server::store::Store;
use serde_json::{Value, json};

use crate::cli::{fail, run, stage, succeed};
use crate::stage::{Stage, segment_path};

/// Returns true if this binary contains the page. A debug build can lack it.
fn has_page() -> bool {
    let has = assets::find("unpack.js").is_some();
    if !has {
        println!("skipped: the page is not in this binary; scripts/page.sh builds it");
    }
    has
}

/// The bundle of the stage's profile with its segment open.
fn opened(stage: &Stage) -> OpenBundle<Vec<u8>> {
    let profile = stage.store.find("small").unwrap();
    let bundle: Bundle = postcard::from_bytes(
        &postcard::to_allocvec(&bundle(RanksOf::all(&profile).into(), Work::IN_PLACE).unwrap()).unwrap(),
    )
    .unwrap();
    let mut opened = OpenBundle::new(bundle).unwrap();
    opened.open(0, fs::read(profile.dir.join(&profile.manifest.ranks[0].file)).unwrap()).unwrap();
    opened
}

#[tokio::test]
async fn a_bundle_answers_as_a_server() {
    let stage = Stage::large();
    let bundle = opened(&stage);
    let row = stage.row("inner").await;
    let (rank, span) = ("/api/profiles/small/ranks/0", "start_ps=0&end_ps=100000000");
    let tracks = stage.json(rank).await["tracks"].as_array().unwrap().clone();
    let counter = tracks.iter().find(|track| track["kind"] == "counter").unwrap()["id"].clone();
    let mut paths: Vec<String> = [
        String::new(),
        format!("/slices/{row}"),
        format!("/slices/{row}/step?direction=next"),
        format!("/counters/{counter}?at_ps=80000000&{span}"),
        format!("/events?{span}"),
        "/search?q=e".to_owned(),
        "/search?q=in%2Ber&syntax=regex".to_owned(),
        format!("/selection?{span}"),
        "/summary".to_owned(),
    ]
    .iter()
    .map(|path| format!("{rank}{path}"))
    .collect();
    let of_store = ["/api/profiles", "/api/profiles/small", "/api/profiles/small/findings"];
    paths.extend(of_store.map(str::to_owned));
    for path in paths {
        let (route, query) = path.split_once('?').unwrap_or((&path, ""));
        let question = Question::parse(route, query).unwrap();
        let answered = answer(&&bundle, &question, Work::IN_PLACE).unwrap();
        assert_eq!(serde_json::to_value(answered).unwrap(), stage.json(&path).await, "{path}");
    }
}

#[tokio::test]
async fn a_bundle_refuses_as_a_server() {
    let stage = Stage::new();
    let bundle = opened(&stage);
    for path in [
        "/api/profiles/other",
        "/api/profiles/small/ranks/7",
        "/api/profiles/small/ranks/0/slices/999",
        "/api/profiles/small/ranks/0/search?q=(&syntax=regex",
        "/api/profiles/small/ranks/0/tiles/other/0/10/0",
    ] {
        let (route, query) = path.split_once('?').unwrap_or((path, ""));
        let question = Question::parse(route, query).unwrap();
        let refusal = answer(&&bundle, &question, Work::IN_PLACE).unwrap_err();
        let kind = serde_json::to_value(refusal.kind).unwrap();
        assert_eq!(kind, stage.get(path).await.json()["kind"], "{path}: {refusal}");
    }
}

#[tokio::test]
async fn the_api_gives_the_same_file() {
    let stage = Stage::new();
    let path = "/api/profiles/small/export";
    assert_eq!(stage.get(path).await.status, StatusCode::BAD_REQUEST);
    assert_eq!(stage.get(&format!("{path}?format=none")).await.status, StatusCode::BAD_REQUEST);
    assert_eq!(stage.get("/api/profiles/none/export?format=html").await.status, StatusCode::NOT_FOUND);
    if !has_page() {
        return;
    }
    let answer = stage.get(&format!("{path}?format=html")).await;
    assert_eq!((answer.status, answer.header("content-type")), (StatusCode::OK, "text/html; charset=utf-8"));
    assert_eq!(answer.header("content-disposition"), "attachment; filename=\"small.html\"");
    assert_eq!(answer.header("content-length"), answer.body.len().to_string());
    let profile = stage.store.find("small").unwrap();
    let mut written = Vec::new();
    Html::of(RanksOf::all(&profile), &ExportChoices::default(), Work::IN_PLACE)
        .unwrap()
        .write(&mut written)
        .unwrap();
    assert!(answer.body == written, "the file of the API is not that of the command line");
}

/// Exports the trace of the stage with these arguments.
fn exported(store: &Path, name: &str, args: &[&str]) -> String {
    let path = store.parent().unwrap().join(name);
    let path = path.to_str().unwrap();
    succeed(store, &[&["export", "run", "--format", "html", "-o", path], args].concat());
    fs::read_to_string(path).unwrap()
}

#[test]
fn the_file_holds_the_segment_and_no_name_as_markup() {
    if !has_page() {
        return;
    }
    let (dir, trace) = stage();
    let store = dir.path().join("store");
    let hostile = "</script><img src=x onerror=alert(1)>";
    succeed(&store, &["ingest", &trace, "--db-bucket", "run", "--display-name", hostile]);
    let html = exported(&store, "run.html", &[]);
    assert_eq!(html, exported(&store, "again.html", &[]), "the same profile gives the same bytes");
    assert!(!html.contains("<img"), "a name became markup");
    assert!(html.contains("<title>&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt; · nprof</title>"));
    assert!(html.contains("default-src 'none'") && !html.contains("http://") && !html.contains("https://"));
    let text = html.split("data-segment=\"0\"").nth(1).unwrap();
    let text = text.split('>').nth(1).unwrap().split('<').next().unwrap();
    let found = fs::read_dir(store.join("profiles")).unwrap().next().unwrap().unwrap().path();
    assert_eq!(STANDARD.decode(text).unwrap(), fs::read(found.join("rank_0.nseg")).unwrap());
    let said = fail(&store, &["export", "run", "--format", "html", "-o", "x.html", "--max-size", "1KiB"], 1);
    assert!(said.contains("--max-size allows 1.00 KiB") && said.contains("--tracks"), "{said}");
}

#[test]
fn a_file_holds_the_view_that_it_opens_at() {
    let (dir, trace) = stage();
    let store = dir.path().join("store");
    succeed(&store, &["ingest", &trace, "--db-bucket", "run"]);
    let args = ["export", "run", "--format", "json", "--view", "/profile/run"];
    let said = fail(&store, &args, 1);
    assert!(said.contains("--view goes with --format html or site alone"), "{said}");
    let said = fail(&store, &["export", "run", "--format", "html", "--view", "run"], 2);
    assert!(said.contains("copy one from the page"), "{said}");
    if !has_page() {
        return;
    }
    let link = "http://localhost:3001/profile/run?v=2&q=\"><img>";
    let html = exported(&store, "view.html", &["--view", link]);
    assert!(html.contains(" data-view=\"/profile/run?v=2&amp;q=&quot;&gt;&lt;img&gt;\""), "no view");
    assert!(!exported(&store, "none.html", &[]).contains("data-view"));
    let site = dir.path().join("site");
    let to = site.to_str().unwrap();
    succeed(&store, &["export", "run", "--format", "site", "-o", to, "--view", "/profile/run?v=2&rank=0"]);
    let index = fs::read_to_string(site.join("index.html")).unwrap();
    assert!(index.contains(" data-view=\"/profile/run?v=2&amp;rank=0\""));
}

#[test]
fn an_export_of_some_ranks_says_that_it_cannot_compare_all() {
    if !has_page() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let (store, path) = (dir.path().join("store"), dir.path().join("part.html"));
    succeed(&store, &["demo", "--ranks", "3", "--collectives", "20", "--ingest-only", "--db-bucket", "run"]);
    let said = |ranks: &[&str]| {
        let args = [&["export", "run", "--format", "html", "-o", path.to_str().unwrap()], ranks].concat();
        let output = run(&store, &args);
        assert!(output.status.success());
        String::from_utf8_lossy(&output.stderr).contains("no view of all ranks together")
    };
    assert!(said(&["--rank", "0,2"]));
    assert!(said(&["--rank", "0,2", "--to", "1ms"]), "a cut leaves ranks out as well");
    assert!(said(&["--tracks", "Engines/*"]));
    assert!(!said(&["--rank", "0"]), "one rank is compared with none");
    assert!(!said(&[]));
}

/// The slices and samples of an export as JSON, without the keys that are renumbered.
fn rows(store: &Path, args: &[&str]) -> Vec<Value> {
    let all: Value = serde_json::from_str(&succeed(store, &[&["export", "run"], args].concat())).unwrap();
    let mut rows = Vec::new();
    for (table, list) in all.as_object().unwrap() {
        let list = list.as_array().into_iter().flatten();
        for row in list.filter(|row| row.get("start_ps").or(row.get("time_ps")).is_some()) {
            let mut row = row.clone();
            for numbered in ["row", "track", "id"] {
                row.as_object_mut().unwrap().remove(numbered);
            }
            rows.push(json!([table, row]));
        }
    }
    rows.sort_by_key(Value::to_string);
    rows
}

#[test]
fn a_cut_keeps_what_touches_the_time_and_the_tracks() {
    let (dir, trace) = stage();
    let store = dir.path().join("store");
    succeed(&store, &["ingest", &trace, "--db-bucket", "run"]);
    let all = rows(&store, &[]);
    assert!(all.len() >= 7, "{all:?}");
    assert_eq!(rows(&store, &["--from", "0ps"]), all, "all of the time is all rows");
    assert_eq!(rows(&store, &["--tracks", "*"]), all, "all tracks are all rows");
    let names = |rows: &[Value]| -> Vec<String> {
        let name = |row: &Value| Some(row[1].get("name")?.as_str()?.to_owned());
        rows.iter().filter_map(name).collect()
    };
    // From 50 to 58 µs: `outer`, the second `inner`, `worker`, and the last counter sample before.
    let part = rows(&store, &["--from", "50us", "--to", "58us"]);
    let mut found = names(&part);
    found.sort();
    assert_eq!(found, ["inner", "outer", "worker"], "{part:?}");
    assert!(part.iter().any(|row| row.to_string().contains("memory") || row[1].get("value").is_some()));
    let arrows = |args: &[&str]| {
        let all: Value =
            serde_json::from_str(&succeed(&store, &[&["export", "run"], args].concat())).unwrap();
        all["arrow"].as_array().unwrap().len()
    };
    assert_eq!(arrows(&["--from", "50us", "--to", "58us"]), 1, "both of its slices are there");
    assert_eq!(arrows(&["--from", "41us", "--to", "44us"]), 0, "one of its slices is not there");
    let said = fail(&store, &["export", "run", "--from", "12us", "--to", "10us"], 1);
    assert!(said.contains("the part ends at 10 µs and begins at 12 µs"), "{said}");
    for beside in [["--from", "2s"], ["--to", "0ps"]] {
        let said = fail(&store, &[&["export", "run"][..], &beside].concat(), 1);
        assert!(said.contains("no event is in this part; the profile lasts "), "{said}");
    }
    let said = fail(&store, &["export", "run", "--tracks", "none*"], 1);
    assert!(said.contains("no event is in this part; tracks are "), "{said}");
    let said =
        String::from_utf8_lossy(&run(&store, &["export", "run", "--ranks", "0-3"]).stderr).into_owned();
    assert!(said.contains("has no rank 3; it has 0"), "{said}");
}

#[test]
fn a_part_keeps_the_warnings_and_the_zero_of_the_whole() {
    let dir = tempfile::tempdir().unwrap();
    let (store, trace) = (dir.path().join("store"), dir.path().join("cut.json"));
    let slice =
        |name: &str, ts: u32| format!(r#"{{"ph":"X","pid":1,"tid":1,"name":"{name}","ts":{ts},"dur":9}}"#);
    fs::write(&trace, format!("[{},{},{{\"ph\":", slice("a", 5), slice("b", 50))).unwrap();
    succeed(&store, &["ingest", trace.to_str().unwrap(), "--db-bucket", "run"]);
    let part: Value = serde_json::from_str(&succeed(&store, &["export", "run", "--from", "40us"])).unwrap();
    let warnings = part["warning"].to_string();
    for expected in ["ends in the middle of an event", "1 of 2 events"] {
        assert!(warnings.contains(expected), "{warnings}");
    }
    let store = Store::open(&store).unwrap();
    let profile = store.find("run").unwrap();
    let part = PartOf { from_ps: Some(40_000_000), ..PartOf::default() };
    let taken = part.take(|| store.stage_anywhere(), RanksOf::all(&profile), Cancel::NEVER).unwrap();
    let info = |of: RanksOf<'_>| bundle(of.into(), Work::IN_PLACE).unwrap().profile;
    let of_part = info(taken.ranks());
    assert_eq!((of_part.start_ps - of_part.whole[0].start_ps, of_part.whole.len()), (45_000_000, 1));
    assert_eq!(info(RanksOf::all(&profile)).whole, []);
}

#[test]
fn an_export_names_the_ranks_that_can_be_read() {
    let dir = tempfile::tempdir().unwrap();
    let store = dir.path().join("store");
    succeed(&store, &["demo", "--ingest-only", "--ranks", "4", "--events", "1000", "--db-bucket", "demo"]);
    let found = Store::open(&store).unwrap();
    let profile = found.find("demo").unwrap();
    let segment = segment_path(&profile, 2);
    fs::File::options().write(true).open(&segment).unwrap().set_len(100).unwrap();
    for format in ["html", "site"] {
        let out = dir.path().join(format);
        let args = ["export", "demo", "--format", format, "-o", out.to_str().unwrap()];
        let said = fail(&store, &args, 1);
        assert!(said.contains("rank 2 cannot be read, --ranks 0-1,3 exports the others"), "{said}");
        assert!(!out.exists());
    }
}
