//! The ranks of a profile on one time axis.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use nprof_engine::base::ClockFit;
use nprof_engine::base::time::{PS_PER_S, PS_PER_US};
use nprof_engine::segment::Segment;
use nprof_engine::wire::clock::Clock;
use nprof_server::ingest::{IngestSettings, NamedInputs, run};
use nprof_server::store::{RankFile, Store};
use nprof_server::work::Meter;

use crate::stage::shared;

/// A trace of one rank, with a slice of 10 µs at each of these timestamps.
fn trace(rank: u32, timestamps: &[&str], more: &str) -> String {
    let event = |ts: &&str| format!(r#"{{"ph":"X","pid":1,"tid":1,"name":"a","ts":{ts},"dur":10}}"#);
    let events: Vec<String> = timestamps.iter().map(event).collect();
    let events = events.join(",\n");
    format!(r#"{{"distributedInfo":{{"rank":{rank}}},{more}"traceEvents":[{events}]}}"#)
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

/// Ingests these files and returns the ranks of the profile.
fn ingest(dir: &Path, files: Vec<PathBuf>) -> Vec<RankFile> {
    let store = Store::open(&dir.join(format!("store {}", files.len()))).unwrap();
    let named = NamedInputs { files, ..NamedInputs::default() };
    let profile = run(&store, &named, &IngestSettings::default(), &Meter::default()).unwrap().profile;
    for rank in &profile.manifest.ranks {
        let segment = Segment::open(fs::read(profile.segment_path(rank)).unwrap()).unwrap();
        assert_eq!(segment.footer().rank.origin_unix_ns, rank.origin_unix_ns);
    }
    let ranks = profile.manifest.ranks.clone();
    store.remove(&profile.manifest.id).unwrap();
    ranks
}

/// Ingests these traces, the second of them packed, in both orders. Both times the ranks must start
/// and end at these microseconds.
#[track_caller]
fn check(traces: [String; 2], expected_us: [(i64, i64); 2]) -> Vec<RankFile> {
    let dir = tempfile::tempdir().unwrap();
    let [first, second] = ["first.json", "second.json.gz"].map(|name| dir.path().join(name));
    fs::write(&first, &traces[0]).unwrap();
    fs::write(&second, gzip(&traces[1])).unwrap();
    let expected = expected_us.map(|(start, end)| (start * PS_PER_US, end * PS_PER_US));
    let mut of_both = Vec::new();
    for files in [[&first, &second], [&second, &first]] {
        let ranks = ingest(dir.path(), files.map(Clone::clone).to_vec());
        let spans: Vec<_> = ranks.iter().map(|rank| (rank.start_ps, rank.end_ps)).collect();
        assert_eq!(spans, expected);
        of_both.push(ranks);
    }
    let contents = |ranks: &[RankFile]| ranks.iter().map(|rank| rank.content.clone()).collect::<Vec<_>>();
    assert_eq!(contents(&of_both[0]), contents(&of_both[1]), "the order of the files shows in segments");
    of_both.remove(0)
}

#[test]
fn ranks_on_two_sides_of_midnight_share_an_axis() {
    let traces = [trace(0, &["1712188799900000"], ""), trace(1, &["1712188800050000"], "")];
    let ranks = check(traces, [(0, 10), (150_000, 150_010)]);
    for rank in ranks {
        assert_eq!(rank.origin_unix_ns, Some(1_712_188_799_900_000_000));
        assert_eq!(rank.notes, [""; 0]);
    }
}

#[test]
fn ranks_of_a_machine_that_is_up_for_days_share_an_axis() {
    let traces = [trace(0, &["86400000050.5"], ""), trace(1, &["86399999900.5"], "")];
    let ranks = check(traces, [(150, 160), (0, 10)]);
    assert!(ranks.iter().all(|rank| rank.origin_unix_ns.is_none()));
}

#[test]
fn an_event_before_the_first_of_the_file_has_a_negative_time() {
    // More bytes than the search for the origin reads.
    let later: Vec<String> = (0..20_000).map(|n| (1_712_188_800_000_000_u64 + n * 20).to_string()).collect();
    let mut timestamps: Vec<&str> = later.iter().map(String::as_str).collect();
    timestamps.push("1712188799000000");
    let traces = [trace(0, &timestamps, ""), trace(1, &["1712188800000050"], "")];
    check(traces, [(-1_000_000, 399_990), (50, 60)]);
}

#[test]
fn wall_clocks_that_differ_move_ranks_or_become_clocks() {
    let base = |ns: u64| format!(r#""baseTimeNanoseconds":{ns},"#);
    let traces = [
        trace(0, &["5000000"], &base(1_751_410_836_000_000_000)),
        trace(1, &["5000000"], &base(1_751_410_835_000_000_000)),
    ];
    let ranks = check(traces, [(6_000_000, 6_000_010), (5_000_000, 5_000_010)]);
    assert!(ranks.iter().all(|rank| rank.origin_unix_ns == Some(1_751_410_835_000_000_000)));
    assert!(ranks.iter().all(|rank| rank.clock.is_none()), "the ranks have one zero");
    // A long trace that states its wall clock at its end: its origin is chosen before the statement
    // is read.
    let end = format!(r#"],"padding":"{}","baseTimeNanoseconds":7000000000}}"#, "-".repeat(1 << 20));
    let late = trace(1, &["5000000"], "").replace("]}", &end);
    let early = trace(0, &["5000000"], &base(2_000_000_000));
    let ranks = check([early, late], [(5_000_000, 5_000_010); 2]);
    assert_eq!(ranks[0].notes, [""; 0]);
    let note = "by wall clock, time zero of this rank is 5000000000 ns after time zero of rank 0";
    assert_eq!(ranks[1].notes, [note]);
    let seconds = ClockFit::new(0, 5 * PS_PER_S, 0, None).unwrap();
    assert_eq!((ranks[0].clock, ranks[1].clock), (None, Some(Clock(seconds))));
    // No clock follows from wall clocks that are a month apart.
    let month = [trace(0, &["5000000"], &base(0)), trace(1, &["5000000"], &base(2_678_400_000_000_000))];
    let ranks = check(month, [(5_000_000, 5_000_010); 2]);
    assert_eq!((ranks[0].notes.len() + ranks[1].notes.len(), ranks[1].clock), (1, None));
}

#[test]
fn real_ranks_begin_at_zero() {
    for (folder, wall_clock_ns) in [
        ("kineto/dlrm_8_ranks", 1_694_128_201_421_058_000),
        ("kineto/vision_2_ranks", 1_682_725_898_079_292_000),
    ] {
        let Some(folder) = shared(folder) else { return };
        let dir = tempfile::tempdir().unwrap();
        let ranks = ingest(dir.path(), vec![folder]);
        assert!(ranks.len() > 1);
        for rank in &ranks {
            assert_eq!(rank.origin_unix_ns, Some(wall_clock_ns), "rank {}", rank.rank);
            // The capture took some seconds; the events are not all in file order.
            assert!(rank.start_ps.abs() < 10_000_000_000_000, "{}", rank.start_ps);
        }
    }
}
