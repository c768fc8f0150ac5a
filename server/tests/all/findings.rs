//! `nprof findings` on jobs whose causes are known: the generator plants them, and runs the same
//! job without them.

use std::path::Path;

use serde_json::Value;

use crate::ranks::{Truth, json_of, nprof, succeed};

/// Clocks that agree, and a recording that lacks nothing.
const SOUND: [&str; 8] = ["--offset-ms", "0", "--drift-ppm", "0", "--lost", "0", "--late-start", "0"];
/// Rules that blame a rank, a link, a step or an operation.
const BLAMING: [&str; 4] = ["late-rank", "slow-link", "slow-step", "outlier-collective"];

fn findings(of: &Truth) -> Vec<Value> {
    let found = json_of(&of.store(), &["findings", "job", "--output-format", "json"]);
    found["findings"].as_array().unwrap().clone()
}

/// Whether a planted cause is what a finding names.
fn is_of(one: &Value, planted: &Value, truth: &Value) -> bool {
    match planted["kind"].as_str().unwrap() {
        "slow_link" => {
            let ranks = &truth["comms"][planted["comm"].as_str().unwrap()]["ranks"];
            matches!(one["rule"].as_str(), Some("slow-link" | "outlier-collective")) && one["ranks"] == *ranks
        }
        _ => one["rule"] == "late-rank" && one["rank"] == planted["rank"],
    }
}

/// Each planted cause is found, and nothing else is blamed.
#[track_caller]
fn check_planted(shape: &[&str]) {
    let Some(made) = Truth::make(shape) else { return };
    let truth = made.facts();
    let found = findings(&made);
    let planted = truth["planted"].as_array().unwrap();
    for cause in planted {
        assert!(found.iter().any(|one| is_of(one, cause, &truth)), "{cause} {found:?}");
    }
    let blaming = found.iter().filter(|one| {
        one["state"] == "found"
            && BLAMING.contains(&one["rule"].as_str().unwrap())
            && one["rule"] != "slow-step"
    });
    for one in blaming {
        assert!(planted.iter().any(|cause| is_of(one, cause, &truth)), "{one}");
    }
}

#[test]
fn planted_causes_of_eight_ranks_are_found_and_no_other() {
    check_planted(&["--ranks", "8", "--steps", "4", "--seed", "41"]);
}

#[test]
fn planted_causes_of_sixty_four_ranks_are_found_and_no_other() {
    check_planted(&["--ranks", "64", "--steps", "3", "--seed", "42"]);
}

#[test]
fn a_job_without_faults_blames_nobody() {
    for seed in ["43", "44"] {
        let Some(made) = Truth::make(&["--ranks", "8", "--steps", "4", "--seed", seed, "--no-faults"]) else {
            return;
        };
        for one in findings(&made) {
            assert!(one["state"] != "found" || !BLAMING.contains(&one["rule"].as_str().unwrap()), "{one}");
        }
        // The program of the generator exposes a part of its communication.
        assert_eq!(nprof(&made.store(), &["findings", "job", "--fail-on", "late-rank"]).0, Some(0));
        assert_eq!(
            nprof(&made.store(), &["findings", "job", "--fail-on", "exposed-communication"]).0,
            Some(3)
        );
    }
}

/// The saving of the slow rank is what the same job saves without it.
#[test]
fn the_saving_of_a_late_rank_is_the_time_without_it() {
    let shape = ["--ranks", "8", "--steps", "4", "--seed", "45"];
    let dir = tempfile::tempdir().unwrap();
    let faults = dir.path().join("faults.json");
    std::fs::write(&faults, r#"[{"kind": "slow_compute", "rank": 3, "factor": 1.3}]"#).unwrap();
    let with = ["--faults", faults.to_str().unwrap()];
    let Some(made) = Truth::make(&[&shape[..], &with].concat()) else { return };
    let length = |of: &[&str]| {
        let made = Truth::make(&[&shape[..], &SOUND, of].concat()).unwrap();
        let found = json_of(&made.store(), &["findings", "job", "--output-format", "json"]);
        found["recorded_ps"].as_f64().unwrap()
    };
    let cost_ps = length(&with) - length(&["--no-faults"]);
    let ranks = json_of(&made.store(), &["ranks", "job", "--output-format", "json"]);
    let saving = &ranks["late_ranks"][0]["saving_ps"];
    let [low, middle, high] = ["low", "middle", "high"].map(|part| saving[part].as_f64().unwrap());
    assert!((middle - cost_ps).abs() < 0.1 * cost_ps, "{cost_ps} {saving}");
    assert!((low..=high).contains(&cost_ps), "{cost_ps} {saving}");
}

/// A rank whose trace is not there can be the late one, so its absence is no proof that nobody is.
#[test]
fn nobody_tells_who_is_late_if_a_rank_is_absent() {
    let Some(made) = Truth::make_without(&["--ranks", "8", "--steps", "3", "--seed", "46", "--no-faults"], 5)
    else {
        return;
    };
    let found = findings(&made);
    let of = |rule: &str| found.iter().find(|one| one["rule"] == rule).unwrap();
    assert_eq!(of("late-rank")["state"], "cannot-tell");
    assert_eq!(of("recording")["state"], "found");
    let (code, _, error) = nprof(&made.store(), &["findings", "job", "--fail-on", "late-rank"]);
    assert_eq!(code, Some(4), "{error}");
    assert!(error.contains("7 of 8 ranks"), "{error}");
}

/// The findings of a simulated job of four ranks.
fn findings_of_demo(dir: &Path, arguments: &[&str]) -> Vec<Value> {
    let store = dir.join("store");
    let demo = ["demo", "--ingest-only", "--ranks", "4", "--db-bucket", "job", "--force"];
    succeed(&store, &[&demo[..], arguments].concat());
    let found = json_of(&store, &["findings", "job", "--output-format", "json"]);
    found["findings"].as_array().unwrap().clone()
}

/// The saving of each planted cause is what it costs the simulated job.
#[test]
fn planted_causes_of_a_simulated_device_are_found_with_their_cost() {
    let dir = tempfile::tempdir().unwrap();
    let truth = dir.path().join("truth.json");
    for (fault, rule) in [
        ("slow-rank=1", "late-rank"),
        ("late-rank=2", "late-rank"),
        ("pause=1", "late-rank"),
        ("throttle=3", "late-rank"),
        ("slow-link=1", "slow-link"),
        ("dma-late=3", "slow-step"),
        ("spill", "dma-wait"),
        ("spill", "spill"),
        ("reload", "reload"),
        ("weights-reloaded", "weights-reloaded"),
        ("throttle", "throttled"),
    ] {
        let planted = ["--fault", fault, "--truth", truth.to_str().unwrap(), "--events", "20000"];
        let found = findings_of_demo(dir.path(), &planted);
        let truth: Value = serde_json::from_slice(&std::fs::read(&truth).unwrap()).unwrap();
        let cause = &truth["causes"][0];
        let of_rule = |one: &&Value| one["rule"] == rule && one["state"] == "found";
        let one = found.iter().find(of_rule).unwrap_or_else(|| panic!("{fault}: {found:?}"));
        let (cost, saving) =
            (cause["cost_ps"].as_f64().unwrap(), one["saving_ps"]["middle"].as_f64().unwrap());
        assert!((saving - cost).abs() < 0.1 * cost, "{fault}: {cost} {one}");
        assert!(cause["rank"].is_null() || one["rank"] == cause["rank"], "{fault}: {one}");
    }
}

/// Data that is loaded again is found by the rule of its kind, which names the tensor and leads to
/// its transfers. The most that the rule promises is not less than the cost.
#[test]
fn planted_loads_that_are_repeated_are_found_with_their_tensor() {
    let dir = tempfile::tempdir().unwrap();
    let truth = dir.path().join("truth.json");
    for (fault, rule, tensors, loads) in [
        ("reload", "reload", [".kv", ".gate"], 24.0),
        ("weights-reloaded", "weights-reloaded", [".weight"; 2], 8.0),
    ] {
        let planted = ["--fault", fault, "--truth", truth.to_str().unwrap(), "--events", "20000"];
        let found = findings_of_demo(dir.path(), &planted);
        let truth: Value = serde_json::from_slice(&std::fs::read(&truth).unwrap()).unwrap();
        let of_loads = |one: &&Value| {
            one["state"] == "found"
                && ["spill", "reload", "weights-reloaded"].iter().any(|rule| one["rule"] == *rule)
        };
        let of_rules: Vec<&Value> = found.iter().filter(of_loads).collect();
        let &[one] = &of_rules[..] else { panic!("{fault}: {found:?}") };
        assert_eq!(one["rule"], rule, "{fault}");
        let evidence = one["evidence"].as_array().unwrap();
        let measured = |measure: &str| {
            let of = evidence.iter().find(|of| of["measure"] == measure && of["of"] != Value::Null);
            of.unwrap_or_else(|| panic!("{measure}: {one}"))
        };
        let name = measured("loads")["of"].as_str().unwrap();
        assert!(tensors.iter().any(|end| name.ends_with(end)), "{one}");
        assert!((measured("loads")["value"].as_f64().unwrap() / loads - 1.0).abs() < 0.1, "{one}");
        assert!(measured("count")["value"].as_f64() >= Some(1.0), "{one}");
        assert_eq!(measured("bytes_again")["unit"], "bytes");
        assert!(one["row"].is_u64() && one["rank"] == 0, "{one}");
        let cost = truth["causes"][0]["cost_ps"].as_f64().unwrap();
        assert!(one["saving_ps"]["high"].as_f64() >= Some(0.9 * cost) && cost > 0.0, "{cost} {one}");
    }
}

#[test]
fn ten_sound_devices_load_nothing_again() {
    let dir = tempfile::tempdir().unwrap();
    for seed in 0..10 {
        let seed = seed.to_string();
        let sound = ["--fault", "none", "--seed", seed.as_str(), "--events", "20000"];
        for one in findings_of_demo(dir.path(), &sound) {
            let of_loads = ["spill", "reload", "weights-reloaded"].iter().any(|rule| one["rule"] == *rule);
            assert!(!of_loads || one["state"] == "nothing", "{one}");
        }
    }
}

#[test]
fn a_simulated_job_without_faults_blames_nobody() {
    let dir = tempfile::tempdir().unwrap();
    for one in findings_of_demo(dir.path(), &["--fault", "none"]) {
        assert!(one["state"] != "found" || !BLAMING.contains(&one["rule"].as_str().unwrap()), "{one}");
    }
}
