//! Damaged input: the text around the damage is read, and nothing panics.

use nprof_engine::fixture::Recorder;
use proptest::prelude::*;

use super::super::{Context, read};
use super::{A, DamagedRecord, TruncatedInput, record, warnings};

#[test]
fn damage_costs_one_event() {
    let event = r#"{"ph":"X","pid":1,"tid":1,"name":"b","ts":1,"dur":2}"#;
    for damaged in [
        event.replace("\"name\":", "\"name\""),
        event.replace("\"b\"", "\"b"),
        event.replace("\"b\"", "b\""),
        event.replace("\"ts\":1", "\"ts\"::1"),
        event.replace("\"ts\":1", "\"ts\":/1"),
        event.replace('}', "]"),
        event.replace('}', ""),
        event.replace("\"b\"", "\"call \"f\" here\""),
    ] {
        let recorder = record(format!("[{A},\n{damaged},\n{A}]"));
        let (a, b): (Vec<_>, Vec<_>) = recorder.slices.iter().partition(|slice| slice.name == "a");
        assert_eq!((a.len(), b.len()), (2, 0), "{damaged}: {:?}", recorder.warnings());
        assert_eq!(warnings(&recorder), [DamagedRecord], "{damaged}");
        assert_eq!(recorder.rows_of("unread_event").count(), 1);
    }
}

const MIXED: &str = r#"{"schemaVersion":1,"distributedInfo":{"rank":0},"traceEvents":[
{"ph":"X","pid":1,"tid":-2,"name":"a\u00e9","ts":1.5,"dur":2,"args":{"x":[1,{"y":2}],"z":"w"}},
{"ph":"B","pid":1,"tid":1,"name":"b","ts":2},{"ph":"E","pid":1,"tid":1,"ts":3,"args":{"q":1e3}},
{"ph":"b","cat":"c","id":"0x1","pid":1,"tid":1,"name":"d","ts":1},{"ph":"e","cat":"c","id":"0x1","pid":1,"name":"d","ts":9},
{"ph":"C","pid":1,"name":"m","ts":1,"args":{"v":1}},{"ph":"s","id":7,"cat":"f","name":"fl","pid":1,"tid":1,"ts":1},
{"ph":"M","pid":1,"name":"process_name","args":{"name":"P"}},{"ph":"i","pid":1,"tid":1,"name":"t","ts":1,"s":"t"}
],"stackFrames":{"1":{"name":"f"}},"samples":[{"cpu":0}],"baseTimeNanoseconds":5}"#;

#[test]
fn every_cut_keeps_all_whole_events() {
    let whole = record(MIXED);
    for keep in 1..MIXED.len() {
        let mut recorder = Recorder::default();
        match read(&mut &MIXED.as_bytes()[..keep], Context::default(), &mut recorder, &mut |_| {}) {
            Ok(()) => assert!(warnings(&recorder).contains(&TruncatedInput), "cut at {keep}"),
            Err(error) => assert!(keep <= MIXED.find('[').unwrap(), "cut at {keep}: {error}"),
        }
        let ends: Vec<usize> = MIXED.match_indices("}},").map(|(at, _)| at).collect();
        if keep > ends[0] + 2 && MIXED[..keep].contains("\"z\":\"w\"}}") {
            assert_eq!(recorder.slices[0], whole.slices[0], "cut at {keep}");
        }
    }
}

#[test]
fn no_changed_byte_panics_or_costs_more_than_the_events_around_it() {
    let whole = record(MIXED).slices.len();
    for at in 0..MIXED.len() {
        for byte in [b'"', b'{', b']', b',', b'\\', b'/', 0xff] {
            let mut bytes = MIXED.as_bytes().to_vec();
            bytes[at] = byte;
            let mut recorder = Recorder::default();
            let result = read(&mut bytes.as_slice(), Context::default(), &mut recorder, &mut |_| {});
            if result.is_ok() && at > 64 && at < 1000 {
                let left = recorder.slices.len() + recorder.rows_of("unread_event").count();
                assert!(left + 3 >= whole, "{} at {at}: {left} of {whole}", byte.escape_ascii());
            }
        }
    }
}

proptest! {
    #[test]
    fn any_bytes_end_in_a_trace_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = read(&mut bytes.as_slice(), Context::default(), &mut Recorder::default(), &mut |_| {});
    }

    #[test]
    fn any_json_like_text_ends_in_a_trace_or_an_error(text in r#"[\[{]([\[\]{}:,"'/*\\ \n0-9a-e.-]|"ph":"[XBEbeCsM]"|"ts":1|"args":\{|\},){0,60}"#) {
        let _ = read(&mut text.as_bytes(), Context::default(), &mut Recorder::default(), &mut |_| {});
    }
}
