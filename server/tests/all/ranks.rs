//! The analysis of all ranks from outside: `nprof ranks` and `nprof collectives` on jobs with a
//! known truth.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

pub(crate) use crate::truth::Truth;

/// A folder beside the project, or beside the folder of a work tree. `None`, saying so, without it.
pub(crate) fn shared(path: &str) -> Option<PathBuf> {
    let project = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let beside = ["../../shared", "../../../shared"].map(|folder| project.join(folder).join(path));
    let found = beside.into_iter().find(|folder| folder.exists());
    if found.is_none() {
        println!("skipped: there is no shared/{path}");
    }
    found
}

/// Runs nprof on a store: exit code, standard output, standard error.
pub(crate) fn nprof(store: &Path, args: &[&str]) -> (Option<i32>, String, String) {
    let done =
        Command::new(env!("CARGO_BIN_EXE_nprof")).arg("--store").arg(store).args(args).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (done.status.code(), text(&done.stdout), text(&done.stderr))
}

/// The standard output of a command that succeeds.
pub(crate) fn succeed(store: &Path, args: &[&str]) -> String {
    let (code, out, error) = nprof(store, args);
    assert_eq!(code, Some(0), "{args:?}: {error}");
    out
}

pub(crate) fn json_of(store: &Path, args: &[&str]) -> Value {
    serde_json::from_str(&succeed(store, args)).unwrap()
}

/// Makes a job, analyses it and scores the analysis.
#[track_caller]
fn check_truth(arguments: &[&str], limits: &[&str]) {
    let Some(made) = Truth::make(arguments) else { return };
    let (found, score) = made.score(limits);
    println!("{arguments:?}\n{score}");
    // Once more from the kept overlay.
    let again = succeed(&made.store(), &["collectives", "job", "--output-format", "json"]);
    assert_eq!(again, found);
}

/// The marks of the host are ahead of the device by a part of a step.
#[test]
fn steps_are_those_of_the_truth() {
    let Some(made) = Truth::make(&["--ranks", "8", "--layers", "2", "--steps", "3"]) else { return };
    let (found, _) = made.score(&STRICT);
    let found: Value = serde_json::from_str(&found).unwrap();
    let truth = made.facts();
    let mut of_call: std::collections::HashMap<(String, i64), u64> = std::collections::HashMap::new();
    for one in truth["instances"].as_array().unwrap() {
        let (ranks, ids) = (one["ranks"].as_array().unwrap(), one["corr"].as_array().unwrap());
        for (rank, id) in ranks.iter().zip(ids) {
            of_call.insert((rank.to_string(), id.as_i64().unwrap()), one["step"].as_u64().unwrap());
        }
    }
    let mut counts = [0_u64; 3];
    for one in found["instances"].as_array().unwrap() {
        let (rank, id) = one["members"].as_object().unwrap().iter().next().unwrap();
        let step = of_call[&(rank.clone(), id.as_i64().unwrap())];
        // The generator's marks begin with 10.
        assert_eq!(one["step"].as_u64(), Some(step + 10), "{one}");
        counts[usize::try_from(step).unwrap()] += 1;
    }
    let rows = json_of(&made.store(), &["collectives", "job", "--by", "step", "--output-format", "json"]);
    let rows = rows["rows"].as_array().unwrap();
    let of = |key: &str| rows.iter().map(|row| row[key].as_u64().unwrap()).collect::<Vec<_>>();
    assert_eq!((of("step"), of("count")), (vec![10, 11, 12], counts.to_vec()));
    assert!(
        rows.iter().all(|row| row["skew_ns"].as_f64() > Some(0.0) && row["imbalance"].as_f64() > Some(0.0))
    );
    let paused = truth["planted"].as_array().unwrap().iter().find(|fault| fault["kind"] == "pause").unwrap();
    assert_eq!(rows[1]["slowest_rank"], paused["rank"], "the pause is in the second step");
    let text = succeed(&made.store(), &["collectives", "job", "--by", "step"]);
    assert!(text.starts_with("STEP") && text.contains("SKEW"), "{text}");
    assert_eq!(text.lines().take_while(|line| !line.contains("operations have")).count(), 4, "{text}");
}

/// One all-reduce of four AIUs. Bounds from the host times of single messages, computed by hand.
#[test]
fn clocks_of_four_aius_are_moved_as_their_messages_demand() {
    let Some(trace) = shared("data/aiu/repo/tests/test_data/allreduce_tp4.json") else { return };
    let dir = tempfile::tempdir().unwrap();
    succeed(dir.path(), &["ingest", trace.to_str().unwrap(), "--db-bucket", "tp4"]);
    let found = json_of(dir.path(), &["ranks", "tp4", "--output-format", "json"]);
    assert_eq!((&found["verdict"], &found["violations"]), (&json!("aligned"), &json!(0)));
    for (rank, low_us, high_us) in [(1, 838.6, 1_525.6), (2, 778.9, 1_465.9), (3, 645.5, 1_332.5)] {
        let clock = &found["clocks"][rank];
        let us = |key: &str| clock[key].as_f64().unwrap() / 1e3;
        assert!((low_us..=high_us).contains(&us("offset_ns")), "{clock}");
        assert!(us("low_ns") <= us("offset_ns") && us("offset_ns") <= us("high_ns"), "{clock}");
        assert!(us("low_ns") < high_us && us("high_ns") > low_us, "{clock}");
    }
}

pub(crate) const STRICT: [&str; 4] = ["--clock-us", "2", "--wait", "0.01"];

#[test]
fn eight_ranks_are_as_their_truth_says() {
    check_truth(&["--ranks", "8"], &STRICT);
    check_truth(&["--ranks", "8", "--ids", "seq", "--lean", "--seed", "2"], &STRICT);
}

#[test]
fn sixty_four_ranks_with_groups_only_are_as_their_truth_says() {
    let job = ["--ranks", "64", "--lean", "--lost", "0.03", "--late-start", "3"];
    check_truth(&job, &STRICT);
}

#[test]
fn sixty_four_ranks_with_numbers_and_colliding_names_are_as_their_truth_says() {
    check_truth(&["--ranks", "64", "--lean", "--ids", "seq", "--shared-names", "--mismatch"], &STRICT);
}

#[test]
fn both_commands_say_mismatches_with_the_number_of_the_operation() {
    let Some(made) = Truth::make(&["--ranks", "16", "--lean", "--mismatch", "--ids", "seq"]) else { return };
    let (found, _) = made.score(&[]);
    let found: Value = serde_json::from_str(&found).unwrap();
    let mismatches = found["mismatches"].as_array().unwrap();
    assert!(!mismatches.is_empty());
    for command in ["ranks", "collectives"] {
        let text = succeed(&made.store(), &[command, "job"]);
        for of in mismatches {
            let (rank, what, number) = (&of["rank"], of["what"].as_str().unwrap(), &of["operation"]);
            assert!(
                text.contains(&format!("rank {rank}: {what} in operation {number}\n")),
                "{command}: {text}"
            );
        }
    }
    // Numbers follow the first arrivals. Instances come in another order.
    let first = |at: usize| found["instances"][at]["first_ns"].as_f64().unwrap();
    for of in mismatches {
        let mut at = found["instances"].as_array().unwrap().iter();
        let at = at.position(|one| one["operation"] == of["operation"]).unwrap();
        let all = found["instances"].as_array().unwrap().len();
        let before = (0..all).filter(|&other| (first(other), other) < (first(at), at)).count();
        assert_eq!(of["operation"], before + 1);
    }
}

#[test]
fn ranks_without_groups_get_their_clocks_and_causes() {
    // Groups in lock-step cannot be told apart, so pairs are not all right.
    let limits = ["--clock-us", "2", "--pairs", "0.5", "--wait", "0.05"];
    check_truth(&["--ranks", "8", "--ids", "none"], &limits);
}

/// Eight real ranks of one host, without groups and numbers. The oracle was computed by hand from
/// the traces.
#[test]
fn real_ranks_wait_as_computed_by_hand() {
    let Some(traces) = shared("data/kineto/dlrm_8_ranks") else { return };
    let dir = tempfile::tempdir().unwrap();
    succeed(dir.path(), &["ingest", traces.to_str().unwrap(), "--db-bucket", "dlrm"]);
    let found = json_of(dir.path(), &["collectives", "dlrm", "--output-format", "json"]);
    assert_eq!(found["verdict"], "agree");
    for clock in found["clocks"].as_array().unwrap() {
        assert_eq!((&clock["offset_ns"], &clock["drift_ppm"]), (&json!(0.0), &json!(0.0)), "{clock}");
    }
    let mut instances = found["instances"].as_array().unwrap().clone();
    instances.sort_by(|a, b| a["first_ns"].as_f64().unwrap().total_cmp(&b["first_ns"].as_f64().unwrap()));
    let first = instances[0]["first_ns"].as_f64().unwrap();
    let rows: Vec<_> = instances
        .iter()
        .map(|one| {
            let us = |key: &str| (one[key].as_f64().unwrap() - first) / 1e3;
            let waits = one["wait_ns"].as_object().unwrap().values();
            let wait: f64 = waits.map(|wait| wait.as_f64().unwrap() / 1e3).sum();
            let kind = one["kind"].as_str().unwrap();
            (
                kind,
                one["last_rank"].as_u64().unwrap(),
                us("last_ns"),
                one["transfer_ns"].as_f64().unwrap() / 1e3,
                wait,
            )
        })
        .collect();
    assert_eq!(
        rows,
        [
            ("all-to-all", 7, 7_624.0, 11.0, 26_435.0),
            ("all-to-all", 7, 10_404.0, 8.0, 6_231.0),
            ("all-to-all", 7, 10_805.0, 8.0, 1_161.0),
            ("all-to-all", 7, 10_938.0, 8.0, 871.0),
            ("all-reduce", 7, 12_157.0, 87.0, 854.0),
            ("all-to-all", 5, 13_986.0, 11.0, 2_903.0),
            ("all-reduce", 5, 14_581.0, 23.0, 3_379.0),
            ("all-reduce", 4, 15_963.0, 69.0, 5_009.0),
        ]
    );
    let of = |key: &str| -> Vec<i64> {
        let ranks = found["ranks"].as_array().unwrap().iter();
        ranks.map(|rank| (rank[key].as_f64().unwrap() / 1e3).round() as i64).collect()
    };
    assert_eq!(of("wait_ns"), [5_580, 11_125, 3_280, 9_571, 6_370, 6_041, 3_342, 1_534]);
    assert_eq!(of("blame_ns"), [3_333, 34, 7_001, 278, 5_825, 6_547, 6_942, 16_882]);
    assert_eq!(of("exposed_ns"), [5_537, 11_056, 3_217, 9_450, 6_550, 6_211, 3_289, 1_580]);
    let last: Vec<u64> =
        found["ranks"].as_array().unwrap().iter().map(|rank| rank["last"].as_u64().unwrap()).collect();
    assert_eq!(last, [0, 0, 0, 0, 1, 2, 0, 5]);
}

/// Two of 128 ranks, and only some of their calls. Five operations have both.
#[test]
fn ranks_that_come_later_wait_as_if_they_had_come_at_once() {
    let Some(traces) = shared("data/kineto/dlrm_8_ranks") else { return };
    let dir = tempfile::tempdir().unwrap();
    let files: Vec<String> = fs::read_dir(&traces).unwrap().map(|file| path_of(&file.unwrap())).collect();
    let of = |ranks: std::ops::Range<u32>| -> Vec<&str> {
        let name = |rank| format!("worker{rank}_");
        ranks.map(|rank| files.iter().find(|file| file.contains(&name(rank))).unwrap().as_str()).collect()
    };
    succeed(dir.path(), &[&["ingest", "--db-bucket", "whole"][..], &of(0..8)].concat());
    // The first event of the later ranks is earlier than that of the others, or later.
    succeed(dir.path(), &[&["ingest", "--db-bucket", "parts"][..], &of(4..8)].concat());
    succeed(dir.path(), &[&["ingest", "--into", "parts"][..], &of(0..4)].concat());
    let [whole, parts] = ["whole", "parts"].map(|profile| {
        let found = json_of(dir.path(), &["collectives", profile, "--output-format", "json"]);
        assert_eq!(found["verdict"], "agree", "{profile}");
        let instances = found["instances"].as_array().unwrap().iter();
        let mut rows: Vec<String> = instances
            .map(|one| {
                format!("{} {} {} {}", one["kind"], one["last_rank"], one["transfer_ns"], one["wait_ns"])
            })
            .collect();
        rows.sort();
        rows
    });
    assert_eq!(whole, parts);
    let offsets = json_of(dir.path(), &["ranks", "parts", "--output-format", "json"]);
    let offsets: Vec<f64> = offsets["clocks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|clock| clock["offset_ns"].as_f64().unwrap())
        .collect();
    // Each half of the ranks keeps the zero of its own ingest; the profile has that of the first.
    assert_eq!(offsets[4..], [0.0; 4], "{offsets:?}");
    assert!(offsets[0] != 0.0 && offsets[..4].iter().all(|offset| *offset == offsets[0]), "{offsets:?}");
}

fn path_of(file: &fs::DirEntry) -> String {
    file.path().to_str().unwrap().to_owned()
}

#[test]
fn sampled_ranks_match_where_they_can() {
    let Some(traces) = shared("data/kineto/vision_2_ranks") else { return };
    let dir = tempfile::tempdir().unwrap();
    succeed(dir.path(), &["ingest", traces.to_str().unwrap(), "--db-bucket", "vision"]);
    let found = json_of(dir.path(), &["collectives", "vision", "--output-format", "json"]);
    assert_eq!((&found["verdict"], &found["clocks"][1]["offset_ns"]), (&json!("agree"), &json!(0.0)));
    let both = |one: &&Value| one["members"].as_object().unwrap().len() == 2;
    let mut rows: Vec<(&str, u64, f64)> = found["instances"]
        .as_array()
        .unwrap()
        .iter()
        .filter(both)
        .map(|one| {
            let transfer = one["transfer_ns"].as_f64().unwrap() / 1e3;
            (one["kind"].as_str().unwrap(), one["last_rank"].as_u64().unwrap(), transfer)
        })
        .collect();
    rows.sort_by(|a, b| a.2.total_cmp(&b.2));
    assert_eq!(
        rows,
        [
            ("all-reduce", 1, 8_425.0),
            ("all-reduce", 1, 13_838.0),
            ("all-gather", 1, 42_744.0),
            ("all-to-all", 1, 57_924.0),
            ("all-gather", 1, 62_352.0),
        ]
    );
    let waits: Vec<&Value> = found["ranks"].as_array().unwrap().iter().map(|rank| &rank["wait_ns"]).collect();
    assert_eq!(waits, [&json!(31_865_000.0), &json!(0.0)]);
}

/// A simulated job in which rank 5 is slow.
fn demo(store: &Path) {
    let job = ["demo", "--ranks", "8", "--straggler", "5", "--collectives", "200"];
    succeed(store, &[&job[..], &["--ingest-only", "--db-bucket", "job"]].concat());
}

#[test]
fn the_straggler_of_a_simulated_job_is_named() {
    let dir = tempfile::tempdir().unwrap();
    demo(dir.path());
    let found = json_of(dir.path(), &["ranks", "job", "--output-format", "json"]);
    let ranks = found["ranks"].as_array().unwrap();
    let most = ranks.iter().max_by_key(|rank| rank["last"].as_u64()).unwrap();
    assert_eq!((&most["rank"], &most["collectives"]), (&json!(5), &json!(200)));
    assert_eq!(found["verdict"], "agree");
    assert_eq!((&found["job"]["straggler"], &found["job"]["operations"]), (&json!(5), &json!(200)));
    let (delay, span) = (&found["job"]["straggler_delay_ns"], &ranks[5]["span_ns"]);
    assert!(delay.as_f64() > Some(0.0) && delay.as_f64() < span.as_f64(), "{}", found["job"]);
    assert_eq!(found["causes"][0]["cause"], "rank 5");
    let text = succeed(dir.path(), &["ranks", "job"]);
    assert!(
        text.contains("\nrank 5: others waited ") && text.contains(" for it, summed over them: "),
        "{text}"
    );
    for part in [
        "\ntime of all ranks: ",
        "the job would be ",
        " shorter, between ",
        ", if rank 5 were as fast as the median rank: rank 5 is late: ",
        "LOW",
        "HIGH",
        "RESIDUAL",
        "CALLS",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let csv = succeed(dir.path(), &["ranks", "job", "--output-format", "csv"]);
    for key in ["low_ns", "high_ns", "residual_ns", "clock_calls"] {
        assert!(csv.lines().next().unwrap().split(',').any(|one| one == key), "{key} in {csv}");
    }
    for (by, has_slowest) in [("kind", true), ("size", true), ("rank", false)] {
        let text = succeed(dir.path(), &["collectives", "job", "--by", by]);
        assert_eq!(text.lines().next().unwrap().ends_with("  SLOWEST"), has_slowest, "{text}");
    }
    for by in ["kind", "size", "rank", "step"] {
        let rows = json_of(dir.path(), &["collectives", "job", "--by", by, "--output-format", "json"]);
        let counts = rows["rows"].as_array().unwrap().iter().map(|row| row["count"].as_u64().unwrap());
        assert_eq!(counts.sum::<u64>(), 200, "{by}");
    }
    let csv = succeed(dir.path(), &["collectives", "job", "--output-format", "csv"]);
    assert_eq!(csv.lines().count(), 3, "{csv}");
}

#[test]
fn a_condition_that_holds_ends_with_three() {
    let dir = tempfile::tempdir().unwrap();
    demo(dir.path());
    assert_eq!(nprof(dir.path(), &["ranks", "job", "--fail-on", "wait > 99%"]).0, Some(0));
    let (code, out, error) = nprof(dir.path(), &["ranks", "job", "--fail-on", "wait > 0.1%"]);
    assert_eq!(code, Some(3), "{error}");
    assert!(out.contains("ROOT BLAME") && error.starts_with("nprof: wait of rank "), "{error}");
    // A quantity that nothing has cannot be told, and a condition that is none is refused.
    assert_eq!(nprof(dir.path(), &["collectives", "job", "--fail-on", "weight > 1%"]).0, Some(2));
    assert_eq!(nprof(dir.path(), &["collectives", "job", "--fail-on", "wait is long"]).0, Some(2));
}

#[test]
fn both_commands_report_their_conditions_to_ci_systems() {
    let dir = tempfile::tempdir().unwrap();
    demo(dir.path());
    for (command, answer) in [
        ("ranks", "time of all ranks: "),
        ("collectives", "200 collective operations with 1,600 calls of 8 ranks"),
    ] {
        let run = |form: &str| {
            let conditions = ["--fail-on", "wait > 0.1%", "--fail-on", "wait > 99%"];
            let (code, out, error) =
                nprof(dir.path(), &[&[command, "job", "--output-format", form], &conditions[..]].concat());
            assert_eq!(code, Some(3), "{command} {form}: {error}");
            assert!(error.starts_with("nprof: wait of rank "), "{error}");
            out
        };
        let junit = run("junit");
        let suite = format!("<testsuite name=\"nprof {command}\" tests=\"2\" failures=\"1\" errors=\"0\">");
        assert!(junit.contains(&suite) && junit.contains(answer), "{junit}");
        assert!(junit.contains("name=\"wait &gt; 99%\">\n  </testcase>"), "{junit}");
        let github = run("github");
        assert!(github.starts_with(&format!("::notice title=nprof {command}::{answer}")), "{github}");
        assert_eq!(github.matches("::error title=").count(), 1, "{github}");
        let sarif: Value = serde_json::from_str(&run("sarif")).unwrap();
        let run = &sarif["runs"][0];
        assert_eq!(run["tool"]["driver"]["name"], format!("nprof {command}"));
        assert_eq!(run["results"].as_array().unwrap().len(), 1, "{sarif}");
    }
    // Steps of time have no conditions.
    let steps = ["ranks", "job", "--over-time", "--output-format", "junit"];
    let (code, _, error) = nprof(dir.path(), &steps);
    assert!(code == Some(1) && error.contains("csv or json"), "{error}");
}

#[test]
fn clocks_are_stored_when_asked_and_never_over_one_set_by_hand() {
    let Some(bench) = shared("bench/multirank") else { return };
    let dir = tempfile::tempdir().unwrap();
    let (job, store) = (dir.path().join("job"), dir.path().join("store"));
    let made =
        Command::new("python3").arg(bench.join("gen.py")).arg(&job).args(["--ranks", "4", "--lean"]).output();
    if !made.is_ok_and(|made| made.status.success()) {
        println!("skipped: python3 cannot be run");
        return;
    }
    fs::remove_file(job.join("truth.json")).unwrap();
    succeed(&store, &["ingest", job.to_str().unwrap(), "--db-bucket", "job"]);
    let manifest = || {
        let found = fs::read_dir(store.join("profiles")).unwrap().next().unwrap().unwrap().path();
        let text = fs::read(found.join("manifest.json")).unwrap();
        let parsed: Value = serde_json::from_slice(&text).unwrap();
        (text, parsed)
    };
    let before = manifest().0;
    succeed(&store, &["ranks", "job"]);
    assert_eq!(manifest().0, before, "the overlay is beside the manifest");
    succeed(&store, &["clock", "job", "--rank", "2", "--offset", "1ms"]);
    succeed(&store, &["ranks", "job", "--align"]);
    let ranks = manifest().1["ranks"].clone();
    assert_eq!((&ranks[0]["clock"], &ranks[1]["clock_by"]), (&Value::Null, &json!("calls")));
    assert_eq!(
        (&ranks[2]["clock_by"], &ranks[2]["clock"]["offset_ps"]),
        (&json!("hand"), &json!(1_000_000_000))
    );
    let found = json_of(&store, &["ranks", "job", "--output-format", "json"]);
    assert_eq!(found["clocks"][2]["set_by"], "hand");
    assert_eq!(found["clocks"][2]["offset_ns"], 1e6);
    // The result of the calls does not depend on the stored clocks.
    succeed(&store, &["clock", "job", "--rank", "2", "--clear"]);
    succeed(&store, &["ranks", "job", "--align"]);
    assert_eq!(manifest().1["ranks"][1]["clock"], ranks[1]["clock"]);
    assert_eq!(manifest().1["ranks"][2]["clock_by"], "calls");
}

#[test]
fn the_waiting_over_time_names_the_rank_that_waits_least() {
    let dir = tempfile::tempdir().unwrap();
    demo(dir.path());
    let found = json_of(dir.path(), &["ranks", "job", "--over-time", "16", "--output-format", "json"]);
    assert_eq!(found["ranks"], json!([0, 1, 2, 3, 4, 5, 6, 7]));
    let steps = found["steps"].as_array().unwrap();
    assert!((8..=16).contains(&steps.len()), "{}", steps.len());
    // The others wait for rank 5 in every step.
    assert!(steps.iter().all(|step| step["least_rank"] == 5), "{found}");
    let step = &steps[1];
    assert_eq!(step["shares"].as_array().unwrap().len(), 8);
    assert!(step["least"].as_f64() <= step["median"].as_f64() && step["median"].as_f64() <= Some(1.0));
    let text = succeed(dir.path(), &["ranks", "job", "--over-time"]);
    assert!(text.contains("FROM") && text.lines().count() > 16, "{text}");
    let csv = succeed(dir.path(), &["ranks", "job", "--over-time", "16", "--output-format", "csv"]);
    assert_eq!(csv.lines().count(), steps.len() + 1, "{csv}");
}

#[test]
fn hosts_are_those_of_the_traces_or_of_the_folders() {
    let dir = tempfile::tempdir().unwrap();
    demo(dir.path());
    let text = succeed(dir.path(), &["ranks", "job"]);
    assert!(text.contains("HOST") && text.contains("host-0"), "{text}");
    let store = dir.path().join("store");
    let trace = |file: &str, more: &str| {
        let path = dir.path().join("traces").join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let event = r#"{"ph":"X","pid":1,"tid":1,"ts":5,"dur":2,"name":"a"}"#;
        let base = r#""schemaVersion":1,"baseTimeNanoseconds":1000000000"#;
        fs::write(path, format!(r#"{{{base}{more},"traceEvents":[{event}]}}"#)).unwrap();
    };
    trace("a/rank_0.json", "");
    trace("b/rank_1.json", r#","host_name":"gpu-7.example""#);
    trace("b/rank_2.json", "");
    succeed(&store, &["ingest", dir.path().join("traces").to_str().unwrap(), "--db-bucket", "nodes"]);
    trace("../c/rank_3.json", r#","kind":"other""#);
    succeed(&store, &["ingest", dir.path().join("c").to_str().unwrap(), "--into", "nodes"]);
    let found = json_of(&store, &["ranks", "nodes", "--output-format", "json"]);
    let hosts: Vec<&Value> = found["ranks"].as_array().unwrap().iter().map(|rank| &rank["host"]).collect();
    assert_eq!(hosts, ["a", "gpu-7.example", "b", "c"]);
    let csv = succeed(&store, &["ranks", "nodes", "--output-format", "csv"]);
    assert!(csv.lines().next().unwrap().contains("host"), "{csv}");
}
