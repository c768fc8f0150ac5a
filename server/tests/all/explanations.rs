//! Names and explanations of `nprof ranks` and `nprof collectives`: parts of a job, equal ranks,
//! slow links, conditions and bounds.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::ranks::{json_of, nprof, shared, succeed};

/// Ingests a job of `gen.py` as `job`, with its truth. `None`, saying so, without the generator.
fn generated(store: &Path, arguments: &[&str]) -> Option<Value> {
    let bench = shared("bench/multirank")?;
    let dir = tempfile::tempdir().unwrap();
    let job = dir.path().join("job");
    let done = Command::new("python3").arg(bench.join("gen.py")).arg(&job).args(arguments).output();
    if !done.is_ok_and(|done| done.status.success()) {
        println!("skipped: python3 cannot be run");
        return None;
    }
    let truth = std::fs::read(job.join("truth.json")).unwrap();
    std::fs::remove_file(job.join("truth.json")).unwrap();
    succeed(store, &["ingest", job.to_str().unwrap(), "--db-bucket", "job"]);
    Some(serde_json::from_slice(&truth).unwrap())
}

/// Ingests real traces as `job`. `None`, saying so, without them.
fn real(store: &Path, traces: &str) -> Option<()> {
    let traces = shared(traces)?;
    succeed(store, &["ingest", traces.to_str().unwrap(), "--db-bucket", "job"]);
    Some(())
}

#[test]
fn two_of_128_ranks_are_said_to_be_a_part() {
    let dir = tempfile::tempdir().unwrap();
    let Some(()) = real(dir.path(), "data/kineto/vision_2_ranks") else { return };
    for command in ["ranks", "collectives"] {
        let text = succeed(dir.path(), &[command, "job"]);
        assert!(text.contains("recorded: 2 of 128 ranks; "), "{command}: {text}");
        assert!(text.contains("10 of 15 operations have a call of one rank only"), "{command}: {text}");
    }
    let found = json_of(dir.path(), &["ranks", "job", "--output-format", "json"]);
    assert_eq!((&found["job"]["ranks"], &found["job"]["ranks_of_job"]), (&json!(2), &json!(128)));
    assert_eq!(found["job"]["operations_of_one_rank"], 10);
    // Two all-reduces have both ranks: of 8,425 and 13,838 us, with waits of 3,302 and 22,328 us.
    let rows = json_of(dir.path(), &["collectives", "job", "--by", "kind", "--output-format", "json"]);
    let row = &rows["rows"][0];
    assert_eq!(
        (&row["kind"], &row["count"], &row["of_one_rank"]),
        (&json!("all-reduce"), &json!(6), &json!(4))
    );
    let us = |key: &str| row[key].as_f64().unwrap() / 1e3;
    assert_eq!((us("transfer_median_ns"), us("transfer_max_ns")), (13_838.0, 13_838.0));
    assert_eq!((us("wait_median_ns"), us("total_wait_ns")), (22_328.0, 25_630.0));
    let rows = json_of(dir.path(), &["collectives", "job", "--by", "size", "--output-format", "json"]);
    let alone = rows["rows"].as_array().unwrap().iter().filter(|row| row["count"] == row["of_one_rank"]);
    for row in alone {
        for key in ["transfer_median_ns", "wait_max_ns", "bus_bytes_per_s", "slowest_rank"] {
            assert_eq!(row[key], Value::Null, "{row}");
        }
    }
    let text = succeed(dir.path(), &["ranks", "job"]);
    assert!(text.contains("\nrank 1: LOW or HIGH is not known, the traces do not state which"), "{text}");
    assert_eq!(found["clocks"][1]["no_bounds"], "the traces do not state which ranks belong to an operation");
}

/// The intervals were computed by hand from the traces. They take each timestamp as exact, and
/// nprof a microsecond step on both sides.
#[test]
fn real_clocks_of_one_stream_have_certain_bounds() {
    let dir = tempfile::tempdir().unwrap();
    let Some(()) = real(dir.path(), "data/kineto/dlrm_8_ranks") else { return };
    let found = json_of(dir.path(), &["ranks", "job", "--output-format", "json"]);
    assert_eq!((&found["verdict"], &found["violations"]), (&json!("agree"), &json!(0)));
    for clock in found["clocks"].as_array().unwrap().iter().skip(1) {
        let us = |key: &str| clock[key].as_f64().unwrap() / 1e3;
        let high = match clock["rank"].as_u64() {
            Some(4) => 64.0,
            Some(5) => 12.0,
            Some(7) => 8.0,
            _ => 132.0,
        };
        assert!((us("high_ns") - high).abs() <= 8.0, "{clock}");
        assert!((-140.0..=0.0).contains(&us("low_ns")), "{clock}");
        assert_eq!(clock["no_bounds"], Value::Null);
    }
    assert!(!succeed(dir.path(), &["ranks", "job"]).contains("LOW or HIGH"));
}

#[test]
fn equal_ranks_have_no_culprit() {
    let dir = tempfile::tempdir().unwrap();
    let job = ["--ranks", "8", "--lean", "--no-faults"];
    let Some(_) = generated(dir.path(), &job) else { return };
    let text = succeed(dir.path(), &["ranks", "job"]);
    assert!(text.contains("\nno rank stands out: ") && !text.contains("others waited"), "{text}");
    assert!(!text.contains("the job would be "), "{text}");
    let found = json_of(dir.path(), &["ranks", "job", "--output-format", "json"]);
    let causes = found["causes"].as_array().unwrap();
    assert!(!causes.is_empty() && causes.iter().all(|cause| cause["stands_out"] == false), "{found}");
    assert_eq!(found["job"]["straggler"], Value::Null);
}

#[test]
fn planted_causes_are_named_and_a_slow_link_says_where_it_shows() {
    let dir = tempfile::tempdir().unwrap();
    let Some(truth) = generated(dir.path(), &["--ranks", "8", "--lean"]) else { return };
    let found = json_of(dir.path(), &["ranks", "job", "--output-format", "json"]);
    let planted =
        |kind: &str| truth["planted"].as_array().unwrap().iter().find(|one| one["kind"] == kind).cloned();
    let text = succeed(dir.path(), &["ranks", "job"]);
    for kind in ["slow_compute", "pause"] {
        let rank = &planted(kind).unwrap()["rank"];
        assert!(text.contains(&format!("\nrank {rank}: others waited ")), "{kind}: {text}");
    }
    let link = &found["links"][0];
    let slow = &truth["comms"][planted("slow_link").unwrap()["comm"].as_str().unwrap()]["ranks"];
    assert_eq!(&link["ranks"], slow);
    let operations = link["operations"].as_u64().unwrap();
    assert!(operations > 0 && link["slower_ns"].as_f64() > Some(0.0), "{link}");
    assert!(slow.as_array().unwrap().contains(&link["rank"]), "{link}");
    assert!(text.contains(&format!(" per operation, {operations} operation")), "{text}");
    let seen = format!("slowest in operation {}, see rank {}", link["operation"], link["rank"]);
    assert!(text.contains(&seen), "{text}");
}

#[test]
fn all_four_bandwidths_are_in_every_form() {
    let dir = tempfile::tempdir().unwrap();
    let Some(()) = real(dir.path(), "data/kineto/dlrm_8_ranks") else { return };
    let keys =
        ["algorithm", "bus"].map(|of| [format!("{of}_bytes_per_s"), format!("{of}_bytes_per_s_with_wait")]);
    let keys: Vec<&String> = keys.iter().flatten().collect();
    let csv = succeed(dir.path(), &["collectives", "job", "--output-format", "csv"]);
    let heading: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    assert!(keys.iter().all(|key| heading.contains(&key.as_str())), "{csv}");
    let text = succeed(dir.path(), &["collectives", "job", "--by", "size"]);
    assert_eq!(text.matches("WITH WAIT").count(), 2, "{text}");
    assert!(text.contains("ALG") && text.contains("BUS"), "{text}");
    let found = json_of(dir.path(), &["collectives", "job", "--output-format", "json"]);
    let fifth = found["instances"].as_array().unwrap().iter().find(|one| one["count"] == 394_241).unwrap();
    // 1,576,964 bytes in 87 us of transfer, and 310 us from the first arrival on; 8 ranks.
    let expected = [87.0, 310.0].map(|us: f64| 1_576_964.0 / us * 1e6);
    let expected = [expected[0], expected[1], expected[0] * 1.75, expected[1] * 1.75];
    for (key, expected) in keys.iter().zip(expected) {
        assert!((fifth[key.as_str()].as_f64().unwrap() / expected - 1.0).abs() < 1e-9, "{key}: {fifth}");
    }
}

#[test]
fn conditions_take_both_blames_and_refuse_nonsense() {
    let dir = tempfile::tempdir().unwrap();
    let demo = ["demo", "--ranks", "8", "--straggler", "5", "--collectives", "200", "--ingest-only"];
    succeed(dir.path(), &[&demo[..], &["--db-bucket", "job"]].concat());
    let code = |condition: &str| {
        let (code, _, error) = nprof(dir.path(), &["ranks", "job", "--fail-on", condition]);
        (code, error)
    };
    for condition in ["blame > 1 ms", "root-blame > 1ms", "blame > 30%", "wait > 1us"] {
        let (found, error) = code(condition);
        assert_eq!(found, Some(3), "{condition}: {error}");
        let name = condition.split(' ').next().unwrap();
        assert!(error.starts_with(&format!("nprof: {name} of rank ")), "{error}");
    }
    for condition in ["blame > 1 s", "root-blame > 99%", "mismatches > 0"] {
        assert_eq!(code(condition).0, Some(0), "{condition}");
    }
    let (found, error) = code("wait > -1%");
    assert_eq!(found, Some(2));
    assert!(error.contains("write for example \"wait > 10%\""), "{error}");
    let help = succeed(dir.path(), &["ranks", "--help"]);
    assert!(help.contains("root-blame"), "{help}");
}
