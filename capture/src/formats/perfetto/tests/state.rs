//! State of sequences, clocks, and packed packets.

use nprof_engine::exec::Work;
use nprof_engine::fixture::Recorder;
use nprof_engine::spill::{MemoryScratch, Space};

use super::super::beginning;
use super::super::fixture::{ProtoMessage, descriptor, event, interned, packet, trace, zlib};
use super::{BEGIN, INSTANT, PacketContext, all, end, read, try_record, warnings};

/// A snapshot of clocks with these readings.
fn snapshot(readings: &[(u64, u64)]) -> ProtoMessage {
    readings.iter().fold(ProtoMessage::new(), |snapshot, &(id, reading)| {
        snapshot.message(1, &ProtoMessage::new().number(1, id).number(2, reading))
    })
}

#[test]
fn interned_texts_belong_to_a_sequence_until_it_is_cleared() {
    let by_iid = |iid| ProtoMessage::new().number(9, INSTANT).number(11, 1).number(10, iid);
    let names = |text: &str| ProtoMessage::new().message(2, &interned(1, text));
    let recorder = read(&[
        packet(1, 100, 11, &by_iid(1)).message(12, &names("a")).number(13, 1),
        packet(2, 200, 11, &by_iid(1)).message(12, &names("b")).number(13, 1),
        packet(1, 300, 11, &by_iid(1)).number(13, 2),
        packet(1, 400, 11, &by_iid(1)).message(12, &names("c")).number(13, 1),
        packet(2, 500, 11, &by_iid(1)).number(41, 1),
    ]);
    let expected = [
        "a: a 100+0 instant",
        "a: a 300+0 instant",
        "a: b 200+0 instant",
        "a: c 400+0 instant",
        "a: name 1 500+0 instant",
    ];
    assert_eq!(all(&recorder), expected);
    assert_eq!(warnings(&recorder).len(), 1);
}

#[test]
fn defaults_state_the_track_and_the_clock() {
    let defaults = ProtoMessage::new().number(58, 3).message(11, &ProtoMessage::new().number(11, 7));
    let plain = ProtoMessage::new().number(9, INSTANT).text(23, "x");
    let recorder = read(&[
        packet(1, 1_000, 6, &snapshot(&[(6, 1_000), (3, 400)])),
        packet(1, 500, 11, &plain).message(59, &defaults),
        packet(1, 600, 11, &plain),
        packet(2, 1_300, 11, &plain),
        packet(1, 1_000, 60, &descriptor(7, "T")).number(58, 6),
    ]);
    let expected = ["Global: x 1300+0 instant", "T: x 1100+0 instant", "T: x 1200+0 instant"];
    assert_eq!(all(&recorder), expected);
}

#[test]
fn clocks_of_a_sequence_can_state_differences_in_units() {
    let clock = ProtoMessage::new().number(1, 64).number(2, 10).number(3, 1).number(4, 1_000);
    let snapshot = |boot: u64| snapshot(&[(6, boot)]).message(1, &clock);
    let x = event(INSTANT, 1, "x");
    let recorder = read(&[
        packet(1, 0, 6, &snapshot(50_000)).number(58, 6),
        packet(1, 5, 11, &x).number(58, 64),
        packet(1, 5, 11, &x).number(58, 64),
        packet(2, 0, 6, &snapshot(90_000)).number(58, 6),
        packet(2, 1, 11, &x).number(58, 64),
        packet(1, 1, 11, &x).number(58, 64),
        packet(1, 1, 11, &x).number(58, 64).number(42, 1),
    ]);
    let starts: Vec<i64> = recorder.slices.iter().map(|slice| slice.start_ps / 1_000).collect();
    assert_eq!(starts, [55_000, 60_000, 61_000, 91_000]);
    assert_eq!(warnings(&recorder).len(), 2, "a loss, and an event behind it");
}

#[test]
fn events_before_the_snapshot_of_their_clock_are_placed_by_it() {
    let x = event(INSTANT, 1, "x");
    let recorder = read(&[
        packet(1, 450, 11, &x).number(58, 3),
        packet(1, 1_100, 11, &x),
        packet(1, 9, 11, &x).number(58, 5),
        packet(1, 1_000, 6, &snapshot(&[(3, 400), (6, 1_000)])),
    ]);
    let starts: Vec<i64> = recorder.slices.iter().map(|slice| slice.start_ps / 1_000).collect();
    assert_eq!(starts, [1_050, 1_100]);
    assert_eq!(warnings(&recorder).len(), 1);
}

#[test]
fn a_trace_on_one_clock_needs_no_snapshot() {
    let packets = [packet(1, 450, 11, &event(INSTANT, 1, "x")).number(58, 3)];
    let recorder = read(&packets);
    assert_eq!(all(&recorder), ["x: x 450+0 instant"]);
    assert!(warnings(&recorder).is_empty(), "{:?}", warnings(&recorder));
}

#[test]
fn drifting_clocks_follow_the_snapshots() {
    let x = event(INSTANT, 1, "x");
    let recorder = read(&[
        packet(1, 1_000, 6, &snapshot(&[(6, 1_000), (3, 1_000)])),
        packet(1, 2_000, 6, &snapshot(&[(6, 2_100), (3, 2_000)])),
        packet(1, 1_500, 11, &x).number(58, 3),
        packet(1, 2_500, 11, &x).number(58, 3),
    ]);
    let starts: Vec<i64> = recorder.slices.iter().map(|slice| slice.start_ps / 1_000).collect();
    assert_eq!(starts, [1_500, 2_600]);
}

#[test]
fn wall_clocks_put_ranks_on_one_axis() {
    const WALL: u64 = 1_700_000_000_000_000_000;
    let of = |boot: u64, wall: u64| {
        trace(&[
            packet(1, boot, 6, &snapshot(&[(6, boot), (1, wall)])),
            packet(1, boot + 70_000_000_000, 11, &event(INSTANT, 1, "x")),
        ])
    };
    let traces = [of(1_000_000_000_000, WALL), of(5_000_000_000_000, WALL + 1_000)];
    let beginnings = traces.each_ref().map(|trace| beginning(trace));
    let origins = crate::origin::origins(&beginnings);
    let starts = origins.iter().zip(&traces).map(|(origin, trace)| {
        let (scratch, mut recorder) = (MemoryScratch::default(), Recorder::default());
        let context = PacketContext { space: Space::new(&scratch), origin: *origin, most_unpacked: 0 };
        super::super::read(&mut &**trace, context, &mut recorder, &mut |_| {}).unwrap();
        recorder.slices[0].start_ps
    });
    assert_eq!(starts.collect::<Vec<_>>(), [0, 1_000_000]);
}

#[test]
fn packed_packets_are_read_and_bounded() {
    let inner = trace(&[packet(1, 100, 11, &event(BEGIN, 1, "a")), packet(1, 200, 11, &end(1))]);
    let zstd = ProtoMessage(zstd::encode_all(&inner[..], 0).unwrap());
    let packed = zlib(&inner);
    let cut = ProtoMessage(packed.0[..packed.0.len() - 6].to_vec());
    let nested = zlib(&trace(&[packet(1, 1, 50, &packed)]));
    let huge = zlib(&trace(&[packet(1, 1, 11, &event(INSTANT, 2, &"x".repeat(8 << 20)))]));
    assert_eq!(
        all(&read(&[packet(1, 0, 50, &packed), packet(1, 0, 133, &zstd)])),
        ["a: a 100+100", "a: a 100+100"]
    );
    for damaged in [cut, nested, ProtoMessage(b"none".to_vec())] {
        let recorder = read(&[packet(1, 0, 50, &damaged), packet(1, 100, 11, &event(INSTANT, 1, "b"))]);
        assert!(all(&recorder).iter().any(|slice| slice.contains(" b ")), "{:?}", all(&recorder));
        assert_eq!(warnings(&recorder).iter().filter(|(what, _)| what.contains("packed")).count(), 1);
    }
    assert_eq!(read(&[packet(1, 0, 50, &huge)]).slices.len(), 1, "eight megabytes of one letter are allowed");
}

#[test]
fn packets_of_other_sources_are_counted_by_name() {
    let recorder = read(&[
        packet(1, 100, 1, &ProtoMessage::new().number(1, 0)),
        packet(1, 100, 1, &ProtoMessage::new().number(1, 0)),
        packet(1, 100, 66, &ProtoMessage::new()),
        packet(1, 100, 700, &ProtoMessage::new()),
        packet(1, 100, 33, &ProtoMessage::new()),
        packet(1, 100, 36, &ProtoMessage(b"marker".to_vec())),
        packet(1, 100, 11, &event(INSTANT, 1, "a")),
    ]);
    let expected = [
        ("packets of `field 700`, which nprof does not read", 1),
        ("packets of `ftrace_events`, which nprof does not read", 2),
        ("packets of `perf_sample`, which nprof does not read", 1),
    ];
    assert_eq!(warnings(&recorder), expected.map(|(what, count)| (what.to_owned(), count)));
    assert_eq!(recorder.rows_of("unread_packet").count(), 4);
}

#[test]
fn a_trace_with_other_data_alone_is_refused_with_what_it_has() {
    let of = |field| packet(1, 100, field, &ProtoMessage::new());
    let error = try_record(&trace(&[of(66), of(1), of(1), of(33)]), Work::IN_PLACE).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the trace has no track events, and nprof reads no other ones; it has 2 × `ftrace_events`, 1 × \
         `perf_sample`; record the data source `track_event` as well, or open the trace at ui.perfetto.dev"
    );
    let many: Vec<ProtoMessage> = (700..710).map(of).collect();
    let error = try_record(&trace(&many), Work::IN_PLACE).unwrap_err().to_string();
    assert!(error.contains("1 × `field 704`, others;"), "{error}");
    // Packets about the recording alone are no other data.
    assert_eq!(warnings(&read(&[of(33), of(89)])), [("the trace has no track events".to_owned(), 1)]);
}
