//! Logs of the AIU compiler for several ranks, from the command line.

use std::fs;
use std::path::Path;

use crate::cli::succeed;

/// A kernel of a process.
fn kernel(pid: u32) -> String {
    format!(
        r#"{{"ph":"X","name":"mul Cmpt Exec","pid":{pid},"tid":1,"ts":100,"dur":200,"attr":{{"TS1":"0","TS2":"0","TS3":"0","TS4":"112000","TS5":"112000"}}}}"#
    )
}

fn log(cycles: u32) -> String {
    format!("~~~~ Ideal/Total Cycles ~~~~\nmul-opCatBmm  {cycles}\nTotal {cycles}\n")
}

/// Runs `nprof aiu` in a folder. Returns the ideal cycles of the kernel by rank.
#[track_caller]
fn cycles(dir: &Path, traces: &str, logs: &str) -> Vec<(String, String)> {
    let place = |names: &str| {
        let path = |name: &str| dir.join(name).to_str().unwrap().to_owned();
        names.split(',').map(path).collect::<Vec<String>>().join(",")
    };
    let args = ["aiu", "-i", &place(traces), "-c", &place(logs), "-o", &place("out.json"), "--freq", "560"];
    succeed(&dir.join("store"), &args);
    let table = fs::read_to_string(dir.join("out_categories.csv")).unwrap();
    let rows = table.lines().filter_map(|line| {
        let cells: Vec<&str> = line.split(',').collect();
        (cells[2] == "Bmm").then(|| (cells[0].to_owned(), cells[7].to_owned()))
    });
    rows.collect()
}

fn expected(of: &[(&str, &str)]) -> Vec<(String, String)> {
    of.iter().map(|(rank, cycles)| ((*rank).to_owned(), (*cycles).to_owned())).collect()
}

#[test]
fn logs_belong_to_the_ranks_in_their_order() {
    // The path of the folder tells no rank, whatever its name.
    let dir = tempfile::Builder::new().prefix("rank_7").tempdir().unwrap();
    for pid in [0, 1, 2] {
        fs::write(dir.path().join(format!("{pid}.json")), format!("[{}]", kernel(pid))).unwrap();
    }
    let list = [kernel(0), kernel(1), kernel(2)].join(",");
    fs::write(dir.path().join("all.json"), format!("[{list}]")).unwrap();
    for (name, cycles) in [("a.log", 100), ("b.log", 200), ("c.log", 300)] {
        fs::write(dir.path().join(name), log(cycles)).unwrap();
    }
    let each = expected(&[("0", "100"), ("1", "200"), ("2", "300")]);
    assert_eq!(cycles(dir.path(), "0.json,1.json,2.json", "a.log,b.log,c.log"), each);
    assert_eq!(cycles(dir.path(), "all.json", "a.log,b.log,c.log"), each);
    // One log is named for several ranks.
    let same = expected(&[("0", "100"), ("1", "100"), ("2", "100")]);
    assert_eq!(cycles(dir.path(), "0.json,1.json,2.json", "a.log,a.log,a.log"), same);
    assert_eq!(cycles(dir.path(), "all.json", "a.log,a.log,a.log"), same);
    let mixed = expected(&[("0", "100"), ("1", "200"), ("2", "100")]);
    assert_eq!(cycles(dir.path(), "0.json,1.json,2.json", "a.log,b.log,a.log"), mixed);
}

#[test]
fn a_file_that_is_named_as_a_log_is_one() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("0.json"), format!("[{}]", kernel(0))).unwrap();
    let noise = "[INFO] {\"ph\":1} nothing to see\n".repeat(4_000);
    fs::write(dir.path().join("late.log"), format!("{noise}{}", log(100))).unwrap();
    assert_eq!(cycles(dir.path(), "0.json", "late.log"), expected(&[("0", "100")]));
}

#[test]
fn kernels_of_pytorch_have_their_category_in_the_trace() {
    let dir = tempfile::tempdir().unwrap();
    let event = |name: &str, cat: &str| {
        format!(
            r#"{{"ph":"X","cat":"{cat}","name":"{name}","pid":0,"tid":1,"ts":100,"dur":200,"args":{{}}}}"#
        )
    };
    let events = [event("aiuLaunch", "privateuse1_runtime"), event("mul", "kernel")].join(",");
    let trace = format!(
        r#"{{"schemaVersion":1,"deviceProperties":[{{"id":0,"name":"AIU"}}],"traceEvents":[{events}]}}"#
    );
    fs::write(dir.path().join("t.json"), trace).unwrap();
    fs::write(dir.path().join("a.log"), log(110_000)).unwrap();
    assert_eq!(cycles(dir.path(), "t.json", "a.log"), expected(&[("0", "110000")]));
    let written = fs::read_to_string(dir.path().join("out.json")).unwrap();
    let written: serde_json::Value = serde_json::from_str(&written).unwrap();
    let events = written["traceEvents"].as_array().unwrap();
    let kernel = events.iter().find(|event| event["ph"] == "X" && event["name"] == "mul").unwrap();
    let args = &kernel["args"];
    assert_eq!((&args["user_cat"], &args["core used"]), (&"Bmm".into(), &true.into()), "{kernel}");
    assert!((args["pt_active"].as_f64().unwrap() - 0.5).abs() < 1e-9, "{kernel}");
}
