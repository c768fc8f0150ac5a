//! Traces of the runtime that acelyzer or `nprof aiu` wrote in PyTorch's dialect.

use super::*;

/// A slice as it is written: name, start and duration in microseconds, and arguments.
fn slice(name: &str, (start, duration): (f64, f64), more: &str) -> String {
    format!(
        r#"{{"ph":"X","cat":"kernel","name":"{name}","pid":0,"tid":1,"ts":{start},"dur":{duration},"args":{{"rank":0{more}}}}}"#
    )
}

fn trace(slices: &[String]) -> String {
    format!(r#"{{"deviceProperties":[{{"id":0,"type":"AIU"}}],"traceEvents":[{}]}}"#, slices.join(","))
}

/// Counters of an execution with an overflow added, as both programs write them, at 500 MHz. The
/// kernel waits for 40 microseconds before it executes for 100.
fn counters(start_us: u64) -> String {
    let at = |us: u64| (1 << 32) + (start_us + us) * 500;
    let [ts1, ts3, ts4, ts5] = [0, 40, 140, 141].map(at);
    format!(r#","TS1":"{ts1}","TS2":"{ts1}","TS3":"{ts3}","TS4":"{ts4}","TS5":"{ts5}","OVC":1,"device":0"#)
}

const LOG: &str = "~~~ Ideal/Total Cycles ~~~\nmul_1-opCatBmm   55000\n====== Perf Summary End ======\n";

#[test]
fn a_shortened_name_finds_its_row_by_the_original_one() {
    let named = |more: &str| {
        let text = trace(&[slice("mul Cmpt Exec", (10.0, 100.0), &format!("{}{more}", counters(0)))]);
        let rank = read(&[("a.json", text), ("c.log", LOG.to_owned())], AiuSettings::default()).remove(0);
        let slice = rank.slices_of("slice").next().unwrap();
        let category = field(&slice.fields, "user_cat").cloned();
        let kernel = rank.rows_of("aiu_kernel").next().map(|row| field(row, "name").cloned());
        (category, kernel.flatten(), slice.name.clone())
    };
    let text = |text: &str| Some(OwnedValue::Text(text.to_owned()));
    let name = || "mul Cmpt Exec".to_owned();
    let found = (text("Bmm"), text("mul_[N] Cmpt Exec"), name());
    assert_eq!(named(r#","orig_name":"mul_1 Cmpt Exec""#), found);
    for more in ["", r#","orig_name":"""#] {
        assert_eq!(named(more), (text("other"), text("mul Cmpt Exec"), name()), "{more}");
    }
}

#[test]
fn a_shortened_preparation_is_no_kernel() {
    let more = r#","orig_name":"mul_1 Cmpt Prep""#;
    let rank = read_one(&trace(&[slice("mul", (10.0, 5.0), more), slice("add", (20.0, 5.0), "")]));
    assert_eq!(rank.rows_of("aiu_kernel").count(), 1);
}

#[test]
fn cycles_power_and_clock_are_counted_again() {
    let charge = |n: u64| format!(r#"{},"Power":"{}""#, counters(1_000 * n), 1_000 + 512_000 * n);
    let adjusted = r#","time_adjust":{"ts":-38.5,"dur":38.5}"#;
    let slices: Vec<String> = (0..6)
        .map(|n| {
            // The end is that of the execution.
            let start = 1_000.0 * n as f64 + 50.0;
            slice("mul_1 Cmpt Exec", (start, 100.0), &format!("{}{adjusted}", charge(n)))
        })
        .collect();
    let rank = read_one(&trace(&slices));
    let clock = rank.rows_of("aiu_clock").next().unwrap();
    assert!((float(clock, "found_hz") / 500e6 - 1.0).abs() < 1e-9, "{clock:?}");
    assert_eq!((int(clock, "slices"), int(clock, "wraps")), (6, 0));
    // From the first counter to the last of the phase, less what was adjusted: 140 - 38.5.
    assert!((float(clock, "host_duration") - 6.0 * 101_500.0).abs() < 1.0, "{clock:?}");
    assert!((float(clock, "device_duration") - 600_000.0).abs() < 1.0, "{clock:?}");
    let means: Vec<f64> = rank.rows_of("aiu_cycles").map(|row| float(row, "mean")).collect();
    assert_eq!(means, [0.0, 20_000.0, 50_000.0, 500.0]);
    // 512,000 steps of the charge in a millisecond.
    let with = rank.rows_of("aiu_power").next().unwrap();
    assert!((float(with, "average") - 12.0).abs() < 1e-6, "{with:?}");
    assert!(rank.tables.iter().all(|table| table.name != "aiu_job"));
    assert_eq!(rank.slices_of("aiu_op").count(), 0);
    let calls: Vec<i64> = rank.rows_of("aiu_kernel").map(|row| int(row, "calls")).collect();
    assert_eq!(calls, [6], "a kernel counts once");
}

#[test]
fn each_device_of_a_written_trace_has_its_own_counters() {
    let slices = (0..12_u64).map(|n| {
        let (device, at) = (n % 2, 1_000 * (n / 2));
        // The counter of the second device began 3.1 s earlier.
        let counters =
            counters(at + 3_100_000 * device).replace(r#""device":0"#, &format!(r#""device":{device}"#));
        let more = format!(r#"{counters},"Power":"{}""#, 1_000 + 512_000 * n * (1 + 9 * device));
        slice("mul_1 Cmpt Exec", (at as f64 + 50.0 + 10.0 * device as f64, 100.0), &more)
    });
    let rank = read_one(&trace(&slices.collect::<Vec<_>>()));
    let clock = rank.rows_of("aiu_clock").next().unwrap();
    assert!((float(clock, "found_hz") / 500e6 - 1.0).abs() < 1e-9, "{clock:?}");
    let found_by = field(clock, "found_by").cloned();
    assert_eq!(found_by, Some(OwnedValue::Text("a line for each job".to_owned())));
    let calls: Vec<_> =
        rank.rows_of("aiu_kernel").map(|row| (int(row, "device"), int(row, "calls"))).collect();
    assert_eq!(calls, [(0, 6), (1, 6)]);
    assert_eq!(rank.rows_of("aiu_power").count(), 0, "their charges do not go together");
}

#[test]
fn work_with_counters_is_a_kernel_only_if_it_executes() {
    let names = ["mul_1 Cmpt Exec", "SenRdmaSend_1", "mul_1 Cmpt Prep"];
    let slices = names.map(|name| slice(name, (50.0, 100.0), &counters(0)));
    let rank = read_one(&trace(&slices));
    let kernels: Vec<i64> = rank.rows_of("aiu_kernel").map(|row| int(row, "calls")).collect();
    assert_eq!(kernels, [1]);
    let reduced = slices[0].replace(r#""cat":"kernel""#, r#""cat":"user_annotation""#);
    assert_eq!(read_one(&trace(&[reduced])).rows_of("aiu_kernel").count(), 1, "of a collective operation");
}

#[test]
fn the_devices_of_events_are_numbers() {
    let device = |more: &str, pid: &str| {
        let other = slice("add", (10.0, 5.0), r#","device":9"#);
        let event = slice("mul", (20.0, 5.0), more).replace(r#""pid":0"#, &format!(r#""pid":{pid}"#));
        let rank = read_one(&trace(&[other, event]));
        let found: Vec<i64> = rank.rows_of("aiu_active").map(|row| int(row, "device")).collect();
        assert_eq!(found.len(), 2, "{more} {pid}");
        found[0]
    };
    assert_eq!(device(r#","device":1"#, "3"), 1);
    assert_eq!(device("", "3"), 3, "the process, if no argument tells it");
    assert_eq!(device(r#","device":"x""#, "3"), 3);
    assert_eq!(device(r#","device":1024"#, "3"), 0, "too many");
}

#[test]
fn a_rank_with_several_devices_is_none_of_them() {
    let device = |numbers: &[u32]| {
        let of = |number: &u32| slice("mul", (10.0, 5.0), &format!(r#","device":{number}"#));
        let file = trace(&numbers.iter().map(of).collect::<Vec<_>>());
        read(&[("a_rank_3.json", file)], AiuSettings::default()).remove(0).rank.device
    };
    assert_eq!([device(&[0]), device(&[0, 1])], [Some(3), None]);
}
