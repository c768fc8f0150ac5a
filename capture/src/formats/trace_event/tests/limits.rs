//! Traces with more of something than nprof keeps apart: nothing is lost, and the rest is counted.

use super::*;
use WarningKind::AdjustedValue;

/// A trace of events.
fn trace(events: impl Iterator<Item = String>) -> String {
    format!("[{}]", events.collect::<Vec<_>>().join(","))
}

#[test]
fn threads_beyond_the_memory_share_a_track_and_are_told_apart_by_fields() {
    let recorder = record(trace(
        (0..14_000)
            .flat_map(|tid| {
                let at = 10 * tid;
                [
                    format!(r#"{{"ph":"X","pid":1,"tid":{tid},"ts":{at},"dur":2,"name":"x"}}"#),
                    format!(r#"{{"ph":"B","pid":1,"tid":{tid},"ts":{at},"name":"b{tid}"}}"#),
                    format!(r#"{{"ph":"C","pid":1,"ts":{at},"name":"c{tid}","args":{{"v":{tid}}}}}"#),
                ]
            })
            .chain(
                (0..14_000)
                    .rev()
                    .map(|tid| format!(r#"{{"ph":"E","pid":1,"tid":{tid},"ts":{}}}"#, 200_000 + tid)),
            ),
    ));
    assert!(recorder.tracks.len() < 12_000, "{} tracks", recorder.tracks.len());
    assert_eq!((recorder.slices.len(), recorder.samples.len()), (28_000, 14_000));
    assert_eq!(warnings(&recorder), [AdjustedValue]);
    let lines = lines(&recorder);
    let has = |line: &str| assert!(lines.iter().any(|known| known == line), "{line}");
    has("Process 1/Thread 3: x [30000000 +2000000]");
    has("More processes/More threads: x [139990000000 +2000000] pid=1 tid=13999");
    has("More processes/More threads: b13999 [139990000000 +74009000000] pid=1 tid=13999");
    has("More processes/Counters/More counters: 13999 @139990000000 counter='c13999' series='v' pid=1");
}

#[test]
fn names_beyond_the_memory_stay_in_the_metadata() {
    let name = "n".repeat(60_000);
    let recorder = record(trace((0..40).map(|tid| {
        format!(
            r#"{{"ph":"X","pid":1,"tid":{tid},"ts":1,"dur":2,"name":"x"}},
            {{"ph":"M","pid":1,"tid":{tid},"name":"thread_name","args":{{"name":"{name}"}}}}"#
        )
    })));
    let named = recorder.tracks.iter().filter(|track| track.name.starts_with(&name)).count();
    assert_eq!(named, 23);
    assert_eq!(recorder.warnings().into_iter().map(|warning| warning.count).collect::<Vec<_>>(), [40 - 23]);
    assert_eq!(recorder.rows_of("metadata_event").count(), 40);
}

#[test]
fn ends_find_their_begins_however_many_are_open() {
    check_first_in_first_out(["b", "e"]);
    check_first_in_first_out(["B", "E"]);
}

/// The first in is the first out: all begins after it are open.
#[track_caller]
fn check_first_in_first_out(phases: [&str; 2]) {
    const COUNT: usize = 3_000;
    let recorder = record(trace(phases.into_iter().flat_map(|ph| {
        let begin = if ph == phases[0] { 0 } else { COUNT };
        (0..COUNT).map(move |at| {
            let ts = begin + at;
            format!(r#"{{"ph":"{ph}","cat":"c","id":1,"pid":1,"tid":1,"ts":{ts},"name":"n{at}"}}"#)
        })
    })));
    assert_eq!(warnings(&recorder), []);
    assert_eq!(recorder.slices.len(), COUNT);
    let lasts = COUNT as i64 * 1_000_000;
    assert!(recorder.slices.iter().all(|slice| slice.duration_ps == lasts));
}

#[test]
fn keys_of_metadata_beyond_the_fields_are_counted() {
    let frames: Vec<String> = (0..5_000).map(|at| format!(r#""{at}":{{"k{at}":1}}"#)).collect();
    let recorder = record(format!(r#"{{"traceEvents":[{A}],"stackFrames":{{{}}}}}"#, frames.join(",")));
    assert_eq!(warnings(&recorder), [AdjustedValue]);
    assert_eq!(recorder.rows_of("stack_frame").count(), 5_000);
}
