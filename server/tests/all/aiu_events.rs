//! Events of the trace that `nprof aiu` writes.

use std::fs;

use serde_json::{Value, json};

use crate::aiu::{events, names, op, said, text, written};
use crate::cli::{fail, succeed};

/// A slice of the host.
fn call(name: &str, tid: u32, (start, duration): (u64, u64)) -> String {
    json!({"ph": "X", "name": name, "pid": 0, "tid": tid, "ts": start, "dur": duration}).to_string()
}

/// A trace of PyTorch with one device.
fn torch(events: &[Value]) -> String {
    let device = json!({"id": 0, "name": "AIU"});
    json!({"schemaVersion": 1, "deviceProperties": [device], "traceEvents": events}).to_string()
}

/// A slice of PyTorch's dialect.
fn slice(cat: &str, name: &str, (pid, tid): (u32, u32), (ts, dur): (f64, f64), args: Value) -> Value {
    json!({"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": args})
}

fn of_name<'e>(events: &'e [Value], name: &str) -> &'e Value {
    events.iter().find(|event| event["name"] == name).unwrap_or_else(|| panic!("no event {name}"))
}

#[test]
fn threads_are_numbered_as_the_files_name_them() {
    // The second rank names the threads in another order, but starts later.
    let rank = |rank: u32, late: u64, threads: [u32; 2]| {
        let slice = |tid: u32, start: u64| {
            let slice = op(rank, &format!("k{tid} Cmpt Exec"), (start + late, 50), "");
            slice.replace("\"tid\":1,", &format!("\"tid\":{tid},"))
        };
        // The later slice stands first in its file.
        format!("[{},{}]", slice(threads[0], 300), slice(threads[1], 100))
    };
    let files = [("rank_0.json", rank(0, 0, [15, 7])), ("rank_1.json", rank(1, 1_000, [7, 15]))];
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    let dir = written(&files, &["-M"]);
    let found = events(dir.path(), "out.json");
    let mut places: Vec<String> = found
        .iter()
        .filter(|event| event["ph"] == "X")
        .map(|event| format!("{} {} {}", event["pid"], event["name"], event["tid"]))
        .collect();
    places.sort();
    assert_eq!(
        places,
        [
            "0 \"k Cmpt Exec\" 1000",
            "0 \"k Cmpt Exec\" 1100",
            "1 \"k Cmpt Exec\" 1000",
            "1 \"k Cmpt Exec\" 1100"
        ]
    );
    let first = found.iter().find(|event| event["args"]["orig_name"] == "k15 Cmpt Exec").unwrap();
    assert_eq!(first["tid"], 1000, "thread 15 stands first in the first file");
}

/// Ends of all arrows: time and place of both points.
fn arrows(events: &[Value]) -> Vec<(f64, String, f64, String)> {
    let place = |of: &Value| format!("{} {}", of["pid"], of["tid"]);
    let mut arrows: Vec<(f64, String, f64, String)> = events
        .iter()
        .filter(|event| event["ph"] == "s")
        .map(|from| {
            let to = events.iter().find(|event| event["ph"] == "f" && event["id"] == from["id"]).unwrap();
            (from["ts"].as_f64().unwrap(), place(from), to["ts"].as_f64().unwrap(), place(to))
        })
        .collect();
    arrows.sort_by(|a, b| (a.0, a.2).partial_cmp(&(b.0, b.2)).unwrap());
    arrows
}

#[test]
fn arrows_are_those_of_the_trace_and_those_it_lacks() {
    let point = |ph: &str, id: u32, (pid, tid): (u32, u32), ts: f64| json!({"ph": ph, "id": id, "pid": pid, "tid": tid, "ts": ts, "cat": "ac2g", "name": "ac2g", "bp": "e"});
    let correlated = |number: u32| json!({"correlation": number, "stream": 1});
    let trace = torch(&[
        slice("cuda_runtime", "launch", (9, 8), (5.0, 3.0), correlated(7)),
        point("s", 7, (9, 8), 5.5),
        slice("kernel", "a", (0, 1), (10.0, 2.0), correlated(7)),
        point("f", 7, (0, 1), 10.0),
        slice("kernel", "b", (0, 1), (13.0, 2.0), correlated(7)),
        slice("cuda_runtime", "copy", (9, 8), (20.0, 3.0), correlated(8)),
        point("s", 8, (9, 8), 20.5),
        slice("gpu_memcpy", "Memcpy (HtoD)", (0, 1), (25.0, 2.0), correlated(8)),
        point("f", 8, (0, 1), 25.0),
        slice("cuda_runtime", "late", (9, 8), (30.0, 3.0), correlated(9)),
        slice("kernel", "c", (0, 1), (35.0, 2.0), correlated(9)),
    ]);
    let dir = written(&[("a.json", &trace)], &[]);
    let (call, device) = ("9 8".to_owned(), "0 1".to_owned());
    let expected: Vec<(f64, String, f64, String)> = [(5.5, 10.0), (5.5, 13.0), (20.5, 25.0), (30.0, 35.0)]
        .into_iter()
        .map(|(from, to)| (from, call.clone(), to, device.clone()))
        .collect();
    assert_eq!(arrows(&events(dir.path(), "out.json")), expected);
    let again = written(&[("a.json", &text(dir.path(), "out.json"))], &[]);
    assert_eq!(arrows(&events(again.path(), "out.json")), expected, "read again");
}

#[test]
fn counters_pairs_instants_and_arrows_of_the_host_are_kept() {
    let trace = format!(
        r#"[{{"ph":"M","name":"thread_name","pid":0,"tid":5,"ts":1,"args":{{"name":"worker"}}}},
        {}, {},
        {{"ph":"C","name":"queue","pid":0,"ts":12,"args":{{"depth":3,"max":4.5}}}},
        {{"ph":"b","name":"req","cat":"r","id":7,"pid":0,"tid":5,"ts":14,"args":{{"q":1}}}},
        {{"ph":"e","name":"req","cat":"r","id":7,"pid":0,"tid":5,"ts":24}},
        {{"ph":"n","name":"req","cat":"r","id":7,"pid":0,"tid":5,"ts":15}},
        {{"ph":"i","name":"mark","pid":0,"tid":5,"ts":16,"s":"t","args":{{"a":1}}}},
        {{"ph":"s","name":"fl","cat":"fl","id":9,"pid":0,"tid":5,"ts":15}},
        {{"ph":"f","name":"fl","cat":"fl","id":9,"pid":0,"tid":6,"ts":31,"bp":"e"}},
        {}]"#,
        call("Execute Graph", 5, (10, 100)),
        call("AIU Roundtrip", 6, (30, 10)),
        op(0, "add_1 Cmpt Exec", (32, 5), "")
    );
    let dir = written(&[("a.json", &trace)], &["-C", "rcu_util"]);
    let found = events(dir.path(), "out.json");
    let counter = of_name(&found, "queue");
    assert_eq!((&counter["pid"], &counter["args"]), (&json!(0), &json!({"depth": 3, "max": 4.5})));
    let pair: Vec<&Value> = found.iter().filter(|event| event["name"] == "req").collect();
    let shown: Vec<(&str, f64, &Value)> = pair
        .iter()
        .map(|event| (event["ph"].as_str().unwrap(), event["ts"].as_f64().unwrap(), &event["id"]))
        .collect();
    assert_eq!(shown, [("b", 14.0, &json!(7)), ("e", 24.0, &json!(7)), ("n", 15.0, &json!(7))]);
    let mark = of_name(&found, "mark");
    assert_eq!((&mark["s"], &mark["args"]), (&json!("t"), &json!({"a": 1, "rank": 0})));
    assert_eq!(of_name(&found, "thread_name")["args"]["name"], "worker");
    // An arrow ends at the slices as they are written.
    assert_eq!(arrows(&found), [(15.0, "1000 1000".to_owned(), 31.0, "1000 1100".to_owned())]);
}

#[test]
fn what_is_left_of_a_slice_is_on_its_thread() {
    let half = |ph: &str, name: &str, tid: u32, ts: u64, more: &str| {
        format!(r#"{{"ph":"{ph}","name":"{name}","pid":0,"tid":{tid},"ts":{ts}{more}}}"#)
    };
    let counters = r#","attr":{"TS1":"1","TS2":"2","TS3":"3","TS4":"4","TS5":"5"}"#;
    let trace = [
        call("Execute Graph", 5, (10, 100)),
        op(0, "add_1 Cmpt Exec", (32, 5), ""),
        half("E", "run", 5, 120, ""),
        half("B", "run", 5, 130, ""),
        half("E", "AIU Roundtrip", 6, 140, ""),
        half("B", "AIU Roundtrip", 6, 150, ""),
        half("X", "back", 5, 160, r#","dur":-3"#),
        half("E", "mul Cmpt Exec", 1, 170, counters),
        half("B", "mul Cmpt Exec", 1, 180, counters),
        half("i", "mark", 5, 190, ""),
    ];
    let dir = written(&[("a.json", &format!("[{}]", trace.join(",")))], &["--freq", "560"]);
    let found = events(dir.path(), "out.json");
    let places = |name: &str| -> Vec<String> {
        let of = found.iter().filter(|event| event["name"] == name);
        of.map(|event| format!("{} {} {}", event["ph"], event["pid"], event["tid"])).collect()
    };
    assert_eq!(places("run"), [r#""i" 1000 1000"#, r#""B" 1000 1000"#]);
    assert_eq!(places("AIU Roundtrip"), [r#""i" 1000 1200"#, r#""B" 1000 1200"#]);
    assert_eq!(places("back"), [r#""i" 1000 1000"#]);
    assert_eq!(places("mul Cmpt Exec"), [r#""i" 0 1100"#, r#""X" 0 1100"#]);
    assert_eq!(places("mark"), [r#""i" 0 5"#], "an instant of the trace keeps its thread");
}

#[test]
fn each_file_has_its_own_dialect_and_name() {
    let flex = format!("[{},{}]", call("Execute Graph", 5, (10, 100)), op(0, "add_1 Cmpt Exec", (32, 5), ""));
    let torch = torch(&[slice("cpu_op", "aten::add", (51, 52), (11.0, 4.0), json!({}))]);
    let dir = written(&[("job_0.json", &flex), ("torch.json", &torch)], &[]);
    let found = events(dir.path(), "out.json");
    let of = |name: &str| {
        let event = of_name(&found, name);
        (event["pid"].clone(), event["tid"].clone(), event["args"]["jobname"].clone())
    };
    assert_eq!(of("Execute Graph"), (json!(1000), json!(1000), json!("job_0.json")));
    assert_eq!(of("aten::add"), (json!(51), json!(52), json!("torch.json")));
    assert_eq!(of("add Cmpt Exec").0, json!(0));
}

/// Two ranks with an operation in each of some iterations: rank 0 sends, rank 1 waits.
fn iterations(count: u64) -> [String; 2] {
    let more = |peer: u32, kind: &str| {
        format!(r#","CollGroup":"AllReduce_all_reduce_4","Peer":"{peer}","Bytes":"4096","Type":"{kind}""#)
    };
    [0, 1].map(|rank: u32| {
        let mut slices = Vec::new();
        for at in (0..count).map(|number| 1_000 + number * 1_000) {
            slices.push(op(rank, "add_1 Cmpt Exec", (at, 100), ""));
            let (name, kind) = match rank {
                0 => ("SenRDMASend_7 [4096B] [sync=AllReduce_all_reduce_4_s0_r1_0] DmaO", "SingleCast"),
                _ => ("SenRDMAReceive_9 [4096B] [sync=AllReduce_all_reduce_4_s0_r1_0] DmaI", "WDone Barrier"),
            };
            slices.push(op(rank, name, (at + 110, 200), &more(1 - rank, kind)));
        }
        format!("[{}]", slices.join(","))
    })
}

#[test]
fn operations_of_several_iterations_have_arrows_of_their_own() {
    let [a, b] = iterations(3);
    let args = ["--flow", "-R", "-M", "--tb", "-P", "everything.json"];
    let dir = written(&[("rank_0.json", &a), ("rank_1.json", &b)], &args);
    let found = events(dir.path(), "out.pt.trace.json");
    let times: Vec<(f64, f64)> = arrows(&found).iter().map(|(from, _, to, _)| (*from, *to)).collect();
    let expected = [(1_110.0, 1_309.999), (2_110.0, 2_309.999), (3_110.0, 3_309.999)];
    assert_eq!(times, expected);
    for rank in 0..2 {
        let worker = events(dir.path(), &format!("out_worker_{rank}.pt.trace.json"));
        let points: Vec<&str> = worker
            .iter()
            .filter_map(|event| event["ph"].as_str())
            .filter(|ph| matches!(*ph, "s" | "f"))
            .collect();
        assert_eq!(points, [["s", "f"][rank]; 3], "the points of rank {rank}");
    }
    let operation = of_name(&found, "gloo:all_reduce");
    let args = &operation["args"];
    assert_eq!((&operation["pid"], &operation["tid"]), (&json!(1000), &json!("coll0")));
    for (key, value) in [
        ("bytes", json!("4096B")),
        ("collective algorithm type", json!("chain")),
        ("peers", json!("{0, 1}")),
        ("CollGroup", json!("AllReduce_all_reduce_4")),
        ("rank group compute event", json!("add Cmpt Exec")),
        ("Coll_data_size", json!(8192)),
        ("orig_name", json!("AllReduce_all_reduce_4")),
        ("external id", json!("4")),
    ] {
        assert_eq!(args[key], value, "{key}: {operation}");
    }
    assert!(text(dir.path(), "out_stats_summary.csv").starts_with("pid,elapsed_time,comp_active_atime,"));
}

#[test]
fn operations_have_a_bandwidth_over_all_ranks() {
    let [a, b] = iterations(1);
    let dir = written(&[("rank_0.json", &a), ("rank_1.json", &b)], &["-M", "--freq", "560"]);
    let found = events(dir.path(), "out.json");
    let samples = found.iter().filter(|event| event["name"] == "Coll_Bandwidth");
    let samples: Vec<(f64, f64)> = samples
        .map(|event| (event["ts"].as_f64().unwrap(), event["args"]["GBps"].as_f64().unwrap()))
        .collect();
    // Twice 4,096 bytes from the end of the kernel to that of the last step, in 210 us.
    assert_eq!(samples, [(1_100.0, 0.039), (1_310.0, 0.0)]);
}

#[test]
fn each_rank_has_a_limit_of_its_own() {
    let [a, b] = iterations(2);
    let dir =
        written(&[("rank_0.json", &a), ("rank_1.json", &b)], &["-M", "--event_limit", r#"{"count":3}"#]);
    let found = events(dir.path(), "out.json");
    let of = |rank: u32| found.iter().filter(|event| event["ph"] == "X" && event["pid"] == rank).count();
    assert_eq!((of(0), of(1)), (3, 3));
}

#[test]
fn names_are_acelyzers_if_asked() {
    let [a, b] = iterations(1);
    let own = written(&[("rank_0.json", &a), ("rank_1.json", &b)], &[]);
    let own = events(own.path(), "out.json");
    assert!(names(&own, "X").contains(&"SenRdmaSend [sync=AllReduce_all_reduce_s_r] DmaO".to_owned()));
    let dir = written(&[("rank_0.json", &a), ("rank_1.json", &b)], &["--compat"]);
    let found = events(dir.path(), "out.json");
    let send = of_name(&found, "SenRdmaSend [B] [sync=AllReduce_all_reduce_s_r] DmaO");
    assert_eq!((&send["args"]["bytes"], &send["args"]["Peer"]), (&json!("4096"), &json!("1")));
    let pool = format!("[{}]", op(0, "max_pool2d_1 Cmpt Exec", (10, 5), ""));
    for (args, expected) in [
        (&["-M"][..], "max_pool2d Cmpt Exec"),
        (&["--compat"], "max_poold Cmpt Exec"),
        (&["--disable_tb"], "max_pool2d_1 Cmpt Exec"),
    ] {
        let found = events(written(&[("a.json", &pool)], args).path(), "out.json");
        assert_eq!(names(&found, "X"), [expected]);
    }
}

#[test]
fn a_shift_is_stated() {
    let trace =
        format!("[{},{}]", call("AIU Roundtrip", 9, (1_000, 100)), op(0, "add_1 Cmpt Exec", (700, 50), ""));
    let (dir, _) = said(&trace, &["--flex_ts_fix", "--freq", "560"]);
    let kernel = of_name(&events(dir.path(), "out.json"), "add Cmpt Exec").clone();
    assert_eq!((&kernel["ts"], &kernel["args"]["ts_adj"]), (&json!(1000.0), &json!(300.0)));
    let (dir, _) = said(&trace, &["--freq", "560"]);
    assert!(of_name(&events(dir.path(), "out.json"), "add Cmpt Exec")["args"].get("ts_adj").is_none());
}

#[test]
fn filters_find_what_is_written() {
    let [a, b] = iterations(1);
    let files = [("rank_0.json", a.as_str()), ("rank_1.json", b.as_str())];
    for (filter, expected) in [
        ("name:SenRdma", 2),
        ("name:SenRDMA", 4),
        ("name:Recv_9", 3),
        ("ts:^1110$", 2),
        ("dur:^100$", 2),
        ("args.rank:^0$", 2),
        ("args.jobname:rank_1", 2),
        ("args.Bytes:4096", 4),
        ("args.bytes:4096", 2),
        ("args.Type:^SingleCast$", 3),
        ("id:.", 4),
    ] {
        let dir = written(&files, &["--event_filter", filter, "-M"]);
        let found = events(dir.path(), "out.json");
        assert_eq!(found.iter().filter(|event| event["ph"] == "X").count(), expected, "{filter}");
    }
}

#[test]
fn several_devices_of_a_rank_keep_their_numbers() {
    let devices = json!([{"id": 0, "name": "AIU"}, {"id": 1, "name": "AIU"}]);
    let kernel = |device: u32| {
        slice("kernel", "a", (device, 1), (10.0, 2.0), json!({"device": device, "stream": "main"}))
    };
    let trace = |rank: u32| {
        let info = json!({"rank": rank});
        let document = json!({"schemaVersion": 1, "deviceProperties": devices, "distributedInfo": info,
            "traceEvents": [kernel(0), kernel(1)]});
        document.to_string()
    };
    let (a, b) = (trace(0), trace(1));
    let dir = written(&[("rank_0.json", &a), ("rank_1.json", &b)], &["-M"]);
    let found = events(dir.path(), "out.json");
    let mut places: Vec<[i64; 2]> = found
        .iter()
        .filter(|event| event["ph"] == "X")
        .map(|event| [&event["pid"], &event["args"]["device"]].map(|value| value.as_i64().unwrap()))
        .collect();
    places.sort();
    assert_eq!(places, [[0, 0], [1, 1], [2, 2], [3, 3]]);
    let document: Value = serde_json::from_str(&text(dir.path(), "out.json")).unwrap();
    let ids: Vec<i64> = (0..4).map(|at| document["deviceProperties"][at]["id"].as_i64().unwrap()).collect();
    assert_eq!(ids, [0, 1, 2, 3]);
    // Each device has its own rows in the tables.
    for table in ["out_active.csv", "out_summary.csv"] {
        let lines = text(dir.path(), table);
        let column = if table == "out_active.csv" { 5 } else { 8 };
        let pids: Vec<&str> =
            lines.lines().skip(1).map(|line| line.split('\t').nth(column).unwrap().trim()).collect();
        assert_eq!(pids, ["0", "1", "2", "3"], "{lines}");
    }
}

#[test]
fn streams_with_names_are_different_streams() {
    let kernel =
        |stream: &str, start: f64| slice("kernel", "a", (0, 1), (start, 10.0), json!({"stream": stream}));
    let good = torch(&[kernel("one", 10.0), kernel("two", 15.0)]);
    let dir = written(&[("a.json", &good)], &["-V"]);
    assert!(text(dir.path(), "out.json").contains("\"PASS\""));
    let bad = torch(&[kernel("one", 10.0), kernel("one", 15.0)]);
    let path = dir.path().join("bad.json");
    fs::write(&path, bad).unwrap();
    let report = dir.path().join("bad.report.json");
    let args = ["aiu", "-i", path.to_str().unwrap(), "-V", "-o", report.to_str().unwrap()];
    assert!(fail(&dir.path().join("store"), &args, 1).contains("the trace has errors"));
}

#[test]
fn a_wrong_frequency_is_told_and_makes_no_errors() {
    let kernels: Vec<String> =
        (1..=9).map(|n| op(0, &format!("k{n} Cmpt Exec"), (100 * n, 90), "")).collect();
    let trace = format!("[{}]", kernels.join(","));
    let (_dir, messages) = said(&trace, &["--freq", "300"]);
    assert!(messages.contains("FREQ: [0] the counters run at 560.000 MHz; use --freq=560.000"), "{messages}");
    assert!(!said(&trace, &["--freq", "560.05"]).1.contains("FREQ"));
    // A job one second later is off by 1 / 559 of it.
    let later = (10_001..=10_009).map(|n| op(0, &format!("k{n} Cmpt Exec"), (100 * n, 90), ""));
    let later = format!("[{}]", later.collect::<Vec<String>>().join(","));
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("b.json");
    fs::write(&path, later).unwrap();
    let (_dir, messages) = said(&trace, &["--freq", "559", "-i", path.to_str().unwrap()]);
    assert!(messages.contains("largest drift with the stated one: 1789 us"), "{messages}");
    let (_dir, messages) = said(&trace, &["--freq", "300", "-V"]);
    assert!(messages.contains("--freq has no effect with -V: "), "{messages}");
}

#[test]
fn packed_traces_and_rates_of_transfers() {
    use std::io::Write;
    let more = r#","Bytes":"5000""#;
    let slices = [
        call("Execute Graph", 5, (1, 200)),
        call("PostKeys", 5, (2, 10)),
        op(0, "In DmaI", (10, 50), more),
        op(0, "Out DmaO", (100, 25), more),
    ];
    let dir = tempfile::tempdir().unwrap();
    let (trace, out) = (dir.path().join("a.json.gz"), dir.path().join("out.json"));
    let mut packed =
        flate2::write::GzEncoder::new(fs::File::create(&trace).unwrap(), flate2::Compression::fast());
    packed.write_all(format!("[{}]", slices.join(",")).as_bytes()).unwrap();
    packed.finish().unwrap();
    let (trace, out) = (trace.to_str().unwrap(), out.to_str().unwrap());
    let args = ["aiu", "-i", trace, "-o", out, "--drop_globals", "-C", "bandwidth", "--freq", "560"];
    succeed(&dir.path().join("store"), &args);
    let found = events(dir.path(), "out.json");
    assert_eq!(names(&found, "X"), ["Execute Graph", "In DmaI", "Out DmaO"]);
    let rates = |name: &str| -> Vec<(f64, f64)> {
        let of = found.iter().filter(|event| event["name"] == name);
        of.map(|event| (event["ts"].as_f64().unwrap(), event["args"]["Bytes"].as_f64().unwrap())).collect()
    };
    assert_eq!(rates("BW DmaI"), [(10.0, 100.0), (60.0, 0.0)]);
    assert_eq!(rates("BW DmaO"), [(100.0, 200.0), (125.0, 0.0)]);
}
