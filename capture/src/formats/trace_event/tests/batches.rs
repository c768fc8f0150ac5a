//! Traces with more events than a batch. Such traces read the same piece by piece, in batches, and
//! in batches on two threads.

use nprof_engine::base::{Error, Result};
use nprof_engine::fixture::Recorder;
use nprof_engine::ingest::{Batch, Carrier, Relay};
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
    let space = Some(Space { exec: &AllCores, ..Space::new(&scratch) });
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
        fn carry(&mut self, _: Batch) -> Result<Batch> {
            Err(Error::Storage { what: "full" })
        }
    }
    let text = array(|_| None);
    let scratch = MemoryScratch::default();
    let space = Some(Space { exec: &AllCores, ..Space::new(&scratch) });
    let mut carrier = Full;
    let mut relay = Relay::new(&scratch, &mut carrier, 0);
    let context = Context { space, ..Context::default() };
    assert!(read_bytes(text.as_bytes(), context, &mut relay, &mut |_| {}).is_err());
}
