//! Downloads over HTTP: each format of the table, parts, and clients that leave.

use std::fs;
use std::time::{Duration, Instant};

use axum::body::{Body, to_bytes};
use axum::http::StatusCode;
use nprof_engine::exec::Work;
use nprof_engine::native::SegmentFile;
use nprof_engine::query::SegmentPart;
use nprof_server::assets;
use nprof_server::export::table::files;
use nprof_server::export::{Export, ExportChoices, RanksOf, Scope};
use nprof_server::http::peer::Peer;
use nprof_server::http::turns::Weight;
use serde_json::Value;
use tower::ServiceExt;

use crate::damage::{find, flip};
use crate::stage::{Stage, TRACE, request, segment_path};

const PATH: &str = "/api/profiles/small/export";

/// The bytes that the command line writes for the profile of the stage.
fn written(stage: &Stage, export: &Export) -> Vec<u8> {
    let profile = stage.store.find("small").unwrap();
    let of = RanksOf::all(&profile);
    let (Scope::Rank(prepare) | Scope::Profile(prepare)) = export.scope else { panic!("{export:?}") };
    let choices = ExportChoices::default();
    let mut bytes = Vec::new();
    prepare(of, &choices, Work::IN_PLACE).unwrap().write(&mut bytes).unwrap();
    bytes
}

#[tokio::test]
async fn every_format_of_the_list_is_downloaded() {
    let stage = Stage::new();
    let list = stage.json("/api/exports").await;
    let listed: Vec<&str> =
        list["formats"].as_array().unwrap().iter().map(|format| format["key"].as_str().unwrap()).collect();
    assert_eq!(listed, files().map(|export| export.key).collect::<Vec<_>>());
    for export in files().filter(|export| export.key != "html" || assets::find("unpack.js").is_some()) {
        let answer = stage.get(&format!("{PATH}?format={}", export.key)).await;
        assert_eq!(answer.status, StatusCode::OK, "{export:?}: {}", answer.text());
        assert_eq!(answer.header("content-type"), export.media_type);
        let name = format!("attachment; filename=\"small.{}\"", export.extension);
        assert_eq!(answer.header("content-disposition"), name);
        assert!(answer.body == written(&stage, export), "{export:?} differs from the command line's");
    }
    let table = stage.get(&format!("{PATH}?format=csv&table=counter")).await;
    assert!(table.text().starts_with("start_ns,value,track,unit,row"), "{}", table.text());
    let flows = stage.get(&format!("{PATH}?format=perfetto&flows=true")).await;
    assert!(flows.body.len() > stage.get(&format!("{PATH}?format=perfetto")).await.body.len());
}

/// The layer that compresses asks a body again after its end.
#[tokio::test]
async fn a_compressed_download_ends() {
    let stage = Stage::new();
    for export in files().filter(|export| export.key != "html" || assets::find("unpack.js").is_some()) {
        let path = format!("{PATH}?format={}", export.key);
        let asked = request("GET", &path).header("accept-encoding", "gzip").body(Body::empty()).unwrap();
        let answer = stage.service.clone().oneshot(asked).await.unwrap();
        assert!(!to_bytes(answer.into_body(), usize::MAX).await.unwrap().is_empty(), "{export:?}");
    }
}

#[tokio::test]
async fn what_cannot_be_written_is_refused_before_the_file() {
    let mut stage = Stage::large();
    for (query, status, expected) in [
        ("format=site", StatusCode::BAD_REQUEST, "a site is a folder"),
        ("format=json&rank=0", StatusCode::BAD_REQUEST, "rank"),
        ("format=json&ranks=7", StatusCode::NOT_FOUND, "has no rank 7; it has 0"),
        ("format=csv&table=none", StatusCode::NOT_FOUND, "it has slice, counter"),
        ("format=json&tracks=none*", StatusCode::BAD_REQUEST, "no event is in this part; tracks are "),
    ] {
        let answer = stage.get(&format!("{PATH}?{query}")).await;
        assert_eq!(answer.status, status, "{query}: {}", answer.text());
        assert!(answer.json()["error"].as_str().unwrap().contains(expected), "{query}: {}", answer.text());
    }
    let path = segment_path(&stage.store.find("small").unwrap(), 0);
    let whole = fs::read(&path).unwrap();
    // The footer is at the end.
    fs::write(&path, &whole[..whole.len() - 100]).unwrap();
    stage.restart();
    for export in files().filter(|export| export.key != "html") {
        let answer = stage.get(&format!("{PATH}?format={}", export.key)).await;
        assert_eq!(answer.status, StatusCode::INTERNAL_SERVER_ERROR, "{export:?}");
        assert!(answer.text().contains("rank 0, rank_0.nseg"), "{export:?}: {}", answer.text());
    }
    assert_eq!(stage.staged(), 0);
}

#[tokio::test]
async fn damage_in_the_middle_ends_the_body_early() {
    let mut stage = Stage::large();
    let path = segment_path(&stage.store.find("small").unwrap(), 0);
    let is_field = |segment: &SegmentFile, part| match part {
        SegmentPart::Directory(column) => segment.column_name(column) == "text",
        _ => false,
    };
    flip(&path, find(&path, is_field).0 + 1);
    stage.restart();
    let asked = request("GET", &format!("{PATH}?format=csv")).body(Body::empty()).unwrap();
    let answer = stage.service.clone().oneshot(asked).await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    assert!(to_bytes(answer.into_body(), usize::MAX).await.is_err(), "half a file must not look whole");
}

#[tokio::test]
async fn several_ranks_are_one_file_where_the_format_can() {
    let stage = Stage::new();
    let part = |text: &str| {
        format!(
            "--cut\r\nContent-Disposition: form-data; name=\"file\"; filename=\"t.json\"\r\n\r\n{text}\r\n"
        )
    };
    let body = format!("{}{}--cut--\r\n", part(TRACE), part(&TRACE.replace("outer", "other")));
    let asked = request("POST", "/api/profiles?slug=pair")
        .header("content-type", "multipart/form-data; boundary=cut")
        .body(Body::from(body))
        .unwrap();
    assert_eq!(stage.ask(asked).await.status, StatusCode::CREATED);
    let path = "/api/profiles/pair/export";
    for key in ["json", "csv"] {
        let refused = stage.get(&format!("{path}?format={key}")).await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST);
        let said = refused.json()["error"].as_str().unwrap().to_owned();
        assert!(
            said.contains("choose one, such as --ranks 0 (ranks=0 in a URL); here are ranks 0, 1"),
            "{said}"
        );
        let one = stage.get(&format!("{path}?format={key}&ranks=1")).await;
        assert!(one.status == StatusCode::OK && one.text().contains("other"), "{}", one.text());
        assert_eq!(one.header("content-disposition"), format!("attachment; filename=\"pair_rank_1.{key}\""));
    }
    let both = stage.get(&format!("{path}?format=summary-text")).await.text();
    assert!(both.contains("rank 0 (") && both.contains("rank 1 ("), "{both}");
    assert_eq!(stage.get(&format!("{path}?format=perfetto")).await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_part_is_that_of_the_command_line_and_leaves_nothing() {
    let stage = Stage::new();
    let part = stage.json(&format!("{PATH}?format=json&from=50us&to=58us&tracks=*main*")).await;
    let names: Vec<&str> =
        part["slice"].as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["outer", "inner"], "{part}");
    assert!(part["warning"].to_string().contains("only a part of this rank"), "{}", part["warning"]);
    until_nothing_is_staged(&stage).await;
}

#[tokio::test]
async fn a_client_that_leaves_ends_the_work() {
    let row = |at: usize| format!(r#"{{"ph":"X","pid":2,"tid":3,"ts":{at},"dur":1,"name":"filler"}},"#);
    let rows: String = (0..60_000).map(row).collect();
    let stage = Stage::with(&TRACE.replacen('[', &format!("[{rows}"), 1));
    // The files of a part exist while the answer is written.
    let asked = request("GET", &format!("{PATH}?format=json&from=0ps")).body(Body::empty()).unwrap();
    let answer = stage.service.clone().oneshot(asked).await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(stage.staged(), 1, "the writer waits for the network");
    drop(answer);
    until_nothing_is_staged(&stage).await;
    let whole: Value = stage.json(&format!("{PATH}?format=json")).await;
    assert_eq!(whole["slice"].as_array().unwrap().len(), 60_005);
}

#[tokio::test]
async fn a_download_has_a_turn_while_it_computes_and_none_while_it_waits() {
    let row = |at: usize| format!(r#"{{"ph":"X","pid":2,"tid":3,"ts":{at},"dur":1,"name":"filler"}},"#);
    let rows: String = (0..60_000).map(row).collect();
    let stage = Stage::with(&TRACE.replacen('[', &format!("[{rows}"), 1));
    let turns = stage.app.turns();
    let free = || std::iter::from_fn(|| turns.take(Weight::Heavy)).collect::<Vec<_>>();
    let taken = free();
    let asked = request("GET", &format!("{PATH}?format=json")).body(Body::empty()).unwrap();
    let answer = tokio::spawn(stage.service.clone().oneshot(asked));
    while turns.waiting(Weight::Heavy) == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let all = taken.len();
    drop(taken);
    let answer = answer.await.unwrap().unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    // Nobody reads, so the writer waits for the network soon.
    while free().len() < all {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(!to_bytes(answer.into_body(), usize::MAX).await.unwrap().is_empty());
}

#[tokio::test]
async fn one_download_too_many_is_refused() {
    let stage = Stage::new();
    let path = format!("{PATH}?format=summary-text");
    let taken: Vec<_> = std::iter::from_fn(|| stage.app.turns().download(Peer::SameUser)).collect();
    let refused = stage.get(&path).await;
    assert_eq!((taken.len(), refused.status), (64, StatusCode::SERVICE_UNAVAILABLE), "{}", refused.text());
    drop(taken);
    assert_eq!(stage.get(&path).await.status, StatusCode::OK);
}

/// Workers end soon after their answer.
async fn until_nothing_is_staged(stage: &Stage) {
    let begun = Instant::now();
    while stage.staged() > 0 {
        assert!(begun.elapsed() < Duration::from_secs(20), "files of a part were left");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
