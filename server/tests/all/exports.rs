//! Exports of a trace and of a stored profile: tracks, counters, arrows, exact times, warnings.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use nprof_capture::formats::ntff::fixture::{BEGIN, varied};
use nprof_engine::makers::neuron::Engine;
use serde_json::{Value, json};

use crate::cli::{fail, nprof, run, stage, succeed};
use crate::stage::TRACE;

/// A trace with a truncated last event.
const CUT: &str = r#"{"traceEvents":[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":2},{"ph":"X","na"#;
/// A table of neuron-profile's JSON, truncated.
const CUT_TABLE: &str =
    r#"{"instruction":[{"timestamp":1,"duration":2,"opcode":"A","label":"Tensor"},{"times"#;

fn write(dir: &Path, name: &str, bytes: impl AsRef<[u8]>) -> String {
    let path = dir.join(name);
    fs::write(&path, bytes).unwrap();
    path.to_str().unwrap().to_owned()
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// The export of a trace, from standard output.
#[track_caller]
fn exported(text: &str) -> Value {
    let (dir, _) = stage();
    let trace = write(dir.path(), "t.json", text);
    let args = ["view", &trace, "--output-format", "json", "--output-file", "-"];
    parsed(&succeed(&dir.path().join("store"), &args))
}

#[test]
fn every_form_says_the_warnings_whether_the_trace_is_read_now_or_was_before() {
    let (dir, _) = stage();
    for (name, text) in [("t.json", CUT), ("n.json", CUT_TABLE)] {
        let trace = write(dir.path(), name, text);
        for is_stored in [false, true] {
            let store = dir.path().join(format!("{name} {is_stored}"));
            if is_stored {
                succeed(&store, &["ingest", &trace, "--db-bucket", "cut"]);
            }
            for form in ["json", "summary-json", "summary-text", "perfetto"] {
                let output = run(&store, &["view", &trace, "--output-format", form, "--output-file", "-"]);
                let said = String::from_utf8_lossy(&output.stderr).into_owned();
                assert!(output.status.success() && said.contains("Truncated input"), "{form}: {said}");
                if form == "json" {
                    let tables = parsed(&String::from_utf8_lossy(&output.stdout));
                    let first = &tables["warning"][0];
                    assert_eq!(first["kind"], "Truncated input", "{tables}");
                    assert!(first["count"] == 1 && first["what"].is_string(), "{first}");
                }
            }
            if is_stored {
                for args in [&["export", "cut"][..], &["summary", "cut"], &["ingest", &trace]] {
                    let said = String::from_utf8_lossy(&run(&store, args).stderr).into_owned();
                    assert!(said.contains("1 × Truncated input: "), "{args:?}: {said}");
                }
            }
        }
    }
    // A record of an engine that has no clock.
    let mut damaged = varied();
    damaged.edge(Engine::Sync, 1, 0, 0, BEGIN + 1);
    let ntff = write(dir.path(), "damaged.ntff", damaged.bytes());
    let store = dir.path().join("damaged");
    for form in ["json", "summary-json", "summary-text", "perfetto"] {
        let output = run(&store, &["view", "-s", &ntff, "--output-format", form, "--output-file", "-"]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && said.contains("Damaged record"), "{form}: {said}");
        if form == "json" {
            let tables = parsed(&String::from_utf8_lossy(&output.stdout));
            let kinds = tables["warning"].as_array().unwrap().iter().map(|row| row["kind"].as_str().unwrap());
            assert!(kinds.into_iter().any(|kind| kind == "Damaged record"), "{tables}");
        }
    }
    let whole = write(dir.path(), "whole.json", TRACE);
    let store = dir.path().join("whole");
    let output = run(&store, &["view", &whole, "--output-format", "json", "--output-file", "-"]);
    assert_eq!(String::from_utf8_lossy(&output.stderr).matches("warning").count(), 0);
    assert_eq!(parsed(&String::from_utf8_lossy(&output.stdout))["warning"], json!([]));
}

#[test]
fn slices_say_their_thread_and_samples_their_counter() {
    let tables = exported(
        r#"[{"ph":"M","pid":1,"name":"process_name","args":{"name":"python3"}},
        {"ph":"M","pid":1,"tid":7,"name":"thread_name","args":{"name":"main"}},
        {"ph":"X","pid":1,"tid":7,"ts":1.2345678,"dur":0.5,"name":"a","args":{"track":"own","pid":3}},
        {"ph":"i","pid":1,"tid":7,"ts":5,"s":"t","name":"now"},
        {"ph":"B","pid":"Spans","tid":"x","ts":2,"name":"open"},
        {"ph":"C","name":"mem","pid":1,"ts":1,"args":{"v":1,"w":5}},
        {"ph":"C","name":"power","pid":1,"ts":2,"args":{"v":2}}]"#,
    );
    let slices = tables["slice"].as_array().unwrap();
    let of = |name: &str| slices.iter().find(|row| row["name"] == name).unwrap();
    let first = of("a");
    assert_eq!((&first["timestamp"], &first["duration"]), (&json!(1234), &json!(500)));
    assert_eq!((&first["start_ps"], &first["duration_ps"]), (&json!(1_234_568), &json!(500_000)));
    let thread = ["process", "pid", "thread", "tid", "form"].map(|key| first[key].clone());
    assert_eq!(thread, [json!("python3 1"), json!(1), json!("main 7"), json!(7), json!("complete")]);
    // Arguments with the same names are kept, under another key.
    assert_eq!((&first["track_"], &first["args.pid"]), (&json!("own"), &json!(3)));
    assert_eq!((&of("now")["form"], of("now").get("duration")), (&json!("instant"), None));
    let open = of("open");
    assert_eq!(
        (&open["form"], &open["pid"], &open["tid"]),
        (&json!("unfinished"), &json!("Spans"), &json!("x"))
    );
    let tracks = tables["track"].as_array().unwrap();
    let track = tracks.iter().find(|track| track["track"] == first["track"]).unwrap();
    assert_eq!(track["path"], json!(["python3 1", "main 7"]));
    assert_eq!(
        (&track["kind"], &track["table"], &track["tid"]),
        (&json!("slices"), &json!("slice"), &json!(7))
    );

    let mut samples: Vec<Value> = tables["counter"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            json!([row["counter"], row["series"], row["unit"], row["pid"], row["start_ps"], row["value"]])
        })
        .collect();
    samples.sort_by_key(ToString::to_string);
    assert_eq!(
        samples,
        [
            json!(["mem", "v", "", 1, 1_000_000, 1]),
            json!(["mem", "w", "", 1, 1_000_000, 5]),
            json!(["power", "v", "", 1, 2_000_000, 2]),
        ]
    );
}

#[test]
fn arrows_lead_from_row_to_row() {
    let tables = exported(TRACE);
    let name_of: BTreeMap<u64, &str> = tables["slice"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["row"].as_u64().unwrap(), row["name"].as_str().unwrap()))
        .collect();
    assert_eq!(name_of.len(), 5, "every row has a number of its own");
    let arrows = tables["arrow"].as_array().unwrap();
    let ends = |arrow: &Value, end: &str| name_of[&arrow[end].as_u64().unwrap()];
    assert_eq!(arrows.len(), 1);
    assert_eq!((ends(&arrows[0], "from"), ends(&arrows[0], "to")), ("inner", "worker"));
    assert!(arrows[0]["name"].is_string());
    assert_eq!(tables["export"][0]["source"], "trace-event");
}

#[test]
fn a_profile_of_the_store_is_written_without_its_trace() {
    let (dir, trace) = stage();
    let store = dir.path().join("store");
    succeed(&store, &["ingest", &trace, "--db-bucket", "small"]);
    let args = ["view", &trace, "--output-format", "json", "--output-file", "-"];
    let of_trace = succeed(&store, &args);
    let id = parsed(&succeed(&store, &["list", "--json"]))["profiles"][0]["id"].as_str().unwrap().to_owned();
    fs::remove_file(&trace).unwrap();
    for name in ["small", &id] {
        assert_eq!(succeed(&store, &["export", name]), of_trace, "{name}");
    }
    let out = dir.path().join("out.json");
    let to_file = run(&store, &["export", "small", "--format", "JSON", "-o", out.to_str().unwrap()]);
    let said = String::from_utf8_lossy(&to_file.stderr).into_owned();
    assert!(said.contains(&format!("wrote {} (", out.display())), "{said}");
    assert_eq!(fs::read_to_string(&out).unwrap(), of_trace);
    let text = succeed(&store, &["export", "small", "--format", "summary-text"]);
    assert!(text.lines().any(|line| line.starts_with("slice_count ")), "{text}");
    let of_export = parsed(&succeed(&store, &["export", "small", "--format", "summary-json"]));
    let of_summary = parsed(&succeed(&store, &["summary", "small", "--output-format", "json"]));
    let (rank, metrics) = of_export.as_object().unwrap().iter().next().unwrap();
    // An export has metrics alone.
    let mut shown = of_summary[rank].as_object().unwrap().clone();
    assert_eq!(shown.remove("rank"), Some(Value::from(0)));
    assert!(shown.remove("tables").is_some() && shown.remove("absent").is_some(), "{of_summary}");
    assert_eq!(&Value::from(shown), metrics, "the same keys in the same place");
    assert_eq!(of_summary["total"], metrics.as_object().unwrap().len());

    assert!(fail(&store, &["export", "none"], 1).contains("no profile \"none\""));
    let file = out.to_str().unwrap();
    for command in ["export", "summary"] {
        assert!(
            fail(&store, &[command, file], 1).contains("a file, not a profile of the store"),
            "{command}"
        );
    }
    assert!(fail(&store, &["export", "small", "--rank", "3"], 1).contains("no rank 3; it has 0"));
    let nowhere = dir.path().join("missing/out.json");
    let refused = fail(&store, &["export", "small", "-o", nowhere.to_str().unwrap()], 1);
    assert!(refused.contains("cannot write this file"), "{refused}");
    // If a name is given in place of a file, the error says which command takes names.
    let hint = fail(&store, &["view", "small", "--output-format", "json"], 1);
    assert!(hint.contains("`nprof export small`"), "{hint}");
    let hint = fail(&store, &["view", "small"], 1);
    assert!(hint.contains("`nprof serve` shows it at /profile/small"), "{hint}");
}

#[test]
fn several_ranks_are_one_document_or_files_that_are_named() {
    let (dir, _) = stage();
    let store = dir.path().join("store");
    let session = dir.path().join("session");
    fs::create_dir(&session).unwrap();
    for rank in [2, 4] {
        write(&session, &format!("rank-{rank}.json"), TRACE.replace("outer", &format!("of {rank}")));
    }
    let session = session.to_str().unwrap();
    let args = ["view", "-d", session, "--output-format", "json", "--output-file", "-"];
    let all = parsed(&succeed(&store, &args));
    let ranks: Vec<&String> = all.as_object().unwrap().keys().collect();
    assert_eq!(ranks, ["rank_2", "rank_4"]);
    let names = |tables: &Value| tables["slice"].to_string();
    assert!(names(&all["rank_4"]).contains("of 4") && !names(&all["rank_4"]).contains("of 2"));

    // A profile of a directory has the directory's name. A file that is named is one for each rank.
    let of_view = dir.path().join("view.json");
    let output = run(
        &store,
        &["view", "-d", session, "--output-format", "json", "--output-file", of_view.to_str().unwrap()],
    );
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    for rank in [2, 4] {
        let file = dir.path().join(format!("view_rank_{rank}.json"));
        assert!(said.contains(&format!("wrote {}", file.display())), "{said}");
        assert_eq!(parsed(&fs::read_to_string(&file).unwrap()), all[&format!("rank_{rank}")]);
    }
    assert!(!of_view.exists());
    succeed(&store, &["ingest", session]);
    let list = parsed(&succeed(&store, &["list", "--json"]));
    assert_eq!(list["profiles"][0]["display_name"], "session", "{list}");

    succeed(&store, &["ingest", session, "--db-bucket", "job"]);
    let list = parsed(&succeed(&store, &["list", "--json"]));
    assert_eq!(list["profiles"][0]["display_name"], "job", "the name that it was given");
    let out = dir.path().join("out.json");
    let output = run(&store, &["export", "job", "-o", out.to_str().unwrap()]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    for rank in [2, 4] {
        let file = dir.path().join(format!("out_rank_{rank}.json"));
        assert!(said.contains(&format!("wrote {}", file.display())), "{said}");
        assert_eq!(parsed(&fs::read_to_string(&file).unwrap()), all[&format!("rank_{rank}")]);
    }
    assert!(!out.exists());
    let one = succeed(&store, &["export", "job", "--rank", "4"]);
    assert_eq!(parsed(&one), all["rank_4"]);
}

#[test]
fn an_export_without_a_file_name_is_in_the_working_directory_and_says_so() {
    let (dir, trace) = stage();
    let here = dir.path().join("here");
    fs::create_dir(&here).unwrap();
    let mut command = nprof(&dir.path().join("store"));
    let output =
        command.args(["view", &trace, "--output-format", "json"]).current_dir(&here).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && said.contains("wrote ntff.json ("), "{said}");
    assert!(output.stdout.is_empty());
    assert!(parsed(&fs::read_to_string(here.join("ntff.json")).unwrap())["slice"].is_array());
}

#[test]
fn instructions_and_transfers_have_ids_and_arrows_name_their_rows() {
    let (dir, _) = stage();
    let store = dir.path().join("store");
    succeed(&store, &["demo", "--ingest-only", "--events", "3000", "--ranks", "1"]);
    let id = parsed(&succeed(&store, &["list", "--json"]))["profiles"][0]["id"].as_str().unwrap().to_owned();
    let tables = parsed(&succeed(&store, &["export", &id]));
    let of = |table: &str, key: &str| -> Vec<u64> {
        tables[table].as_array().unwrap().iter().map(|row| row[key].as_u64().unwrap()).collect()
    };
    // Each table counts its ids for itself.
    for table in ["instruction", "dma"] {
        let ids = of(table, "id");
        assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "{table}: ids are unique");
    }
    let rows: BTreeSet<u64> = [of("instruction", "row"), of("dma", "row")].concat().into_iter().collect();
    let (from, to) = (of("arrow", "from"), of("arrow", "to"));
    assert!(!from.is_empty() && from.iter().chain(&to).filter(|row| rows.contains(row)).count() > from.len());
}

#[cfg(unix)]
#[test]
fn an_export_is_a_file_like_any_other_of_the_user() {
    use std::os::unix::fs::PermissionsExt;
    use std::process::Command;
    let (dir, trace) = stage();
    let out = dir.path().join("out.json");
    let script = format!(
        "umask 077; {} view {trace} --output-format json --output-file {}",
        env!("CARGO_BIN_EXE_nprof"),
        out.display()
    );
    let mut command = Command::new("sh");
    command.args(["-c", &script]).env("NPROF_STORE", dir.path().join("store"));
    assert!(command.status().unwrap().success());
    assert_eq!(fs::metadata(&out).unwrap().permissions().mode() & 0o777, 0o600);
}
