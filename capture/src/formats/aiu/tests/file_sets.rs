//! Several files of a rank, several ranks of a file, and the files of the compiler for them.

use super::*;

/// Microseconds between the clock of the runtime and that of PyTorch.
const SHIFT_US: f64 = 987_654.321;

fn kernel(device: Device, pid: u32, name: &str, start: i64, end: i64) -> String {
    device.slice(name, start, end).complete().replace("\"pid\":0", &format!("\"pid\":{pid}"))
}

/// A slice of the host.
fn host(name: &str, category: &str, start_us: f64, duration_us: f64) -> String {
    format!(
        r#"{{"ph":"X","cat":"{category}","name":"{name}","pid":51000,"tid":51000,"ts":{start_us:.3},"dur":{duration_us:.3},"args":{{}}}}"#
    )
}

fn torch(events: &[String]) -> String {
    format!(r#"{{"schemaVersion":1,"deviceProperties":[{{"id":0}}],"traceEvents":[{}]}}"#, events.join(","))
}

/// Round trips of the runtime: start and duration in microseconds.
const TRIPS: [(f64, f64); 3] = [(30.0, 2418.165), (4998.165, 2413.444), (9961.609, 2419.153)];

/// A trace of the runtime with a kernel in each round trip, and PyTorch's calls around them. A
/// third of the longer time of a call comes last.
fn both(shift_us: f64) -> [(&'static str, String); 2] {
    let device = Device::new(560e6, 7);
    let mut flex: Vec<String> = Vec::new();
    let mut calls = vec![host("ProfilerStep#0", "user_annotation", 1.0 + shift_us, 9.0)];
    for ((start, duration), longer) in TRIPS.into_iter().zip([101.76, 67.786, 103.678]) {
        flex.push(host("Flex RoundTrip", "", start, duration).replace("51000", "0"));
        let begin = start as i64 + 100;
        flex.push(kernel(device, 0, "add Cmpt Exec", begin, begin + 50));
        let start = start + shift_us - longer * 2.0 / 3.0;
        calls.push(host("Torch-Compiled Region: 0/0", "python_function", start, duration + longer));
    }
    [("job_0.json", format!("[{}]", flex.join(","))), ("host.pt.trace.json", torch(&calls))]
}

#[test]
fn the_runtime_is_put_on_pytorchs_clock() {
    let ranks = read(&both(SHIFT_US), AiuSettings::default());
    assert_eq!(ranks.len(), 1, "the files are one rank");
    let rank = &ranks[0];
    let clock = rank.rows_of("aiu_clock").next().unwrap();
    assert!((float(clock, "torch_shift") - SHIFT_US * 1e3).abs() < 10.0, "{clock:?}");
    assert_eq!(int(clock, "torch_pairs"), 3);
    let step = rank.slices.iter().find(|slice| slice.name == "ProfilerStep#0").unwrap();
    let first = ops(rank)[0];
    assert!((first.start_ps - step.start_ps - 129_000_000).abs() < 10_000, "{first:?} {step:?}");
    let trips: Vec<i64> = rank
        .slices
        .iter()
        .filter(|slice| slice.name == "Flex RoundTrip")
        .map(|slice| slice.start_ps)
        .collect();
    assert!((trips[0] - step.start_ps - 29_000_000).abs() < 10_000, "{trips:?}");
    assert!(rank.warnings().iter().any(|warning| warning.what.contains("moved by 987654.32")));
    // The order of the files does not matter.
    let [flex, torch] = both(SHIFT_US);
    let turned = read(&[torch, flex], AiuSettings::default()).remove(0);
    assert_eq!(ops(&turned)[0].start_ps, first.start_ps);
}

#[test]
fn clocks_that_fit_and_clocks_that_tell_nothing_stay() {
    let same = read(&both(0.0), AiuSettings::default()).remove(0);
    assert!(float(same.rows_of("aiu_clock").next().unwrap(), "torch_shift").abs() < 1e-9);
    assert!(same.warnings().is_empty(), "{:?}", same.warnings());
    let [flex, _] = both(0.0);
    let other = torch(&[host("aten::add", "cpu_op", 5.0, 1.0)]);
    let apart = read(&[flex, ("host.json", other)], AiuSettings::default()).remove(0);
    assert!(apart.warnings().iter().any(|warning| warning.what.contains("not aligned")));
}

#[test]
fn the_name_of_a_file_tells_the_rank_and_not_the_process() {
    let device = Device::new(560e6, 7);
    let list = format!("[{}]", kernel(device, 4711, "add Cmpt Exec", 10, 30));
    let rank = read(&[("rank_3.json", list.clone())], AiuSettings::default()).remove(0);
    assert_eq!((rank.rank.rank, rank.rank.device), (Some(3), Some(3)));
    assert_eq!(shown(&rank), ["AIU 3/Compute: add Cmpt Exec"]);
    let object = format!(r#"{{"traceEvents":{list},"distributedInfo":{{"rank":5}}}}"#);
    assert_eq!(read(&[("a.json", object)], AiuSettings::default()).remove(0).rank.rank, Some(5));
    assert_eq!(read(&[("a.json", list)], AiuSettings::default()).remove(0).rank.rank, Some(4711));
}

#[test]
fn pytorchs_trace_belongs_to_one_of_the_ranks_of_a_list() {
    let device = Device::new(560e6, 7);
    let list: Vec<String> = (0..3).map(|pid| kernel(device, pid, "add Cmpt Exec", 10, 30)).collect();
    let calls = torch(&[host("aiuLaunch", "cpu_op", 5.0, 1.0), host("add", "kernel", 10.0, 20.0)]);
    let files = [("a.json", format!("[{}]", list.join(","))), ("t.json", calls)];
    let ranks = read(&files, AiuSettings::default());
    let slices: Vec<usize> = ranks.iter().map(|rank| rank.slices.len()).collect();
    assert_eq!(slices, [3, 1, 1]);
    let kernels = ranks[0].rows_of("aiu_kernel").next().unwrap();
    assert_eq!(int(kernels, "calls"), 1, "the runtime and PyTorch saw the same kernel");
}

#[test]
fn all_ranks_of_a_list_are_put_on_pytorchs_clock() {
    let [(name, flex), torch] = both(SHIFT_US);
    let of_one = kernel(Device::new(560e6, 7), 1, "add Cmpt Exec", 130, 180);
    let ranks = read(&[(name, flex.replacen('[', &format!("[{of_one},"), 1)), torch], AiuSettings::default());
    let of_zero = ranks.iter().find(|rank| rank.rank.rank == Some(0)).unwrap();
    let of_one = ranks.iter().find(|rank| rank.rank.rank == Some(1)).unwrap();
    assert_eq!(ops(of_zero)[0].start_ps, ops(of_one)[0].start_ps);
}

fn table(title: &str, kernel: &str, cycles: u32) -> String {
    format!("{title}\nIdeal/Total Cycles\n{kernel}-opCatBmm {cycles}\nTotal {cycles}\nPerf Summary End\n")
}

#[test]
fn each_rank_of_a_list_has_the_log_at_its_position() {
    let device = Device::new(560e6, 7);
    let list: Vec<String> = (0..2).map(|pid| kernel(device, pid, "mul Cmpt Exec", 10, 110)).collect();
    let list = ("a.json", format!("[{}]", list.join(",")));
    let cycles = |logs: &[(&'static str, String)]| -> Vec<i64> {
        let files = [&[list.clone()][..], logs].concat();
        let ranks = read(&files, AiuSettings::default());
        ranks.iter().map(|rank| int(&ops(rank)[0].fields, "ideal_cycles")).collect()
    };
    let log = |name: &'static str, cycles| (name, table("", "mul", cycles));
    assert_eq!(cycles(&[log("x.log", 100), log("y.log", 200)]), [100, 200]);
    assert_eq!(cycles(&[log("x.log", 100)]), [100, 100]);
    assert_eq!(cycles(&[log("x.log", 100), log("y.log", 100)]), [100, 100]);
}

#[test]
fn kernels_of_pytorch_have_their_ideals() {
    let kernels = |cycles: &str| {
        let calls = [
            host("aiuLaunch", "cpu_op", 5.0, 1.0),
            host("mul", "kernel", 10.0, 100.0),
            host("add", "kernel", 120.0, 10.0),
            host("other", "kernel", 140.0, 10.0),
        ];
        let files = [("t.json", torch(&calls)), ("c.log", cycles.to_owned())];
        let rank = read(&files, AiuSettings { core_mhz: 1000.0, ..AiuSettings::default() }).remove(0);
        let said = |slice: &RecordedSlice| {
            let text = |name: &str| match field(&slice.fields, name) {
                Some(OwnedValue::Text(text)) => text.clone(),
                Some(OwnedValue::Float(ratio)) => format!("{ratio:.2}"),
                Some(OwnedValue::Bool(is)) => is.to_string(),
                _ => "-".to_owned(),
            };
            ["user_cat", "pt_active", "core used"].map(text).join(" ")
        };
        let of_kernels = rank.slices.iter().filter(|slice| slice.name != "aiuLaunch");
        of_kernels.map(said).collect::<Vec<String>>()
    };
    let one = "Ideal/Total Cycles\nmul-opCatBmm 50000\nadd-opCatScalar 0\n";
    assert_eq!(kernels(one), ["Bmm 0.50 true", "Scalar - -", "other - -"]);
    // The choice between tables follows the order of kernels.
    let two = [table("DECODING", "add", 1), format!("PREFILL\n{one}")].concat();
    assert_eq!(kernels(&two), ["Bmm 0.50 true", "Scalar - -", "other - -"]);
    let whole = format!("DSM-AutoPilot BEGIN\n{one}Total 60000\n");
    assert_eq!(kernels(&whole), ["other 0.50 true"; 3]);
}

#[test]
fn rows_of_equal_times_keep_the_order_of_acelyzer() {
    let device = Device::new(560e6, 7);
    let kernels = [("sub", 100), ("add", 300)]
        .map(|(name, start)| device.slice(&format!("{name} Cmpt Exec"), start, start + 50).complete());
    let log = "Ideal/Total Cycles\nmul-opCatZeta 5\ndiv-opCatAlpha 6\nsub-opCatScalar 7\nadd-opCatScalar 8\n";
    let files = [("job.json", format!("[{}]", kernels.join(","))), ("c.log", log.to_owned())];
    let rank = read(&files, AiuSettings::default()).remove(0);
    let texts = |table, name| {
        rank.rows_of(table).map(|row| format!("{:?}", field(row, name).unwrap())).collect::<Vec<_>>()
    };
    // By time: `sub` ran first.
    assert_eq!(texts("aiu_kernel", "name"), [r#"Text("sub Cmpt Exec")"#, r#"Text("add Cmpt Exec")"#]);
    // By the compiler's table, after the two that are always there.
    let categories = ["StcdpHbm", "other", "Zeta", "Alpha", "Scalar", "Total"];
    assert_eq!(texts("aiu_category", "category"), categories.map(|name| format!("Text({name:?})")));
}

/// Iterations of two jobs of three kernels each, whose log is the autopilot's.
fn autopilot(log: &str) -> Recorder {
    let device = Device::new(560e6, 7);
    let job = |begin: i64, iterations: i64| {
        let kernels: Vec<String> = (0..iterations)
            .flat_map(|n| {
                let start = begin + 400 * n;
                (0..4).map(move |k| {
                    device.slice(&format!("k{k} Cmpt Exec"), start + 100 * k, start + 100 * k + 50)
                })
            })
            .map(|made| made.complete())
            .collect();
        format!("[{}]", kernels.join(","))
    };
    let files = [("a.json", job(0, 4)), ("b.json", job(10_000, 8)), ("c.log", log.to_owned())];
    read(&files, AiuSettings { core_mhz: 1000.0, soc_mhz: Some(560.0), ..AiuSettings::default() }).remove(0)
}

#[test]
fn the_autopilot_tells_the_use_of_whole_jobs() {
    // 20 us an iteration, of 200 us of kernels.
    for names in ["k0-opCatBmm 1\nk1-opCatBmm 1\n", "fused_1-opCatBmm 1\n"] {
        let log = format!("DSM-AutoPilot BEGIN\nIdeal/Total Cycles\n{names}Total 20000\n");
        let rank = autopilot(&log);
        let total = rank.rows_of("aiu_category").last().unwrap();
        assert_eq!(int(total, "ideal_cycles"), 12 * 20_000, "{names}");
        let kernel = &ops(&rank)[0].fields;
        assert!((float(kernel, "pt_active") - 0.1).abs() < 1e-6, "{names}");
        let active: Vec<(f64, f64)> = samples(&rank, "PT active")
            .iter()
            .map(|&(us, value)| (us.round(), (value * 1e3).round()))
            .collect();
        assert_eq!(active, [(0.0, 100.0), (1_550.0, 0.0), (10_000.0, 100.0), (13_150.0, 0.0)], "{names}");
    }
}

#[test]
fn arguments_of_operations_are_numbers_texts_or_lists() {
    let event = |more: &str| {
        let slice = Device::new(560e6, 7).slice("Recv [64B] DmaI", 10, 30).complete();
        read_one(&format!("[{}]", slice.replace("\"TS1\"", &format!("{more},\"TS1\""))))
    };
    for more in [r#""CollGroup":7,"Peers":[1,2]"#, r#""CollGroup":"7","Peers":"1,2""#] {
        let rank = event(more);
        let operation = rank.slices_of("aiu_collective").next().unwrap();
        assert_eq!((operation.name.as_str(), int(&operation.fields, "bytes")), ("7", 64), "{more}");
        assert_eq!(field(&operation.fields, "members"), Some(&OwnedValue::Text("0,1,2".to_owned())));
        assert_eq!(int(&ops(&rank)[0].fields, "bytes"), 64);
    }
    let one = event(r#""CollGroup":"7","Peer":3"#);
    let operation = one.slices_of("aiu_collective").next().unwrap();
    assert_eq!(field(&operation.fields, "members"), Some(&OwnedValue::Text("0,3".to_owned())));
    assert_eq!(event(r#""CollGroup":null"#).slices_of("aiu_collective").count(), 0);
}

#[test]
fn traces_with_more_keys_threads_or_processes_than_usual_are_read() {
    let device = Device::new(560e6, 7);
    let slice = device.slice("k Cmpt Exec", 10, 30).complete();
    let with_keys: Vec<String> =
        (0..5_000).map(|n| slice.replace("\"TS1\"", &format!("\"k{n}\":1,\"TS1\""))).collect();
    let rank = read_one(&format!("[{}]", with_keys.join(",")));
    let dropped = rank.warnings();
    let dropped = dropped.iter().find(|warning| warning.what.contains("more than 4,096 different arguments"));
    assert_eq!(dropped.map(|warning| warning.count), Some(904));
    let threads: Vec<String> =
        (0..5_000).map(|n| slice.replace("\"tid\":1", &format!("\"tid\":{n}"))).collect();
    let rank = read_one(&format!("[{}]", threads.join(",")));
    assert_eq!(ops(&rank).len(), 5_000);
    assert_eq!(
        ops(&rank).iter().map(|slice| slice.track).collect::<std::collections::HashSet<_>>().len(),
        4_097
    );
    let processes: Vec<String> =
        (0..300).map(|n| slice.replace("\"pid\":0", &format!("\"pid\":{n}"))).collect();
    let ranks = read(&[("a.json", format!("[{}]", processes.join(",")))], AiuSettings::default());
    assert_eq!((ranks.len(), ops(&ranks[0]).len(), ops(&ranks[1]).len()), (256, 45, 1));
    assert!(ranks[0].warnings().iter().any(|warning| warning.what.contains("more processes")));
}

#[test]
fn the_scale_of_the_power_is_a_setting() {
    let device = Device::new(560e6, 7);
    let slice = |start: i64, charge: u32| {
        let slice = device.slice("k Cmpt Exec", start, start + 10).complete();
        slice.replace("\"TS1\"", &format!("\"Power\":\"{charge}\",\"TS1\""))
    };
    let text = format!("[{},{}]", slice(0, 1_000), slice(100, 2_000));
    let watts = |settings: AiuSettings| {
        let rank = read(&[("a.json", text.clone())], settings).remove(0);
        samples(&rank, "Power")[0].1
    };
    let usual = watts(AiuSettings { soc_mhz: Some(560.0), ..AiuSettings::default() });
    assert!((usual - 12.0 / 512.0 * 10.0).abs() < 1e-6, "{usual}");
    let of = |power_scale, max_watts| AiuSettings {
        power_scale,
        max_watts,
        soc_mhz: Some(560.0),
        ..AiuSettings::default()
    };
    assert!((watts(of(1.0, 100.0)) - 10.0).abs() < 1e-4);
    assert!(watts(of(1.0, 5.0)).abs() < 1e-9, "more than the highest power");
}

#[test]
fn logs_that_do_not_fit_are_named() {
    let device = Device::new(560e6, 7);
    let trace = format!("[{}]", kernel(device, 0, "mul Cmpt Exec", 10, 110));
    let warnings = |log: &str| -> Vec<(String, String)> {
        let files = [("a.json", trace.clone()), ("x.log", log.to_owned())];
        let rank = read(&files, AiuSettings::default()).remove(0);
        let warnings = rank.warnings().into_iter().filter(|warning| warning.first_place == "x.log");
        warnings.map(|warning| (warning.what, warning.first_place)).collect()
    };
    let whole = table("", "mul", 100);
    assert_eq!(warnings(&whole), []);
    let cut = warnings(whole.trim_end_matches("Perf Summary End\n"));
    assert!(cut.len() == 1 && cut[0].0.contains("ends within a table"), "{cut:?}");
    let other = warnings(&table("", "sub", 100));
    assert!(other.len() == 1 && other[0].0.contains("of another run"), "{other:?}");
}
