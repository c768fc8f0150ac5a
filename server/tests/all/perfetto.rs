//! The Perfetto trace, decoded again: tracks, slices that nest, counters, arrows, arguments.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use nprof_server::export::perfetto::proto::{
    COUNTER, DebugAnnotation, INSTANT, SEQUENCE_BEGINS, SLICE_BEGIN, SLICE_END, Trace, TracePacket,
    TrackDescriptor, TrackEvent,
};
use prost::Message;

use crate::cli::{fail, run, stage, succeed};
use crate::stage::TRACE;

/// A trace as seen by a reader of Perfetto's format.
#[derive(Default)]
struct Seen {
    tracks: BTreeMap<u64, TrackDescriptor>,
    /// Path, name, start and end in nanoseconds, and number of enclosing slices.
    slices: Vec<(String, String, u64, u64, usize)>,
    instants: Vec<(String, String, u64)>,
    samples: Vec<(String, u64, f64)>,
    /// Names of arguments with their values, by the event's name.
    arguments: BTreeMap<String, Vec<(String, String)>>,
    /// The names of the two ends of each arrow.
    arrows: BTreeMap<u64, [Option<String>; 2]>,
}

impl Seen {
    fn path(&self, uuid: u64) -> String {
        let track = &self.tracks[&uuid];
        let name = track.name.clone().unwrap();
        track.parent_uuid.map_or(name.clone(), |parent| format!("{}/{name}", self.path(parent)))
    }
}

/// The names and values of an event's annotations.
fn arguments(event: &TrackEvent, name_of: &dyn Fn(u64) -> String) -> Vec<(String, String)> {
    let argument = |of: &DebugAnnotation| {
        let name = of.name.clone().unwrap_or_else(|| name_of(of.name_iid.unwrap()));
        let values = [
            of.string_value.clone(),
            of.legacy_json_value.clone(),
            of.int_value.map(|value| value.to_string()),
            of.uint_value.map(|value| value.to_string()),
            of.pointer_value.map(|value| value.to_string()),
            of.double_value.map(|value| value.to_string()),
            of.bool_value.map(|value| value.to_string()),
        ];
        let values: Vec<String> = values.into_iter().flatten().collect();
        assert_eq!(values.len(), 1, "{name} has one value");
        (name, values[0].clone())
    };
    event.debug_annotations.iter().map(argument).collect()
}

/// Reads a trace as trace_processor does: packets ordered by time, packets with equal times in file
/// order.
fn seen(bytes: &[u8]) -> Seen {
    let trace = Trace::decode(bytes).unwrap();
    let mut seen = Seen::default();
    let mut begun = BTreeSet::new();
    let mut names: BTreeMap<(u32, bool, u64), String> = BTreeMap::new();
    let mut events: Vec<(u64, u32, TrackEvent)> = Vec::new();
    for packet in trace.packets {
        let TracePacket { timestamp, track_event, track_descriptor, interned_data, .. } = packet;
        let sequence = packet.trusted_packet_sequence_id.unwrap();
        let flags = packet.sequence_flags.unwrap();
        assert_eq!(flags & SEQUENCE_BEGINS != 0, begun.insert(sequence), "a sequence begins once");
        for (is_name, texts) in interned_data
            .into_iter()
            .flat_map(|data| [(true, data.event_names), (false, data.debug_annotation_names)])
        {
            for text in texts {
                let key = (sequence, is_name, text.iid.unwrap());
                assert!(text.iid != Some(0) && names.insert(key, text.name.unwrap()).is_none());
            }
        }
        if let Some(track) = track_descriptor {
            assert!(seen.tracks.insert(track.uuid.unwrap(), track).is_none(), "numbers of tracks are unique");
        }
        events.extend(track_event.map(|event| (timestamp.unwrap(), sequence, event)));
    }
    events.sort_by_key(|(time, ..)| *time);
    let mut open: BTreeMap<u64, Vec<(String, u64)>> = BTreeMap::new();
    for (time, sequence, event) in events {
        let uuid = event.track_uuid.unwrap();
        let path = seen.path(uuid);
        let name = event.name.clone().or_else(|| Some(names[&(sequence, true, event.name_iid?)].clone()));
        for (end, ids) in [&event.flow_ids, &event.terminating_flow_ids].into_iter().enumerate() {
            ids.iter().for_each(|id| seen.arrows.entry(*id).or_default()[end] = name.clone());
        }
        let arguments = arguments(&event, &|iid| names[&(sequence, false, iid)].clone());
        seen.arguments.entry(name.clone().unwrap_or_default()).or_default().extend(arguments);
        match event.kind.unwrap() {
            SLICE_BEGIN => open.entry(uuid).or_default().push((name.unwrap(), time)),
            SLICE_END => {
                let stack = open.get_mut(&uuid).unwrap();
                let (name, start) = stack.pop().expect("an end has a beginning");
                let depth = stack.len();
                seen.slices.push((path, name, start, time, depth));
            }
            INSTANT => seen.instants.push((path, name.unwrap(), time)),
            COUNTER => seen.samples.push((path, time, event.double_counter_value.unwrap())),
            other => panic!("an event of kind {other}"),
        }
    }
    assert!(open.values().all(Vec::is_empty), "every slice ends");
    seen.slices.sort_by(|a, b| (a.2, b.3).cmp(&(b.2, a.3)));
    seen
}

fn of_trace(text: &str, flags: &[&str]) -> Seen {
    let (dir, _) = stage();
    let trace = dir.path().join("t.json");
    fs::write(&trace, text).unwrap();
    let args = ["view", trace.to_str().unwrap(), "--output-format", "perfetto", "--output-file", "-"];
    let output = run(&dir.path().join("store"), &[&args[..], flags].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    seen(&output.stdout)
}

#[test]
fn slices_nest_and_keep_their_arguments() {
    let seen = of_trace(TRACE, &["--show-perfetto-flows"]);
    let first = seen.slices[0].2;
    let slices: Vec<String> = seen
        .slices
        .iter()
        .map(|(path, name, start, end, depth)| {
            format!("{path}: {name} {} {} {depth}", start - first, end - first)
        })
        .collect();
    assert_eq!(
        slices,
        [
            "Process 1/main 1: outer 0 100000 0",
            "Process 1/main 1: inner 10000 30000 1",
            "Process 1/main 1: inner 40000 60000 1",
            "Process 1/Thread 2: worker 50000 80000 0",
        ]
    );
    assert_eq!(seen.instants, [("Process 1/Thread 2".to_owned(), "moment".to_owned(), first + 60_000)]);
    let samples: Vec<(u64, f64)> =
        seen.samples.iter().map(|(_, time, value)| (time - first, *value)).collect();
    assert_eq!(samples, [(0, 5.0), (70_000, 9.0)]);
    assert!(seen.samples[0].0.ends_with("/Counters/memory"), "{}", seen.samples[0].0);
    let outer: BTreeMap<&str, &str> =
        seen.arguments["outer"].iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    for (name, value) in [("count", "3"), ("text", "needle"), ("half", "0.5"), ("list", "[1]")] {
        assert_eq!(outer[name], value, "{name}");
    }
    assert_eq!(outer["big"], u64::MAX.to_string());
    assert!(!outer.contains_key("start_ps"), "whole nanoseconds need no more");
    let arrows: Vec<_> = seen.arrows.values().collect();
    assert_eq!(arrows, [&[Some("inner".to_owned()), Some("worker".to_owned())]]);
    assert!(of_trace(TRACE, &[]).arrows.is_empty(), "arrows are asked for");
}

#[test]
fn what_overlaps_or_is_finer_than_a_nanosecond_is_kept() {
    let seen = of_trace(
        r#"[{"ph":"X","pid":1,"tid":1,"ts":0,"dur":10,"name":"a"},
        {"ph":"X","pid":1,"tid":1,"ts":5,"dur":10,"name":"b"},
        {"ph":"X","pid":1,"tid":1,"ts":6,"dur":1,"name":"c"},
        {"ph":"X","pid":1,"tid":1,"ts":10,"dur":0.0005,"name":"d"},
        {"ph":"B","pid":1,"tid":2,"ts":1,"name":"open"}]"#,
        &[],
    );
    let first = seen.slices[0].2;
    let slices: Vec<String> = seen
        .slices
        .iter()
        .map(|(path, name, start, end, depth)| {
            format!("{path}: {name} {} {} {depth}", start - first, end - first)
        })
        .collect();
    assert_eq!(
        slices,
        [
            "Process 1/Thread 1: a 0 10000 0",
            "Process 1/Thread 2: open 1000 1000 0",
            "Process 1/Thread 1: b 5000 15000 0",
            "Process 1/Thread 1: c 6000 7000 1",
            "Process 1/Thread 1: d 10000 10000 0",
        ]
    );
    let exact: Vec<&(String, String)> =
        seen.arguments["d"].iter().filter(|(name, _)| name.ends_with("_ps")).collect();
    assert_eq!(exact[1], &("duration_ps".to_owned(), "500".to_owned()));
    assert!(seen.arguments["open"].contains(&("unfinished".to_owned(), "true".to_owned())));
}

#[test]
fn several_ranks_are_one_trace() {
    let (dir, _) = stage();
    let store = dir.path().join("store");
    succeed(&store, &["demo", "--ingest-only", "--events", "3000", "--db-bucket", "demo"]);
    let out = dir.path().join("demo.pftrace");
    let args =
        ["export", "demo", "--format", "perfetto", "--show-perfetto-flows", "-o", out.to_str().unwrap()];
    succeed(&store, &args);
    let seen = seen(&fs::read(&out).unwrap());
    let json: serde_json::Value = serde_json::from_str(&succeed(&store, &["export", "demo"])).unwrap();
    let (mut slices, mut samples, mut arrows) = (0, 0, 0);
    for tables in json.as_object().unwrap().values() {
        for rows in tables.as_object().unwrap().values().map(|rows| rows.as_array().unwrap()) {
            slices += rows.iter().filter(|row| row.get("duration_ps").is_some()).count();
            samples += rows
                .iter()
                .filter(|row| row.get("counter").is_some() && row.get("start_ps").is_some())
                .count();
        }
        arrows += tables["arrow"].as_array().unwrap().len();
    }
    assert!(slices > 3000 && samples > 100 && arrows > 100, "{slices} {samples} {arrows}");
    assert_eq!((seen.slices.len() + seen.instants.len(), seen.samples.len()), (slices, samples));
    assert!(seen.arrows.values().all(|ends| ends.iter().all(Option::is_some)), "both ends are there");
    assert_eq!(seen.arrows.len(), arrows);
    for rank in ["rank 0/", "rank 1/"] {
        assert!(
            seen.slices.iter().any(|(path, ..)| path.starts_with(&format!("{rank}Engines/Tensor"))),
            "{rank}"
        );
    }
    assert!(fail(&store, &["export", "demo", "--format", "nonsense"], 2).contains("perfetto"));
}

/// The facts that a trace has in common with the same trace read again. Numbers of tracks and
/// arrows differ, lanes of a track can differ, and exact times count from another zero.
fn contents(seen: Seen) -> [Vec<String>; 5] {
    let Seen { slices, instants, samples, arguments, arrows, .. } = seen;
    let slice = |(path, name, start, end, _): &(String, String, u64, u64, usize)| {
        format!("{path}: {name} {start} {end}")
    };
    let argument = |of: &str, (name, value): &(String, String)| match value.parse::<i64>() {
        Ok(ps) if name == "start_ps" => format!("{of} {name} {}", ps.rem_euclid(1_000)),
        _ => format!("{of} {name} {value}"),
    };
    let arguments = arguments.iter().flat_map(|(of, all)| all.iter().map(|one| argument(of, one)));
    let mut contents = [
        slices.iter().map(slice).collect::<Vec<_>>(),
        instants.into_iter().map(|instant| format!("{instant:?}")).collect(),
        samples.into_iter().map(|sample| format!("{sample:?}")).collect(),
        arguments.collect(),
        arrows.into_values().map(|ends| format!("{ends:?}")).collect(),
    ];
    contents.iter_mut().for_each(|of| of.sort());
    contents
}

/// Ingests a file, exports it as a Perfetto trace, ingests that and exports it again.
#[track_caller]
fn check_read_again(file: Option<&str>) {
    let dir = tempfile::tempdir().unwrap();
    let store = dir.path().join("store");
    match file {
        Some(text) => {
            let trace = dir.path().join("trace.json");
            fs::write(&trace, text).unwrap();
            succeed(&store, &["ingest", trace.to_str().unwrap(), "--db-bucket", "first"]);
        }
        None => {
            succeed(&store, &["demo", "--ingest-only", "--events", "3000", "--db-bucket", "first"]);
        }
    }
    let [first, second] = ["first", "second"].map(|name| dir.path().join(format!("{name}.pftrace")));
    let export = |name: &str, out: &std::path::Path| {
        let out = out.to_str().unwrap();
        succeed(&store, &["export", name, "--format", "perfetto", "--show-perfetto-flows", "-o", out]);
        contents(seen(&fs::read(out).unwrap()))
    };
    let expected = export("first", &first);
    succeed(&store, &["ingest", first.to_str().unwrap(), "--db-bucket", "second"]);
    let found = export("second", &second);
    for (expected, found) in expected.iter().zip(&found) {
        let differs = expected.iter().zip(found).find(|(expected, found)| expected != found);
        assert_eq!((differs, found.len()), (None, expected.len()));
    }
}

/// The reader of Perfetto traces is the inverse of this export: names, times to the picosecond,
/// tracks, arguments, arrows and samples come back.
#[test]
fn an_exported_trace_is_the_same_when_it_is_read_again() {
    check_read_again(Some(TRACE));
    check_read_again(Some(
        r#"[{"ph":"X","pid":1,"tid":1,"ts":0,"dur":10,"name":"a","cat":"x,y"},
        {"ph":"X","pid":1,"tid":1,"ts":5,"dur":10.000001,"name":"b","args":{"ph":"p","n":-3,"z":null}},
        {"ph":"X","pid":1,"tid":1,"ts":6.000017,"dur":1,"name":"c","args":{"mine":"start_ps"}},
        {"ph":"X","pid":1,"tid":1,"ts":10,"dur":0.0005,"name":"d","args":{"deep":{"a":[1,{"b":"c"}]}}},
        {"ph":"i","pid":1,"tid":1,"ts":11.0001,"s":"t","name":""},
        {"ph":"B","pid":1,"tid":2,"ts":1,"name":"open"},
        {"ph":"b","cat":"c","id":1,"pid":1,"ts":1,"name":"w"},{"ph":"e","cat":"c","id":1,"pid":1,"ts":5,"name":"w"},
        {"ph":"b","cat":"c","id":2,"pid":1,"ts":2,"name":"w"},{"ph":"e","cat":"c","id":2,"pid":1,"ts":7,"name":"w"},
        {"ph":"C","pid":1,"ts":3,"name":"load","args":{"a":0.25,"b":7}}]"#,
    ));
    check_read_again(Some(
        r#"[{"ph":"X","pid":1,"tid":1,"ts":1712195495520833.313,"dur":2.5,"name":"wall clock"}]"#,
    ));
    check_read_again(None);
}
