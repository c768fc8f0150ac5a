//! Stage profiles of `nprof aiu`: each stage switches off its own work, and nothing else.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::aiu::{events, names, op, written};
use crate::cli::run;

/// Stages of acelyzer that do something in nprof.
const STAGES: [&str; 29] = [
    "map_tid_to_range",
    "cycle_count_to_wallclock",
    "tighten_hts_by_instr_type",
    "mp_sync_tight_v1",
    "queueing_counter",
    "drop_global_events",
    "detect_partial_overlap_events",
    "collect_iteration_stats",
    "extract_power_event",
    "compute_power",
    "extract_data_transfer_event",
    "compute_bandwidth",
    "compute_utilization_fingerprints",
    "compute_utilization",
    "communication_event_collection",
    "communication_event_apply",
    "launch_flow_collect",
    "launch_flow_create_missing",
    "flow_prepare_event_data",
    "flow_extraction",
    "mp_calc_bw_v2",
    "calculate_stats",
    "calculate_stats_v2",
    "processing_filter",
    "tb_refinement_intrusive",
    "create_slice_from_BE",
    "normalize_phase1",
    "sort_events",
    "assert_ts_sequence",
];

/// Facts about the files of a run.
struct Seen {
    events: Vec<Value>,
    messages: String,
    files: Vec<String>,
}

impl Seen {
    fn has(&self, phase: &str, name: &str) -> bool {
        names(&self.events, phase).iter().any(|of| of.contains(name))
    }

    fn threads(&self, name: &str) -> Vec<i64> {
        let of = self.events.iter().filter(|event| event["ph"] == "X" && event["name"] == name);
        of.map(|event| event["tid"].as_i64().unwrap()).collect()
    }
}

/// Inputs that give each stage something to do: two ranks with operations, power and iterations.
fn inputs(dir: &Path) -> Vec<String> {
    let rank = |rank: u32| {
        let mut slices = Vec::new();
        for n in 0..20_u64 {
            let at = 1_000 + n * 1_000;
            let name = format!("{}_{} Cmpt Exec", ["a", "b", "c", "d", "e"][(n % 5) as usize], 7);
            let charge = 1_000_000 + at * 512;
            slices.push(op(rank, &name, (at, 600), &format!(r#","Power":"{charge}""#)));
            let prep = op(rank, &name.replace("Exec", "Prep"), (at, 100), "");
            slices.push(prep.replace("\"tid\":1,", "\"tid\":2,"));
            let (step, kind) = match rank {
                0 => ("SenRDMASend_7 [4096B] [sync=AllReduce_N_s0_r1_0] DmaO", "SingleCast"),
                _ => ("SenRDMAReceive_9 [4096B] [sync=AllReduce_N_s0_r1_0] DmaI", "WDone Barrier"),
            };
            let more = format!(
                r#","CollGroup":"AllReduce_{n}","Peers":"{}","Bytes":"4096","Type":"{kind}""#,
                1 - rank
            );
            let slice = op(rank, &step.replace("_N_", &format!("_{n}_")), (at + 650, 200), &more);
            slices.push(slice.replace("\"tid\":1,", "\"tid\":3,"));
        }
        // A slice that crosses another of its thread, and one with which the host keeps books.
        slices.push(op(rank, "cross Cmpt Exec", (20_500, 300), ""));
        for (name, tid, start) in [("PostKeys", 9, 1_000), ("AIU Roundtrip", 8, 900)] {
            slices.push(
                json!({"ph": "X", "name": name, "pid": rank, "tid": tid, "ts": start, "dur": 50}).to_string(),
            );
        }
        format!("[{}]", slices.join(","))
    };
    let call = json!({"ph": "X", "cat": "cuda_runtime", "name": "launch", "pid": 9, "tid": 9, "ts": 5, "dur": 1, "args": {"correlation": 1}});
    let kernel = json!({"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 1, "ts": 8, "dur": 1, "args": {"correlation": 1, "stream": 1}});
    let torch =
        json!({"schemaVersion": 1, "deviceProperties": [], "traceEvents": [call, kernel]}).to_string();
    let log = "~~~~ Ideal/Total Cycles ~~~~\na_7-opCatScalar     100\n====== Perf Summary End ======\n";
    let files = [
        ("rank_0.json", rank(0)),
        ("rank_1.json", rank(1)),
        ("rank_2.json", torch),
        ("compiler.log", log.to_owned()),
    ];
    files
        .map(|(name, text)| {
            let path = dir.join(name);
            fs::write(&path, text).unwrap();
            path.to_str().unwrap().to_owned()
        })
        .to_vec()
}

/// Runs the command with all stages but these.
fn run_without(dir: &Path, inputs: &[String], off: &[&str], args: &[&str]) -> Seen {
    let out = dir.join(off.first().copied().unwrap_or("all"));
    // Files of an earlier run must not be taken for files of this one.
    let _ = fs::remove_dir_all(&out);
    fs::create_dir_all(&out).unwrap();
    let stages: Vec<Value> = STAGES.iter().map(|name| json!({ *name: !off.contains(name) })).collect();
    let profile = out.join("stages.json");
    fs::write(&profile, json!({ "stages": stages }).to_string()).unwrap();
    let traces = inputs[..3].join(",");
    let trace = out.join("out.json");
    let fixed = [
        "aiu",
        "-i",
        &traces,
        "-c",
        &inputs[3],
        "-o",
        trace.to_str().unwrap(),
        "-P",
        profile.to_str().unwrap(),
    ];
    let output = run(&dir.join("store"), &[&fixed[..], args].concat());
    let messages = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{off:?}: {messages}");
    let files = fs::read_dir(&out).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    Seen { events: events(&out, "out.json"), messages, files: files.collect() }
}

type Check = fn(&Seen) -> bool;

/// Each stage, the options that it needs, and what is true only if the stage is on.
const CASES: [(&[&str], &[&str], Check); 18] = [
    (&["map_tid_to_range"], &[], |seen| seen.threads("a Cmpt Exec").contains(&1_000)),
    (&["cycle_count_to_wallclock"], &["--freq", "280"], |seen| {
        let kernel = seen.events.iter().find(|event| event["name"] == "a Cmpt Exec").unwrap();
        kernel["dur"] == 1_200.0
    }),
    (&["mp_sync_tight_v1"], &[], |seen| seen.messages.contains("clocks")),
    (&["queueing_counter"], &[], |seen| !seen.has("X", "Cmpt Prep") && seen.has("C", "ConcurrentPreps")),
    (&["drop_global_events"], &["--drop_globals"], |seen| !seen.has("X", "PostKeys")),
    (&["detect_partial_overlap_events"], &[], |seen| seen.messages.contains("overlapping others")),
    (&["collect_iteration_stats"], &[], |seen| seen.messages.contains("ITSTATS")),
    (&["compute_power"], &["--power-stats"], |seen| {
        seen.has("C", "Power") && seen.messages.contains("Power of rank")
    }),
    (&["compute_bandwidth"], &["-C", "bandwidth"], |seen| seen.has("C", "BW DmaI")),
    (&["compute_utilization"], &[], |seen| {
        seen.has("C", "PT Active") && seen.files.contains(&"out_categories.csv".to_owned())
    }),
    (&["communication_event_apply"], &["--comm_summarize_seq"], |seen| {
        let steps = seen.events.iter().filter(|event| event["args"]["Peers"].is_array());
        steps.count() > 0
    }),
    (&["launch_flow_create_missing"], &[], |seen| seen.has("s", "ac2g")),
    (&["flow_extraction"], &["--flow", "-R"], |seen| {
        seen.has("s", "AllReduce") && seen.has("X", "gloo:all_reduce")
    }),
    (&["mp_calc_bw_v2"], &[], |seen| seen.has("C", "Coll_Bandwidth")),
    (&["calculate_stats"], &[], |seen| seen.files.contains(&"out_summary.csv".to_owned())),
    (&["calculate_stats_v2"], &["-R"], |seen| seen.files.contains(&"out_stats_summary.csv".to_owned())),
    (&["processing_filter"], &["-F", "X", "--event_filter", "name:^b_"], |seen| {
        seen.events.iter().all(|event| event["ph"] == "X")
    }),
    (&["tb_refinement_intrusive"], &[], |seen| seen.has("X", "a Cmpt Exec")),
];

#[test]
fn each_stage_alone_can_be_off() {
    let dir = tempfile::tempdir().unwrap();
    let inputs = inputs(dir.path());
    for (stages, args, check) in CASES {
        let all = run_without(dir.path(), &inputs, &[], args);
        assert!(check(&all), "{stages:?} is on: {}", all.messages);
        let without = run_without(dir.path(), &inputs, stages, args);
        assert!(!check(&without), "{stages:?} is off: {}", without.messages);
        assert!(!without.events.is_empty(), "{stages:?}: the other stages are on");
    }
}

#[test]
fn an_event_filter_is_no_stage() {
    let dir = tempfile::tempdir().unwrap();
    let inputs = inputs(dir.path());
    let args = ["--event_filter", "name:^b_"];
    let seen = run_without(dir.path(), &inputs, &["processing_filter"], &args);
    assert!(!seen.has("X", "b Cmpt Exec") && seen.has("X", "a Cmpt Exec"));
}

#[test]
fn tensorboard_has_its_own_stages() {
    let trace = format!("[{}]", op(0, "add_1 Cmpt Exec", (100, 50), ""));
    let trace = trace.replace("\"tid\":1,", "\"tid\":77,");
    for (args, tid) in [(&["--tb"][..], 77), (&["--tb", "-P", "everything.json"], 1_000)] {
        let dir = written(&[("a.json", &trace)], args);
        let found = events(dir.path(), "out.pt.trace.json");
        let kernel = found.iter().find(|event| event["name"] == "add Cmpt Exec").unwrap();
        assert_eq!(kernel["tid"], tid, "{args:?}");
    }
}
