//! Tests of the reader: what each kind of packet becomes.

mod damage;
mod legacy_events;
mod packed_packets;
mod state;

use nprof_engine::exec::Work;
use nprof_engine::fixture::{RecordedSlice, Recorder};
use nprof_engine::model::{Nesting, OwnedValue, Role, SliceForm, TrackContent, Unit};
use nprof_engine::spill::{MemoryScratch, Space};

use super::PacketContext;
use super::fixture::{ProtoMessage, annotation, descriptor, event, packet, trace, varied};
use crate::archive::limit;
use crate::error::Error;

const BEGIN: u64 = 1;
const END: u64 = 2;
const INSTANT: u64 = 3;
const COUNTER: u64 = 4;

/// Reads a trace.
#[track_caller]
fn record(bytes: &[u8]) -> Recorder {
    try_record(bytes, Work::IN_PLACE).unwrap()
}

/// Reads a trace until the work is cancelled.
fn try_record(bytes: &[u8], work: Work<'_>) -> Result<Recorder, Error> {
    let (scratch, mut recorder) = (MemoryScratch::default(), Recorder::default());
    let space = Space { work, ..Space::new(&scratch) };
    let context = PacketContext { space, origin: None, most_unpacked: limit::packets(bytes.len() as u64) };
    super::read(&mut &*bytes, context, &mut recorder, &mut |_| {})?;
    Ok(recorder)
}

#[track_caller]
fn read(packets: &[ProtoMessage]) -> Recorder {
    record(&trace(packets))
}

fn end(track: u64) -> ProtoMessage {
    ProtoMessage::new().number(9, END).number(11, track)
}

/// A slice as text: path of its track, name, start and duration in nanoseconds, form.
fn shown(recorder: &Recorder, slice: &RecordedSlice) -> String {
    let form = match slice.form {
        SliceForm::Complete => "",
        SliceForm::Instant => " instant",
        SliceForm::Unfinished => " unfinished",
    };
    let (start, duration) = (slice.start_ps / 1_000, slice.duration_ps / 1_000);
    format!("{}: {} {start}+{duration}{form}", recorder.path(slice.track), slice.name)
}

fn all(recorder: &Recorder) -> Vec<String> {
    let mut all: Vec<String> = recorder.slices.iter().map(|slice| shown(recorder, slice)).collect();
    all.sort();
    all
}

fn samples(recorder: &Recorder) -> Vec<String> {
    let sample = |of: &nprof_engine::fixture::RecordedSample| {
        format!("{}: {} {}", recorder.path(of.track), of.time_ps / 1_000, of.value)
    };
    recorder.samples.iter().map(sample).collect()
}

fn arrows(recorder: &Recorder) -> Vec<String> {
    let name = |key| recorder.slices[recorder.index_of(key)].name.clone();
    recorder.links.iter().map(|(from, to, _)| format!("{} > {}", name(*from), name(*to))).collect()
}

fn warnings(recorder: &Recorder) -> Vec<(String, u64)> {
    recorder.warnings().into_iter().map(|warning| (warning.what, warning.count)).collect()
}

fn text(text: &str) -> OwnedValue {
    OwnedValue::Text(text.to_owned())
}

fn json(text: &str) -> OwnedValue {
    OwnedValue::Json(text.to_owned())
}

#[test]
fn a_trace_of_all_kinds_is_read() {
    let recorder = record(&varied());
    let slices = [
        "Track 0xd: inside 900+0 instant",
        "Track 0xd: transfer 120+100",
        "server 7/Thread 9: older 300+5000",
        "server 7/main 8: step 100+100",
    ];
    // The first event of a track without a name names it.
    let slices = slices.map(|slice| slice.replace("Track 0xd", "transfer"));
    let mut expected = slices.to_vec();
    expected.sort();
    let base = recorder.slices.iter().map(|slice| slice.start_ps).min().unwrap() / 1_000 - 100;
    assert_eq!(base, 1_000_000, "the clock starts near zero, which is kept");
    let moved: Vec<String> = all(&recorder).iter().map(|slice| slice.replace(" 1000", " ")).collect();
    assert_eq!(moved, expected);
    assert_eq!(samples(&recorder), ["server 7/memory: 1000150 3072"]);
    assert_eq!(arrows(&recorder), ["step > transfer"]);
    assert_eq!(recorder.rank.source, "perfetto");
    assert_eq!(recorder.rank.origin_unix_ns, Some(1_700_000_000_000_000_000 - 1_000_000));
    let step = recorder.slices.iter().find(|slice| slice.name == "step").unwrap();
    let fields = [
        ("cat", text("cat")),
        ("bytes", OwnedValue::Int(512)),
        ("shape", json(r#"{"dims":[2],"kind":"text"}"#)),
    ];
    assert_eq!(step.fields, fields.map(|(name, value)| (name.to_owned(), value)));
    assert_eq!(
        warnings(&recorder),
        [("packets of `ftrace_events`, which nprof does not read".to_owned(), 1)]
    );
    let rows: Vec<_> = recorder.rows_of("unread_packet").collect();
    assert_eq!(rows.len(), 1);
}

#[test]
fn begins_and_ends_nest_in_the_order_of_time_and_not_of_the_file() {
    let recorder = read(&[
        packet(2, 400, 11, &end(5)),
        packet(1, 100, 11, &event(BEGIN, 5, "outer")),
        packet(1, 300, 11, &end(5)),
        packet(1, 200, 11, &event(BEGIN, 5, "inner")),
        packet(1, 300, 11, &event(BEGIN, 5, "next")),
        packet(1, 350, 11, &end(5)),
        packet(1, 360, 11, &event(INSTANT, 5, "now")),
        packet(1, 10, 60, &descriptor(5, "Track")),
    ]);
    let expected =
        ["Track: inner 200+100", "Track: next 300+50", "Track: now 360+0 instant", "Track: outer 100+300"];
    assert_eq!(all(&recorder), expected);
    assert!(warnings(&recorder).is_empty(), "{:?}", warnings(&recorder));
}

#[test]
fn events_without_partners_are_kept() {
    let recorder = read(&[
        packet(1, 100, 11, &end(5)),
        packet(1, 200, 11, &event(BEGIN, 5, "open")),
        packet(1, 300, 11, &event(INSTANT, 5, "last")),
        packet(1, 100, 11, &event(BEGIN, 6, "a")),
        packet(1, 200, 11, &event(BEGIN, 6, "b")),
        packet(1, 300, 11, &event(END, 6, "a")),
        packet(1, 400, 11, &event(END, 6, "c")),
    ]);
    let expected = [
        "a: a 100+200",
        "a: b 200+200 unfinished",
        "a: c 400+0 instant",
        "open:  100+0 instant",
        "open: last 300+0 instant",
        "open: open 200+100 unfinished",
    ];
    assert_eq!(all(&recorder), expected);
    let counts: Vec<u64> = warnings(&recorder).iter().map(|(_, count)| *count).collect();
    assert_eq!(counts, [2, 2], "{:?}", recorder.warnings());
}

#[test]
fn annotations_of_every_kind_become_fields() {
    let older = ProtoMessage::new()
        .number(1, 1)
        .text(2, "k")
        .message(3, &ProtoMessage::new().number(1, 2).message(4, &ProtoMessage::new().number(5, 3)));
    let of_begin = [
        annotation("bool").number(2, 1),
        annotation("uint").number(3, u64::MAX),
        annotation("int").number(4, (-5_i64).cast_unsigned()),
        annotation("float").float(5, 1.5),
        annotation("text").text(6, "a\"b\n"),
        annotation("pointer").number(7, 255),
        annotation("older").message(8, &older),
        annotation("json").text(9, r#"{ "a": [1, 2] }"#),
        annotation("odd").text(9, "{no"),
        annotation("list")
            .message(12, &ProtoMessage::new().text(6, "q\""))
            .message(12, &ProtoMessage::new().float(5, f64::NAN)),
        annotation("nothing"),
        annotation("both").number(4, 1),
        annotation("cat").text(6, "mine"),
    ];
    let begin =
        of_begin.iter().fold(event(BEGIN, 5, "a").text(22, "x").text(22, "y"), |event, annotation| {
            event.message(4, annotation)
        });
    let begin =
        begin.number(52, 42).message(33, &ProtoMessage::new().text(2, "a.rs").text(3, "main").number(4, 7));
    let last = end(5).message(4, &annotation("both").number(4, 2));
    let recorder = read(&[packet(1, 100, 11, &begin), packet(1, 200, 11, &last)]);
    let expected = [
        ("cat", text("x,y")),
        ("correlation_id", OwnedValue::Int(42)),
        ("source_location", text("a.rs:7 main")),
        ("bool", OwnedValue::Bool(true)),
        ("uint", OwnedValue::Uint(u64::MAX)),
        ("int", OwnedValue::Int(-5)),
        ("float", OwnedValue::Float(1.5)),
        ("text", text("a\"b\n")),
        ("pointer", OwnedValue::Int(255)),
        ("older", json(r#"{"k":[3]}"#)),
        ("json", json(r#"{"a":[1,2]}"#)),
        ("odd", text("{no")),
        ("list", json(r#"["q\"","NaN"]"#)),
        ("nothing", json("null")),
        ("both", OwnedValue::Int(2)),
        ("args.cat", text("mine")),
    ];
    assert_eq!(recorder.slices[0].fields, expected.map(|(name, value)| (name.to_owned(), value)));
    assert_eq!(warnings(&recorder).len(), 1, "{:?}", recorder.warnings());
}

#[test]
fn tracks_make_a_tree_whenever_they_are_described() {
    let process = |uuid: u64, pid: u64, name: &str| {
        ProtoMessage::new().number(1, uuid).message(3, &ProtoMessage::new().number(1, pid).text(6, name))
    };
    let child = |uuid, name, parent, rank| descriptor(uuid, name).number(5, parent).number(12, rank);
    let recorder = read(&[
        packet(1, 100, 11, &event(INSTANT, 3, "x")),
        packet(1, 100, 11, &event(INSTANT, 4, "x")),
        packet(1, 100, 11, &event(INSTANT, 5, "x")),
        packet(1, 100, 11, &event(INSTANT, 6, "x")),
        packet(1, 100, 11, &event(INSTANT, 0, "x")),
        packet(1, 100, 60, &child(3, "second", 2, 2)),
        packet(1, 100, 60, &child(4, "first", 2, 1)),
        packet(1, 100, 60, &descriptor(2, "group").number(5, 1).number(11, 3)),
        packet(1, 100, 60, &process(1, 7, "server")),
        packet(1, 100, 60, &descriptor(5, "circle").number(5, 6)),
        packet(1, 100, 60, &descriptor(6, "round").number(5, 5)),
    ]);
    let mut paths: Vec<String> = recorder.slices.iter().map(|slice| recorder.path(slice.track)).collect();
    paths.sort();
    assert!(paths.contains(&"server 7/group/first".to_owned()), "{paths:?}");
    assert!(paths.contains(&"server 7/group/second".to_owned()), "{paths:?}");
    assert!(paths.contains(&"Global".to_owned()), "{paths:?}");
    let sort = |name: &str| recorder.tracks.iter().find(|track| track.name == name).unwrap().sort;
    assert!(sort("first") < sort("second"));
}

#[test]
fn siblings_of_one_name_are_one_track_of_several_lanes() {
    let recorder = read(&[
        packet(1, 100, 60, &descriptor(2, "requests")),
        packet(1, 100, 60, &descriptor(3, "requests")),
        packet(1, 100, 60, &descriptor(4, "requests").number(15, 2)),
        packet(1, 100, 11, &event(BEGIN, 2, "a")),
        packet(1, 150, 11, &event(BEGIN, 3, "b")),
        packet(1, 160, 11, &event(BEGIN, 4, "c")),
        packet(1, 200, 11, &end(2)),
        packet(1, 250, 11, &end(3)),
        packet(1, 260, 11, &end(4)),
    ]);
    assert_eq!(all(&recorder), ["requests: a 100+100", "requests: b 150+100", "requests: c 160+100"]);
    let kinds: Vec<_> = recorder.tracks.iter().map(|track| track.kind).collect();
    assert_eq!(kinds.len(), 2);
    assert!(matches!(kinds[0], TrackContent::Slices(_, Nesting::Concurrent)));
    assert!(matches!(kinds[1], TrackContent::Slices(_, Nesting::Calls)));
}

#[test]
fn threads_are_named_by_any_packet_and_are_of_the_host() {
    let tree = ProtoMessage::new()
        .message(1, &ProtoMessage::new().number(1, 7).text(3, "/bin/server").text(3, "--fast"))
        .message(2, &ProtoMessage::new().number(1, 8).number(3, 7).text(2, "worker"));
    let thread = ProtoMessage::new().number(1, 1).message(4, &ProtoMessage::new().number(1, 7).number(2, 8));
    let kernel = event(BEGIN, 2, "k").text(22, "kernel");
    let recorder = read(&[
        packet(1, 100, 11, &event(INSTANT, 1, "x")),
        packet(1, 100, 60, &thread),
        packet(1, 100, 2, &tree),
        packet(1, 100, 11, &kernel),
        packet(1, 200, 11, &end(2)),
    ]);
    assert_eq!(all(&recorder), ["k: k 100+100", "server 7/worker 8: x 100+0 instant"]);
    let roles: Vec<_> = recorder.tracks.iter().map(|track| track.identity.role).collect();
    assert_eq!(roles, [Role::Unknown, Role::HostThread, Role::Kernels]);
    assert_eq!(recorder.rows_of("track").count(), 1);
}

#[test]
fn a_track_of_annotations_alone_is_no_stream() {
    let annotation = |uuid, name| event(BEGIN, uuid, name).text(22, "gpu_user_annotation");
    let kernel = event(BEGIN, 2, "k").text(22, "kernel");
    let recorder = read(&[
        packet(1, 100, 60, &descriptor(1, "annotations")),
        packet(1, 100, 60, &descriptor(2, "stream")),
        packet(1, 100, 11, &annotation(1, "step")),
        packet(1, 100, 11, &annotation(2, "step")),
        packet(1, 100, 11, &kernel),
        packet(1, 200, 11, &end(2)),
        packet(1, 200, 11, &end(2)),
        packet(1, 200, 11, &end(1)),
        packet(1, 200, 11, &end(3)),
    ]);
    let roles: Vec<_> =
        recorder.tracks.iter().map(|track| (track.name.as_str(), track.identity.role)).collect();
    let expected = [("annotations", Role::Annotations), ("stream", Role::Kernels)];
    assert_eq!(roles[..2], expected, "{roles:?}");
}

#[test]
fn counters_have_units_factors_and_differences() {
    let counter = |uuid, name, facts: &ProtoMessage| descriptor(uuid, name).message(8, facts);
    let value = |track, number: i64| event(COUNTER, track, "").number(30, number.cast_unsigned());
    let with_extra = event(INSTANT, 9, "x").number(31, 3).number(31, 2).number(12, 10).number(12, 7);
    let defaults = ProtoMessage::new().message(11, &ProtoMessage::new().number(45, 1));
    let recorder = read(&[
        packet(1, 100, 60, &counter(1, "a", &ProtoMessage::new().number(3, 3).number(4, 1_000))),
        packet(1, 100, 11, &value(1, 5)),
        packet(1, 200, 11, &value(2, 5)),
        packet(1, 300, 11, &value(2, -2)),
        packet(1, 400, 11, &with_extra),
        packet(1, 500, 11, &event(INSTANT, 9, "y").float(46, 0.5)).message(59, &defaults),
        packet(1, 100, 60, &counter(2, "b", &ProtoMessage::new().number(5, 1).text(6, "MHz"))),
        packet(1, 100, 60, &counter(3, "c", &ProtoMessage::new().text(6, "Hz"))),
        packet(1, 600, 11, &value(3, (1 << 53) + 1)),
    ]);
    let expected = [
        "a: 100 5000",
        "a: 500 500",
        "b [MHz]: 200 5",
        "b [MHz]: 300 3",
        "b [MHz]: 400 10",
        "c: 400 10",
        "c: 600 9007199254740992",
    ];
    let mut found = samples(&recorder);
    found.sort();
    assert_eq!(found, expected);
    let exact = recorder.samples.iter().find_map(|sample| sample.fields.first().cloned());
    assert_eq!(exact, Some(("exact_value".to_owned(), OwnedValue::Int((1 << 53) + 1))));
    let unit = |name: &str| recorder.tracks.iter().find(|track| track.name == name).unwrap().unit;
    assert_eq!([unit("a"), unit("b [MHz]"), unit("c")], [Unit::Bytes, Unit::None, Unit::Hertz]);
}

#[test]
fn flows_lead_from_the_earliest_event_on() {
    let recorder = read(&[
        packet(1, 300, 11, &event(INSTANT, 1, "c").fixed(48, 9)),
        packet(1, 100, 11, &event(INSTANT, 2, "a").fixed(47, 9).number(36, 5)),
        packet(1, 200, 11, &event(INSTANT, 3, "b").fixed(47, 9)),
        packet(1, 400, 11, &event(INSTANT, 1, "d").fixed(47, 9)),
        packet(1, 500, 11, &event(INSTANT, 1, "e").bytes(47, &9_u64.to_le_bytes())),
        packet(1, 50, 11, &event(INSTANT, 1, "early").fixed(48, 7)),
        packet(1, 60, 11, &event(INSTANT, 1, "late").fixed(47, 7)),
        packet(1, 60, 11, &event(INSTANT, 1, "alone").fixed(48, 6)),
    ]);
    let mut found = arrows(&recorder);
    found.sort();
    assert_eq!(found, ["a > b", "b > c", "d > e", "late > early"]);
    let texts: Vec<u64> = warnings(&recorder).iter().map(|(_, count)| *count).collect();
    assert_eq!(texts, [1, 1], "{:?}", recorder.warnings());
}

#[test]
fn states_end_when_the_next_one_begins() {
    let state = |name: &str| event(5, 1, name);
    let nothing = ProtoMessage::new().number(9, 5).number(11, 1);
    let recorder = read(&[
        packet(1, 100, 11, &state("idle")),
        packet(1, 300, 11, &nothing),
        packet(1, 200, 11, &state("busy")),
        packet(1, 400, 11, &state("idle")),
    ]);
    let expected = ["idle: busy 200+100", "idle: idle 100+100", "idle: idle 400+0 unfinished"];
    assert_eq!(all(&recorder), expected);
    assert!(warnings(&recorder).is_empty(), "{:?}", warnings(&recorder));
}
