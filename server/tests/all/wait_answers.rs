//! The waits of a run over HTTP, on the command line and in an HTML file: one answer for all.

use std::sync::Mutex;

use axum::http::StatusCode;
use nprof_engine::base::Interval;
use nprof_engine::exec::{Cancel, Work};
use nprof_engine::wire::questions::{GraphProgressQuestion, Question, RunWaitsQuestion, answer};
use nprof_server::export::RanksOf;
use serde_json::Value;

use crate::finding_answers::{app, bundled, job, json};
use crate::ranks::json_of;
use crate::stage::Stage;

fn question(ranks: Option<Vec<u32>>, span: Option<Interval>, waits: u32) -> Question {
    RunWaitsQuestion { profile: "job".to_owned(), ranks, span, waits }.into()
}

fn sum(rows: &Value, time: impl Fn(&Value) -> i64) -> i64 {
    rows.as_array().unwrap().iter().map(time).sum()
}

fn duration(wait: &Value) -> i64 {
    wait["end_ps"].as_i64().unwrap() - wait["start_ps"].as_i64().unwrap()
}

#[test]
fn all_ways_give_the_same_waits() {
    let (_dir, store) = job();
    let app = app(&store);
    let profile = app.store().find("job").unwrap();
    for rank in [None, Some(2)] {
        let asked = |waits| question(rank.map(|rank| vec![rank]), None, waits);
        let of_server = json(&answer(&app, &asked(500), Work::IN_PLACE).unwrap());
        let number = rank.map(|rank| rank.to_string());
        let only = number.as_deref().map_or(vec![], |rank| vec!["--rank", rank]);
        let command = [&["waits", "job", "--output-format", "json"][..], &only].concat();
        let of_command_line = json_of(&store, &command);
        for (key, value) in of_server["table"].as_object().unwrap() {
            assert_eq!(&of_command_line[key], value, "{key}");
        }
        let of_file = bundled(RanksOf::all(&profile), &asked(500));
        assert_eq!(of_file["table"], of_server["table"]);
        if rank.is_some() {
            let few = json(&answer(&app, &asked(9), Work::IN_PLACE).unwrap());
            assert_eq!(bundled(RanksOf::all(&profile), &asked(9)), few);
        }
        let shown = of_file["waits"].as_array().unwrap().len();
        assert_eq!(shown > 0, rank.is_some(), "only a rank has single waits in a file");
    }
}

/// Single waits are the same time as the rows, and begin and end where the slices say.
#[test]
fn single_waits_are_those_of_the_rows() {
    let (_dir, store) = job();
    let app = app(&store);
    let of =
        |span, waits| json(&answer(&app, &question(Some(vec![1]), span, waits), Work::IN_PLACE).unwrap());
    let all = of(None, u32::MAX);
    let table =
        json_of(&store, &["waits", "job", "--rank", "1", "--limit", "all", "--output-format", "json"]);
    let known = |row: &Value| if row["waiter"].is_null() { 0 } else { row["wait_ps"].as_i64().unwrap() };
    assert_eq!(sum(&all["waits"], duration), sum(&table["rows"], known));
    let few = of(None, 10);
    assert_eq!(few["waits"].as_array().unwrap().len(), 10);
    let left_out = few["left_out_ps"].as_i64().unwrap();
    assert_eq!(sum(&few["waits"], duration) + left_out, sum(&all["waits"], duration));
    let first = &all["waits"][0];
    let (start, end) = (first["start_ps"].as_i64().unwrap(), first["end_ps"].as_i64().unwrap());
    let within = of(Some(Interval::new(start, end)), u32::MAX);
    assert_eq!(&within["waits"][0], first);
    assert!(within["waits"].as_array().unwrap().len() < all["waits"].as_array().unwrap().len());
}

/// A graph is made for the first answer that needs it, and is there from then on.
#[test]
fn a_graph_says_how_far_it_is() {
    let (_dir, store) = job();
    let app = app(&store);
    let progress = || {
        let question = GraphProgressQuestion { profile: "job".to_owned() };
        json(&answer(&app, &question.into(), Work::IN_PLACE).unwrap())
    };
    assert_eq!(progress(), serde_json::json!({"stage": "absent", "done": 0, "ranks": 4}));
    // While the work is read, the stages come in their order.
    let seen = Mutex::new(Vec::new());
    let look = || {
        let stage = progress()["stage"].as_str().unwrap().to_owned();
        let mut seen = seen.lock().unwrap();
        if seen.last() != Some(&stage) {
            seen.push(stage);
        }
        false
    };
    let work = Work { cancel: Cancel::when(&look), ..Work::IN_PLACE };
    answer(&app, &question(None, None, 0), work).unwrap();
    let seen = seen.into_inner().unwrap();
    let at = |stage: &str| seen.iter().position(|one| one == stage);
    assert!(at("calls").is_some() && at("calls") < at("work"), "{seen:?}");
    assert_eq!(progress(), serde_json::json!({"stage": "kept", "done": 4, "ranks": 4}));
}

#[tokio::test]
async fn unknown_ranks_and_profiles_are_refused() {
    let stage = Stage::new();
    let reply = stage.get("/api/profiles/small/waits?ranks=77").await;
    assert_eq!(reply.status, StatusCode::NOT_FOUND);
    assert!(reply.text().contains("has no rank 77"), "{}", reply.text());
    assert_eq!(stage.get("/api/profiles/none/waits").await.status, StatusCode::NOT_FOUND);
    assert_eq!(stage.get("/api/profiles/small/waits?ranks=x").await.status, StatusCode::BAD_REQUEST);
}
