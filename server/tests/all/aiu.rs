//! acelyzer's files from the command line.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::cli::{fail, run, succeed};

const FLEX: &str = include_str!("../../../fuzz/seeds/aiu/flex.json");
const TORCH: &str = include_str!("../../../fuzz/seeds/aiu/torch.json");
const LOG: &str = include_str!("../../../fuzz/seeds/aiu/compiler.log");

/// Writes files, runs `nprof aiu` on them with these further arguments, and returns the folder.
#[track_caller]
pub fn written(files: &[(&str, &str)], args: &[&str]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    for (name, text) in files {
        fs::write(path(name), text).unwrap();
    }
    let traces: Vec<String> =
        files.iter().filter(|(name, _)| name.ends_with("json")).map(|(name, _)| path(name)).collect();
    let mut all =
        vec!["aiu".to_owned(), "-i".to_owned(), traces.join(","), "-o".to_owned(), path("out.json")];
    for (name, _) in files.iter().filter(|(name, _)| name.ends_with("log")) {
        all.extend(["-c".to_owned(), path(name)]);
    }
    all.extend(args.iter().map(|arg| (*arg).to_owned()));
    succeed(&dir.path().join("store"), &all.iter().map(String::as_str).collect::<Vec<_>>());
    dir
}

pub fn text(dir: &Path, name: &str) -> String {
    fs::read_to_string(dir.join(name)).unwrap()
}

pub fn events(dir: &Path, name: &str) -> Vec<Value> {
    let document: Value = serde_json::from_str(&text(dir, name)).unwrap();
    document["traceEvents"].as_array().unwrap().clone()
}

pub fn names(events: &[Value], phase: &str) -> Vec<String> {
    let mut names: Vec<String> = events
        .iter()
        .filter(|event| event["ph"] == phase)
        .map(|event| event["name"].as_str().unwrap().to_owned())
        .collect();
    names.sort();
    names.dedup();
    names
}

#[test]
fn all_files_are_written() {
    let dir = written(&[("a.json", FLEX), ("c.log", LOG)], &["--freq", "560:800"]);
    let summary = text(dir.path(), "out_summary.csv");
    assert!(summary.starts_with("Time  \t Total Time\t Calls\t    Mean  \t"), "{summary}");
    assert!(summary.contains("\t mul_[N] Cmpt Exec\n"), "{summary}");
    assert!(text(dir.path(), "out_active.csv").starts_with("Total Kernel Time  \t  Elapsed Time\t"));
    assert!(text(dir.path(), "out_ts_analysis.csv").starts_with("Calls  \t TS2-1_Mean   \tTS2-1_Median  \t"));
    let categories = text(dir.path(), "out_categories.csv");
    assert!(categories.starts_with("Pid,Phase,Category,Kernel_Time,"), "{categories}");
    assert!(text(dir.path(), "out_categories.txt").starts_with(" Pid Phase "));
    let events = events(dir.path(), "out.json");
    let kernel = events.iter().find(|event| event["name"] == "mul Cmpt Exec").unwrap();
    assert_eq!((&kernel["pid"], &kernel["cat"]), (&Value::from(0), &Value::from("kernel")));
    assert_eq!(kernel["args"]["orig_name"], "mul_1 Cmpt Exec");
    assert_eq!(kernel["args"]["class"], "COMPUTE_EXEC");
    assert!(kernel["args"]["TS1"].is_string() && kernel["args"]["OVC"].is_number(), "{kernel}");
    assert!(names(&events, "C").contains(&"ConcurrentPreps".to_owned()));
    assert!(!names(&events, "X").iter().any(|name| name.ends_with("Cmpt Prep")));
    let host = events.iter().find(|event| event["cat"] == "cpu_op").unwrap();
    assert_eq!(host["pid"], 1000, "{host}");
}

#[test]
fn options_choose_what_is_written() {
    let kept = written(&[("a.json", FLEX)], &["--keep_prep", "--keep_names", "-C", "-t"]);
    let kept_events = events(kept.path(), "out.json");
    let slices = names(&kept_events, "X");
    assert!(slices.contains(&"mul_1 Cmpt Prep".to_owned()), "{slices:?}");
    assert!(names(&kept_events, "C").is_empty(), "-C alone is no counter");
    assert!(!kept.path().join("out_summary.csv").exists());
    let filtered = written(&[("a.json", FLEX)], &["--event_filter", "name:^mul", "-F", "X"]);
    let filtered = events(filtered.path(), "out.json");
    assert!(filtered.iter().all(|event| event["ph"] == "X"));
    assert!(!names(&filtered, "X").iter().any(|name| name.starts_with("mul")));
    let board = written(&[("a.json", FLEX)], &["--tb"]);
    for name in ["out.pt.trace.json", "out_worker_0.pt.trace.json", "out_worker_1.pt.trace.json"] {
        assert!(!events(board.path(), name).is_empty(), "{name}");
    }
    assert!(!board.path().join("out.json").exists());
}

#[test]
fn traces_of_pytorch_keep_their_threads() {
    let dir = written(&[("a.json", TORCH)], &["--disable_tb"]);
    let events = events(dir.path(), "out.json");
    let kernel = events.iter().find(|event| event["cat"] == "kernel").unwrap();
    assert_eq!(kernel["args"]["class"], "COMPUTE_EXEC", "{kernel}");
    let document: Value = serde_json::from_str(&text(dir.path(), "out.json")).unwrap();
    assert!(document["deviceProperties"][0]["name"].is_string(), "{document}");
}

/// Runs `nprof aiu` on a trace with these arguments. Returns the folder and the messages.
#[track_caller]
pub fn said(trace: &str, args: &[&str]) -> (tempfile::TempDir, String) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.json");
    fs::write(&path, trace).unwrap();
    let (trace, out) = (path.to_str().unwrap(), dir.path().join("out.json"));
    let all = [&["aiu", "-i", trace, "-o", out.to_str().unwrap()], args].concat();
    let output = run(&dir.path().join("store"), &all);
    let messages = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{args:?}: {messages}");
    (dir, messages)
}

#[test]
fn options_that_cannot_be_used_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let trace = dir.path().join("a.json");
    fs::write(&trace, FLEX).unwrap();
    let (store, trace) = (dir.path().join("store"), trace.to_str().unwrap());
    for (args, code, said) in [
        (&["--freq", "0"][..], 2, "no frequency above 0"),
        (&["--event_limit", "10"], 2, "a limit is JSON"),
        (&["--event_filter", "name:("], 1, "no regular expression"),
        (&["-f", "protobuf"], 2, "possible values"),
        (&["-f", "text"], 1, "add -V"),
        (&["-P", "/nowhere/stages.json"], 1, "-P /nowhere/stages.json"),
    ] {
        let all = [&["aiu", "-i", trace], args].concat();
        let error = fail(&store, &all, code);
        assert!(error.contains(said), "{args:?}: {error}");
    }
    let error = fail(&store, &["aiu", "-i", "/nowhere/*.json"], 1);
    assert!(error.contains("no file has this name"), "{error}");
}

#[test]
fn options_without_an_effect_say_why() {
    let all = ["-S", "-s", "-k", "-I", "--ignore_crit", "-T", "--disable_input_warnings", "-D", "3"];
    let (_dir, messages) = said(FLEX, &all);
    for option in all.iter().filter(|option| !["-D", "3"].contains(option)) {
        let line = format!("{option} has no effect: ");
        assert!(messages.contains(&line), "{option}: {messages}");
    }
    assert!(messages.contains("-D has no effect above 2: "), "{messages}");
    assert!(!said(FLEX, &["-t"]).1.contains("no effect"));
    let messages = said(FLEX, &["-f", "pddf", "--flow"]).1;
    assert!(messages.contains("--flow has no effect with -f pddf: "), "{messages}");
}

#[test]
fn a_limit_reads_a_part_of_the_events() {
    let kernels: Vec<String> =
        (0..5).map(|n| op(0, &format!("k{n} Cmpt Exec"), (100 * (n + 1), 50), "")).collect();
    let trace = format!("[{}]", kernels.join(","));
    let (dir, _) = said(&trace, &["--event_limit", r#"{"skip":1,"count":2}"#, "--keep_names"]);
    let found = names(&events(dir.path(), "out.json"), "X");
    assert_eq!(found, ["k1 Cmpt Exec", "k2 Cmpt Exec"]);
}

#[test]
fn a_stage_that_is_off_does_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let stages = dir.path().join("stages.json");
    let on = ["map_tid_to_range", "cycle_count_to_wallclock", "tighten_hts_by_instr_type"];
    let on: Vec<String> = on.iter().map(|name| format!(r#"{{"{name}":true}}"#)).collect();
    let text = format!(r#"{{"stages":[{},{{"normalize_phase1":false}},{{"new":true}}]}}"#, on.join(","));
    fs::write(&stages, text).unwrap();
    let (out, messages) = said(FLEX, &["-P", stages.to_str().unwrap(), "--power-stats"]);
    let found = events(out.path(), "out.json");
    assert!(names(&found, "C").is_empty(), "no counter");
    let slices = names(&found, "X");
    assert!(slices.contains(&"mul_1 Cmpt Prep".to_owned()), "names and preparations stay: {slices:?}");
    assert!(!out.path().join("out_summary.csv").exists());
    for said in ["normalize_phase1, ", "normalize_phase2, ", " without effect: ", "new not known"] {
        assert!(messages.contains(said), "{said}: {messages}");
    }
    assert!(!messages.contains("Power"), "{messages}");
}

#[test]
fn iterations_and_power_are_told() {
    let kernel = |n: u64| {
        let name = ["a", "b", "c", "d", "e"][(n % 5) as usize];
        // 512 steps of the charge in a microsecond at 12 V are 12 W.
        let charge = 1_000_000 + (100 * n + 60) * 512;
        op(0, &format!("{name} Cmpt Exec"), (100 * n, 60), &format!(r#","Power":"{charge}""#))
    };
    let kernels: Vec<String> = (1..=20).map(kernel).collect();
    let (_dir, messages) = said(&format!("[{}]", kernels.join(",")), &["--power-stats", "--freq", "560"]);
    assert!(messages.contains("ITSTATS: [0] avg_iteration_time=500.0, iterations=3"), "{messages}");
    assert!(messages.contains("Power with kernels: min_non_zero=12.00W, max=12.00W"), "{messages}");
    assert!(messages.contains("dur_total=1.14ms"), "{messages}");
    assert!(messages.contains("Power without kernels: min_non_zero=12.00W"), "{messages}");
    let (_dir, messages) = said(FLEX, &["--power-stats", "-t"]);
    assert!(messages.contains("Power of rank 0 with kernels"), "{messages}");
}

#[test]
fn slices_are_a_table_if_asked() {
    let kernel = op(0, "add_1 Cmpt Exec", (1_700_000_000_000_100, 50), "");
    let (dir, _) = said(&format!("[{kernel}]"), &["-f", "pddf", "--freq", "560"]);
    let table = text(dir.path(), "out.json");
    let expected = " Rank          Timestamp  Duration Category    Event Name  Event CLass    Job  Size  PT_Active\n    0 \
                    1700000000000100.0      50.0   kernel add Cmpt Exec COMPUTE_EXEC a.json   0.0        0.0";
    assert_eq!(table, expected);
}

#[test]
fn overlapping_slices_can_be_pairs() {
    let slices = [op(0, "a Cmpt Exec", (100, 50), ""), op(0, "b Cmpt Exec", (120, 80), "")];
    let (dir, _) = said(&format!("[{}]", slices.join(",")), &["-O", "async"]);
    let found = events(dir.path(), "out.json");
    assert_eq!(names(&found, "X"), ["a Cmpt Exec"]);
    let of = |phase: &str| found.iter().find(|event| event["ph"] == phase).unwrap();
    assert_eq!((&of("b")["name"], &of("b")["id"]), (&of("e")["name"], &of("e")["id"]));
}

#[test]
fn a_trace_with_errors_fails_its_verification() {
    let kernel = |name: &str, ts: f64, dur: f64, correlation: u32| {
        format!(
            r#"{{"ph":"X","cat":"kernel","name":"{name}","pid":0,"tid":1,"ts":{ts},"dur":{dur},"args":{{"stream":1,"correlation":{correlation}}}}}"#
        )
    };
    let call = r#"{"ph":"X","cat":"cuda_runtime","name":"aiuLaunchScheduleCompute","pid":9,"tid":9,"ts":10,"dur":50,"args":{"correlation":7}}"#;
    let trace = |kernels: &[String]| {
        let device = r#"{"id":0,"name":"AIU"}"#;
        format!(
            r#"{{"schemaVersion":1,"deviceProperties":[{device}],"traceEvents":[{call},{}]}}"#,
            kernels.join(",")
        )
    };
    let good = trace(&[kernel("a", 11.0, 10.0, 7), kernel("b", 21.0, 10.0, 7)]);
    let dir = written(&[("a.json", &good)], &["-V"]);
    let report: Value = serde_json::from_str(&text(dir.path(), "out.json")).unwrap();
    assert_eq!(report["result"], "PASS", "{report}");
    assert!(!dir.path().join("out_summary.csv").exists());
    let bad = trace(&[kernel("a", 11.0, 10.0, 7), kernel("b", 20.0, 80.0, 7), kernel("c", 200.0, 1.0, 8)]);
    let path = dir.path().join("bad.json");
    fs::write(&path, bad).unwrap();
    let (trace, report) = (path.to_str().unwrap(), dir.path().join("report.txt"));
    let args = ["aiu", "-i", trace, "-V", "-f", "text", "-o", report.to_str().unwrap()];
    let error = fail(&dir.path().join("store"), &args, 1);
    assert!(error.contains("the trace has errors"), "{error}");
    let report = fs::read_to_string(report).unwrap();
    for line in [
        "\nResult: FAIL (errors detected)\n",
        "\nERRORS (2)\n----------\n  overlaps: 1 occurrence(s)\n    name=b  pid=0  tid=1  stream=1  ts=20.0  dur=80.0\n",
        "  kernel_outside_parent: 1 occurrence(s)\n    corr_id=0x7  kernel_start=20.0  kernel_end=100.0",
        "\nWARNINGS (1)\n------------\n  orphan_kernels: 1 occurrence(s)\n    corr_id=8  count=1\n",
        "  FAIL  Compute Overlap Check\n",
    ] {
        assert!(report.contains(line), "{line}: {report}");
    }
}

/// A slice of a device of 560 MHz, with its counters.
pub fn op(rank: u32, name: &str, (start, duration): (u64, u64), more: &str) -> String {
    let (first, last) = (start * 560, (start + duration) * 560);
    // The counters around the phase that the name tells.
    let stamps = if name.ends_with("DmaI") {
        [first, last, last, last, last]
    } else if name.ends_with("DmaO") {
        [first, first, first, first, last]
    } else if name.ends_with("Cmpt Prep") {
        [first, first, last, last, last]
    } else {
        [first, first, first, last, last]
    };
    let stamps: Vec<String> = (1..)
        .zip(stamps)
        .map(|(at, stamp): (u32, u64)| format!(r#""TS{at}":"{}""#, stamp % (1 << 32)))
        .collect();
    format!(
        r#"{{"ph":"X","name":"{name}","pid":{rank},"tid":1,"ts":{start},"dur":{duration},"args":{{{}{more}}}}}"#,
        stamps.join(",")
    )
}

#[test]
fn collective_operations_of_all_ranks_are_compared() {
    let dir = tempfile::tempdir().unwrap();
    let store = dir.path().join("store");
    let mut args = vec!["ingest".to_owned(), "--db-bucket".to_owned(), "job".to_owned()];
    for rank in 0..2 {
        let late = u64::from(rank) * 40;
        let mut slices = Vec::new();
        for number in 0..3 {
            let start = 1_000 + number * 500;
            slices.push(op(rank, "add_1 Cmpt Exec", (start, 100 + late), ""));
            let more = format!(
                r#","CollGroup":"AllReduce_all_reduce_{number}","Peers":"{}","Bytes":"4096","Type":"SingleCast""#,
                1 - rank
            );
            let name = format!("SenRdmaSend_{number} [sync=a_{number}_s0_r1_0] DmaO");
            slices.push(op(rank, &name, (start + 110 + late, 200 - late), &more));
        }
        let path = dir.path().join(format!("rank_{rank}.json"));
        fs::write(&path, format!("[{}]", slices.join(","))).unwrap();
        args.push(path.to_str().unwrap().to_owned());
    }
    succeed(&store, &args.iter().map(String::as_str).collect::<Vec<_>>());
    let table = succeed(&store, &["collectives", "job", "--output-format", "json"]);
    let report: Value = serde_json::from_str(&table).unwrap();
    assert!(table.contains("all-reduce"), "{report}");
    let ranks: Value =
        serde_json::from_str(&succeed(&store, &["ranks", "job", "--output-format", "json"])).unwrap();
    assert_eq!(ranks["ranks"].as_array().map(Vec::len), Some(2), "{ranks}");
    assert!(ranks["ranks"][0]["wait_ns"].as_f64().is_some_and(|wait| wait > 0.0), "{ranks}");
}
