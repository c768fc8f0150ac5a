//! Older events: the phases of Trace Event JSON within track events.

use super::super::fixture::{ProtoMessage, annotation, interned, packet};
use super::{all, read, samples, warnings};

/// An event of an older phase.
fn older(phase: u8, name: &str, more: &ProtoMessage) -> ProtoMessage {
    let legacy = ProtoMessage([ProtoMessage::new().number(2, u64::from(phase)).0, more.0.clone()].concat());
    ProtoMessage::new().text(23, name).text(22, "c").message(6, &legacy)
}

fn thread(pid: u64, tid: u64) -> ProtoMessage {
    ProtoMessage::new().number(18, pid).number(19, tid)
}

#[test]
fn phases_become_what_they_are_in_json() {
    let none = ProtoMessage::new();
    let id = ProtoMessage::new().number(6, 5);
    let on = |more: &ProtoMessage| ProtoMessage([thread(1, 2).0, more.0.clone()].concat());
    let recorder = read(&[
        packet(1, 100, 11, &older(b'B', "b", &thread(1, 2))),
        packet(1, 110, 11, &older(b'X', "x", &on(&ProtoMessage::new().number(3, 7)))),
        packet(1, 200, 11, &older(b'E', "b", &thread(1, 2))),
        packet(1, 300, 11, &older(b'I', "thread", &thread(1, 2))),
        packet(1, 300, 11, &older(b'I', "process", &on(&ProtoMessage::new().number(14, 2)))),
        packet(1, 300, 11, &older(b'i', "global", &on(&ProtoMessage::new().number(14, 1)))),
        packet(1, 400, 11, &older(b'b', "n", &on(&id))),
        packet(1, 410, 11, &older(b'b', "m", &on(&id))),
        packet(1, 420, 11, &older(b'n', "n", &on(&id))),
        packet(1, 430, 11, &older(b'e', "m", &on(&id))),
        packet(1, 450, 11, &older(b'e', "n", &on(&id))),
        packet(1, 500, 11, &older(b'S', "s", &on(&id))),
        packet(1, 600, 11, &older(b'F', "s", &on(&id))),
        packet(1, 700, 11, &older(b'O', "object", &on(&none))),
    ]);
    let expected = [
        "Global: global 300+0 instant",
        "Process 1/Process events: process 300+0 instant",
        "Process 1/Thread 2: b 100+100",
        "Process 1/Thread 2: object 700+0 instant",
        "Process 1/Thread 2: thread 300+0 instant",
        "Process 1/Thread 2: x 110+7000",
        "Process 1/c: m 410+20",
        "Process 1/c: n 400+50",
        "Process 1/c: n 420+0 instant",
        "Process 1/s · c: s 500+100",
    ];
    assert_eq!(all(&recorder), expected);
    assert!(warnings(&recorder).is_empty(), "{:?}", warnings(&recorder));
}

#[test]
fn a_sequence_has_a_thread_and_its_times() {
    let described = ProtoMessage::new().number(1, 7).number(2, 8).text(5, "main").number(6, 2);
    let timed = |delta: u64| older(b'I', "x", &ProtoMessage::new()).number(1, delta);
    let words = ProtoMessage::new().message(2, &interned(3, "interned"));
    let named = ProtoMessage::new()
        .number(16, 9)
        .message(6, &ProtoMessage::new().number(1, 3).number(2, u64::from(b'I')));
    let without = |event: &ProtoMessage| ProtoMessage::new().number(10, 1).message(11, event);
    let recorder = read(&[
        ProtoMessage::new().number(10, 1).message(44, &described),
        without(&timed(1)),
        without(&timed(2)),
        without(&named).message(12, &words),
        ProtoMessage::new().number(10, 1).message(43, &ProtoMessage::new().number(1, 7).text(6, "server")),
    ]);
    let expected = [
        "server 7/main 8: interned 9000+0 instant",
        "server 7/main 8: x 3000+0 instant",
        "server 7/main 8: x 5000+0 instant",
    ];
    assert_eq!(all(&recorder), expected);
}

#[test]
fn counters_have_a_track_for_each_series() {
    let counter = older(b'C', "memory", &thread(1, 2))
        .message(4, &annotation("used").number(4, 5))
        .message(4, &annotation("free").text(6, "6.5"))
        .message(4, &annotation("odd").text(6, "none"));
    let alone = older(b'C', "load", &thread(1, 2)).message(4, &annotation("value").float(5, 0.5));
    let recorder = read(&[packet(1, 100, 11, &counter), packet(1, 200, 11, &alone)]);
    let mut found = samples(&recorder);
    found.sort();
    let expected =
        ["Process 1/load: 200 0.5", "Process 1/memory · free: 100 6.5", "Process 1/memory · used: 100 5"];
    assert_eq!(found, expected);
    assert_eq!(warnings(&recorder).len(), 1);
}

#[test]
fn flows_bind_as_in_json() {
    let on = |tid, more: ProtoMessage| ProtoMessage([thread(1, tid).0, more.0].concat());
    let flow = |id| ProtoMessage::new().number(8, id);
    let out = ProtoMessage::new().number(3, 9).number(8, 4).number(13, 2);
    let back = ProtoMessage::new().number(3, 9).number(8, 4).number(13, 1);
    let recorder = read(&[
        packet(1, 100, 11, &older(b's', "f", &on(2, flow(3)))),
        packet(1, 150, 11, &older(b't', "f", &on(2, flow(3)))),
        packet(1, 200, 11, &older(b'f', "f", &on(3, flow(3).number(12, 1)))),
        packet(1, 300, 11, &older(b'f', "f", &on(3, flow(3)))),
        packet(1, 100, 11, &older(b'X', "from", &on(2, out))),
        packet(1, 200, 11, &older(b'X', "to", &on(3, back))),
    ]);
    use nprof_engine::model::{Bind::*, FlowPhase::*};
    let of = |is_own: bool| {
        let points = recorder.flow_points.iter().filter(move |point| matches!(point.bind, Own(_)) == is_own);
        points.map(|point| (point.key, (point.phase, point.bind))).unzip::<_, _, Vec<_>, Vec<_>>()
    };
    let (keys, points) = of(false);
    assert_eq!(points, [(Start, Enclosing), (Step, Enclosing), (End, Enclosing), (End, Next)]);
    assert!(keys.iter().all(|key| *key == keys[0]));
    let (own_keys, points) = of(true);
    assert_eq!(points, [(Start, Own(0)), (End, Own(0))]);
    assert!(own_keys.iter().all(|key| *key == own_keys[0] && *key != keys[0]));
    assert_eq!(super::arrows(&recorder), [""; 0]);
}

#[test]
fn a_slice_says_what_it_is_to_its_flow() {
    use nprof_engine::model::FlowPhase::*;
    let at = |direction: u64| {
        let flow = ProtoMessage::new().number(3, 1).number(8, 4).number(13, direction);
        ProtoMessage([thread(1, 2).0, flow.0].concat())
    };
    let slice = |ns: u64, direction: u64| packet(1, ns, 11, &older(b'X', "x", &at(direction)));
    // A begin and its end can both be points.
    let begin = packet(1, 50_000, 11, &older(b'B', "b", &at(2)));
    let end = packet(1, 60_000, 11, &older(b'E', "b", &at(3)));
    let recorder =
        read(&[slice(10_000, 2), slice(20_000, 1), slice(30_000, 3), slice(40_000, 1), begin, end]);
    let mut points: Vec<_> =
        recorder.flow_points.iter().map(|point| (point.time_ps / 1_000_000, point.phase)).collect();
    points.sort_by_key(|(time, _)| *time);
    // An end in the middle does not end the flow, as in JSON.
    assert_eq!(points, [(10, Start), (20, End), (30, Step), (40, End), (50, Start), (60, Step)]);
    assert_eq!(warnings(&recorder), []);
    assert_eq!(read(&[slice(10_000, 0), slice(20_000, 4)]).flow_points, []);
}

#[test]
fn an_end_without_a_begin_of_its_name_ends_none() {
    let of = |phase: u8, name: &str, ns: u64| packet(1, ns, 11, &older(phase, name, &thread(1, 2)));
    let recorder = read(&[
        of(b'B', "a", 100),
        of(b'B', "b", 110),
        of(b'E', "lost", 115),
        of(b'E', "b", 120),
        of(b'B', "c", 122),
        of(b'E', "a", 130),
        of(b'E', "", 140),
    ]);
    let on = |text: &str| format!("Process 1/Thread 2: {text}");
    let expected = ["a 100+30", "b 110+10", "c 122+18", "lost 115+0 instant"].map(on);
    assert_eq!(all(&recorder), expected);
    assert_eq!(warnings(&recorder), [("an end without a begin; kept as an instant".to_owned(), 1)]);
}

#[test]
fn metadata_names_threads_and_processes() {
    let name =
        |what, name: &str| older(b'M', what, &thread(1, 2)).message(4, &annotation("name").text(6, name));
    let recorder = read(&[
        packet(1, 100, 11, &name("thread_name", "worker")),
        packet(1, 100, 11, &name("process_name", "server")),
        packet(1, 100, 11, &older(b'I', "x", &thread(1, 2))),
    ]);
    assert_eq!(all(&recorder), ["server 1/worker 2: x 100+0 instant"]);
}
