//! Traces with more events than a batch. Such traces read the same piece by piece, in batches, and
//! in batches on two threads.

use nprof_engine::base::{Error, Result};
use nprof_engine::exec::Work;
use nprof_engine::fixture::Recorder;
use nprof_engine::ingest::{CallBatch, Carrier, Relay};
use nprof_engine::model::WarningKind::{DamagedRecord, TruncatedInput};
use nprof_engine::native::AllCores;
use nprof_engine::spill::{MemoryScratch, Space};

use super::super::{Context, read_bytes};
use super::{check_at_hand, warnings};

const EVENTS: usize = 5_000;

#[track_caller]
fn record(text: &str) -> Recorder {
    let recorder = super::record(text);
    let scratch = MemoryScratch::default();
    let space = Some(Space { work: Work::on(&AllCores), ..Space::new(&scratch) });
    check_at_hand(text.as_bytes(), Context { space, ..Context::default() }, &recorder);
    recorder
}

fn event(at: usize) -> String {
    format!(r#"{{"ph":"X","pid":1,"tid":{},"name":"e{at}","ts":{at},"dur":1,"args":{{"at":{at}}}}}"#, at % 3)
}

/// The events as an array. `odd` replaces some of them.
fn array(odd: impl Fn(usize) -> Option<String>) -> String {
    let events = (0..EVENTS).map(|at| odd(at).unwrap_or_else(|| event(at)));
    format!("[{}]", events.collect::<Vec<_>>().join(",\n"))
}

#[test]
fn full_batches_follow_each_other() {
    let recorder = record(&array(|_| None));
    assert_eq!(recorder.slices.len(), EVENTS);
    assert!(recorder.slices.iter().enumerate().all(|(at, slice)| slice.name == format!("e{at}")));
    assert!(recorder.warnings().is_empty());
}

#[test]
fn what_is_not_plain_ends_a_batch_and_not_the_trace() {
    let long = "x".repeat(100 << 10);
    let recorder = record(&array(|at| match at {
        1_500 => Some("7".to_owned()),
        2_999 => Some(event(at).replace("\"name\":", "\"name\"")),
        3_000 => Some(format!(",,{}", event(at))),
        4_100 => Some(event(at).replace("e4100", &long)),
        _ => None,
    }));
    assert_eq!(recorder.slices.len(), EVENTS - 2);
    assert_eq!(recorder.slices.iter().filter(|slice| slice.name == long).count(), 1);
    assert_eq!(recorder.rows_of("unread_event").count(), 2);
    assert!(warnings(&recorder).contains(&DamagedRecord));
}

#[test]
fn a_cut_within_a_later_batch_is_told() {
    let whole = format!("{{\"traceEvents\":{}}}", array(|_| None));
    let cut = whole.find("\"e4000\"").unwrap();
    let recorder = record(&whole[..cut]);
    assert_eq!((recorder.slices.len(), &*warnings(&recorder)), (4_000, &[TruncatedInput][..]));
}

#[test]
fn an_error_of_the_sink_ends_both_threads() {
    struct Full;
    impl Carrier for Full {
        fn carry(&mut self, _: CallBatch) -> Result<CallBatch> {
            Err(Error::Storage { what: "full" })
        }
    }
    let text = array(|_| None);
    let scratch = MemoryScratch::default();
    let space = Some(Space { work: Work::on(&AllCores), ..Space::new(&scratch) });
    let mut carrier = Full;
    let mut relay = Relay::new(&scratch, &mut carrier, 0);
    let context = Context { space, ..Context::default() };
    assert!(read_bytes(text.as_bytes(), context, &mut relay, &mut |_| {}).is_err());
}

#[test]
fn events_with_the_same_keys_are_read_as_each_alone() {
    // The same keys in the same order, with values that make other fields of them, or warnings.
    let event = |ph: &str, cat: &str, extra: &str, args: &str| {
        format!(
            r#"{{"ph":"{ph}","cat":{cat},"name":"a","pid":1,"tid":1,"ts":1,"dur":1,"tts":{extra},"args":{args}}}"#
        )
    };
    let plain = || event("X", "\"c\"", "1", r#"{"x":1,"y":"t"}"#);
    let events = [
        plain(),
        event("X", "\"c\"", "2.5", r#"{"x":"one","y":[1, 2]}"#),
        event("X", "null", "1", r#"{"x":1,"y":"t"}"#),
        event("X", "\"c\"", "null", r#"{"x":null,"y":null}"#),
        event("i", "\"c\"", "1", r#"{"x":1,"y":"t"}"#),
        event("X", "\"\\ud800\"", "1", r#"{"x":{"n" 1},"y":"\udc00"}"#),
        event("X", "\"c\"", "1", "{}"),
        event("X", "\"c\"", "1", "7"),
        event("X", "\"c\"", "1", r#"{"x":1,"x":2}"#),
        event("X", "\"c\"", "1", r#"{"x":18446744073709551615,"y":true}"#),
    ];
    // Each follows one whose fields are known.
    let all: Vec<String> = events.iter().flat_map(|event| [plain(), event.clone(), event.clone()]).collect();
    let together = record(&format!("[{}]", all.join(",\n")));
    let mut warned = 0;
    for (at, event) in all.iter().enumerate() {
        let alone = super::record(format!("[{event}]"));
        let of = |recorder: &Recorder, at: usize| {
            (super::fields(&recorder.slices[at].fields), recorder.slices[at].form)
        };
        assert_eq!(of(&together, at), of(&alone, 0), "{event}");
        warned += alone.warnings().iter().map(|warning| warning.count).sum::<u64>();
    }
    assert_eq!(together.warnings().iter().map(|warning| warning.count).sum::<u64>(), warned);
}
