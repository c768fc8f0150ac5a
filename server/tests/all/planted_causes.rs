//! Planted causes and lost calls: what `nprof ranks` names in jobs with a known truth.

use std::fs;

use serde_json::{Value, json};

use crate::ranks::{STRICT, Truth, json_of, succeed};

/// Clocks far apart that drift, and one of twenty calls lost, with groups only.
#[test]
fn sixty_four_ranks_with_bad_clocks_reach_the_goals() {
    let job = ["--ranks", "64", "--lean", "--offset-ms", "50", "--drift-ppm", "50", "--lost", "0.05"];
    let Some(made) = Truth::make(&job) else { return };
    let (found, score) = made.score(&[&STRICT[..], &["--json"]].concat());
    println!("{score}");
    let score: Value = serde_json::from_str(&score).unwrap();
    for of in ["pair_precision", "pair_recall"] {
        assert!(score["match"][of].as_f64().unwrap() >= 0.999, "{score}");
    }
    assert_eq!((&score["bounds"]["hold"], &score["bounds"]["of"]), (&json!(63), &json!(63)), "{score}");
    assert!(score["clock_error_us"]["p95"].as_f64().unwrap() <= 2.0, "{score}");
    let found: Value = serde_json::from_str(&found).unwrap();
    let truth: Value = serde_json::from_slice(&fs::read(made.truth()).unwrap()).unwrap();
    let planted = truth["planted"].as_array().unwrap().iter().filter_map(|fault| match &fault["kind"] {
        kind if kind == "slow_compute" || kind == "pause" => Some(json!([fault["rank"]])),
        kind if kind == "slow_link" => Some(truth["comms"][fault["comm"].as_str()?]["ranks"].clone()),
        _ => None,
    });
    let mut planted: Vec<String> = planted.map(|ranks| ranks.to_string()).collect();
    let causes = found["causes"].as_array().unwrap().iter();
    let mut top: Vec<String> = causes.take(3).map(|cause| cause["ranks"].to_string()).collect();
    planted.sort();
    top.sort();
    assert_eq!(top, planted, "{}", found["causes"]);
    assert_eq!(named(&found), planted_ranks(&truth));
}

/// Ranks that are named, ascending.
fn named(found: &Value) -> Vec<u64> {
    let causes = found["causes"].as_array().unwrap().iter().filter(|cause| cause["stands_out"] == true);
    let ranks = causes.map(|cause| cause["ranks"].as_array().unwrap()).filter(|ranks| ranks.len() == 1);
    let mut named: Vec<u64> = ranks.map(|ranks| ranks[0].as_u64().unwrap()).collect();
    named.sort_unstable();
    named
}

/// Ranks that are slow or pause, ascending.
fn planted_ranks(truth: &Value) -> Vec<u64> {
    let planted = truth["planted"].as_array().unwrap().iter();
    let faults = planted.filter(|fault| fault["kind"] == "slow_compute" || fault["kind"] == "pause");
    let mut ranks: Vec<u64> = faults.map(|fault| fault["rank"].as_u64().unwrap()).collect();
    ranks.sort_unstable();
    ranks
}

/// Checks which ranks are named.
#[track_caller]
fn check_named(arguments: &[&str]) {
    let Some(made) = Truth::make(arguments) else { return };
    let found = json_of(&made.store(), &["ranks", "job", "--output-format", "json"]);
    let truth: Value = serde_json::from_slice(&fs::read(made.truth()).unwrap()).unwrap();
    assert_eq!(named(&found), planted_ranks(&truth), "{arguments:?} {}", found["causes"]);
}

#[test]
fn planted_ranks_are_named_and_nobody_else() {
    let far = ["--offset-ms", "50", "--drift-ppm", "50", "--lost", "0.05"];
    for seed in ["2", "5", "9"] {
        check_named(&[&["--ranks", "8", "--seed", seed][..], &far].concat());
    }
    check_named(&["--ranks", "16", "--tp", "2", "--steps", "6", "--seed", "1201", "--lean"]);
}

/// One step or two prove little: a rank that came late once is late in all that follows.
#[test]
fn nobody_is_named_in_a_short_job_without_a_fault() {
    for (steps, seed) in [("2", "401"), ("1", "410")] {
        check_named(&[
            "--ranks",
            "16",
            "--tp",
            "2",
            "--lean",
            "--no-faults",
            "--steps",
            steps,
            "--seed",
            seed,
        ]);
    }
}

#[test]
fn a_call_that_was_lost_at_the_end_is_no_mismatch_if_the_job_went_on() {
    let job = ["--ranks", "16", "--lean", "--lost", "0.05", "--no-faults", "--seed", "3"];
    let Some(made) = Truth::make(&job) else { return };
    let found = json_of(&made.store(), &["collectives", "job", "--output-format", "json"]);
    let last = |one: &&Value| one["kind"] == "all-reduce" && one["members"].as_object().unwrap().len() > 4;
    let ends = found["instances"].as_array().unwrap().iter().filter(last);
    let end = ends.max_by(|a, b| a["end_ns"].as_f64().unwrap().total_cmp(&b["end_ns"].as_f64().unwrap()));
    // Nothing comes after the last operation of all ranks.
    for of in found["mismatches"].as_array().unwrap() {
        assert_eq!(Some(&of["operation"]), end.map(|end| &end["operation"]), "{of}");
    }
    let truth: Value = serde_json::from_slice(&fs::read(made.truth()).unwrap()).unwrap();
    let lost: u64 =
        truth["per_rank"].as_array().unwrap().iter().map(|one| one["lost"].as_u64().unwrap()).sum();
    let lost_found = found["job"]["lost_calls"].as_u64().unwrap();
    assert!(lost_found > 0 && lost_found <= lost, "{lost_found} of {lost}");
    let text = succeed(&made.store(), &["ranks", "job"]);
    assert!(text.contains(" not recorded: the job went on with their ranks\n"), "{text}");
}
