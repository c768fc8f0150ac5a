//! Laws of every simulated capture, and the contents of captures.

use std::collections::HashMap;

use nprof_engine::fixture::{RecordedSlice, Recorder};
use nprof_engine::model::{OwnedValue, SliceForm};

use super::*;

fn record(settings: &Simulation, rank: u32) -> Recorder {
    let mut sink = Recorder::default();
    capture(settings, rank, &mut sink, &mut |_| {}).unwrap();
    sink
}

fn settings(events_per_rank: u64) -> Simulation {
    Simulation { ranks: 4, events_per_rank, seed: 11, layers: 3, ..Simulation::default() }
}

fn number(slice: &RecordedSlice, field: &str) -> i64 {
    match slice.fields.iter().find(|(name, _)| name == field) {
        Some((_, OwnedValue::Int(value))) => *value,
        other => panic!("{field} is {other:?}"),
    }
}

fn end(slice: &RecordedSlice) -> i64 {
    slice.start_ps + slice.duration_ps
}

/// Slices by the path of their track, ordered by start.
fn by_track(sink: &Recorder) -> HashMap<String, Vec<&RecordedSlice>> {
    let mut tracks: HashMap<String, Vec<&RecordedSlice>> = HashMap::new();
    for slice in &sink.slices {
        assert!(slice.duration_ps >= 0, "{slice:?}");
        tracks.entry(sink.path(slice.track)).or_default().push(slice);
    }
    tracks.values_mut().for_each(|slices| slices.sort_by_key(|slice| (slice.start_ps, end(slice))));
    tracks
}

#[test]
fn equal_settings_give_equal_captures_and_others_do_not() {
    let first = record(&settings(5_000), 1);
    let second = record(&settings(5_000), 1);
    assert_eq!(first.slices, second.slices);
    assert_eq!(first.samples, second.samples);
    assert_eq!(first.links, second.links);
    assert_ne!(first.slices, record(&settings(5_000), 2).slices);
    assert_ne!(first.slices, record(&Simulation { seed: 12, ..settings(5_000) }, 1).slices);
}

#[test]
fn a_capture_has_as_many_events_as_asked_for() {
    for events in [0, 1, 17, 54, 77, 78, 999, 10_000, 54_321] {
        let sink = record(&settings(events), 0);
        assert_eq!((sink.slices.len() + sink.samples.len()) as u64, events);
    }
}

#[test]
fn engines_and_queues_do_one_thing_at_a_time() {
    for rank in 0..4 {
        let sink = record(&settings(20_000), rank);
        for (path, slices) in by_track(&sink) {
            // Several ranges of a memory are in use at a time.
            if path.starts_with("Memory/") {
                continue;
            }
            for pair in slices.windows(2) {
                assert!(end(pair[0]) <= pair[1].start_ps, "{path}: {:?} and {:?}", pair[0], pair[1]);
            }
        }
    }
}

#[test]
fn arrows_lead_forward_in_time() {
    let sink = record(&settings(20_000), 0);
    let kinds: std::collections::HashSet<&str> =
        sink.links.iter().map(|(_, _, name)| name.as_str()).collect();
    assert_eq!(kinds.len(), 4, "{kinds:?}");
    for (from, to, name) in &sink.links {
        let (from, to) = (&sink.slices[sink.index_of(*from)], &sink.slices[sink.index_of(*to)]);
        assert!(end(from) <= to.start_ps, "{name}: {from:?} to {to:?}");
    }
}

#[test]
fn ids_count_up_in_the_order_of_time() {
    let sink = record(&settings(20_000), 0);
    for table in ["instruction", "dma"] {
        let mut ids: Vec<i64> = sink.slices_of(table).map(|slice| number(slice, "id")).collect();
        ids.sort_unstable();
        assert!(ids.iter().copied().eq(1..=ids.len() as i64), "each number once: {table}");
    }
    for (path, slices) in by_track(&sink) {
        let has_id = |slice: &&&RecordedSlice| slice.fields.iter().any(|(name, _)| name == "id");
        let ids: Vec<i64> = slices.iter().filter(has_id).map(|slice| number(slice, "id")).collect();
        assert!(ids.is_sorted(), "{path}");
    }
}

#[test]
fn bytes_are_rate_times_duration_and_packets_make_up_their_transfer() {
    let sink = record(&settings(20_000), 0);
    let mut packets: HashMap<i64, (i64, i64, i64)> = HashMap::new();
    let (mut transfers, mut moved) = (Vec::new(), 0);
    for slice in sink.slices_of("dma") {
        let (bytes, rate) = (number(slice, "transfer_size"), number(slice, "transfer_rate"));
        let by_rate = rate as f64 * slice.duration_ps as f64 / 1e12;
        assert!((by_rate - bytes as f64).abs() < 1.0, "{bytes} bytes, {by_rate} by rate");
        if slice.fields.contains(&("aggregated".to_owned(), OwnedValue::Text("yes".to_owned()))) {
            transfers.push(slice);
            moved += bytes;
        } else {
            let sum = packets.entry(number(slice, "packet_aggregation_id")).or_insert((0, i64::MAX, 0));
            *sum = (sum.0 + bytes, sum.1.min(slice.start_ps), sum.2.max(end(slice)));
        }
    }
    assert!(transfers.len() > 100);
    for transfer in transfers {
        let sum = packets[&number(transfer, "id")];
        assert_eq!(sum, (number(transfer, "transfer_size"), transfer.start_ps, end(transfer)));
    }
    // The area under the throughput counter equals the bytes moved.
    let throughput: Vec<_> =
        sink.samples.iter().filter(|sample| sink.path(sample.track) == "Counters/DMA throughput").collect();
    let area: f64 = throughput
        .windows(2)
        .map(|pair| pair[0].value * (pair[1].time_ps - pair[0].time_ps) as f64 / 1e12)
        .sum();
    assert!((area / moved as f64 - 1.0).abs() < 1e-6, "{area} of {moved}");
}

#[test]
fn counters_go_forward_in_time() {
    let sink = record(&settings(20_000), 0);
    let mut last: HashMap<String, i64> = HashMap::new();
    for sample in &sink.samples {
        let before = last.insert(sink.path(sample.track), sample.time_ps);
        assert!(before.is_none_or(|before| before <= sample.time_ps));
    }
    assert_eq!(last.len(), 5, "{last:?}");
}

#[test]
fn collectives_end_on_all_ranks_together_after_the_last_has_arrived() {
    let settings = settings(30_000);
    let ranks: Vec<Recorder> = (0..settings.ranks).map(|rank| record(&settings, rank)).collect();
    let operations: Vec<Vec<&RecordedSlice>> =
        ranks.iter().map(|sink| sink.slices_of("cc_ops").collect()).collect();
    assert!(operations[0].len() > 10);
    let mut last_to_arrive = vec![0_u32; ranks.len()];
    for number_of in 0..operations[0].len() {
        let group: Vec<_> = operations.iter().map(|operations| operations[number_of]).collect();
        let last = group.iter().map(|operation| operation.start_ps).max().unwrap();
        for operation in &group {
            assert_eq!(end(operation), end(group[0]));
            assert_eq!(number(operation, "op_id"), number(group[0], "op_id"));
            assert_eq!(number(operation, "rank_wait_time"), (last - operation.start_ps) / 1_000);
            assert!(last < end(operation));
        }
        let arrived_last = group.iter().position(|operation| operation.start_ps == last).unwrap();
        last_to_arrive[arrived_last] += 1;
    }
    let straggler = SimulatedJob::new(&settings).unwrap().faults()[0].value.unwrap() as usize;
    let most = last_to_arrive.iter().max().unwrap();
    assert_eq!(last_to_arrive[straggler], *most, "{last_to_arrive:?}");
}

#[test]
fn a_single_rank_has_nobody_to_wait_for() {
    let sink = record(&Simulation { ranks: 1, ..settings(10_000) }, 0);
    assert_eq!(sink.slices_of("cc_ops").count(), 0);
    assert!(sink.slices.iter().any(|slice| slice.form == SliceForm::Instant));
}

#[test]
fn settings_out_of_range_are_refused() {
    let good = settings(10);
    for (settings, rank) in [
        (Simulation { ranks: 0, ..good.clone() }, 0),
        (Simulation { layers: 0, ..good.clone() }, 0),
        (Simulation { layers: u32::MAX, ..good.clone() }, 0),
        (Simulation { events_per_rank: u64::MAX, ..good.clone() }, 0),
        (Simulation { faults: Some(vec!["pause=4".parse().unwrap()]), ..good.clone() }, 0),
        (Simulation { faults: Some(vec!["dma-late=3".parse().unwrap()]), ..good.clone() }, 0),
        (good.clone(), 4),
    ] {
        let refused = capture(&settings, rank, &mut Recorder::default(), &mut |_| {});
        assert!(matches!(refused, Err(Error::Invalid { .. })), "{settings:?}");
    }
}

#[test]
fn a_brief_capture_has_an_instruction_and_an_operation_for_each_phase() {
    let brief = Simulation { detail: Detail::Collectives, ..settings(100) };
    let whole = Simulation { events_per_rank: 60_000, ..settings(0) };
    for rank in 0..brief.ranks {
        let (brief, whole) = (record(&brief, rank), record(&whole, rank));
        assert_eq!(brief.slices.len(), 100);
        let times = |sink: &Recorder| -> Vec<(i64, i64)> {
            sink.slices_of("cc_ops").take(20).map(|operation| (operation.start_ps, end(operation))).collect()
        };
        assert_eq!(times(&brief), times(&whole), "the ranks meet at the same times");
    }
}
