//! Begins with their ends: by name, by time, and without a partner.

use nprof_engine::model::WarningKind::Unpaired;

use super::{A, A_LINE, check};

#[test]
fn begin_and_end() {
    let text = r#"[{"ph":"B","pid":1,"tid":1,"name":"a","ts":1,"tts":5,"args":{"x":1,"z":0}},
        {"ph":"E","pid":1,"tid":1,"ts":3,"tts":6,"args":{"x":2,"y":3}}]"#;
    check(text, &["Process 1/Thread 1: a [1000000 +2000000] tts=5 x=2 z=0 end.tts=6 begin.x=1 y=3"], &[]);
    let mismatch = r#"[{"ph":"B","pid":1,"tid":1,"name":"a","ts":1},{"ph":"B","pid":1,"tid":1,"name":"b","ts":2},
        {"ph":"E","pid":1,"tid":1,"name":"a","ts":3},{"ph":"E","pid":1,"tid":1,"name":"b","ts":4}]"#;
    let crossed = ["Process 1/Thread 1: a [1000000 +2000000]", "Process 1/Thread 1: b [2000000 +2000000]"];
    check(mismatch, &crossed, &[]);
    let open = format!(r#"[{{"ph":"B","pid":1,"tid":1,"name":"b","ts":0}},{A}]"#);
    check(open, &[A_LINE, "Process 1/Thread 1: b [0 +3000000…]"], &[Unpaired]);
    let stray = r#"[{"ph":"E","pid":1,"tid":1,"name":"b","ts":1}]"#;
    check(stray, &["Process 1/Thread 1: b [1000000 !] ph='E'"], &[Unpaired]);
}

#[test]
fn an_end_with_a_name_ends_the_innermost_slice_of_that_name() {
    let events = |events: &[(&str, &str, u32)]| {
        let event = |(ph, name, ts): &(&str, &str, u32)| {
            format!(r#"{{"ph":"{ph}","pid":1,"tid":1,"name":"{name}","ts":{ts}}}"#)
        };
        format!("[{}]", events.iter().map(event).collect::<Vec<_>>().join(","))
    };
    let on = |text: &str| format!("Process 1/Thread 1: {text}");
    let lost = [("B", "a", 0), ("B", "b", 1), ("E", "lost", 2), ("E", "b", 3), ("E", "a", 4)];
    let expected = ["b [1000000 +2000000]", "a [0 +4000000]", "lost [2000000 !] ph='E'"].map(on);
    check(events(&lost), &expected.each_ref().map(String::as_str), &[Unpaired]);
    // Names can be written in two ways, and the innermost of several slices of a name ends first.
    let twice =
        [("B", "a", 0), ("B", "\\u0061", 1), ("B", "c", 2), ("E", "a", 3), ("E", "", 4), ("E", "a", 5)];
    let expected = ["a [1000000 +2000000]", "c [2000000 +2000000] end.name=''", "a [0 +5000000]"].map(on);
    check(events(&twice), &expected.each_ref().map(String::as_str), &[]);
    // A slice without a name is ended by any end, if none has its name.
    let unnamed = [("B", "a", 0), ("B", "", 1), ("E", "a", 2), ("E", "x", 3)];
    let expected = ["a [0 +2000000]", " [1000000 +2000000] end.name='x'"].map(on);
    check(events(&unnamed), &expected.each_ref().map(String::as_str), &[]);
}

#[test]
fn begin_and_end_in_any_order_of_the_file() {
    let events = [
        r#"{"ph":"B","pid":1,"tid":1,"name":"a","ts":1}"#,
        r#"{"ph":"B","pid":1,"tid":1,"name":"b","ts":2}"#,
        r#"{"ph":"E","pid":1,"tid":1,"ts":3}"#,
        r#"{"ph":"E","pid":1,"tid":1,"ts":4}"#,
    ];
    for order in [[0, 1, 2, 3], [3, 2, 1, 0], [2, 3, 0, 1]] {
        let text: Vec<&str> = order.iter().map(|&at| events[at]).collect();
        let expected =
            ["Process 1/Thread 1: b [2000000 +1000000]", "Process 1/Thread 1: a [1000000 +3000000]"];
        check(format!("[{}]", text.join(",")), &expected, &[]);
    }
}
