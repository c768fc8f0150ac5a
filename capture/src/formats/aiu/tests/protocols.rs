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
