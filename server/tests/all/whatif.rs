//! `nprof whatif` on jobs whose change is known: a second run of the same job with this change.

use std::fs;

use serde_json::Value;

use crate::ranks::{Truth, json_of, nprof, succeed};

/// Clocks that agree, and a recording that lacks nothing.
const SOUND: [&str; 8] = ["--offset-ms", "0", "--drift-ppm", "0", "--lost", "0", "--late-start", "0"];

fn prediction(of: &Truth, edits: &[&str]) -> Value {
    json_of(&of.store(), &[&["whatif", "job", "--output-format", "json"], edits].concat())
}

fn ps(of: &Value) -> f64 {
    of.as_f64().unwrap()
}

/// Checks predictions for a job with bad clocks, lost calls and a late rank against the runs with
/// the changes. Each middle is within 1 % of the job, and each truth within its bracket.
#[track_caller]
fn check(shape: &[&str], changes: &[(&[&str], &[&str])]) {
    let Some(recorded) = Truth::make(shape) else { return };
    for (change, edits) in changes {
        let Some(changed) = Truth::make(&[shape, &SOUND, change].concat()) else { return };
        let truth = ps(&prediction(&changed, &["bandwidth=1"])["recorded_ps"]);
        let found = prediction(&recorded, edits);
        assert_eq!(found["recorded_ps"], found["unchanged_ps"], "{found}");
        let [low, middle, high] = ["low", "middle", "high"].map(|part| ps(&found["predicted_ps"][part]));
        let whole = ps(&found["recorded_ps"]);
        assert!((middle - truth).abs() <= 0.01 * whole, "{edits:?}: {truth} {found}");
        assert!((low..=high).contains(&truth), "{edits:?}: {truth} {found}");
        assert!(high - low <= 0.1 * whole, "{edits:?}: {found}");
    }
}

#[test]
fn eight_ranks_with_a_change_take_as_long_as_predicted() {
    let shape = ["--ranks", "8", "--steps", "3", "--seed", "21", "--no-faults"];
    check(
        &shape,
        &[
            (&["--kernel", "backward=0.5"], &["kernel:backward=0.5"]),
            (&["--kernel", "gemm=1.5"], &["kernel:gemm*=1.5"]),
            (&["--transfer", "_reduce_scatter=0.1667"], &["transfer:reduce-scatter=0.1667"]),
            (
                &["--transfer", "allreduce=0.5", "--kernel", "mlp=0.5"],
                &["transfer:all-reduce=0.5", "kernel:mlp=0.5"],
            ),
        ],
    );
}

#[test]
fn sixty_four_ranks_with_faults_and_a_change_take_as_long_as_predicted() {
    let shape = ["--ranks", "64", "--steps", "3", "--seed", "22"];
    check(&shape, &[(&["--kernel", "backward=0.1667"], &["kernel:backward=0.1667"])]);
}

/// A rank that pauses and one that computes slowly cost what the run without them saves.
#[test]
fn ranks_that_become_median_save_what_they_cost() {
    let shape = ["--ranks", "8", "--steps", "3", "--seed", "1"];
    let Some(recorded) = Truth::make(&shape) else { return };
    let truth: Value = serde_json::from_slice(&fs::read(recorded.truth()).unwrap()).unwrap();
    let planted = truth["planted"].as_array().unwrap();
    for kind in ["slow_compute", "pause"] {
        let fault = planted.iter().find(|fault| fault["kind"] == kind).unwrap();
        let others: Vec<&Value> = planted.iter().filter(|other| *other != fault).collect();
        let dir = tempfile::tempdir().unwrap();
        let faults = dir.path().join("faults.json");
        fs::write(&faults, serde_json::to_vec(&others).unwrap()).unwrap();
        let without = [&shape[..], &SOUND, &["--faults", faults.to_str().unwrap()]].concat();
        let Some(without) = Truth::make(&without) else { return };
        let truth = ps(&prediction(&without, &["bandwidth=1"])["recorded_ps"]);
        let found = prediction(&recorded, &[&format!("rank:{}=median", fault["rank"])]);
        let saved = ps(&found["saving_ps"]["middle"]);
        let expected = ps(&found["recorded_ps"]) - truth;
        assert!((saved - expected).abs() <= 0.1 * expected, "{kind}: {expected} {found}");
    }
}

/// The path covers the run, and the waits of a rank for a late one have it as their root.
#[test]
fn path_and_waits_lead_to_the_late_rank() {
    let Some(of) = Truth::make(&["--ranks", "8", "--steps", "3", "--seed", "1"]) else { return };
    let truth: Value = serde_json::from_slice(&fs::read(of.truth()).unwrap()).unwrap();
    let slow = truth["planted"].as_array().unwrap().iter().find(|fault| fault["kind"] == "slow_compute");
    let slow = slow.unwrap()["rank"].as_u64().unwrap();
    let path = json_of(&of.store(), &["critical-path", "job", "--limit", "all", "--output-format", "json"]);
    let length = ps(&path["length_ps"]);
    let parts = path["slices"].as_array().unwrap();
    let sum: f64 = parts.iter().map(|part| ps(&part["end_ps"]) - ps(&part["start_ps"])).sum();
    assert_eq!((sum, path["shown"].as_u64()), (length, path["total"].as_u64()));
    assert_eq!(length, ps(&prediction(&of, &["bandwidth=1"])["recorded_ps"]));
    let first = &path["by_rank"][0];
    assert!(first["rank"] == slow || first["ps"].as_f64().unwrap() > 0.3 * length, "{first}");
    let slack = ["critical-path", "job", "--slack", "--limit", "all", "--output-format", "json"];
    let slack = json_of(&of.store(), &slack);
    let slices = slack["slices"].as_array().unwrap();
    let slack_of = |part: &Value| {
        let slice =
            slices.iter().find(|slice| (&slice["rank"], &slice["row"]) == (&part["rank"], &part["row"]));
        slice.map(|slice| ps(&slice["slack_ps"]))
    };
    let work: Vec<&Value> = parts.iter().filter(|part| part["kind"] == "work").collect();
    assert!(!work.is_empty() && work.iter().all(|part| slack_of(part) == Some(0.0)), "{slack}");
    let off = slices.iter().filter(|slice| ps(&slice["slack_ps"]) > 0.0).count();
    assert!(off > 0, "the work of the other ranks has slack");
    // A mate of the slow rank in its group of four.
    let mate = (slow ^ 1).to_string();
    let waits = json_of(&of.store(), &["waits", "job", "--rank", &mate, "--output-format", "json"]);
    let longest = |row: &&Value| row["kind"] == "operation";
    let longest = waits["rows"].as_array().unwrap().iter().find(longest).unwrap();
    assert_eq!(longest["root"], format!("rank {slow}"), "{longest}");
    let text = succeed(&of.store(), &["waits", "job", "--rank", &mate, "--limit", "3"]);
    assert_eq!(text.lines().count(), 5, "{text}");
    assert!(text.starts_with(&format!("queues and threads of rank {mate} waited ")), "{text}");
    let text = succeed(&of.store(), &["critical-path", "job"]);
    assert!(text.lines().nth(1).unwrap().starts_with("on the path: rank "), "{text}");
    assert_eq!(nprof(&of.store(), &["waits", "job", "--rank", "9"]).0, Some(1));
}

#[test]
fn a_person_reads_the_answer_first() {
    let Some(of) = Truth::make(&[&["--ranks", "4", "--steps", "2", "--seed", "3"], &SOUND[..]].concat())
    else {
        return;
    };
    let text = succeed(&of.store(), &["whatif", "job", "kernel:gemm=0.5"]);
    let first = text.lines().next().unwrap();
    assert!(first.contains(" instead of ") && first.contains(" shorter, between "), "{text}");
    assert!(text.contains("unchanged run takes as long as recorded"), "{text}");
    let swept = succeed(&of.store(), &["whatif", "job", "--sweep"]);
    assert!(swept.lines().next().unwrap().ends_with("kernel:gemm_bf16_backward=0.5"), "{swept}");
    assert!(swept.contains("transfer:all-reduce=0.5") && swept.contains("=median"), "{swept}");
}

#[test]
fn an_edit_of_nothing_says_what_there_is() {
    let Some(of) = Truth::make(&["--ranks", "2", "--steps", "1"]) else { return };
    for (edit, known) in [
        ("kernel:conv=0.5", "`gemm_bf16_backward`"),
        ("transfer:gather=0.5", "all-reduce"),
        ("rank:7=median", "rank 0 to rank 1"),
    ] {
        let (code, _, message) = nprof(&of.store(), &["whatif", "job", edit]);
        assert_eq!(code, Some(1), "{message}");
        assert!(message.contains("no such work; it has") && message.contains(known), "{message}");
    }
    assert_eq!(nprof(&of.store(), &["whatif", "job", "gemm=0.5"]).0, Some(2));
    assert_eq!(nprof(&of.store(), &["whatif", "job"]).0, Some(2));
}
