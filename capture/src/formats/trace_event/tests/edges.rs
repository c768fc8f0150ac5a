//! Rare cases: order of tracks, names that look alike, ids, lines, flows of every kind.

use nprof_engine::ingest::{BuildOptions, Builder};
use nprof_engine::model::{Identity, Role, TrackContent, TrackId, TrackSpec, Unit};
use nprof_engine::query;
use nprof_engine::segment::Segment;
use nprof_engine::spill::{MemoryScratch, Space};

use super::super::beginning;
use super::*;
use crate::origin::{Sharing, origins};

/// Names of two slices: from the first to the second.
type Arrows = Vec<(String, String)>;
/// Warnings, with their counts.
type Counts = Vec<(String, u64)>;

/// The arrows that the store draws for a trace, as names of slices, and its warnings.
fn stored(text: &str) -> (Arrows, Counts) {
    let scratch = MemoryScratch::default();
    let mut file = Vec::new();
    let mut builder = Builder::new(&scratch, &mut file, BuildOptions::default()).unwrap();
    read(&mut text.as_bytes(), Context::default(), &mut builder, &mut |_| {}).unwrap();
    let built = builder.finish().unwrap();
    let segment = Segment::open(file).unwrap();
    let name =
        |row: u32| segment.text(query::slice::read(&segment, row).unwrap().name()).unwrap().to_string();
    let mut arrows = Vec::new();
    segment
        .for_each_arrow(|arrow| {
            arrows.push((name(arrow.from), name(arrow.to)));
            Ok(())
        })
        .unwrap();
    (arrows, built.warnings.into_iter().map(|warning| (warning.what, warning.count)).collect())
}

#[test]
fn devices_come_before_hosts() {
    let text = r#"[{"ph":"X","pid":900,"tid":900,"cat":"cpu_op","name":"c","ts":1,"dur":1},
        {"ph":"X","pid":0,"tid":7,"cat":"kernel","name":"k","ts":1,"dur":1},
        {"ph":"X","pid":1,"tid":7,"cat":"gpu_user_annotation","name":"k","ts":1,"dur":1},
        {"ph":"X","pid":"Spans","tid":"x","cat":"Trace","name":"s","ts":1,"dur":1},
        {"ph":"X","pid":800,"tid":2,"cat":"cpu_op","name":"c","ts":1,"dur":1},
        {"ph":"X","pid":800,"tid":9,"cat":"gpu_user_annotation","name":"a","ts":1,"dur":1},
        {"ph":"X","pid":800,"tid":9,"cat":"kernel","name":"k","ts":1,"dur":1},
        {"ph":"M","pid":"Spans","name":"process_sort_index","args":{"sort_index":536870912}},
        {"ph":"M","pid":0,"name":"process_sort_index","args":{"sort_index":5000000}},
        {"ph":"M","pid":900,"name":"process_sort_index","args":{"sort_index":900}},
        {"ph":"M","pid":1,"name":"process_labels","args":{"labels":"GPU 1"}},
        {"ph":"M","pid":0,"name":"process_labels","args":{"labels":"GPU 0"}},
        {"ph":"M","pid":900,"name":"process_labels","args":{"labels":"CPU"}}]"#;
    let recorder = record(text);
    let mut groups: Vec<_> =
        recorder.tracks.iter().filter(|track| track.kind == TrackContent::Group).collect();
    groups.sort_by_key(|group| group.sort);
    let names: Vec<&str> = groups.iter().map(|group| group.name.as_str()).collect();
    assert_eq!(names, ["Process 800", "GPU 0", "GPU 1", "Process 900 · CPU", "Spans"]);
    // A process with both: its streams come before its threads.
    let at = recorder.tracks.iter().position(|track| track.name == "Process 800").unwrap();
    let parent = Some(TrackId(u32::try_from(at).unwrap()));
    let mut threads: Vec<_> = recorder.tracks.iter().filter(|track| track.parent == parent).collect();
    threads.sort_by_key(|track| track.sort);
    let names: Vec<&str> = threads.iter().map(|track| track.name.as_str()).collect();
    assert_eq!(names, ["Stream 9 · annotations", "Stream 9", "Thread 2"]);
}

#[test]
fn devices_without_metadata_are_known_by_their_work() {
    let text = r#"[{"ph":"X","pid":0,"tid":7,"cat":"kernel","name":"k","ts":1,"dur":1},
        {"ph":"X","pid":900,"tid":900,"cat":"cpu_op","name":"c","ts":1,"dur":1}]"#;
    let names: Vec<String> = record(text).tracks.into_iter().map(|track| track.name).collect();
    assert_eq!(names, ["Device 0", "Stream 7", "Process 900", "Thread 900"]);
}

#[test]
fn the_flow_of_a_slice_binds_to_that_slice() {
    // Parent and child start together. The second pair is the same with begins and ends.
    let parent = r#"{"ph":"X","pid":1,"tid":1,"name":"parent","ts":10,"dur":9,"bind_id":1,"flow_out":true}"#;
    let child = r#"{"ph":"X","pid":1,"tid":1,"name":"child","ts":10,"dur":3}"#;
    let target = r#"{"ph":"X","pid":1,"tid":2,"name":"target","ts":30,"dur":3,"bind_id":1,"flow_in":true}"#;
    let arrow = vec![("parent".to_owned(), "target".to_owned())];
    for order in [[parent, child, target], [child, target, parent]] {
        assert_eq!(stored(&format!("[{}]", order.join(","))), (arrow.clone(), vec![]));
    }
    let text = r#"[{"ph":"B","pid":1,"tid":1,"name":"parent","ts":10,"bind_id":1,"flow_out":true},
        {"ph":"B","pid":1,"tid":1,"name":"child","ts":10},{"ph":"E","pid":1,"tid":1,"ts":12},
        {"ph":"E","pid":1,"tid":1,"ts":20},{"ph":"B","pid":1,"tid":2,"name":"target","ts":30},
        {"ph":"E","pid":1,"tid":2,"ts":33,"bind_id":1,"flow_in":true}]"#;
    assert_eq!(stored(text), (arrow, vec![]));
}

#[test]
fn flows_that_draw_nothing_are_counted() {
    let slice = r#"{"ph":"X","pid":1,"tid":1,"name":"a","ts":10,"dur":100}"#;
    let start = |id: u32| format!(r#"{{"ph":"s","name":"f","cat":"f","id":{id},"pid":1,"tid":1,"ts":20}}"#);
    let end = r#"{"ph":"f","bp":"e","name":"f","cat":"f","id":3,"pid":1,"tid":1,"ts":20}"#;
    let (arrows, warnings) = stored(&format!("[{slice},{},{},{end}]", start(1), start(2)));
    assert_eq!(arrows, []);
    let mut counts: Vec<(&str, u64)> = warnings.iter().map(|(what, count)| (what.as_str(), *count)).collect();
    counts.sort_unstable();
    let expected = [
        ("a flow that begins and does not end; it gets no arrow", 2),
        ("a flow that ends or continues without a beginning; it gets no arrow", 1),
    ];
    assert_eq!(counts, expected);
}

#[test]
fn process_and_thread_of_asynchronous_slices_are_kept() {
    let event = |ph: &str, pid: u32, tid: u32, ts: u32| {
        format!(r#"{{"ph":"{ph}","name":"r","cat":"n","id":1,"pid":{pid},"tid":{tid},"ts":{ts}}}"#)
    };
    let text = format!("[{},{}]", event("b", 1, 7, 1), event("e", 1, 9, 5));
    let track = "Process 1/Asynchronous/r · n: r";
    let line = format!("{track} [1000000 +4000000] cat='n' id=1 tid=7 end.tid=9");
    check(text, &[&line], &[]);
    let text = format!("[{},{}]", event("b", 1, 7, 1), event("e", 2, 7, 5));
    let line = format!("{track} [1000000 +4000000] cat='n' id=1 tid=7 end.pid=2");
    check(text, &[&line], &[]);
}

#[test]
fn counters_of_several_ids_are_several_series() {
    let event = |id: &str, ts: u32, value: u32| {
        format!(r#"{{"ph":"C","name":"mem","pid":1,"ts":{ts},{id},"args":{{"v":{value}}}}}"#)
    };
    let ids = [
        r#""id2":{"local":"0x1"}"#,
        r#""id2":{"global":"0x1"}"#,
        r#""id2":"z""#,
        r#""id2":{},"id":5"#,
        r#""id":"0x1""#,
    ];
    let text: Vec<String> = (1..).zip(ids).map(|(ts, id)| event(id, ts, ts)).collect();
    let expected = [
        "Process 1/Counters/mem [local 0x1]: 1 @1000000",
        "Process 1/Counters/mem [global 0x1]: 2 @2000000",
        "Process 1/Counters/mem [z]: 3 @3000000",
        "Process 1/Counters/mem [{}]: 4 @4000000 id=5",
        "Process 1/Counters/mem [0x1]: 5 @5000000",
    ];
    check(format!("[{}]", text.join(",")), &expected, &[]);
}

#[test]
fn stack_frames_keep_their_quotation_marks() {
    let text = format!(
        r#"{{"traceEvents":[{A}],"stackFrames":{{"a\"b":{{"name":"say \"hi\"","n":1,"ok":true,"x":null}},
        "2":{{"name":"operator\"\""}}}}}}"#
    );
    let recorder = check_a(text, &[]);
    let rows: Vec<String> = recorder.rows_of("stack_frame").map(|row| fields(row)).collect();
    let expected = [r#" id='a"b' name='say "hi"' n=1 ok=true x=null"#, r#" id='2' name='operator""'"#];
    assert_eq!(rows, expected);
}

#[test]
fn whole_numbers_are_the_same_id_however_they_are_written() {
    let ids = [("1", "7"), ("1.0", "7.0"), ("\"1\"", "7e0"), ("1", "\"7.0\"")];
    let event = |(pid, tid): &(&str, &str)| {
        format!(r#"{{"ph":"X","pid":{pid},"tid":{tid},"name":"a","ts":1,"dur":2}}"#)
    };
    let text: Vec<String> = ids.iter().map(event).collect();
    check(format!("[{}]", text.join(",")), &["Process 1/Thread 7: a [1000000 +2000000]"; 4], &[]);
    check(event(&("1.5", "1e60")), &["1.5/1e60: a [1000000 +2000000]"], &[]);
}

#[test]
fn ends_before_their_begins_with_another_name_are_counted() {
    let text =
        r#"[{"ph":"E","pid":1,"tid":1,"name":"z","ts":5},{"ph":"B","pid":1,"tid":1,"name":"a","ts":1}]"#;
    let stray = "Process 1/Thread 1: z [5000000 !] ph='E'";
    check(text, &[stray, "Process 1/Thread 1: a [1000000 +4000000…]"], &[Unpaired, Unpaired]);
}

#[test]
fn threads_of_one_name_are_told_apart() {
    let names = |threads: &[(u32, &str)]| {
        let event = |(tid, name): &(u32, &str)| {
            format!(
                r#"{{"ph":"X","pid":1,"tid":{tid},"name":"a","ts":1,"dur":2}},
                {{"ph":"M","pid":1,"tid":{tid},"name":"thread_name","args":{{"name":"{name}"}}}}"#
            )
        };
        let text: Vec<String> = threads.iter().map(event).collect();
        let recorder = record(format!("[{}]", text.join(",")));
        recorder
            .slices
            .iter()
            .map(|slice| recorder.tracks[slice.track.0 as usize].name.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&[(1, "worker-12"), (2, "worker-12")]), ["worker-12 1", "worker-12 2"]);
    assert_eq!(names(&[(12, "worker-12"), (1, "stream 12")]), ["worker-12", "stream 12 1"]);
    assert_eq!(names(&[(1, "a 1 2"), (2, "a 1 2")]), ["a 1 2 1", "a 1 2 2"]);
}

#[test]
fn garbage_between_lines_costs_no_other_line() {
    let text = format!("{A}\nERROR: {{out}} of [disk]\n\n{A}\nnull\n{A}\n{{\"ph\":\"X\",\n{A}\n{A} 7");
    let recorder = record(&text);
    assert_eq!(lines(&recorder), [A_LINE; 5]);
    let places: Vec<String> = recorder.warnings().into_iter().map(|warning| warning.first_place).collect();
    assert_eq!(warnings(&recorder), [DamagedRecord, DamagedRecord], "{:?}", recorder.warnings());
    assert_eq!(places, ["line 7 (byte 188)", "line 2 (byte 53)"]);
    let kept: Vec<String> = recorder.rows_of("unread_event").map(|row| fields(&row[2..])).collect();
    assert_eq!(kept[0], " event='ERROR: {out} of [disk]'");
    assert_eq!(kept.len(), 4);
}

#[test]
fn an_array_that_begins_with_many_other_things_is_refused_early() {
    let text = format!("[{}{A}]", "{\"name\":\"left-pad\"},".repeat(2_000));
    let error = read(&mut text.as_bytes(), Context::default(), &mut Recorder::default(), &mut |_| {});
    let error = error.unwrap_err().to_string();
    assert!(error.contains("there are no trace events in it (byte 19981)"), "{error}");
    let few = format!("[{}{A}]", "{\"name\":\"left-pad\"},".repeat(5));
    check(few, &[A_LINE], &[DamagedRecord]);
}

#[test]
fn a_rank_counts_its_times_from_the_origin_it_is_given() {
    let heads = [r#"{"ts":1712188799900000}"#, r#"{"ts":1712188800050000}"#, A];
    let given = origins(&heads.map(|head| beginning(head.as_bytes())));
    let read_with = |at: usize, text: &str| {
        let mut recorder = Recorder::default();
        let context = Context { origin: given[at], ..Context::default() };
        read(&mut text.as_bytes(), context, &mut recorder, &mut |_| {}).unwrap();
        recorder
    };
    let recorder = read_with(1, r#"[{"ph":"X","pid":1,"tid":1,"name":"a","ts":1712188800050000,"dur":1}]"#);
    assert_eq!(lines(&recorder), ["Process 1/Thread 1: a [150000000000 +1000000]"]);
    assert_eq!(recorder.rank.origin_unix_ns, Some(1_712_188_799_900_000_000));
    assert_eq!(given[2].map(|origin| origin.sharing()), Some(Sharing::Alone));
    let recorder = read_with(2, A);
    assert_eq!((lines(&recorder), warnings(&recorder)), (vec![A_LINE.to_owned()], vec![AdjustedValue]));
}

#[test]
fn slices_that_are_open_at_once_are_whole_whatever_their_number() {
    // More events than the memory for waiting ones holds, and more than a piece of scratch space.
    const COUNT: u64 = 100_000;
    let event = |ph: &str, id: u64, ts: u64| {
        format!(
            r#"{{"ph":"{ph}","cat":"c","id":{id},"pid":1,"tid":1,"name":"a","ts":{ts},"args":{{"{ph}":{id}}}}},"#
        )
    };
    let mut text = String::from("[");
    (0..COUNT).for_each(|id| text.push_str(&event("b", id, id + 1)));
    (0..COUNT).for_each(|id| text.push_str(&event("e", id, COUNT + id * 3)));
    let scratch = MemoryScratch::default();
    let context = Context { space: Some(Space::new(&scratch)), ..Context::default() };
    let mut recorder = Recorder::default();
    read(&mut text.as_bytes(), context, &mut recorder, &mut |_| {}).unwrap();
    assert_eq!(warnings(&recorder), []);
    assert_eq!(recorder.slices.len() as u64, COUNT);
    for (slice, id) in recorder.slices.iter().zip(0_i64..) {
        let (start_us, end_us) = (id + 1, 100_000 + id * 3);
        assert_eq!(
            (slice.start_ps, slice.duration_ps),
            (start_us * 1_000_000, (end_us - start_us) * 1_000_000)
        );
        assert_eq!(fields(&slice.fields), format!(" cat='c' id={id} b={id} tid=1 e={id}"));
    }
    // Without scratch space the events are counted as unpaired.
    let recorder = record(&text);
    assert_eq!(warnings(&recorder), [Unpaired, Unpaired]);
}

#[test]
fn memory_instants_are_counters_too() {
    let event = |ts: u32, args: &str| {
        format!(r#"{{"ph":"i","s":"t","pid":1,"tid":1,"name":"[memory]","ts":{ts},"args":{{{args}}}}}"#)
    };
    let text = [
        event(1, r#""Total Allocated":100,"Bytes":100,"Device Id":0,"Device Type":1"#),
        event(2, r#""Total Allocated":70,"Bytes":-30,"Device Id":0,"Device Type":1"#),
        event(2, r#""Total Allocated":7,"Bytes":7,"Device Id":1,"Device Type":1"#),
        // Only changes, not ordered by time.
        event(9, r#""Bytes":-4,"Device Id":-1,"Device Type":0"#),
        event(3, r#""Bytes":16,"Device Id":-1,"Device Type":0"#),
        event(4, r#""note":"of no device""#),
    ];
    let recorder = record(format!("[{}]", text.join(",")));
    assert_eq!(recorder.slices.len(), 6, "the instants stay");
    let counters = [
        "Process 1/Counters/memory [GPU 0]: 100 @1000000",
        "Process 1/Counters/memory [GPU 0]: 70 @2000000",
        "Process 1/Counters/memory [GPU 1]: 7 @2000000",
        "Process 1/Counters/memory since start [CPU]: 16 @3000000",
        "Process 1/Counters/memory since start [CPU]: 12 @9000000",
    ];
    assert_eq!(lines(&recorder)[6..], counters);
    let units = recorder.tracks.iter().filter(|track| matches!(track.kind, TrackContent::Counter(_)));
    assert!(units.clone().count() == 3 && units.clone().all(|track| track.unit == Unit::Bytes));
}

#[test]
fn launches_are_linked_where_the_trace_draws_no_arrows() {
    let launch = r#"{"ph":"X","cat":"cuda_runtime","pid":1,"tid":1,"name":"launch","ts":1,"dur":1,"args":{"correlation":9}}"#;
    let kernel =
        r#"{"ph":"X","cat":"kernel","pid":0,"tid":7,"name":"k","ts":5,"dur":1,"args":{"correlation":9}}"#;
    let arrow = r#"{"ph":"s","cat":"ac2g","id":9,"pid":1,"tid":1,"name":"ac2g","ts":1}"#;
    for order in [[launch, kernel], [kernel, launch]] {
        let recorder = record(format!("[{}]", order.join(",")));
        let names: Vec<(&str, &str)> = recorder
            .links
            .iter()
            .map(|(from, to, _)| {
                let name = |key| recorder.slices[recorder.index_of(key)].name.as_str();
                (name(*from), name(*to))
            })
            .collect();
        assert_eq!(names, [("launch", "k")]);
    }
    // A number that is used again: the last launch before the work counts, wherever it stands in
    // the file and whichever track it is on.
    let again = launch.replace(r#""ts":1"#, r#""ts":20"#).replace("launch", "again");
    let late = kernel.replace(r#""ts":5"#, r#""ts":25"#).replace(r#""k""#, r#""late""#);
    let recorder = record(format!("[{kernel},{late},{again},{launch}]"));
    let name = |key| recorder.slices[recorder.index_of(key)].name.as_str();
    let names: Vec<_> = recorder.links.iter().map(|(from, to, _)| (name(*from), name(*to))).collect();
    assert_eq!(names, [("launch", "k"), ("again", "late")]);
    let recorder = record(format!("[{launch},{kernel},{arrow}]"));
    assert_eq!((recorder.links.len(), recorder.flow_points.len()), (0, 1));
}

#[test]
fn the_hosts_frames_in_a_devices_process_are_no_stream() {
    let text = r#"[
        {"ph":"i","s":"g","pid":0,"tid":7,"name":"start","ts":0},
        {"ph":"M","name":"process_labels","pid":0,"tid":0,"args":{"labels":"GPU 0"}},
        {"ph":"X","cat":"python_function","pid":0,"tid":0,"name":"run","ts":1,"dur":9},
        {"ph":"X","cat":"kernel","pid":0,"tid":7,"name":"k","ts":2,"dur":1},
        {"ph":"X","cat":"gpu_user_annotation","pid":0,"tid":8,"name":"step","ts":2,"dur":1}
    ]"#;
    let recorder = record(text);
    let role_of = |name: &str| {
        let slice = recorder.slices.iter().find(|slice| slice.name == name).unwrap();
        recorder.tracks[slice.track.0 as usize].identity.role
    };
    assert_eq!(role_of("run"), Role::HostThread);
    assert_eq!([role_of("k"), role_of("step")], [Role::Kernels, Role::Annotations]);
    let sort_of = |name: &str| recorder.tracks.iter().find(|track| track.name == name).unwrap().sort;
    assert!(sort_of("Global") > sort_of("GPU 0"), "devices come before instants of all processes");
}

#[test]
fn annotations_of_a_device_stand_above_their_stream() {
    let text = r#"[
        {"ph":"M","name":"process_labels","pid":0,"tid":0,"args":{"labels":"GPU 0"}},
        {"ph":"M","name":"thread_name","pid":0,"tid":7,"args":{"name":"stream 7 "}},
        {"ph":"M","name":"thread_sort_index","pid":0,"tid":7,"args":{"sort_index":7}},
        {"ph":"M","name":"thread_name","pid":0,"tid":20,"args":{"name":"stream 20 "}},
        {"ph":"M","name":"thread_sort_index","pid":0,"tid":20,"args":{"sort_index":20}},
        {"ph":"X","cat":"gpu_user_annotation","pid":0,"tid":7,"name":"step","ts":2,"dur":9},
        {"ph":"X","cat":"gpu_user_annotation","pid":0,"tid":7,"name":"nccl:all_reduce","ts":2,"dur":1},
        {"ph":"X","cat":"kernel","pid":0,"tid":20,"name":"k20","ts":2,"dur":1},
        {"ph":"X","cat":"kernel","pid":0,"tid":7,"name":"k7","ts":2,"dur":1},
        {"ph":"B","cat":"gpu_user_annotation","pid":0,"tid":20,"name":"begun","ts":5},
        {"ph":"E","pid":0,"tid":20,"ts":6},
        {"ph":"X","cat":"user_annotation","pid":900,"tid":900,"name":"of the host","ts":1,"dur":9}
    ]"#;
    let recorder = record(text);
    let mut tracks: Vec<_> =
        recorder.tracks.iter().filter(|track| track.kind != TrackContent::Group).collect();
    tracks.sort_by_key(|track| (track.parent, track.sort));
    let shown = |track: &&TrackSpec| {
        let Identity { role, chip, number, .. } = track.identity;
        let names = recorder.slices.iter().filter(|of| recorder.tracks[of.track.0 as usize] == **track);
        let names: Vec<&str> = names.map(|of| of.name.as_str()).collect();
        format!("{} {role:?} {chip:?} {number:?}: {}", track.name, names.join(" "))
    };
    assert_eq!(
        tracks.iter().map(shown).collect::<Vec<_>>(),
        [
            "stream 7 · annotations Annotations Some(0) Some(7): step nccl:all_reduce",
            "stream 7 Kernels Some(0) Some(7): k7",
            // An end has no category, so such a pair is where its thread is.
            "stream 20 Kernels Some(0) Some(20): k20 begun",
            "Thread 900 HostThread None Some(900): of the host",
        ]
    );
    // Exports write the process and the thread of the trace.
    let rows = recorder.rows_of("track").filter(|row| format!("{row:?}").contains("\"7\""));
    assert_eq!(rows.count(), 2, "the stream and its annotations");
}
