//! Damaged input: everything before the damage is read, and nothing panics.

use nprof_engine::exec::Work;
use nprof_engine::fixture::Recorder;
use nprof_engine::model::WarningKind;

use super::super::fixture::{ProtoMessage, annotation, event, packet, trace, varied};
use super::{INSTANT, read, record, try_record, warnings};

fn try_read(bytes: &[u8]) -> Option<Recorder> {
    try_record(bytes, Work::IN_PLACE).ok()
}

/// Ends of the packets of a trace.
fn ends(bytes: &[u8]) -> Vec<usize> {
    let mut fields = crate::protobuf::MessageFields::new(bytes);
    let mut ends = vec![0];
    while fields.next().unwrap().is_some() {
        ends.push(bytes.len() - fields.rest().len());
    }
    ends
}

#[test]
fn every_cut_keeps_all_whole_packets_and_says_where_it_is() {
    let whole = varied();
    let ends = ends(&whole);
    for keep in 0..=whole.len() {
        let before = *ends.iter().rfind(|&&end| end <= keep).unwrap();
        let Some(recorder) = try_read(&whole[..keep]) else {
            assert_eq!(before, 0, "cut at {keep}");
            continue;
        };
        let cuts: Vec<String> = recorder
            .warnings()
            .into_iter()
            .filter(|warning| warning.kind == WarningKind::TruncatedInput)
            .map(|warning| warning.first_place)
            .collect();
        let expected = if keep == before { vec![] } else { vec![format!("byte {before}")] };
        assert_eq!(cuts, expected, "cut at {keep}");
        assert_eq!(recorder.slices, record(&whole[..before]).slices, "cut at {keep}");
    }
}

#[test]
fn no_changed_byte_panics_or_loses_the_packets_before() {
    let whole = varied();
    for at in 0..whole.len() {
        for byte in [0, 1, 0x0a, 0x7f, 0x80, 0xff, whole[at] ^ 1, whole[at] ^ 0x10] {
            let mut bytes = whole.clone();
            bytes[at] = byte;
            let _ = super::super::beginning(&bytes);
            let _ = try_read(&bytes);
        }
    }
}

#[test]
fn damage_within_a_packet_costs_that_packet() {
    let damaged = ProtoMessage::new().number(8, 150).number(10, 1).bytes(11, b"\x08");
    let recorder = read(&[
        packet(1, 100, 11, &event(INSTANT, 1, "a")),
        damaged,
        packet(1, 200, 11, &event(INSTANT, 1, "b")),
    ]);
    assert_eq!(recorder.slices.len(), 2);
    assert_eq!(warnings(&recorder), [("a packet whose content is damaged; skipped".to_owned(), 1)]);
}

#[test]
fn numbers_of_more_than_32_bits_are_damage() {
    const BEYOND: u64 = 1 << 32;
    let of = |number, value| packet(1, 150, 11, &event(INSTANT, 1, "x")).number(number, value);
    let (sequence, clock) = (of(10, BEYOND), of(58, BEYOND));
    let recorder = read(&[packet(1, 100, 11, &event(INSTANT, 1, "a")), sequence, clock]);
    assert_eq!(recorder.slices.len(), 1);
    assert_eq!(warnings(&recorder), [("a packet whose content is damaged; skipped".to_owned(), 2)]);
}

#[test]
fn what_is_no_trace_is_refused() {
    for bytes in [&b""[..], b"hello", b"{\"traceEvents\":[]}", b"\x0a\xff\xff\xff\xff\x0f"] {
        assert!(try_read(bytes).is_none(), "{bytes:?}");
    }
}

#[test]
fn values_that_are_too_deep_or_too_long_are_bounded() {
    let mut deep = ProtoMessage::new().number(4, 1);
    for _ in 0..3_000 {
        deep = ProtoMessage::new().message(12, &deep);
    }
    let deep = ProtoMessage([annotation("deep").0, deep.0].concat());
    let long = ProtoMessage::new().message(29, &super::super::fixture::interned(1, &"x".repeat(60_000)));
    let many =
        (0..1_000).fold(annotation("many"), |many, _| many.message(12, &ProtoMessage::new().number(17, 1)));
    let both = event(INSTANT, 1, "a").message(4, &deep).message(4, &many);
    let recorder = read(&[packet(1, 100, 11, &both).message(12, &long)]);
    for (name, value) in &recorder.slices[0].fields {
        let nprof_engine::model::OwnedValue::Json(json) = value else { panic!("{name}: {value:?}") };
        assert!(json.len() < 300_000, "{name} has {} bytes", json.len());
        assert!(json.starts_with('[') && json.ends_with(']'));
    }
    assert_eq!(warnings(&recorder).len(), 1);
}

#[test]
fn times_that_do_not_fit_are_counted() {
    let recorder = record(&trace(&[
        packet(1, 1_000, 11, &event(INSTANT, 1, "a")),
        packet(1, 1_100, 11, &event(INSTANT, 1, "b")),
        packet(1, u64::MAX, 11, &event(INSTANT, 1, "c")),
    ]));
    assert_eq!(recorder.slices.len(), 2);
    assert_eq!(warnings(&recorder).len(), 1);
}

#[test]
fn more_tracks_than_fit_share_one_and_keep_their_pairs() {
    const COUNT: u64 = 30_000;
    let begin = |track| packet(1, track, 11, &event(1, track, "a"));
    let end = |track| packet(1, COUNT + 2 * track, 11, &super::end(track));
    let packets: Vec<ProtoMessage> = (1..COUNT).map(begin).chain((1..COUNT).map(end)).collect();
    let recorder = read(&packets);
    assert_eq!(recorder.slices.len() as u64, COUNT - 1);
    let is_right = |slice: &nprof_engine::fixture::RecordedSlice| {
        slice.duration_ps == COUNT as i64 * 1_000 + slice.start_ps
    };
    assert!(recorder.slices.iter().all(is_right));
    assert!(recorder.tracks.len() < 20_000, "{} tracks", recorder.tracks.len());
}
