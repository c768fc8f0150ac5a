//! Collective operations of PyTorch's dialect.

use super::*;

/// A trace of steps: name, start in microseconds, and arguments.
fn trace(steps: &[(&str, u32, &str)]) -> String {
    let step = |(name, start, more): &(&str, u32, &str)| {
        format!(
            r#"{{"ph":"X","cat":"gpu_user_annotation","name":"{name}","pid":0,"tid":1,"ts":{start},"dur":4.5,"args":{{{more}}}}}"#
        )
    };
    let steps: Vec<String> = steps.iter().map(step).collect();
    format!(r#"{{"deviceProperties":[{{"id":0,"name":"AIU"}}],"traceEvents":[{}]}}"#, steps.join(","))
}

fn operations(rank: &Recorder) -> Vec<(String, i64, i64, i64)> {
    let us = |ps: i64| ps / 100_000;
    rank.slices_of("aiu_collective")
        .map(|of| (of.name.clone(), us(of.start_ps), us(of.duration_ps), int(&of.fields, "steps")))
        .collect()
}

#[test]
fn steps_of_a_launch_are_an_operation() {
    let rank = read_one(&trace(&[
        ("HCOLL R5 Wait DATA", 100, r#""correlation":7,"stream":1"#),
        ("HCOLL Signal", 106, r#""correlation":7,"stream":1"#),
        ("other", 108, r#""correlation":7,"stream":1"#),
        ("HCOLL Signal", 300, r#""correlation":9"#),
        ("HCOLL R5 Wait DATA", 400, ""),
        ("HCOLL Signal", 410, r#""bytes":"512""#),
        ("HCOLL R5 Wait DATA", 420, ""),
    ]));
    let of = |start: i64, duration: i64, steps: i64| ("HCOLL".to_owned(), start, duration, steps);
    assert_eq!(operations(&rank), [of(1000, 105, 2), of(3000, 45, 1), of(4000, 145, 2), of(4200, 45, 1)]);
    let fields: Vec<&[(String, OwnedValue)]> =
        rank.slices_of("aiu_collective").map(|of| of.fields.as_slice()).collect();
    assert!(field(fields[0], "members").is_none() && field(fields[0], "bandwidth").is_none());
    assert_eq!((field(fields[0], "bytes"), int(fields[2], "bytes")), (None, 512));
}

#[test]
fn steps_stay_on_their_stream_and_annotations_do_not() {
    let rank = read_one(&trace(&[("HCOLL Signal", 100, ""), ("ProfilerStep#1", 100, "")]));
    let track_of = |name: &str| {
        let slice = rank.slices_of("slice").find(|slice| slice.name == name).unwrap();
        rank.tracks[slice.track.0 as usize].name.as_str()
    };
    assert_eq!(
        [track_of("HCOLL Signal"), track_of("ProfilerStep#1")],
        ["Thread 1", "Thread 1 · annotations"]
    );
}

#[test]
fn steps_of_the_host_are_no_operation() {
    let text = trace(&[("HCOLL Signal", 100, "")]).replace("gpu_user_annotation", "cpu_op");
    assert!(operations(&read_one(&text)).is_empty());
}

const LOG: &str =
    "~~~~ Ideal/Total Cycles ~~~~\nmul_1-opConv     4400\nTotal\t4400\n====== Perf Summary End ======\n";

/// Slices of PyTorch's dialect as begins and ends. The end of every second one has no name.
fn as_pairs(slices: &[(&str, &str, u32, u32)]) -> String {
    let mut events: Vec<(u32, u32, String)> = Vec::new();
    for (number, &(category, name, start, duration)) in (0..).zip(slices) {
        let event = |phase: &str, at: u32, more: &str| {
            format!(r#"{{"ph":"{phase}","pid":0,"tid":1,"ts":{at}{more}}}"#)
        };
        let args = r#""correlation":7,"memory bandwidth (GB/s)":2.5"#;
        let whole = format!(r#","cat":"{category}","name":"{name}","args":{{{args}}}"#);
        let named = format!(r#","name":"{name}""#);
        let end = if number % 2 == 0 { named.as_str() } else { "" };
        events.push((start, number, event("B", start, &whole)));
        events.push((start + duration, number, event("E", start + duration, end)));
    }
    events.sort();
    let events: Vec<String> = events.into_iter().map(|(.., text)| text).collect();
    format!(r#"{{"deviceProperties":[{{"id":0,"name":"AIU"}}],"traceEvents":[{}]}}"#, events.join(","))
}

fn as_slices(slices: &[(&str, &str, u32, u32)]) -> String {
    let slice = |&(category, name, start, duration): &(&str, &str, u32, u32)| {
        let args = r#""correlation":7,"memory bandwidth (GB/s)":2.5"#;
        format!(
            r#"{{"ph":"X","cat":"{category}","name":"{name}","pid":0,"tid":1,"ts":{start},"dur":{duration},"args":{{{args}}}}}"#
        )
    };
    let slices: Vec<String> = slices.iter().map(slice).collect();
    format!(r#"{{"deviceProperties":[{{"id":0,"name":"AIU"}}],"traceEvents":[{}]}}"#, slices.join(","))
}

#[test]
fn begins_and_ends_count_like_slices() {
    let slices = [
        ("gpu_user_annotation", "step", 50, 900),
        ("kernel", "mul_1", 100, 20),
        ("kernel", "mul_1", 200, 30),
        ("gpu_memcpy", "Memcpy (HtoD)", 300, 10),
        ("gpu_user_annotation", "HCOLL Signal", 400, 5),
        ("kernel", "add_2", 500, 40),
    ];
    let tables = |text: String| {
        let log = ("c.log", LOG.to_owned());
        let rank = read(&[("a.json", text), log], AiuSettings::default()).remove(0);
        let tables = ["aiu_kernel", "aiu_active", "aiu_category", "aiu_iteration"];
        let mut lines: Vec<String> = tables
            .iter()
            .flat_map(|table| rank.rows_of(table).map(move |row| format!("{table} {row:?}")))
            .collect();
        lines.extend(rank.slices_of("slice").map(|slice| {
            let used = field(&slice.fields, "pt_active").or(field(&slice.fields, "args.pt_active"));
            format!("{} {} {} {used:?}", slice.name, slice.start_ps, slice.duration_ps)
        }));
        lines.extend(operations(&rank).iter().map(|of| format!("{of:?}")));
        lines.extend(rank.samples.iter().map(|of| format!("{} {}", of.time_ps, of.value)));
        lines.sort();
        lines
    };
    let expected = tables(as_slices(&slices));
    assert!(
        expected.iter().any(|line| line.starts_with("aiu_kernel") && line.contains("mul_[N]")),
        "{expected:?}"
    );
    assert_eq!(tables(as_pairs(&slices)), expected);
}

#[test]
fn preparations_in_acelyzers_files_are_no_kernels() {
    let text = as_slices(&[("kernel", "mul_1 Cmpt Exec", 100, 20), ("kernel", "mul_1 Cmpt Prep", 50, 500)]);
    let rank = read_one(&text);
    let calls: Vec<String> = rank.rows_of("aiu_kernel").map(|row| format!("{row:?}")).collect();
    assert_eq!(calls.len(), 1, "{calls:?}");
    assert!(calls[0].contains("mul_[N]"), "{calls:?}");
}
