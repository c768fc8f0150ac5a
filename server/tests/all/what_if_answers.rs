//! Predictions over HTTP and on the command line: one answer for both, from a graph that is kept.

use std::path::Path;

use axum::http::StatusCode;
use nprof_engine::exec::{Cancel, Work};
use nprof_engine::wire::questions::{
    EditSubjectsQuestion, PredictedTracksQuestion, SlackQuestion, WhatIfQuestion, WhatIfSweepQuestion, answer,
};
use nprof_server::app::App;
use nprof_server::export::RanksOf;
use nprof_server::export::html::{EmbeddedRanks, bundle};
use serde_json::{Value, json};

use crate::finding_answers::{answer_of_file, app, job, json};
use crate::ranks::json_of;
use crate::stage::Stage;

fn asked(app: &App, edits: &str, work: Work<'_>) -> Value {
    let question = WhatIfQuestion { profile: "job".to_owned(), edits: edits.to_owned() };
    json(&answer(app, &question.into(), work).unwrap())
}

fn of_command_line(store: &Path, edits: &[&str]) -> Value {
    json_of(store, &[&["whatif", "job", "--output-format", "json"], edits].concat())
}

#[test]
fn server_and_command_line_give_the_same_prediction() {
    let (_dir, store) = job();
    let app = app(&store);
    for edits in [&["rank:1=median"][..], &["bandwidth=2", "engine:tensor=0.5"]] {
        let of_server = asked(&app, &edits.join("\n"), Work::IN_PLACE);
        let document = of_command_line(&store, edits);
        for (key, value) in of_server.as_object().unwrap() {
            assert_eq!(&document[key], value, "{key}");
        }
        assert!(of_server["saving_ps"]["middle"].as_i64().unwrap() > 0, "{of_server}");
        assert_eq!(of_server["edits"], json!(edits));
    }
    let unchanged = asked(&app, "", Work::IN_PLACE);
    assert_eq!(unchanged["predicted_ps"]["middle"], unchanged["recorded_ps"]);
}

/// The sweep and the tracks under its first change are the same in a server, on the command line
/// and in a file.
#[test]
fn a_sweep_has_the_predictions_of_its_changes() {
    let (_dir, store) = job();
    let app = app(&store);
    let sweep = WhatIfSweepQuestion { profile: "job".to_owned(), limit: 3 };
    let of_server = json(&answer(&app, &sweep.into(), Work::IN_PLACE).unwrap());
    let document = of_command_line(&store, &["--sweep", "--limit", "3"]);
    let swept = of_server["sweep"].as_array().unwrap();
    assert_eq!(swept.len(), 3);
    assert_eq!(document["total"], of_server["total"]);
    for (at, one) in swept.iter().enumerate() {
        let edit = one["edits"][0].as_str().unwrap();
        assert_eq!(document["sweep"][at]["edit"], edit);
        assert_eq!(*one, asked(&app, edit, Work::IN_PLACE), "{edit}");
    }
    let savings: Vec<i64> = swept.iter().map(|one| one["saving_ps"]["middle"].as_i64().unwrap()).collect();
    assert!(savings.is_sorted_by(|one, next| one >= next), "{savings:?}");
}

/// A rank whose work takes half of its time is drawn shorter, and its tracks work half as long.
#[test]
fn tracks_under_a_change_stand_below_the_recorded_ones() {
    let (_dir, store) = job();
    let app = app(&store);
    let tracks = |edits: &str, rank| {
        let question =
            PredictedTracksQuestion { profile: "job".to_owned(), edits: edits.to_owned(), rank, span: None };
        answer(&app, &question.into(), Work::IN_PLACE).map(|found| json(&found))
    };
    let unchanged = tracks("", 1).unwrap();
    assert_eq!(unchanged["a"]["length_ps"], unchanged["b"]["length_ps"]);
    let faster = tracks("rank:1=0.5", 1).unwrap();
    assert!(faster["b"]["length_ps"].as_i64() < faster["a"]["length_ps"].as_i64(), "{faster}");
    assert_eq!(faster["b"]["repetition"], "rank:1=0.5");
    let all = faster["tracks"].as_array().unwrap();
    let moved = all.iter().filter(|track| track["b"]["busy_ps"].as_i64() < track["a"]["busy_ps"].as_i64());
    assert!(moved.count() > 0, "{faster}");
    assert!(all.iter().all(|track| track["a"]["count"] == track["b"]["count"]), "{faster}");
    let refused = tracks("", 77).unwrap_err();
    assert!(refused.message.contains("no such rank"), "{refused}");
}

/// Each subject of a slice is the left side of an edit that finds work.
#[test]
fn subjects_of_a_slice_can_be_edited() {
    let (_dir, store) = job();
    let app = app(&store);
    let path = json_of(&store, &["critical-path", "job", "--limit", "all", "--output-format", "json"]);
    let slices = path["slices"].as_array().unwrap();
    let subjects = |slice: &Value| -> Vec<String> {
        let number = |key: &str| u32::try_from(slice[key].as_u64().unwrap()).unwrap();
        let question =
            EditSubjectsQuestion { profile: "job".to_owned(), rank: number("rank"), row: number("row") };
        let found = json(&answer(&app, &question.into(), Work::IN_PLACE).unwrap());
        serde_json::from_value(found["subjects"].clone()).unwrap()
    };
    let of_kind = |kind: &str| slices.iter().find(|slice| slice["kind"] == kind).unwrap();
    let (work, transfer) = (of_kind("work"), of_kind("transfer"));
    let name = format!("kernel:{}", work["name"].as_str().unwrap());
    assert!(subjects(work).contains(&name), "{:?}", subjects(work));
    assert!(subjects(transfer)[0].starts_with("transfer:"), "{:?}", subjects(transfer));
    for slice in [work, transfer] {
        let last = subjects(slice).pop().unwrap();
        assert_eq!(last, format!("rank:{}", slice["rank"]));
        for subject in subjects(slice) {
            asked(&app, &format!("{subject}=0.5"), Work::IN_PLACE);
        }
    }
    let nowhere = EditSubjectsQuestion { profile: "job".to_owned(), rank: 77, row: 0 };
    assert_eq!(json(&answer(&app, &nowhere.into(), Work::IN_PLACE).unwrap())["subjects"], json!([]));
}

/// The slack of a slice is that of the command line. A file that has the graph has it, too.
#[test]
fn slices_have_the_slack_of_the_command_line() {
    let (_dir, store) = job();
    let app = app(&store);
    let number = |slice: &Value, key: &str| u32::try_from(slice[key].as_u64().unwrap()).unwrap();
    let question = |rank, row| SlackQuestion { profile: "job".to_owned(), rank, row };
    let of_server = |rank, row| json(&answer(&app, &question(rank, row).into(), Work::IN_PLACE).unwrap());
    let path = json_of(&store, &["critical-path", "job", "--limit", "all", "--output-format", "json"]);
    let work = path["slices"].as_array().unwrap().iter().find(|slice| slice["kind"] == "work").unwrap();
    let on_path = of_server(number(work, "rank"), number(work, "row"));
    assert_eq!(
        (&on_path["is_on_path"], &on_path["answer"]),
        (&json!(true), &json!("none: it is on the critical path"))
    );
    let all =
        json_of(&store, &["critical-path", "job", "--slack", "--limit", "all", "--output-format", "json"]);
    let slack_ps = |of: &&Value| of["slack_ps"].as_i64().unwrap();
    let loose = all["slices"].as_array().unwrap().iter().max_by_key(slack_ps).unwrap();
    assert!(slack_ps(&loose) > 0, "{loose}");
    let of_loose = of_server(number(loose, "rank"), number(loose, "row"));
    assert_eq!((&of_loose["slack_ps"], &of_loose["is_on_path"]), (&loose["slack_ps"], &json!(false)));
    assert!(of_server(77, 0).is_null());
    let profile = app.store().find("job").unwrap();
    let embedded = EmbeddedRanks { has_graph: true, ..RanksOf::all(&profile).into() };
    let asked = question(number(loose, "rank"), number(loose, "row"));
    assert_eq!(answer_of_file(embedded, &asked.into()), of_loose);
}

/// A file that has the graph replays it.
#[test]
fn a_file_with_the_graph_gives_the_same_prediction() {
    let (_dir, store) = job();
    let app = app(&store);
    let profile = app.store().find("job").unwrap();
    let embedded = EmbeddedRanks { has_graph: true, ..RanksOf::all(&profile).into() };
    for edits in ["rank:1=median", "bandwidth=2\nengine:tensor=0.5", "wait:rank 1=0"] {
        let question = WhatIfQuestion { profile: "job".to_owned(), edits: edits.to_owned() };
        assert_eq!(answer_of_file(embedded, &question.into()), asked(&app, edits, Work::IN_PLACE), "{edits}");
    }
    let question = EditSubjectsQuestion { profile: "job".to_owned(), rank: 1, row: 77 };
    let of_server = json(&answer(&app, &question.clone().into(), Work::IN_PLACE).unwrap());
    assert!(!of_server["subjects"].as_array().unwrap().is_empty(), "{of_server}");
    assert_eq!(answer_of_file(embedded, &question.into()), of_server);
}

/// Without the graph, a file names the command that answers.
#[test]
fn a_file_without_the_graph_says_what_has_it() {
    let (_dir, store) = job();
    let profile = app(&store).store().find("job").unwrap();
    let bundle = bundle(RanksOf::all(&profile).into(), Work::IN_PLACE).unwrap();
    let reason = bundle.graph.unwrap_err().to_string();
    assert!(reason.contains("nprof whatif job EDIT") && reason.contains("--what-if"), "{reason}");
}

/// A question that nobody waits for ends while the graph is made. A kept graph is not made again.
#[test]
fn a_graph_is_made_once() {
    let (_dir, store) = job();
    let app = app(&store);
    let first = asked(&app, "bandwidth=2", Work::IN_PLACE);
    let profile = app.store().find("job").unwrap();
    for rank in &profile.manifest.ranks {
        std::fs::remove_file(profile.segment_path(rank)).unwrap();
    }
    assert_eq!(asked(&app, "bandwidth=2", Work::IN_PLACE), first, "a kept graph reads no segment");
    let is_left = || true;
    let work = Work { cancel: Cancel::when(&is_left), ..Work::IN_PLACE };
    let question = WhatIfQuestion { profile: "job".to_owned(), edits: "bandwidth=3".to_owned() };
    assert!(answer(&app, &question.into(), work).is_err());
}

#[tokio::test]
async fn wrong_edits_and_profiles_are_refused() {
    let stage = Stage::new();
    for (edits, words) in [("kernel", "is no edit"), ("kernel:none%20such=0.5", "no such work")] {
        let reply = stage.get(&format!("/api/profiles/small/whatif?edits={edits}")).await;
        assert_eq!(reply.status, StatusCode::BAD_REQUEST, "{edits}");
        assert!(reply.text().contains(words), "{}", reply.text());
    }
    assert_eq!(stage.get("/api/profiles/none/whatif?edits=bandwidth=2").await.status, StatusCode::NOT_FOUND);
    assert_eq!(stage.get("/api/profiles/small/whatif").await.status, StatusCode::BAD_REQUEST);
}

/// Answers say what they are about, and each row with a place leads there.
#[test]
fn answers_have_a_version_a_scope_and_links() {
    let (_dir, store) = job();
    for (command, rows) in [
        ("findings", "findings"),
        ("waits", "rows"),
        ("critical-path", "slices"),
        ("regions", "regions"),
        ("ranks", ""),
        ("collectives", ""),
        ("summary", ""),
    ] {
        let of = json_of(&store, &[command, "job", "--output-format", "json"]);
        let keys = (&of["version"], &of["scope"]["profile"], &of["link"]);
        assert_eq!(keys, (&json!(1), &json!("job"), &json!("/profile/job")), "{command}");
        assert!(of["unit"].is_string() && of["total"].as_u64() >= of["shown"].as_u64(), "{command}");
        let rows = of[rows].as_array().into_iter().flatten();
        let linked: Vec<&Value> = rows.filter(|row| row["link"].is_string()).collect();
        for row in &linked {
            let link = row["link"].as_str().unwrap();
            let has =
                |name: &str, value: &Value| value.is_null() || link.contains(&format!("&{name}={value}"));
            assert!(link.starts_with("?v=2&") && has("rank", &row["rank"]), "{command}: {row}");
            assert!(row["rank"].is_null() || has("sel", &row["row"]), "{command}: {row}");
        }
        let lists = ["findings", "waits", "critical-path", "regions"];
        assert_eq!(!linked.is_empty(), lists.contains(&command), "{command}");
    }
}
