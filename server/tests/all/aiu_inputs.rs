//! Inputs of AIU commands: Perfetto's form, documents without events, frequencies, wrong files.

use std::fs;
use std::path::Path;

use nprof_capture::formats::aiu::packet_fixture::packets;

use crate::aiu::{events, names, op, said, text, written};
use crate::cli::{fail, run, succeed};

const LOG: &str = include_str!("../../../fuzz/seeds/aiu/compiler.log");
const HCOLL: &str = include_str!("../../../fuzz/seeds/aiu/hcoll.json");

/// Kernels of a device of 560 MHz, with the charge at the end of each: 12 W.
fn kernels() -> String {
    let kernel = |n: u64| {
        let more = format!(r#","Power":"{}""#, 1_000 + 51_200 * n);
        op(0, &format!("mul_{n} Cmpt Exec"), (100 * (n + 1), 50), &more)
    };
    format!("[{}]", (0..6).map(kernel).collect::<Vec<String>>().join(","))
}

/// Ingests a file, and returns the metrics of its profile.
fn summary(dir: &Path, name: &str, args: &[&str]) -> String {
    let (store, path) = (dir.join("store"), dir.join(name));
    let all = [&["ingest", path.to_str().unwrap(), "--db-bucket", "a", "--force"], args].concat();
    succeed(&store, &all);
    succeed(&store, &["export", "a", "--format", "summary-text"])
}

/// The words of the line that begins with a word, below a heading.
fn line<'s>(summary: &'s str, heading: &str, word: &str) -> Vec<&'s str> {
    let below = summary.split(heading).nth(1).unwrap_or_else(|| panic!("{heading}: {summary}"));
    let line = below.lines().find(|line| line.starts_with(word));
    line.unwrap_or_else(|| panic!("{word}: {below}"))[word.len()..].split_whitespace().collect()
}

#[test]
fn a_trace_in_perfettos_form_has_the_layer_of_aius() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.json"), kernels()).unwrap();
    fs::write(dir.path().join("a.pftrace"), packets(&kernels())).unwrap();
    let [json, perfetto] = ["a.json", "a.pftrace"].map(|name| summary(dir.path(), name, &[]));
    let layer = |summary: &str| summary.split("\n\n").take(5).map(str::to_owned).collect::<Vec<String>>();
    assert_eq!(layer(&perfetto), layer(&json));
    let watts: f64 = line(&perfetto, "Power\n", "with kernels, median")[0].parse().unwrap();
    assert!((watts - 12.0).abs() < 0.01, "{perfetto}");
    let out = dir.path().join("out.json");
    let trace = dir.path().join("a.pftrace");
    let args = ["aiu", "-i", trace.to_str().unwrap(), "-o", out.to_str().unwrap(), "--keep_names"];
    succeed(&dir.path().join("store"), &args);
    let found = events(dir.path(), "out.json");
    assert_eq!(names(&found, "X")[0], "mul_0 Cmpt Exec");
    assert_eq!(names(&found, "C"), ["Power"]);
}

#[test]
fn documents_without_events_are_traces_for_acelyzer() {
    for empty in ["[]", "{}", " [\n]\n", "{\"traceEvents\": []}"] {
        let (dir, messages) = said(empty, &[]);
        assert_eq!(messages.matches("the trace has no events").count(), 1, "{empty}: {messages}");
        assert!(messages.contains("1 × Missing data: the trace has no events"), "{empty}: {messages}");
        assert!(!messages.contains("not used"), "{empty}: {messages}");
        assert!(events(dir.path(), "out.json").is_empty());
        assert!(dir.path().join("out_summary.csv").exists());
    }
    let dir = written(&[("0.json", "{}"), ("1.json", &kernels())], &["--keep_names"]);
    assert_eq!(names(&events(dir.path(), "out.json"), "X").len(), 6);
    let report = written(&[("a.json", "[]")], &["-V", "-f", "text"]);
    assert!(text(report.path(), "out.json").ends_with("\nResult: PASS\n"));
}

#[test]
fn a_file_of_white_space_is_empty() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.json");
    fs::write(&path, "\n\n").unwrap();
    for args in [&["aiu", "-i"][..], &["ingest"]] {
        let error = fail(&dir.path().join("store"), &[args, &[path.to_str().unwrap()]].concat(), 1);
        assert!(error.contains("the file is empty"), "{error}");
    }
}

#[test]
fn a_trace_is_no_log() {
    let dir = tempfile::tempdir().unwrap();
    let [trace, log] = ["a.json", "b.json"].map(|name| dir.path().join(name));
    fs::write(&trace, kernels()).unwrap();
    let (store, trace, log) = (dir.path().join("store"), trace.to_str().unwrap(), log.to_str().unwrap());
    for content in [kernels().into_bytes(), packets(&kernels())] {
        fs::write(log, content).unwrap();
        for args in [&["aiu", "-i", trace, "-c", log][..], &["ingest", trace, "-c", log]] {
            let error = fail(&store, args, 1);
            assert!(error.contains("b.json: this is a trace, and -c is for logs"), "{error}");
        }
    }
}

#[test]
fn messages_name_what_the_user_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    fs::write(path("a.json"), kernels()).unwrap();
    fs::write(path("c.log"), LOG).unwrap();
    fs::create_dir(path("none")).unwrap();
    let store = dir.path().join("store");
    let error = fail(&store, &["aiu", "-i", &path("c.log")], 1);
    assert!(error.contains("c.log: this is a file of a compiler without a trace"), "{error}");
    for args in [&["aiu", "-i"][..], &["ingest"]] {
        let error = fail(&store, &[args, &[&path("a.json"), "-c", &path("none")]].concat(), 1);
        assert!(error.contains("none: no file of a compiler in this directory"), "{error}");
    }
}

#[test]
fn messages_have_levels() {
    let messages = |level: &str| said(&kernels(), &["--freq", "500", "-D", level]).1;
    assert_eq!(messages("0"), "");
    let warnings = messages("1");
    assert!(warnings.contains("the stated frequency is not the one") && !warnings.contains("wrote"));
    assert!(messages("2").contains("wrote"));
    let dir = tempfile::tempdir().unwrap();
    let error = fail(&dir.path().join("store"), &["aiu", "-i", "/nowhere.json", "-D", "0"], 1);
    assert!(error.contains("no file has this name"), "{error}");
}

#[test]
fn profiles_state_their_frequencies() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.json"), kernels()).unwrap();
    fs::write(dir.path().join("c.log"), LOG).unwrap();
    let log = dir.path().join("c.log");
    let clock = "Clock of the device";
    let found = summary(dir.path(), "a.json", &["-c", log.to_str().unwrap()]);
    assert_eq!(line(&found, clock, "core_hz"), ["1100000000.0", "Hz"]);
    let used: f64 = line(&found, clock, "used_hz")[0].parse().unwrap();
    assert!((used / 560e6 - 1.0).abs() < 1e-3, "{found}");
    let stated = summary(dir.path(), "a.json", &["-c", log.to_str().unwrap(), "--freq", "700:800"]);
    assert_eq!(line(&stated, clock, "used_hz"), ["700000000.0", "Hz"]);
    assert_eq!(line(&stated, clock, "core_hz"), ["800000000.0", "Hz"]);
    let time = |summary: &str| line(summary, "Kernels\n", "kernel_time")[0].parse::<f64>().unwrap();
    assert!((time(&stated) / time(&found) - 0.8).abs() < 1e-3, "{stated}");
}

#[test]
fn frequencies_need_a_trace_of_an_aiu() {
    let dir = tempfile::tempdir().unwrap();
    let (store, path) = (dir.path().join("store"), dir.path().join("a.json"));
    fs::write(&path, r#"[{"ph":"X","pid":1,"tid":1,"ts":1,"dur":2,"name":"a"}]"#).unwrap();
    let error = fail(&store, &["view", "--freq", "560", "--ingest-only"], 1);
    assert!(error.contains("name a trace, too"), "{error}");
    let output = run(&store, &["ingest", path.to_str().unwrap(), "--freq", "560"]);
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(messages.contains("--freq: not used, because no trace"), "{messages}");
    let error = fail(&store, &["ingest", path.to_str().unwrap(), "--freq", "0"], 2);
    assert!(error.contains("no frequency above 0"), "{error}");
}

#[test]
fn categories_and_power_have_all_columns() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.json"), kernels()).unwrap();
    let log = "x Ideal/Total Cycles y\nmul_0-opCatBmm 5600\nmul_1-opCatBmm 11200\n\
        ====== Perf Summary End ======\n";
    fs::write(dir.path().join("c.log"), log).unwrap();
    let log = dir.path().join("c.log");
    let said = summary(dir.path(), "a.json", &["-c", log.to_str().unwrap(), "--freq", "560:560"]);
    for (heading, expected) in [
        ("Time by category", ["0.0001", "s"]),
        ("Share of the time by category", ["0.333", "ratio"]),
        ("Calls by category", ["2", "count"]),
        ("Ideal cycles by category", ["16800", "cycles"]),
        ("Ideal time by category", ["0.00003", "s"]),
        ("PT utilization by category", ["0.3", "ratio"]),
    ] {
        let found = line(&said, heading, "Bmm ");
        let [value, wanted] = [found[0], expected[0]].map(|number| number.parse::<f64>().unwrap());
        assert!((value - wanted).abs() < 0.002 * wanted.max(0.5), "{heading}: {found:?}");
        assert_eq!(found[1], expected[1], "{heading}");
    }
    for word in ["minimum", "median", "mean above 0", "maximum"] {
        for part in ["with kernels", "without kernels"] {
            let watts: f64 = line(&said, "Power\n", &format!("{part}, {word}"))[0].parse().unwrap();
            assert!((watts - 12.0).abs() < 0.1, "{part} {word}: {said}");
        }
    }
}

#[test]
fn operations_of_pytorchs_dialect_are_compared() {
    let dir = tempfile::tempdir().unwrap();
    let store = dir.path().join("store");
    let mut args = vec!["ingest".to_owned(), "--db-bucket".to_owned(), "job".to_owned()];
    for rank in 0..2 {
        let path = dir.path().join(format!("rank_{rank}.json"));
        fs::write(&path, HCOLL).unwrap();
        args.push(path.to_str().unwrap().to_owned());
    }
    succeed(&store, &args.iter().map(String::as_str).collect::<Vec<&str>>());
    let table = succeed(&store, &["collectives", "job"]);
    let row: Vec<&str> = table.lines().nth(1).unwrap_or_default().split_whitespace().collect();
    assert_eq!(row.first(), Some(&"other"), "{table}");
    assert!(
        row.get(1).and_then(|count| count.parse::<u32>().ok()).is_some_and(|count| count >= 3),
        "{table}"
    );
    assert!(!table.contains("0.0 % compute"), "kernels are no steps: {table}");
}

#[test]
fn a_trace_that_was_written_gives_the_same_numbers_again() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.json"), kernels()).unwrap();
    let log = "x Ideal/Total Cycles y\nmul_0-opCatBmm 5600\nmul_1-opCatBmm 11200\n\
        ====== Perf Summary End ======\n";
    fs::write(dir.path().join("c.log"), log).unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let again = |from: &str, to: &str| {
        let args = ["aiu", "-i", &path(from), "-c", &path("c.log"), "-o", &path(to)];
        succeed(&dir.path().join("store"), &args);
        events(dir.path(), to)
    };
    let [first, second] = [again("a.json", "b.json"), again("b.json", "d.json")];
    let counter = |of: &[serde_json::Value]| {
        let is_its = |event: &&serde_json::Value| event["ph"] == "C" && event["name"] == "PT Active";
        of.iter().filter(is_its).map(|event| (event["ts"].to_string(), event["args"].clone())).collect()
    };
    let [first, second]: [Vec<(String, serde_json::Value)>; 2] = [counter(&first), counter(&second)];
    assert!(first.len() > 2, "{first:?}");
    let count =
        |of: &[(String, serde_json::Value)]| of.iter().filter(|(_, args)| args["Percent"] != 0).count();
    assert_eq!((second.len(), count(&second)), (first.len(), count(&first)), "{second:?}");
}
