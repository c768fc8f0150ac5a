//! `nprof energy`: the parts of a recorded power, and prices of time.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::aiu::op;
use crate::cli::{fail, succeed};
use crate::ranks::shared;

/// Two kernels of a device one after the other, two beside each other, and counters.
fn trace(counters: &str) -> String {
    let kernel = |stream: u32, ts: u32, dur: u32, name: &str| {
        format!(
            r#"{{"ph":"X","cat":"kernel","pid":1,"tid":{stream},"ts":{ts},"dur":{dur},"name":"{name}","args":{{"stream":{stream},"device":0}}}}"#
        )
    };
    let step = |ts: u32, n: u32| {
        format!(
            r#"{{"ph":"X","cat":"user_annotation","pid":2,"tid":1,"ts":{ts},"dur":20,"name":"ProfilerStep#{n}"}}"#
        )
    };
    let events = [
        kernel(7, 10, 10, "gemm"),
        kernel(7, 20, 20, "softmax"),
        kernel(7, 50, 20, "gemm"),
        kernel(8, 60, 10, "copy"),
        step(10, 1),
        step(30, 2),
        step(50, 3),
    ];
    format!("[{}{counters}]", events.join(","))
}

/// Samples of a counter: times in microseconds, and values.
fn counter(name: &str, samples: &[(u32, f64)]) -> String {
    let sample = |(ts, value): &(u32, f64)| {
        format!(r#",{{"ph":"C","pid":1,"ts":{ts},"name":"{name}","args":{{"value":{value}}}}}"#)
    };
    samples.iter().map(sample).collect()
}

struct PowerStage {
    dir: tempfile::TempDir,
}

impl PowerStage {
    fn new(counters: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("trace.json");
        fs::write(&path, trace(counters)).unwrap();
        succeed(&dir.path().join("store"), &["ingest", path.to_str().unwrap(), "--db-bucket", "run"]);
        Self { dir }
    }

    fn text(&self, args: &[&str]) -> String {
        succeed(&self.dir.path().join("store"), &[&["energy", "run"], args].concat())
    }

    fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.text(&[args, &["--output-format", "json"]].concat())).unwrap()
    }
}

/// Microjoules of each row, by its name.
fn microjoules(of: &Value) -> Vec<(String, f64)> {
    let row = |row: &Value| {
        let joules = row["joules"].as_f64().unwrap();
        (row["name"].as_str().unwrap().to_owned(), (joules * 1e9).round() / 1e3)
    };
    of["rows"].as_array().unwrap().iter().map(row).collect()
}

fn sum(of: &Value, key: &str) -> f64 {
    of["rows"].as_array().unwrap().iter().filter_map(|row| row[key].as_f64()).sum()
}

#[test]
fn a_counter_in_watts_is_shared_by_what_runs() {
    // 10 W up to 60 µs, then 40 W up to 80 µs.
    let stage = PowerStage::new(&counter("GPU power (W)", &[(0, 10.0), (60, 40.0), (80, 1.0)]));
    let of = stage.json(&[]);
    assert!((of["joules"].as_f64().unwrap() - 1_400e-6).abs() < 1e-12, "{of}");
    let rows = microjoules(&of);
    let kernels: Vec<(&str, f64)> = rows[..3].iter().map(|(name, joules)| (name.as_str(), *joules)).collect();
    // The last 10 µs of the second product have a copy beside it.
    assert_eq!(kernels, [("gemm", 400.0), ("softmax", 200.0), ("copy", 200.0)]);
    let rest: Vec<f64> = rows[3..].iter().map(|(_, joules)| *joules).collect();
    assert_eq!(rest, [0.0, 0.0, 100.0, 500.0], "no waits, idle from 40 to 50 µs, before and after");
    assert_eq!((&of["length_ps"], &of["ranks"][0]["counter"]), (&60_000_000.into(), &"GPU power (W)".into()));
    assert_eq!(sum(&of, "ps"), 60_000_000.0, "the times of rows are the run");
    let text = stage.text(&[]);
    assert!(
        text.starts_with("run took 1.40 mJ: 57.1 % by work, 7.1 % idle for no known reason, 35.7 %"),
        "{text}"
    );
}

#[test]
fn steps_ranks_and_the_rest_add_up_to_the_same_energy() {
    let stage = PowerStage::new(&counter("gpu_power_mW", &[(0, 10_000.0), (60, 40_000.0), (80, 1.0)]));
    for by in ["kernel", "step", "phase", "rank"] {
        let of = stage.json(&["--by", by]);
        assert!((sum(&of, "joules") - 1_400e-6).abs() < 1e-12, "{by}: {of}");
        assert!((sum(&of, "ps") - 60e6).abs() < 1e-3, "{by}: {of}");
    }
}

/// Two ranks that do the same at other wall clocks: power, work and steps of each move together.
#[test]
fn power_and_work_of_a_rank_have_one_clock() {
    let dir = tempfile::tempdir().unwrap();
    let events = trace(&counter("GPU power (W)", &[(0, 10.0), (60, 40.0), (80, 1.0)]));
    let files = [0_u64, 1].map(|rank| {
        let path = dir.path().join(format!("rank{rank}.json"));
        let base = 1_000_000_000 + rank * 100_000;
        let head = format!(r#""distributedInfo":{{"rank":{rank}}},"baseTimeNanoseconds":{base}"#);
        fs::write(&path, format!(r#"{{{head},"traceEvents":{events}}}"#)).unwrap();
        path.to_str().unwrap().to_owned()
    });
    succeed(&dir.path().join("store"), &["ingest", &files[0], &files[1], "--db-bucket", "run"]);
    let stage = PowerStage { dir };
    let of = stage.json(&[]);
    assert_eq!(of["length_ps"], 160_000_000, "{of}");
    let rows = microjoules(&of);
    let kernels: Vec<(&str, f64)> = rows[..3].iter().map(|(name, joules)| (name.as_str(), *joules)).collect();
    assert_eq!(kernels, [("gemm", 800.0), ("softmax", 400.0), ("copy", 400.0)]);
    let steps: Vec<(String, f64)> = microjoules(&stage.json(&["--by", "step"]))
        .into_iter()
        .filter(|(name, _)| name.contains('#'))
        .collect();
    let expected = [("ProfilerStep#1", 400.0), ("ProfilerStep#2", 400.0), ("ProfilerStep#3", 1_000.0)];
    assert_eq!(steps, expected.map(|(name, joules)| (name.to_owned(), joules)));
}

#[test]
fn without_power_nothing_is_guessed() {
    let stage = PowerStage::new(&counter("GPU load", &[(0, 10.0), (80, 1.0)]));
    let of = stage.json(&[]);
    assert_eq!(
        (&of["joules"], &of["parts"], &of["rows"][0]["joules"]),
        (&Value::Null, &Value::Null, &Value::Null)
    );
    assert_eq!(of["reason"], "no counter of power was recorded");
    assert!(stage.text(&[]).starts_with("no energy is known: no counter of power was recorded; "));
    let two =
        [counter("GPU power (W)", &[(0, 10.0), (80, 1.0)]), counter("HBM power (W)", &[(0, 3.0), (80, 1.0)])];
    let stage = PowerStage::new(&two.concat());
    assert!(stage.json(&[])["reason"].as_str().unwrap().contains("GPU power (W), HBM power (W)"));
    let of = stage.json(&["--counter", "HBM"]);
    assert!((of["joules"].as_f64().unwrap() - 240e-6).abs() < 1e-12, "{of}");
    let zero = PowerStage::new(&counter("GPU power (W)", &[(0, 0.0), (80, 0.0)]));
    assert!(zero.json(&[])["reason"].as_str().unwrap().contains("no value above zero"));
}

#[test]
fn a_price_needs_no_power() {
    let stage = PowerStage::new("");
    let of = stage.json(&["--price", "3600/h"]);
    let cost = &of["cost"];
    let near = |value: &Value, expected: f64| (value.as_f64().unwrap() - expected).abs() < 1e-12;
    // A second costs 1. The run takes 60 µs, of which 10 µs are without work.
    assert!(near(&cost["run"], 60e-6) && near(&cost["waits"], 10e-6), "{cost}");
    assert!((sum(&of, "cost") - 60e-6).abs() < 1e-12, "{of}");
    let text = stage.text(&["--price", "3600/h"]);
    assert!(text.contains("\nat 3600.00 an hour the run of 60.0 µs costs 0.00006000"), "{text}");
    let store = stage.dir.path().join("store");
    assert!(fail(&store, &["energy", "run", "--price", "7"], 2).contains("no price"));
    assert!(fail(&store, &["energy", "run", "--rank", "4"], 1).contains("no rank 4"));
}

#[test]
fn a_charge_is_the_energy_between_its_readings() {
    // Each kernel takes 50 of 100 µs, and the charge at its end grows by that of 12 W.
    let kernel = |n: u64| {
        let charge = format!(r#","Power":"{}""#, 1_000 + 51_200 * n);
        op(0, &format!("mul_{n} Cmpt Exec"), (100 * (n + 1), 50), &charge)
    };
    let kernels = (0..6).map(kernel).collect::<Vec<String>>().join(",");
    let dir = tempfile::tempdir().unwrap();
    let (store, path) = (dir.path().join("store"), dir.path().join("a.json"));
    fs::write(&path, format!("[{kernels}]")).unwrap();
    succeed(&store, &["ingest", path.to_str().unwrap(), "--db-bucket", "aiu"]);
    let of: Value =
        serde_json::from_str(&succeed(&store, &["energy", "aiu", "--output-format", "json"])).unwrap();
    let near = |value: &Value, millijoules: f64| (value.as_f64().unwrap() * 1e3 - millijoules).abs() < 0.01;
    assert!(near(&of["joules"], 6.0), "500 µs between the first and the last reading: {of}");
    assert!(near(&of["parts"]["work"], 3.0) && near(&of["parts"]["idle"], 3.0), "{of}");
    assert!((by_table(&store, "0") * 1e3 - 6.0).abs() < 0.01);
}

/// The energy by the table of an AIU: the mean power of each part, times its time.
fn by_table(store: &Path, rank: &str) -> f64 {
    let args = ["table", "aiu", rank, "aiu_power", "--output-format", "json"];
    let rows: Value = serde_json::from_str(&succeed(store, &args)).unwrap();
    let joules = |row: &Value| row["average"].as_f64().unwrap() * row["duration_ns"].as_f64().unwrap() * 1e-9;
    rows.as_array().unwrap().iter().map(joules).sum()
}

#[test]
fn the_energy_of_an_aiu_is_that_of_its_table_of_power() {
    for case in ["flexA", "shiftA", "mixA", "driftA"] {
        let Some(folder) = shared("data/aiu/inputs") else { return };
        let dir = tempfile::tempdir().unwrap();
        let store = dir.path().join("store");
        let files = fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path());
        let is_of_case = |path: &std::path::PathBuf| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            name.starts_with(&format!("{case}_job_"))
        };
        let mut files: Vec<String> =
            files.filter(is_of_case).map(|path| path.to_str().unwrap().to_owned()).collect();
        files.sort();
        assert!(!files.is_empty(), "{case}");
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        succeed(&store, &[&["ingest"], &files[..], &["--db-bucket", "aiu"]].concat());
        let of = |by: &str| -> Value {
            let args = ["energy", "aiu", "--by", by, "--limit", "all", "--output-format", "json"];
            serde_json::from_str(&succeed(&store, &args)).unwrap()
        };
        let found = of("kernel");
        let Some(joules) = found["joules"].as_f64() else {
            assert!(found["reason"].is_string(), "{case}");
            continue;
        };
        let table: f64 = found["ranks"]
            .as_array()
            .unwrap()
            .iter()
            .map(|rank| by_table(&store, &rank["rank"].to_string()))
            .sum();
        assert!((joules / table - 1.0).abs() < 1e-4, "{case}: {joules} J, {table} J by the table");
        for by in ["kernel", "phase", "step", "rank"] {
            assert!((sum(&of(by), "joules") / joules - 1.0).abs() < 1e-4, "{case} by {by}");
        }
    }
}
