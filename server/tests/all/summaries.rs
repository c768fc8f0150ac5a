//! The summary of a rank is computed once and stored next to its segment, and `nprof summary` tells
//! a run on one screen.

use std::fs;
use std::path::PathBuf;

use nprof_engine::base::Error;
use nprof_engine::base::time::short_duration;
use nprof_engine::exec::{CallerThread, Cancel, Work};
use nprof_engine::metrics::MetricScope;
use nprof_engine::native::SegmentFile;
use nprof_engine::rank::RankView;
use nprof_engine::wire::answer;
use nprof_server::store::Store;
use serde_json::Value;
use unicode_width::UnicodeWidthStr as _;

use crate::cli::{fail, stage, succeed};
use crate::stage::{Stage, segment_path, shared};

const PATH: &str = "/api/profiles/small/ranks/0/summary";

fn kept(stage: &Stage) -> PathBuf {
    segment_path(&stage.store.find("small").unwrap(), 0).with_extension("summary")
}

#[tokio::test]
async fn a_summary_is_computed_once_also_over_a_restart() {
    let mut stage = Stage::large();
    let path = kept(&stage);
    assert!(!path.exists());
    let first = stage.json(PATH).await;
    let bytes = fs::read(&path).unwrap();
    // The segment's rows cannot be read any more, and no code reads them.
    stage.lose_rows();
    stage.restart();
    assert_eq!(stage.json(PATH).await, first);
    assert_eq!(fs::read(&path).unwrap(), bytes);
    // Without the file the rows are read again.
    fs::remove_file(&path).unwrap();
    stage.restart();
    assert_eq!(stage.get(PATH).await.status, 500);
}

#[tokio::test]
async fn a_stale_or_damaged_summary_is_computed_anew() {
    let mut stage = Stage::new();
    let path = kept(&stage);
    stage.check_computed_anew(PATH, &path).await;
}

#[test]
fn verify_and_rm_know_the_kept_summary() {
    let (dir, trace) = stage();
    let store = dir.path().join("store");
    succeed(&store, &["ingest", &trace, "--db-bucket", "small"]);
    let text = succeed(&store, &["summary", "small", "--all"]);
    let list: Value = serde_json::from_str(&succeed(&store, &["list", "--json"])).unwrap();
    let profile = store.join("profiles").join(list["profiles"][0]["id"].as_str().unwrap());
    let path = profile.join("rank_0.summary");
    assert!(path.exists());
    succeed(&store, &["verify"]);
    let mut bytes = fs::read(&path).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&path, &bytes).unwrap();
    let said = fail(&store, &["verify"], 1);
    assert!(said.contains("in kept answers only") && !said.contains("--force"), "{said}");
    assert_eq!(succeed(&store, &["summary", "small", "--all"]), text);
    succeed(&store, &["verify"]);
    // A new segment has no old summary.
    succeed(&store, &["ingest", &trace, "--force"]);
    assert!(!path.exists());
    succeed(&store, &["summary", "small", "--all"]);
    succeed(&store, &["rm", "small"]);
    assert!(!profile.exists());
}

#[test]
fn a_summary_that_nobody_waits_for_ends() {
    let (dir, trace) = stage();
    let store = dir.path().join("store");
    succeed(&store, &["ingest", &trace]);
    succeed(&store, &["demo", "--ingest-only", "--ranks", "1", "--events", "3000"]);
    let profiles = Store::open(&store).unwrap().list().unwrap();
    assert_eq!(profiles.len(), 2, "of any trace and of a vendor");
    for profile in profiles {
        let segment = SegmentFile::open_file(&segment_path(&profile, 0)).unwrap();
        let ended = Work { exec: &CallerThread, cancel: Cancel::when(&|| true) };
        assert_eq!(
            answer::summary(RankView::of(&segment), 0, &MetricScope::default(), ended).unwrap_err(),
            Error::Cancelled
        );
        assert!(answer::summary(RankView::of(&segment), 0, &MetricScope::default(), Work::IN_PLACE).is_ok());
    }
}

/// Lines of a screen, and columns of a line.
const SCREEN: (usize, usize) = (40, 100);

#[track_caller]
fn check_screen(text: &str) {
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines.len() <= SCREEN.0, "{} lines\n{text}", lines.len());
    for line in lines {
        assert!(line.width() <= SCREEN.1 && line == line.trim_end(), "{line:?}\n{text}");
    }
}

#[test]
fn a_run_is_told_on_one_screen() {
    let (dir, _) = stage();
    let store = dir.path().join("store");
    succeed(&store, &["demo", "--ingest-only", "--ranks", "2", "--events", "20000", "--db-bucket", "run"]);
    let text = succeed(&store, &["summary", "run"]);
    check_screen(&text);
    let path: Value =
        serde_json::from_str(&succeed(&store, &["critical-path", "run", "--output-format", "json"])).unwrap();
    let time = |ps: &Value| short_duration(ps.as_f64().unwrap());
    assert!(text.contains(&format!("\nthe run takes {},", time(&path["length_ps"]))), "{text}");
    for key in ["by_kind", "by_rank", "by_track"] {
        assert!(text.contains(&format!(" {} (", time(&path[key][0]["ps"]))), "{key}: {text}");
    }
    let findings: Value =
        serde_json::from_str(&succeed(&store, &["findings", "run", "--output-format", "json"])).unwrap();
    let all = findings["findings"].as_array().unwrap().iter().filter(|one| one["state"] == "found");
    let worst = all.max_by_key(|one| one["saving_ps"]["middle"].as_i64()).unwrap();
    assert!(text.contains(&format!(" {}: ", worst["rule"].as_str().unwrap())), "{worst} {text}");
    let recorded = succeed(&store, &["findings", "run"]).lines().last().unwrap().to_owned();
    assert!(recorded.starts_with("recorded: ") && text.contains(&recorded), "{recorded} {text}");
}

#[test]
fn the_times_of_the_screen_add_up_to_the_run() {
    let (dir, _) = stage();
    let store = dir.path().join("store");
    succeed(&store, &["demo", "--ingest-only", "--ranks", "1", "--events", "20000", "--db-bucket", "run"]);
    let text = succeed(&store, &["summary", "run"]);
    let rows = text.lines().take_while(|line| *line != "FINDINGS").filter_map(|line| {
        let (share, _) = line.strip_prefix("  ")?.split_once(" %)  ")?;
        share.rsplit_once('(')?.1.parse::<f64>().ok()
    });
    let shares: Vec<f64> = rows.collect();
    assert!(shares.len() > 3 && (shares.iter().sum::<f64>() - 100.0).abs() < 1.0, "{shares:?} {text}");
}

#[test]
fn a_profile_without_work_shows_what_there_is() {
    let (dir, _) = stage();
    let store = dir.path().join("store");
    let trace = dir.path().join("counter.json");
    fs::write(
        &trace,
        r#"[{"ph":"C","pid":1,"ts":0,"name":"load","args":{"v":1}},
        {"ph":"C","pid":1,"ts":2000,"name":"load","args":{"v":3}}]"#,
    )
    .unwrap();
    succeed(&store, &["ingest", trace.to_str().unwrap(), "--db-bucket", "load"]);
    let text = succeed(&store, &["summary", "load"]);
    check_screen(&text);
    assert!(text.contains("\nthe recording takes 2.00 ms,"), "{text}");
    assert!(text.contains("no critical path and no findings: the profile has no work: "), "{text}");
    assert!(text.contains("\n  sample_count "), "{text}");
}

#[test]
fn long_names_are_cut_where_they_differ() {
    let (dir, _) = stage();
    let store = dir.path().join("store");
    let trace = dir.path().join("long.json");
    let name = |end: &str| format!("void kernel<{}>({end})", "std::array<float, 4>, ".repeat(9));
    let kernel = |at: usize, end: &str| {
        let name = name(end);
        format!(
            r#"{{"ph":"X","cat":"kernel","pid":1,"tid":7,"ts":{at}0,"dur":9,"name":"{name}","args":{{"stream":7,"device":0}}}}"#
        )
    };
    let events = [kernel(1, "Add"), kernel(2, "Mul"), kernel(3, "Max")].join(",");
    fs::write(&trace, format!("[{events}]")).unwrap();
    succeed(&store, &["ingest", trace.to_str().unwrap(), "--db-bucket", "long"]);
    // All metrics have the names in a list and in a table.
    for (args, rows) in [(&["summary", "long"][..], 1), (&["summary", "long", "--all"], 2)] {
        let text = succeed(&store, args);
        for end in ["Add", "Mul", "Max"] {
            let is_row = |line: &&str| line.contains("  void kernel<") && line.contains(&format!("{end})"));
            assert_eq!(text.lines().filter(is_row).count(), rows, "{end}: {text}");
        }
        assert!(text.lines().all(|line| line.width() <= SCREEN.1), "{text}");
    }
    let text = succeed(&store, &["summary", "long", "--output-format", "json"]);
    assert!(text.contains(&name("Mul")), "JSON has whole names");
}

#[test]
fn metrics_have_units_and_json_their_exact_values() {
    let (dir, trace) = stage();
    let store = dir.path().join("store");
    succeed(&store, &["ingest", &trace, "--db-bucket", "small"]);
    let json: Value =
        serde_json::from_str(&succeed(&store, &["summary", "small", "--output-format", "json"])).unwrap();
    let rank = json.as_object().unwrap().iter().find(|(key, _)| key.starts_with("n_")).unwrap().1;
    let total_s = rank["total_time"].as_f64().unwrap();
    assert_eq!((&json["unit"], &json["units"]["total_time"]), (&"s".into(), &"s".into()));
    assert_eq!(json["scope"]["profile"], "small");
    assert_eq!((&json["shown"], &json["version"]), (&json["total"], &1.into()));
    let text = succeed(&store, &["summary", "small", "--all"]);
    let time = short_duration(total_s * 1e12);
    let line = text.lines().find(|line| line.starts_with("  total_time ")).unwrap();
    assert!(line.ends_with(&format!(" {time}")), "{line}");
    assert_eq!(succeed(&store, &["summary", "small", "--rank", "0"]), text);
    let of_rank = succeed(&store, &["summary", "small", "--rank", "0", "--output-format", "json"]);
    assert_eq!(serde_json::from_str::<Value>(&of_rank).unwrap()["scope"]["rank"], 0);
}

/// Kernels of two streams with their launches, on times in microseconds.
const KERNELS: &str = r#"{"schemaVersion":1,"distributedInfo":{"backend":"nccl","rank":0,"world_size":2},
    "deviceProperties":[{"id":0,"name":"Tesla V100-SXM2-16GB"}],
    "traceEvents":[
    {"ph":"X","cat":"cpu_op","name":"aten::linear","pid":9,"tid":9,"ts":-2,"dur":97,"args":{}},
    {"ph":"X","cat":"cpu_op","name":"aten::mm","pid":9,"tid":9,"ts":-1,"dur":25,
        "args":{"Input Dims":[[100,200],[200,50]],"Input type":["float","float"]}},
    {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":9,"ts":0,"dur":20,"args":{"correlation":1}},
    {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":9,"ts":30,"dur":60,"args":{"correlation":2}},
    {"ph":"X","cat":"cuda_runtime","name":"cudaMemcpyAsync","pid":9,"tid":9,"ts":300,"dur":5,"args":{"correlation":3}},
    {"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":100,"dur":100,"args":{"stream":7,"device":0,"correlation":1}},
    {"ph":"X","cat":"kernel","name":"ncclKernel_AllReduce","pid":0,"tid":8,"ts":150,"dur":100,"args":{"stream":8,"device":0,"correlation":2}},
    {"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD (Pageable -> Device)","pid":0,"tid":7,"ts":310,"dur":10,"args":{"stream":7,"device":0,"correlation":3,"bytes":4096,"memory bandwidth (GB/s)":0.4}}
    ]}"#;

/// The metrics of the only rank, from `nprof summary`.
fn metrics_of(store: &std::path::Path, options: &[&str]) -> Value {
    let args = [&["summary", "kernels", "--output-format", "json"][..], options].concat();
    let document: Value = serde_json::from_str(&succeed(store, &args)).unwrap();
    let is_rank = |(_, value): &(&String, &Value)| value.get("total_time").is_some_and(Value::is_number);
    document.as_object().unwrap().iter().find(is_rank).unwrap().1.clone()
}

fn us(of: &Value, name: &str) -> f64 {
    (of[name].as_f64().unwrap_or_else(|| panic!("{name} in {of}")) * 1e12).round() / 1e6
}

#[test]
fn kernels_are_measured_by_rank_and_by_region() {
    let (dir, _) = stage();
    let store = dir.path().join("store");
    let trace = dir.path().join("kernels.pt.trace.json");
    fs::write(&trace, KERNELS).unwrap();
    succeed(&store, &["ingest", trace.to_str().unwrap(), "--db-bucket", "kernels"]);
    let whole = metrics_of(&store, &[]);
    let names = ["kernel_time", "idle_time", "compute_time", "non_compute_time"];
    assert_eq!(names.map(|name| us(&whole, name)), [220.0, 60.0, 100.0, 60.0]);
    assert_eq!(whole["comp_comm_overlap"], 0.5);
    assert_eq!(us(&whole, "compute_and_communication_time"), 50.0);
    let counts = ["launch_count", "short_kernel_count", "long_launch_count", "late_kernel_count"];
    assert_eq!(counts.map(|name| whole[name].as_u64().unwrap()), [3, 0, 1, 0]);
    let tables = &whole["tables"];
    assert_eq!(us(&tables["idle_by_stream"][0], "host_wait"), 110.0);
    assert_eq!(tables["copies_by_kind"][0]["name"], "Memcpy HtoD");
    assert_eq!(tables["copies_by_kind"][0]["mean_bandwidth"], 4e8);
    assert_eq!(tables["kernels_by_name"][0]["count"], 1);
    let operator = |at: usize| {
        let of = &tables["operators"][at];
        (of["name"].as_str().unwrap(), us(of, "own_device_time"), us(of, "device_time"))
    };
    assert_eq!([operator(0), operator(1)], [("aten::linear", 100.0, 200.0), ("aten::mm", 100.0, 100.0)]);
    let (flops, bytes) = (2.0 * 100.0 * 200.0 * 50.0, 4.0 * (100.0 * 200.0 + 200.0 * 50.0 + 100.0 * 50.0));
    let near = |value: &Value, expected: f64| {
        let value = value.as_f64().unwrap();
        assert!((value / expected - 1.0).abs() < 1e-9, "{value} {expected}");
    };
    near(&whole["mfu"], flops / 15.7e12 / 220e-6);
    let mm = &tables["roofline"][1];
    assert_eq!(
        (mm["name"].as_str(), mm["bound"].as_str()),
        (Some("aten::mm 100×200 · 200×50 float"), Some("memory"))
    );
    near(&mm["of_reachable"], bytes / 900e9 / 100e-6);
    near(&tables["operators"][1]["flops_rate"], flops / 100e-6);
    let given = metrics_of(&store, &["--peak", "1TF"]);
    near(&given["mfu"], flops / 1e12 / 220e-6);
    assert_eq!(given["tables"]["roofline"][1]["bound"], "compute");
    // Two regions that meet share the time among them.
    succeed(&store, &["regions", "kernels", "--add", "first=0us..172us", "--add", "second=172us..400us"]);
    let of = |name: &str| metrics_of(&store, &["--region", name]);
    let (first, second) = (of("first"), of("second"));
    for name in ["compute_time", "non_compute_time"] {
        assert_eq!(us(&first, name) + us(&second, name), us(&whole, name), "{name}");
    }
    assert_eq!(us(&first, "total_time"), 172.0);
    let error = fail(&store, &["summary", "kernels", "--region", "third"], 1);
    assert!(error.contains("no region is named `third`"), "{error}");
    let limited = metrics_of(&store, &["--long-launch", "10us", "--late-kernel", "50us"]);
    assert_eq!([&limited["long_launch_count"], &limited["late_kernel_count"]], [2, 2]);
    assert!(succeed(&store, &["summary", "kernels", "--rank", "0"]).contains("host wait  kernel wait"));
}

/// Operations of a real run, summed up from the shapes in the trace by another program.
#[test]
fn operations_of_a_real_run_are_those_of_its_shapes() {
    let traces = [
        ("h100_Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz", 5_760_281_775_040_u64, 193),
        ("torch_compile_triton_trace.json.gz", 5_497_558_138_880, 8),
        ("mi250_minitoy_train_ROCm6_2_kineto.json.gz", 327_680, 2),
    ];
    for (name, flops, count) in traces {
        let Some(trace) = shared(&format!("data/kineto/{name}")) else { return };
        let dir = tempfile::tempdir().unwrap();
        succeed(dir.path(), &["ingest", trace.to_str().unwrap(), "--db-bucket", "kernels"]);
        let whole = metrics_of(dir.path(), &[]);
        assert_eq!(whole["flops"], flops, "{name}");
        assert_eq!(whole["tables"]["roofline"][0]["count"], count, "{name}");
    }
}

#[test]
fn a_trace_without_kernels_says_what_would_give_their_metrics() {
    let (dir, _) = stage();
    let store = dir.path().join("store");
    let trace = dir.path().join("kernels.pt.trace.json");
    let host = KERNELS.lines().filter(|line| !line.contains("\"device\":0")).collect::<Vec<_>>().join("\n");
    fs::write(&trace, host.replace("\"correlation\":3}},", "\"correlation\":3}}")).unwrap();
    succeed(&store, &["ingest", trace.to_str().unwrap(), "--db-bucket", "kernels"]);
    let absent = metrics_of(&store, &[])["absent"].clone();
    assert!(absent[0]["reason"].as_str().unwrap().contains("ProfilerActivity.CUDA"), "{absent}");
    assert!(succeed(&store, &["summary", "kernels", "--all"]).contains("\nNot there\n"));
}

#[test]
fn definitions_of_metrics_are_listed() {
    let (dir, _) = stage();
    let store = dir.path().join("store");
    let all: Value = serde_json::from_str(&succeed(&store, &["metrics", "--output-format", "json"])).unwrap();
    let named = |name: &str| {
        all["metrics"].as_array().unwrap().iter().find(|one| one["name"] == name).unwrap().clone()
    };
    assert_eq!(named("idle_time")["unit"], "s");
    assert!(named("tensor_engine_active_time")["meaning"].as_str().unwrap().ends_with('.'));
    assert_eq!(all["shown"], all["total"]);
    let text = succeed(&store, &["metrics", "host_wait"]);
    assert!(text.contains("  host_wait [s]: Gaps whose next kernel"), "{text}");
    assert!(text.lines().all(|line| line.width() <= SCREEN.1), "{text}");
    assert!(fail(&store, &["metrics", "no such thing"], 1).contains("no metric has"));
}
