//! One oddity a test: the trace as text, the result as lines.

use super::{Context, read, read_bytes};
use nprof_engine::fixture::Recorder;
use nprof_engine::model::{Bind, FlowPhase, FlowPoint, OwnedValue, SliceForm, SliceKey, WarningKind};

mod batches;
mod damage;
mod edges;
mod limits;
mod pairs;

#[track_caller]
fn record(text: impl AsRef<[u8]>) -> Recorder {
    let mut recorder = Recorder::default();
    read(&mut text.as_ref(), Context::default(), &mut recorder, &mut |_| {}).unwrap();
    check_at_hand(text.as_ref(), Context::default(), &recorder);
    recorder
}

/// Reads the trace again, from bytes in memory.
#[track_caller]
fn check_at_hand(text: &[u8], context: Context<'_>, expected: &Recorder) {
    let mut recorder = Recorder::default();
    let mut told = 0;
    read_bytes(text, context, &mut recorder, &mut |bytes| told = bytes).unwrap();
    assert_eq!(recorder.warnings(), expected.warnings());
    assert!(lines(&recorder) == lines(expected), "other events where the trace is at hand");
    assert_eq!(told, text.len() as u64);
}

fn value(value: &OwnedValue) -> String {
    match value {
        OwnedValue::Int(v) => v.to_string(),
        OwnedValue::Uint(v) => format!("{v}u"),
        OwnedValue::Float(v) => format!("{v:?}"),
        OwnedValue::Bool(v) => v.to_string(),
        OwnedValue::Text(v) => format!("'{v}'"),
        OwnedValue::Json(v) => v.clone(),
    }
}

fn fields(fields: &[(String, OwnedValue)]) -> String {
    fields.iter().map(|(name, v)| format!(" {name}={}", value(v))).collect()
}

/// All events of the timeline, a line each. A line is `track: name [start +duration] fields`, with
/// times in picoseconds.
fn lines(recorder: &Recorder) -> Vec<String> {
    let slices = recorder.slices.iter().map(|slice| {
        let form = match slice.form {
            SliceForm::Complete => format!("+{}", slice.duration_ps),
            SliceForm::Unfinished => format!("+{}…", slice.duration_ps),
            SliceForm::Instant => "!".to_owned(),
        };
        let (path, start) = (recorder.path(slice.track), slice.start_ps);
        format!("{path}: {} [{start} {form}]{}", slice.name, fields(&slice.fields))
    });
    let samples = recorder.samples.iter().map(|sample| {
        let path = recorder.path(sample.track);
        format!("{path}: {} @{}{}", sample.value, sample.time_ps, fields(&sample.fields))
    });
    slices.chain(samples).collect()
}

fn warnings(recorder: &Recorder) -> Vec<WarningKind> {
    recorder.warnings().iter().map(|warning| warning.kind).collect()
}

/// Checks the lines and the kinds of warnings of a trace.
#[track_caller]
fn check(text: impl AsRef<[u8]>, expected: &[&str], warned: &[WarningKind]) -> Recorder {
    let recorder = record(text);
    assert_eq!(lines(&recorder), expected);
    assert_eq!(warnings(&recorder), warned, "{:?}", recorder.warnings());
    recorder
}

const A: &str = r#"{"ph":"X","pid":1,"tid":1,"name":"a","ts":1,"dur":2}"#;
const A_LINE: &str = "Process 1/Thread 1: a [1000000 +2000000]";

/// Checks a trace that is `A` and nothing else.
#[track_caller]
fn check_a(text: impl AsRef<[u8]>, warned: &[WarningKind]) -> Recorder {
    check(text, &[A_LINE], warned)
}

/// Checks a trace of one complete event. `more` has its members besides phase, process and thread;
/// `expected` is its line.
#[track_caller]
fn check_event(more: &str, expected: &str, warned: &[WarningKind]) -> Recorder {
    check(format!(r#"[{{"ph":"X","pid":1,"tid":1,{more}}}]"#), &[expected], warned)
}

use WarningKind::{AdjustedValue, DamagedRecord, MissingData, TruncatedInput, UnknownRecord, Unpaired};

#[test]
fn containers() {
    check_a(format!("[{A}]"), &[]);
    check_a(format!("[{A}"), &[]);
    check_a(format!("[{A},\n"), &[]);
    check_a(format!("{{\"traceEvents\":[{A}]}}"), &[]);
    check_a(format!("\u{feff} [{A}]\n\n"), &[]);
    check_a(A, &[]);
    check(format!("{A}\n{A}\n"), &[A_LINE, A_LINE], &[]);
    check(format!("[{A}]\n[{A}]"), &[A_LINE, A_LINE], &[]);
    check(r#"{"traceEvents":[]}"#, &[], &[MissingData]);
}

#[test]
fn two_arrays_of_events_are_both_read() {
    check(format!("{{\"traceEvents\":[{A}],\"traceEvents\":[{A}]}}"), &[A_LINE, A_LINE], &[]);
}

#[test]
fn truncation() {
    check_a(format!("{{\"traceEvents\":[{A}]"), &[TruncatedInput]);
    check_a(format!("{{\"traceEvents\":[{A}"), &[TruncatedInput]);
    check_a(format!("{{\"traceEvents\":[{A},{{\"ph\":\"X\",\"na"), &[TruncatedInput]);
    check_a(format!("[{A},{{\"ph\":\"X\",\"na"), &[TruncatedInput]);
    check_a(format!("{A}\n{{\"ph\":\"X\",\"args\":{{\"x\":{{"), &[TruncatedInput]);
}

#[test]
fn stray_elements() {
    check(format!("[{A},,{A}]"), &[A_LINE, A_LINE], &[DamagedRecord]);
    check(format!("[,{A}{A},]"), &[A_LINE, A_LINE], &[]);
    check_a(format!("[{A},null]"), &[DamagedRecord]);
    check_a(format!("[5,{A},\"x\",[{A}]]"), &[DamagedRecord]);
    check_a(format!("[// one\n{A}/* two */]// three"), &[]);
    check_a(format!("[{A}] and more"), &[DamagedRecord]);
    check_a(format!("[{A},{{}}]"), &[]);
    check_a(format!("{{\"traceEvents\":[{{ }},{A},{{\n}}]}}"), &[]);
    check_a(format!("[{A},{{\"a\":{{}}}}]"), &[DamagedRecord]);
    check_a("[{'ph':'X','pid':1,'tid':1,'name':'a','ts':1,'dur':2}]", &[]);
}

#[test]
fn stray_elements_are_kept() {
    let recorder = record(format!("[{A},null]"));
    let rows: Vec<String> = recorder.rows_of("unread_event").map(|row| fields(row)).collect();
    assert_eq!(rows, [" byte=54 reason='an element that is not an object' event='null'"]);
}

#[test]
fn what_is_no_trace_is_an_error() {
    for (text, expected) in [
        ("", "the file is empty (byte 0); expected Trace Event JSON"),
        ("hello", "this is not JSON (byte 0); expected"),
        ("{\"a\":1}", "there are no trace events in it"),
        (" \n", "there are no trace events in it"),
        ("7", "this is not JSON"),
        ("[]", "there are no trace events in it (byte 2); expected"),
        ("[1,2,3]", "there are no trace events in it"),
        (r#"[{"name":"left-pad"},{"ph":7.2,"name":"water"}]"#, "there are no trace events in it"),
        (r#"{"name":"left-pad"}"#, "there are no trace events in it"),
    ] {
        let error = read(&mut text.as_bytes(), Context::default(), &mut Recorder::default(), &mut |_| {})
            .unwrap_err();
        assert!(error.to_string().contains(expected), "{text}: {error}");
    }
}

#[test]
fn names() {
    let line = |name: &str| format!("Process 1/Thread 1: {name} [2000000 +1000000]");
    let more = |name: &str| format!(r#""name":{name},"ts":2,"dur":1"#);
    check_event(&more(r#""h\u00e9\ud83d\ude00""#), &line("hé😀"), &[]);
    check_event(&more(r#""C:\q""#), &line("C:\\q"), &[]);
    check_event(&more("\"a\nb\""), &line("a\nb"), &[]);
    check_event(&more("\"\""), &line(""), &[]);
    check_event(&more("17"), &line("17"), &[]);
    check_event(r#""ts":2,"dur":1"#, &line(""), &[]);
    check_event(r#""name":"a","name":"z","ts":2,"dur":1"#, &line("z"), &[]);
    let raw = b"[{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"name\":\"a\xff\",\"ts\":2,\"dur\":1}]";
    check(raw, &[&line("a\u{fffd}")], &[AdjustedValue]);
}

#[test]
fn times() {
    let line = |time: &str| format!("Process 1/Thread 1: b [{time}]");
    let more = |ts: &str, dur: &str| format!(r#""name":"b","ts":{ts},"dur":{dur}"#);
    check_event(&more("1.5e3", "0"), &line("1500000000 +0"), &[]);
    check_event(&more("\"9.5\"", "\"2\""), &line("9500000 +2000000"), &[]);
    check_event(&more("-3", "1"), &line("-3000000 +1000000"), &[]);
    let epoch = check_event(&more("1712191111123456.7891", "0.123"), &line("100 +123000"), &[]);
    assert_eq!(epoch.rank.origin_unix_ns, Some(1_712_191_111_123_456_789));
    let rows: Vec<String> = epoch.rows_of("clock").map(|row| fields(row)).collect();
    assert_eq!(rows, [" origin_ns=1712191111123456789"]);
}

#[test]
fn events_without_a_time_are_kept_aside() {
    for (ts, kind) in
        [("NaN", DamagedRecord), ("null", MissingData), ("1e30", DamagedRecord), ("[]", DamagedRecord)]
    {
        let recorder = check_a(format!(r#"[{A},{{"ph":"X","name":"b","ts":{ts},"dur":2}}]"#), &[kind]);
        assert_eq!(recorder.rows_of("unread_event").count(), 1);
    }
    check_a(format!(r#"[{{"pid":1,"tid":1,"name":"b","ts":2,"dur":1}},{A}]"#), &[DamagedRecord]);
}

#[test]
fn durations_that_are_none() {
    let b = |dur: &str| format!(r#"[{{"ph":"X","pid":1,"tid":1,"name":"b","ts":0{dur}}},{A}]"#);
    let unfinished = "Process 1/Thread 1: b [0 +3000000…]";
    check(b(""), &[A_LINE, unfinished], &[Unpaired]);
    check(b(",\"dur\":null"), &[A_LINE, unfinished], &[Unpaired]);
    check(b(",\"dur\":1e20"), &[A_LINE, "Process 1/Thread 1: b [0 +3000000…] dur=1e20"], &[AdjustedValue]);
    check(b(",\"dur\":\"x\""), &[A_LINE, "Process 1/Thread 1: b [0 +3000000…] dur='x'"], &[DamagedRecord]);
    check(b(",\"dur\":-1"), &["Process 1/Thread 1: b [0 !] dur=-1", A_LINE], &[AdjustedValue]);
}

#[test]
fn ids_of_processes_and_threads() {
    let line = |pid: &str, tid: &str| {
        let text = format!(r#"[{{"ph":"X","pid":{pid},"tid":{tid},"name":"b","ts":2,"dur":1}}]"#);
        let recorder = record(text);
        recorder.path(recorder.slices[0].track)
    };
    assert_eq!(line("-1", "-7"), "Process -1/Thread -7");
    assert_eq!(line("\"Spans\"", "\"Engine 0\""), "Spans/Engine 0");
    assert_eq!(
        line("18446744073709551615", "140737353779008"),
        "Process 18446744073709551615/Thread 140737353779008"
    );
    assert_eq!(line("\"25738\"", "null"), "Process 25738/No thread");
    let both = r#"[{"ph":"X","pid":1,"tid":"7","name":"b","ts":2,"dur":1},{"ph":"X","pid":1,"tid":7,"name":"b","ts":4,"dur":1}]"#;
    let recorder = record(both);
    assert_eq!(recorder.slices[0].track, recorder.slices[1].track);
}

#[test]
fn metadata_events() {
    let meta =
        |name: &str, args: &str| format!(r#"{{"ph":"M","pid":1,"tid":1,"name":"{name}","args":{{{args}}}}}"#);
    let recorder = check(
        format!(
            "[{A},{},{},{},{},{}]",
            meta("process_name", "\"name\":\"P\""),
            meta("process_labels", "\"labels\":\"GPU 0\""),
            meta("thread_name", "\"name\":\"T\""),
            meta("process_sort_index", "\"sort_index\":5"),
            meta("num_cpus", "\"number\":8"),
        ),
        &["GPU 0 · P/T 1: a [1000000 +2000000]"],
        &[],
    );
    assert_eq!(recorder.rows_of("metadata_event").count(), 5);
    let rows: Vec<String> = recorder.rows_of("track").map(|row| fields(row)).collect();
    assert_eq!(rows, [" track=1 pid='1' tid='1'"]);
}

#[test]
fn the_table_of_tracks_says_what_the_trace_says() {
    let text = r#"[{"ph":"C","pid":1,"ts":1,"name":"mem · x","args":{"v":1}},
        {"ph":"C","pid":1,"ts":1,"name":"mem · x","id":"0x1","args":{"v":1,"w":2}},
        {"ph":"X","tid":"Spans","ts":1,"dur":1,"name":"a"}]"#;
    let recorder = record(text);
    let rows: Vec<String> = recorder.rows_of("track").map(|row| fields(row)).collect();
    assert_eq!(
        rows,
        [
            " track=2 pid='1' counter='mem · x' series='v'",
            " track=3 pid='1' counter='mem · x' counter_id='0x1' series='v'",
            " track=4 pid='1' counter='mem · x' counter_id='0x1' series='w'",
            " track=6 tid='Spans'",
        ]
    );
}

#[test]
fn instants() {
    let text = r#"[{"ph":"i","pid":1,"tid":1,"name":"t","ts":1,"s":"t"},{"ph":"I","pid":1,"tid":1,"name":"p","ts":2,"s":"p"},
        {"ph":"i","pid":1,"tid":1,"name":"g","ts":3,"s":"g"},{"ph":"R","pid":1,"tid":1,"name":"m","ts":4},
        {"ph":"O","pid":1,"tid":1,"name":"o","id":"0x1","ts":5,"args":{"snapshot":{"a": [1, 2]}}},
        {"ph":"?","pid":1,"name":"u","ts":6}]"#;
    let expected = [
        "Process 1/Thread 1: t [1000000 !]",
        "Process 1/Process events: p [2000000 !] tid=1",
        "Global: g [3000000 !] pid=1 tid=1",
        "Process 1/Thread 1: m [4000000 !] ph='R'",
        "Process 1/Thread 1: o [5000000 !] id='0x1' snapshot={\"a\":[1,2]} ph='O'",
        "Process 1/Process events: u [6000000 !] ph='?'",
    ];
    check(text, &expected, &[UnknownRecord]);
}

#[test]
fn counters() {
    let text = r#"[{"ph":"C","pid":1,"name":"mem","ts":1,"args":{"a":1,"b":2.5}},
        {"ph":"C","pid":1,"id":"7","name":"mem","ts":2,"args":{"a":"3"}},
        {"ph":"C","pid":1,"name":"mem","ts":2,"args":{"a":null,"b":9007199254740993}}]"#;
    let expected = [
        "Process 1/Counters/mem · a: 1 @1000000",
        "Process 1/Counters/mem · b: 2.5 @1000000",
        "Process 1/Counters/mem [7]: 3 @2000000",
        "Process 1/Counters/mem · b: 9007199254740992 @2000000 exact_value=9007199254740993",
    ];
    check(text, &expected, &[DamagedRecord]);
}

#[test]
fn asynchronous_slices() {
    let event = |ph: &str, id: &str, name: &str, ts: u32| {
        format!(r#"{{"ph":"{ph}","cat":"c",{id}"pid":1,"tid":1,"name":"{name}","ts":{ts}}}"#)
    };
    let (one, two) = ("\"id\":1,", "\"id\":\"0x2\",");
    let text = [
        event("b", one, "a", 1),
        event("b", two, "a", 2),
        event("b", one, "inner", 3),
        event("n", one, "note", 4),
        event("e", one, "a", 5),
        event("e", one, "inner", 6),
        event("e", two, "a", 7),
    ];
    let track = "Process 1/Asynchronous/a · c";
    let expected = [
        format!("{track}: note [4000000 !] cat='c' id=1 tid=1"),
        format!("{track}: a [1000000 +4000000] cat='c' id=1 tid=1"),
        format!("{track}: inner [3000000 +3000000] cat='c' id=1 tid=1"),
        format!("{track}: a [2000000 +5000000] cat='c' id='0x2' tid=1"),
    ];
    let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
    check(format!("[{}]", text.join(",")), &expected, &[]);
    let older = [event("S", one, "a", 1), event("T", one, "a", 2), event("F", one, "a", 5)];
    let expected = [
        format!("{track}: a [2000000 !] cat='c' id=1 ph='T' tid=1"),
        format!("{track}: a [1000000 +4000000] cat='c' id=1 tid=1"),
    ];
    let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
    check(format!("[{}]", older.join(",")), &expected, &[]);
    let no_id = [event("b", "", "a", 1), event("b", one, "a", 2), event("e", "", "x", 3)];
    let expected = [
        "Process 1/Asynchronous/x · c: x [3000000 !] cat='c' ph='e' tid=1".to_owned(),
        format!("{track}: a [1000000 +1000000…] cat='c' tid=1"),
        format!("{track}: a [2000000 +0…] cat='c' id=1 tid=1"),
    ];
    let recorder = record(format!("[{}]", no_id.join(",")));
    let mut found = lines(&recorder);
    found.sort();
    let mut expected = expected.to_vec();
    expected.sort();
    assert_eq!(found, expected);
    assert_eq!(warnings(&recorder), [Unpaired, Unpaired, MissingData]);
}

#[test]
fn local_ids_are_of_their_process() {
    let event = |ph: &str, pid: u32, ts: u32| {
        format!(
            r#"{{"ph":"{ph}","cat":"c","id2":{{"local":"0x1"}},"pid":{pid},"tid":1,"name":"a","ts":{ts}}}"#
        )
    };
    let text = [event("b", 1, 1), event("b", 2, 2), event("e", 1, 5), event("e", 2, 9)];
    let recorder = record(format!("[{}]", text.join(",")));
    let durations: Vec<i64> = recorder.slices.iter().map(|slice| slice.duration_ps).collect();
    assert_eq!(durations, [4_000_000, 7_000_000]);
}

#[test]
fn flows() {
    let event = |ph: &str, more: &str, tid: u32, ts: u32| {
        format!(r#"{{"ph":"{ph}","cat":"f","name":"fl","pid":1,"tid":{tid},"ts":{ts}{more}}}"#)
    };
    let text = [
        event("s", ",\"id\":7", 1, 1),
        event("t", ",\"id\":7", 2, 2),
        event("f", ",\"id\":7,\"bp\":\"e\"", 2, 3),
        event("f", ",\"id\":\"7\",\"args\":{\"x\":1}", 2, 4),
        event("s", ",\"id\":18446744073709551615", 1, 5),
        event("s", ",\"id\":18446744073709551614", 1, 6),
    ];
    let recorder = record(format!("[{}]", text.join(",")));
    let points: Vec<(FlowPhase, Bind)> =
        recorder.flow_points.iter().map(|point| (point.phase, point.bind)).collect();
    let (enclosing, next) = (Bind::Enclosing, Bind::Next);
    let start = (FlowPhase::Start, enclosing);
    let expected = [
        start,
        (FlowPhase::Step, enclosing),
        (FlowPhase::End, enclosing),
        (FlowPhase::End, next),
        start,
        start,
    ];
    assert_eq!(points, expected);
    let keys: Vec<u64> = recorder.flow_points.iter().map(|point| point.key).collect();
    assert!(keys[..4].iter().all(|key| *key == keys[0]));
    assert!(keys[4] != keys[5] && keys[4] != keys[0]);
    assert_eq!(recorder.rows_of("flow_event").count(), 1);
}

#[test]
fn flows_that_ride_on_slices() {
    let text = r#"[{"ph":"X","pid":1,"tid":1,"name":"a","ts":1,"dur":2,"bind_id":"0x5","flow_out":true},
        {"ph":"X","pid":1,"tid":2,"name":"b","ts":5,"dur":2,"bind_id":"0x5","flow_in":true,"flow_out":true},
        {"ph":"X","pid":1,"tid":3,"name":"c","ts":9,"dur":2,"bind_id":"0x5","flow_in":true,"flow_out":false}]"#;
    let recorder = record(text);
    let name = |point: &FlowPoint| {
        let Bind::Own(arrival) = point.bind else { panic!("{point:?}") };
        let key = SliceKey { track: point.track, arrival };
        recorder.slices[recorder.index_of(key)].name.as_str()
    };
    let phases: Vec<_> = recorder.flow_points.iter().map(|point| (point.phase, name(point))).collect();
    assert_eq!(phases, [(FlowPhase::Start, "a"), (FlowPhase::Step, "b"), (FlowPhase::End, "c")]);
    assert!(recorder.flow_points.iter().all(|point| point.key == recorder.flow_points[0].key));
}

#[test]
fn arguments() {
    let line = |fields: &str| format!("Process 1/Thread 1: b [2000000 +1000000]{fields}");
    let more = |args: &str| format!(r#""name":"b","ts":2,"dur":1,"args":{args}"#);
    check_event(&more("{\"x\":NaN,\"y\":1}"), &line(" x=NaN y=1"), &[]);
    check_event(&more("{\"x\":-Infinity}"), &line(" x=-inf"), &[]);
    check_event(&more("{\"x\":12345678901234567890}"), &line(" x=12345678901234567890u"), &[]);
    check_event(&more("{\"x\":123456789012345678901234}"), &line(" x='123456789012345678901234'"), &[]);
    check_event(&more("{\"x\":{\"a\": [1, \"b\"]},\"n\":null}"), &line(" x={\"a\":[1,\"b\"]} n=null"), &[]);
    check_event(&more("{\"name\":1,\"cat\":true}"), &line(" args.name=1 args.cat=true"), &[]);
    check_event(&more("{\"x\":1,\"x\":2}"), &line(" x=2"), &[]);
    check_event(&more("[1, 2]"), &line(" args=[1,2]"), &[AdjustedValue]);
    check_event(&more("null"), &line(""), &[]);
    check_event(&more("{\"q\":1},\"q\":2"), &line(" q=2 args.q=1"), &[]);
    check_event(&more("{\"x\":{1}}"), &line(" x='{1}'"), &[AdjustedValue]);
}

#[test]
fn keys_beside_the_events() {
    let text = format!(
        r#"{{"schemaVersion":1,"deviceProperties":[{{"id": 0}}],"distributedInfo":{{"backend":"nccl","rank":3}},
        "traceName":"t.json","stackFrames":{{"5":{{"name":"main","parent":4}}}},"samples":[{{"cpu":0,"ts":1.5}},7],
        "traceEvents":[{A}],"displayTimeUnit":"us","baseTimeNanoseconds":1751410836000000000}}"#
    );
    let recorder = check_a(text, &[]);
    assert_eq!(
        (recorder.rank.rank, recorder.rank.origin_unix_ns),
        (Some(3), Some(1_751_410_836_000_000_000))
    );
    assert_eq!((recorder.rank.source.as_str(), recorder.rank.title.as_str()), ("kineto", "t.json"));
    let rows = |table: &str| recorder.rows_of(table).map(|row| fields(row)).collect::<Vec<_>>();
    assert_eq!(rows("stack_frame"), [" id='5' name='main' parent=4"]);
    assert_eq!(rows("sample"), [" cpu=0 ts=1.5", " value=7"]);
    assert_eq!(rows("metadata")[1], " key='deviceProperties' value=[{\"id\":0}]");
    assert_eq!(rows("metadata").len(), 6);
}
