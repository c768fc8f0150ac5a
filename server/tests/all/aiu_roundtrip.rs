//! Profiles of AIUs that are exported or written, and read again.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use serde_json::Value as Json;

use crate::aiu::{events, op, text};
use crate::cli::{nprof, succeed};

/// Kernels with power, preparations and transfers of the runtime, within a round trip of the host.
/// The counter overflows.
fn runtime(ranks: &[u32]) -> String {
    let mut events = Vec::new();
    for &rank in ranks {
        let of_host = format!(r#""pid":{rank},"tid":900001"#);
        events.push(format!(r#"{{"name":"AIU Roundtrip","ph":"X",{of_host},"ts":50,"dur":9000000}}"#));
        events.push(format!(r#"{{"name":"mark","ph":"i","s":"t",{of_host},"ts":60}}"#));
        // An end without a begin and a begin without an end.
        events.push(format!(r#"{{"name":"lone","ph":"E",{of_host},"ts":70}}"#));
        events.push(format!(r#"{{"name":"open","ph":"B",{of_host},"ts":80}}"#));
        for n in 0..4 {
            let (ts, id) = (100 + 10 * n, 10 * rank + n);
            let queue = format!(r#""name":"queue","ph":"C","pid":{rank},"args":{{"value":{id}}}"#);
            events.push(format!(r#"{{{queue},"ts":{ts}}}"#));
            let request = format!(r#""name":"request","cat":"net","id":"{id:#x}",{of_host}"#);
            events.push(format!(r#"{{"ph":"b",{request},"ts":{ts},"args":{{"size":7}}}}"#));
            events.push(format!(r#"{{"ph":"n",{request},"ts":{}}}"#, ts + 5));
            events.push(format!(r#"{{"ph":"e",{request},"ts":{}}}"#, ts + 25));
            events.push(format!(r#"{{"name":"wait","ph":"X",{of_host},"ts":{ts},"dur":5}}"#));
            let arrow = format!(r#""name":"flow","cat":"flow","id":{id},"bp":"e",{of_host}"#);
            events.push(format!(r#"{{"ph":"s",{arrow},"ts":50}},{{"ph":"f",{arrow},"ts":{ts}}}"#));
        }
        for n in 0..12 {
            // 8.2 s after the first one, the counter has overflowed.
            let at = 100 + 300 * n + if n > 6 { 8_200_000 } else { 0 };
            let name = format!("{}_{n} Cmpt Exec", ["mul", "add", "max_pool2d"][n as usize % 3]);
            let charge = format!(r#","Power":"{}""#, 1_000 + 51_200 * n * (1 + n % 3));
            let duration = 50 + 7 * n + u64::from(rank);
            let kernel = op(rank, &name, (at, duration), &charge);
            // The host sees ends late.
            let [true_dur, dur] = [duration, duration + n % 3].map(|dur| format!(r#""dur":{dur},"#));
            events.push(kernel.replace(&true_dur, &format!(r#"{dur}"cat":"own","#)));
            events.push(op(rank, &name.replace("Exec", "Prep"), (at - 20, 60), ""));
            events.push(op(rank, "InputX DmaI", (at + 200, 40), r#","Bytes":"4096","note":"x""#));
            let step =
                r#","CollGroup":"AllReduce_all_reduce_4","Peer":"2","Type":"WDone Barrier","Bytes":"64""#;
            events.push(op(rank, &format!("SenRdmaReceive_{n}"), (at + 245, 20), step));
        }
        let unfinished = op(rank, "mul_0 Cmpt Exec", (8_204_000, 70), "").replace(r#","dur":70"#, "");
        events.push(unfinished.replace(r#""ph":"X""#, r#""ph":"B""#));
    }
    format!("[{}]", events.join(","))
}

/// Kernels and transfers of two devices in PyTorch's dialect.
fn pytorch(rank: u32) -> String {
    let mut events = Vec::new();
    for n in 0..12_u32 {
        let (device, at) = (n % 2, 1_000 + 400 * n);
        let event = |cat: &str, name: &str, (at, duration): (u32, u32), more: &str| {
            format!(
                r#"{{"ph":"X","cat":"{cat}","name":"{name}","pid":{device},"tid":1,"ts":{at},"dur":{duration},"args":{{"device":{device},"stream":1{more}}}}}"#
            )
        };
        events.push(event("kernel", ["mul", "add"][n as usize / 2 % 2], (at, 100 + n + rank), ""));
        if n < 2 {
            events.push(event("gpu_user_annotation", "ProfilerStep#1", (990, 3_000), ""));
        }
        let rate = r#","bytes":4096,"memory bandwidth (GB/s)":2.5"#;
        events.push(event("gpu_memcpy", "Memcpy (HtoD)", (at + 200, 10), rate));
        let call = r#"{"ph":"X","cat":"cuda_runtime","name":"aiuLaunchControlBlocks","pid":77,"tid":77"#;
        events.push(format!(r#"{call},"ts":{},"dur":3,"args":{{}}}}"#, at - 10));
        let point = |ph: &str, (pid, tid): (u32, u32), ts: u32| {
            format!(
                r#"{{"ph":"{ph}","cat":"ac2g","name":"ac2g","id":{n},"bp":"e","pid":{pid},"tid":{tid},"ts":{ts}}}"#
            )
        };
        events.extend([point("s", (77, 77), at - 10), point("f", (device, 1), at)]);
        events.push(format!(
            r#"{{"ph":"C","name":"memory","pid":{device},"ts":{at},"args":{{"value":{rank}}}}}"#
        ));
    }
    let devices = r#"[{"id":0,"name":"AIU"},{"id":1,"name":"AIU"}]"#;
    format!(
        r#"{{"schemaVersion":1,"deviceProperties":{devices},"distributedInfo":{{"rank":{rank}}},"traceEvents":[{}]}}"#,
        events.join(",")
    )
}

/// Tables of a rank that do not depend on the form of the file.
const TABLES: [&str; 16] = [
    "aiu_collective",
    "warning",
    "slice",
    "async",
    "counter",
    "aiu_op",
    "aiu_counter",
    "aiu_kernel",
    "aiu_cycles",
    "aiu_active",
    "aiu_category",
    "aiu_iteration",
    "aiu_power",
    "aiu_clock",
    "aiu_ideal",
    "aiu_job",
];

/// Tracks, tables and arrows of each rank of a profile.
fn content(store: &Path, profile: &str) -> Vec<Vec<String>> {
    let path = store.join(format!("{profile}.json"));
    let out = path.to_str().unwrap();
    succeed(store, &["export", profile, "--format", "json", "-o", out]);
    let mut files: Vec<_> = (0..9).map(|rank| store.join(format!("{profile}_rank_{rank}.json"))).collect();
    files.push(path.clone());
    files.iter().filter(|file| file.exists()).map(|file| lines(file)).collect()
}

fn lines(file: &Path) -> Vec<String> {
    let document: Json = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    let rows = |table: &str| document[table].as_array().cloned().unwrap_or_default();
    let paths: Vec<String> = rows("track").iter().map(|track| track["path"].to_string()).collect();
    let mut lines: Vec<String> = rows("track")
        .iter()
        .zip(&paths)
        .map(|(track, path)| format!("track {path}: {} {} rows", track["kind"], track["rows"]))
        .collect();
    lines.push(format!("rank {}", document["export"][0]["rank"]));
    let starts: HashMap<u64, String> = document
        .as_object()
        .unwrap()
        .values()
        .filter_map(Json::as_array)
        .flatten()
        .filter_map(|row| Some((row["row"].as_u64()?, format!("{} at {}", row["name"], row["start_ps"]))))
        .collect();
    for arrow in rows("arrow") {
        let [from, to] = ["from", "to"].map(|end| &starts[&arrow[end].as_u64().unwrap()]);
        lines.push(format!("arrow {from} to {to}"));
    }
    for table in TABLES {
        for mut row in rows(table) {
            if let Some(track) = row["track"].as_u64() {
                row["track"] = Json::from(paths[track as usize].as_str());
            }
            if let Some(row) = row.as_object_mut() {
                for value in row.values_mut().filter(|value| value.is_f64()) {
                    // Sums have another order.
                    *value = Json::from(format!("{:.9e}", value.as_f64().unwrap()));
                }
                // Rows count over all tables. The sum of the squares has another order. Packets
                // have one name for a counter and its series.
                row.retain(|key, _| {
                    !["row", "residual", "counter", "series", "pid", "tid", "first_place"]
                        .contains(&key.as_str())
                });
            }
            lines.push(format!("{table} {row}"));
        }
    }
    lines.sort();
    lines
}

/// Ingests files, exports them as packets and ingests these. The ranks, tracks, tables and arrows
/// are the same.
#[track_caller]
fn check(files: &[(&str, String)], log: &str, ranks: usize) {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let store = dir.path().join("store");
    fs::write(path("c.log"), log).unwrap();
    let mut paths = Vec::new();
    for (name, text) in files {
        fs::write(path(name), text).unwrap();
        paths.push(path(name));
    }
    let ingest = |paths: &[String], name: &str| {
        let mut args = vec!["ingest", "--db-bucket", name];
        args.extend(paths.iter().map(String::as_str));
        let log = path("c.log");
        if !fs::read(&log).unwrap().is_empty() {
            args.extend(["-c", &log]);
        }
        let output = nprof(&store).args(&args).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    ingest(&paths, "first");
    let out = path("a.pftrace");
    succeed(&store, &["export", "first", "--format", "perfetto", "--show-perfetto-flows", "-o", &out]);
    let bytes = fs::read(&out).unwrap();
    let at = |name: &str| bytes.windows(name.len()).position(|of| of == name.as_bytes());
    assert!(at("AIU") < at("Thread "), "the first bytes of a long export tell the device");
    let said = ingest(&[path("a.pftrace")], "again");
    assert!(!said.contains("an export that nprof made"), "{said}");
    let [first, again] = ["first", "again"].map(|name| content(&store, name));
    assert_eq!((first.len(), again.len()), (ranks, ranks));
    for (first, again) in first.iter().zip(&again) {
        let lacks = |of: &[String], line: &&String| !of.contains(line);
        let lost: Vec<&String> = first.iter().filter(|line| lacks(again, line)).take(3).collect();
        let added: Vec<&String> = again.iter().filter(|line| lacks(first, line)).take(3).collect();
        assert!(lost.is_empty() && added.is_empty(), "lost: {lost:#?}, added: {added:#?}");
        assert_eq!(first.len(), again.len());
    }
}

const LOG: &str = "x Ideal/Total Cycles y\nmul_0-opCatBmm 5600\nmul_3-opCatBmm 11200\n\
    ====== Perf Summary End ======\n";

#[test]
fn an_export_of_the_runtimes_traces_is_read_as_they_are() {
    check(&[("a.json", runtime(&[0]))], "", 1);
    check(&[("a.json", runtime(&[3]))], LOG, 1);
    check(&[("a.json", runtime(&[3, 1]))], LOG, 2);
}

#[test]
fn an_export_of_several_devices_of_several_ranks_has_them_again() {
    check(&[("a.json", pytorch(0))], LOG, 1);
    check(&[("a.json", pytorch(0)), ("b.json", pytorch(1))], "", 2);
}

/// Events of the trace that `nprof aiu` writes.
fn written(dir: &Path, inputs: &str, more: &[&str]) -> Vec<String> {
    let inputs: Vec<_> = inputs.split(',').map(|name| dir.join(name).to_str().unwrap().to_owned()).collect();
    let (inputs, out) = (inputs.join(","), dir.join("out.json"));
    let args = [&["aiu", "-i", &inputs, "-o", out.to_str().unwrap(), "-M"], more].concat();
    succeed(&dir.join("store"), &args);
    let line = |event: &Json| {
        let mut event = event.clone();
        let keys = event.as_object_mut().unwrap();
        // Arrows of an export have other numbers. Numbers from 1000 on are those of FLEX's threads
        // in the order of the file, and events of the host state the file that was read.
        keys.retain(|key, value| key != "id" && !(key == "tid" && value.as_u64() >= Some(1_000)));
        if let Some(args) = keys.get_mut("args").and_then(Json::as_object_mut) {
            // A small difference of large numbers.
            args.remove("time_adjust");
        }
        let files = ["a.json", "b.json", "f.json", "f.pftrace"];
        files.iter().fold(event.to_string(), |text, file| text.replace(file, "p.pftrace"))
    };
    let mut lines: Vec<String> = events(dir, "out.json").iter().map(line).collect();
    let document: Json = serde_json::from_str(&text(dir, "out.json")).unwrap();
    let devices = document["deviceProperties"].as_array().unwrap().iter();
    lines.extend(devices.map(|device| format!("device {}", device["id"])));
    lines.sort();
    lines
}

#[test]
fn an_export_gives_the_trace_that_nprof_aiu_writes() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let store = dir.path().join("store");
    let late = format!("[{}]", op(5, "mul_0 Cmpt Exec", (9_000, 50), ""));
    let files = [("a.json", pytorch(0)), ("b.json", pytorch(1)), ("f.json", runtime(&[5])), ("l.json", late)];
    for (name, text) in files {
        fs::write(path(name), text).unwrap();
    }
    for (profile, files) in [("p", &["a.json", "b.json"][..]), ("f", &["f.json"])] {
        let files: Vec<String> = files.iter().map(|name| path(name)).collect();
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        succeed(&store, &[&["ingest", "--db-bucket", profile][..], &files].concat());
        let out = path(&format!("{profile}.pftrace"));
        succeed(&store, &["export", profile, "--format", "perfetto", "--show-perfetto-flows", "-o", &out]);
    }
    let limit = ["--event_limit", r#"{"ts_end":3000}"#];
    for (inputs, more) in [
        (["a.json,b.json", "p.pftrace"], &[][..]),
        (["a.json,b.json", "p.pftrace"], &limit[..]),
        (["a.json,b.json,f.json", "p.pftrace,f.json"], &[]),
        (["a.json,b.json,l.json", "p.pftrace,l.json"], &limit),
        (["f.json", "f.pftrace"], &[]),
    ] {
        let [first, again] = inputs.map(|inputs| written(dir.path(), inputs, more));
        assert!(first.len() > 50);
        let lacks = |of: &[String], line: &&String| !of.contains(line);
        let lost: Vec<&String> = first.iter().filter(|line| lacks(&again, line)).take(9).collect();
        let added: Vec<&String> = again.iter().filter(|line| lacks(&first, line)).take(9).collect();
        assert!(lost.is_empty() && added.is_empty(), "lost: {lost:#?}, added: {added:#?}");
        assert_eq!(first.len(), again.len());
    }
}

#[test]
fn only_counters_that_nprof_computes_are_left_out() {
    let dir = tempfile::tempdir().unwrap();
    let begin = "\"traceEvents\":[";
    let of_process =
        |pid: u32| format!(r#"{{"ph":"C","name":"PT Active","pid":{pid},"ts":1,"args":{{"value":5}}}},"#);
    let trace = pytorch(0).replace(begin, &format!("{begin}{}{}", of_process(1), of_process(77)));
    fs::write(dir.path().join("a.json"), trace).unwrap();
    fs::write(dir.path().join("c.log"), LOG.replace("_0", "").replace("_3", "")).unwrap();
    let log = dir.path().join("c.log");
    let found = written(dir.path(), "a.json", &["-c", log.to_str().unwrap()]);
    let of =
        |text: &str| found.iter().filter(|line| line.contains("PT Active") && line.contains(text)).count();
    assert!(of("\"pid\":0,") > 1 && of("\"pid\":1,") > 1, "{found:#?}");
    assert_eq!((of("\"ts\":1.0"), of("\"pid\":77")), (1, 1), "{found:#?}");
}

#[test]
fn jobs_of_an_export_of_several_files_have_no_spans_of_the_host() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let store = dir.path().join("store");
    for name in ["job_0.json", "job_1.json"] {
        fs::write(path(name), runtime(&[0])).unwrap();
    }
    succeed(&store, &["ingest", &path("job_0.json"), &path("job_1.json"), "--db-bucket", "a"]);
    succeed(&store, &["export", "a", "--format", "perfetto", "-o", &path("a.pftrace")]);
    succeed(&store, &["ingest", &path("a.pftrace"), "--db-bucket", "b"]);
    for (profile, has_spans) in [("a", true), ("b", false)] {
        let table: Json =
            serde_json::from_str(&succeed(&store, &["export", profile, "--format", "json"])).unwrap();
        let jobs = table["aiu_job"].as_array().unwrap();
        let found: Vec<_> =
            jobs.iter().map(|job| (job["job"].as_str().unwrap(), job["host_start"].is_number())).collect();
        assert_eq!(found, [("job_0.json", has_spans), ("job_1.json", has_spans)], "{profile}");
    }
}

#[test]
fn an_export_of_a_written_trace_is_read_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let kernels = |rank: u32| {
        let of = |n: u64| op(rank, &format!("mul_{n} Cmpt Exec"), (100 + 300 * n, 50 + n), "");
        let call = format!(r#"{{"name":"call","ph":"X","pid":{rank},"tid":7,"ts":90,"dur":900}}"#);
        format!("[{call},{}]", (0..4).map(of).collect::<Vec<_>>().join(","))
    };
    let files = [0, 1].map(|rank| {
        let name = format!("a_rank_{rank}.json");
        fs::write(dir.path().join(&name), kernels(rank)).unwrap();
        written(dir.path(), &name, &[]);
        (name, text(dir.path(), "out.json"))
    });
    let files = files.each_ref().map(|(name, text)| (name.as_str(), text.clone()));
    check(&files[..1], "", 1);
    check(&files, "", 2);
}

#[test]
fn an_export_with_ideal_cycles_asks_for_the_log() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let store = dir.path().join("store");
    fs::write(path("a.json"), runtime(&[0])).unwrap();
    fs::write(path("c.log"), LOG).unwrap();
    succeed(&store, &["ingest", &path("a.json"), "-c", &path("c.log"), "--db-bucket", "a"]);
    succeed(&store, &["export", "a", "--format", "perfetto", "-o", &path("a.pftrace")]);
    let said = |args: &[&str]| {
        let output = nprof(&store).args(args).output().unwrap();
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat()
    };
    let out = path("out.json");
    let packets = path("a.pftrace");
    let args = ["aiu", "-i", &packets, "-o", &out];
    assert_eq!(said(&args).matches("name the compiler's log again").count(), 1);
    let log = path("c.log");
    let with_log = said(&[&args[..], &["-c", &log]].concat());
    assert!(!with_log.contains("name the compiler's log again"), "{with_log}");
}

/// The cycles and the power of a trace that `nprof aiu` writes and prints.
fn numbers(dir: &Path, input: &str, output: &str) -> Vec<String> {
    let path = |name: &str| dir.join(name).to_str().unwrap().to_owned();
    let args = ["aiu", "-i", &path(input), "-o", &path(output), "--power-stats"];
    let said = nprof(&dir.join("store")).args(args).output().unwrap();
    assert!(said.status.success(), "{said:?}");
    let lines = String::from_utf8_lossy(&said.stderr).into_owned();
    let mut found: Vec<String> =
        lines.lines().filter(|line| line.starts_with("Power ")).map(str::to_owned).collect();
    assert_eq!(found.len(), 2, "{lines}");
    let stem = output.strip_suffix(".json").unwrap();
    found.extend(["ts_analysis", "summary", "active"].map(|of| text(dir, &format!("{stem}_{of}.csv"))));
    found
}

#[test]
fn a_written_trace_has_the_same_cycles_and_power() {
    for rank in [0, 3] {
        let dir = tempfile::tempdir().unwrap();
        // The written trace states its rank by its name only.
        let [a, b, c] = ["a", "b", "c"].map(|name| format!("{name}_rank_{rank}.json"));
        fs::write(dir.path().join(&a), runtime(&[rank])).unwrap();
        let first = numbers(dir.path(), &a, &b);
        assert!(first[0].contains("with kernels") && first[2].contains("mul_[N] Cmpt Exec"), "{first:?}");
        assert_eq!(numbers(dir.path(), &b, &c), first, "rank {rank}");
    }
}

#[test]
fn numbers_of_a_device_have_names_that_the_page_words() {
    let dir = tempfile::tempdir().unwrap();
    let store = dir.path().join("store");
    let [path, log] = ["a.json", "c.log"].map(|name| dir.path().join(name).to_str().unwrap().to_owned());
    fs::write(&path, pytorch(0)).unwrap();
    fs::write(&log, LOG).unwrap();
    succeed(&store, &["ingest", &path, "-c", &log, "--db-bucket", "a"]);
    let summary = succeed(&store, &["export", "a", "--format", "summary-text"]);
    for device in 0..2 {
        let name = format!("device_{device}_kernel_time ");
        assert!(summary.lines().any(|line| line.starts_with(&name)), "{summary}");
        let kernel = format!("device {device}: mul");
        assert!(summary.contains(&kernel), "{summary}");
    }
    // The column that tells rows apart and the main number come first, for narrow pages.
    let columns = |table: &str| {
        let csv = succeed(&store, &["export", "a", "--format", "csv", "--ranks", "0", "--table", table]);
        csv.lines().next().unwrap().to_owned()
    };
    assert!(columns("aiu_kernel").starts_with("row,device,share,total,"), "{}", columns("aiu_kernel"));
    let first = "row,device,category,kernel_time,share,calls,pt_util,";
    assert!(columns("aiu_category").starts_with(first), "{}", columns("aiu_category"));
}
