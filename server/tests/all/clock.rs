//! Clocks of ranks: set by hand, told to the page, applied in exports.

use std::fs;
use std::path::Path;

use nprof_engine::base::{ClockFit, Interval, Time};
use nprof_engine::exec::Work;
use nprof_engine::wire::ask::{ProfileStore as _, Rank as _, RankId};
use nprof_engine::wire::bundle::{Bundle, OpenBundle};
use nprof_engine::wire::clock::Clock;
use nprof_engine::wire::questions::{Answer, Question, answer};
use nprof_server::export::RanksOf;
use nprof_server::export::html::bundle;
use nprof_server::export::perfetto::proto::{SLICE_BEGIN, SLICE_END, Trace};
use prost::Message;
use serde_json::{Value, json};

use crate::cli::{fail, run, stage, succeed};
use crate::stage::{Stage, segment_path};

fn late() -> Clock {
    Clock(ClockFit::new(1_000, 12_000_000, -500, Some(7)).unwrap())
}

#[tokio::test]
async fn a_clock_reaches_the_page_and_no_answer_changes() {
    let stage = Stage::new();
    let (profile, rank) = ("/api/profiles/small", "/api/profiles/small/ranks/0");
    assert_eq!(stage.json(profile).await["ranks"][0]["clock"], Value::Null);
    let path = stage.tile_path().await;
    let (detail, tile) = (stage.json(rank).await, stage.get(&path).await);
    stage.store.set_clock("small", 0, Some(late())).unwrap();

    let told = json!({"offset_ps": 12_000_000, "at_ps": 1_000, "drift_ppb": -500, "bound_ps": 7});
    assert_eq!(stage.json(profile).await["ranks"][0]["clock"], told);
    let mut now = stage.json(rank).await;
    assert_eq!(now["entry"]["clock"].take(), told);
    assert_eq!(now["entry"]["clock_by"].take(), "hand");
    assert_eq!(now, detail, "all else has the rank's own times");
    assert_eq!((stage.tile_path().await, stage.get(&path).await.body), (path, tile.body));
}

#[tokio::test]
async fn a_bundle_carries_the_clocks() {
    let stage = Stage::new();
    let profile = stage.store.set_clock("small", 0, Some(late())).unwrap();
    let bytes =
        postcard::to_allocvec(&bundle(RanksOf::all(&profile).into(), Work::IN_PLACE).unwrap()).unwrap();
    let mut opened = OpenBundle::new(postcard::from_bytes::<Bundle>(&bytes).unwrap()).unwrap();
    opened.open(0, fs::read(segment_path(&profile, 0)).unwrap()).unwrap();

    let rank = (&opened).rank(&RankId { profile: "small".to_owned(), rank: 0.into() }).unwrap();
    assert_eq!(rank.view().clock, late().0);
    assert_eq!(rank.view().shared(Time(1_000)), Time(12_001_000));
    // Two picoseconds of the slower clock are one shared picosecond.
    assert_eq!(rank.view().local_span(Interval::new(12_001_000, 12_001_001)), Interval::new(1_000, 1_002));
    let question = Question::parse("/api/profiles/small", "").unwrap();
    let Answer::Profile(info) = answer(&&opened, &question, Work::IN_PLACE).unwrap() else {
        panic!("another answer");
    };
    assert_eq!(info.ranks[0].clock, Some(late()));
}

/// A store with a profile `run` of two equal ranks: a slice of 10 µs each 100 µs, the first at 0.
fn two_ranks(more: &str) -> (tempfile::TempDir, std::path::PathBuf) {
    let (dir, _) = stage();
    let store = dir.path().join("ranks");
    let trace = |rank: u32| {
        let event =
            |at: u32| format!(r#"{{"ph":"X","pid":1,"tid":1,"name":"a{at}","ts":{},"dur":10}}"#, 100 * at);
        let events: Vec<String> = (0..4).map(event).collect();
        let path = dir.path().join(format!("rank_{rank}.json"));
        let events = events.join(",");
        fs::write(
            &path,
            format!(r#"{{"distributedInfo":{{"rank":{rank}}},{more}"traceEvents":[{events}]}}"#),
        )
        .unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (first, second) = (trace(0), trace(1));
    succeed(&store, &["ingest", &first, &second, "--db-bucket", "run"]);
    (dir, store)
}

fn set(store: &Path, rank: &str, more: &[&str]) -> String {
    succeed(store, &[&["clock", "run", "--rank", rank], more].concat())
}

#[test]
fn the_command_line_sets_shows_and_removes_clocks() {
    let (_dir, store) = two_ranks("");
    let none = "RANK  OFFSET  DRIFT  BOUND  FIRST EVENT\n   0       -      -      -         0 ps\n   1       -      -      -         0 ps\n";
    assert_eq!(succeed(&store, &["clock", "run"]), none);
    let shown = set(&store, "1", &["--offset", "-12.5us", "--drift", "0.5ppm", "--bound", "1us"]);
    assert_eq!(shown, succeed(&store, &["clock", "run"]));
    let line = shown.lines().nth(2).unwrap().split("  ").map(str::trim).filter(|cell| !cell.is_empty());
    assert_eq!(line.collect::<Vec<_>>(), ["1", "-12.5 µs", "0.5 ppm", "1 µs", "-12.5 µs"]);
    assert_eq!(set(&store, "1", &["--clear"]), none);

    assert!(fail(&store, &["clock", "run", "--rank", "7", "--clear"], 1).contains("it has 0, 1"));
    let drift = ["clock", "run", "--rank", "1", "--offset", "1us", "--drift", "200000ppm"];
    assert!(fail(&store, &drift, 1).contains("at most 10 %"));
    for wrong in [
        &["--rank", "1"][..],
        &["--offset", "1us"],
        &["--rank", "1", "--drift", "1ppm"],
        &["--rank", "1", "--offset", "1"],
        &["--rank", "1", "--offset", "1us", "--clear"],
        &["--rank", "1", "--offset", "1us", "--bound", "-1us"],
    ] {
        fail(&store, &[&["clock", "run"], wrong].concat(), 2);
    }
}

/// Start and end timestamps of the slices of each rank, in nanoseconds.
fn perfetto(store: &Path, more: &[&str]) -> [Vec<u64>; 2] {
    let output = run(store, &[&["export", "run", "--format", "perfetto", "-o", "-"], more].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut of_ranks = [Vec::new(), Vec::new()];
    for packet in Trace::decode(&output.stdout[..]).unwrap().packets {
        let kind = packet.track_event.as_ref().and_then(|event| event.kind);
        if kind.is_some_and(|kind| [SLICE_BEGIN, SLICE_END].contains(&kind)) {
            let rank = packet.trusted_packet_sequence_id.unwrap() - 1;
            of_ranks[rank as usize].push(packet.timestamp.unwrap());
        }
    }
    of_ranks
}

#[test]
fn a_perfetto_trace_has_the_time_that_all_ranks_share() {
    let (_dir, store) = two_ranks("");
    let [first, second] = perfetto(&store, &[]);
    assert_eq!(first, second);
    assert_eq!(first[..3], [0, 10_000, 100_000]);
    set(&store, "1", &["--offset", "12us"]);
    let moved = |ns: u64| first.iter().map(|time| time + ns).collect::<Vec<_>>();
    assert_eq!(perfetto(&store, &[]), [first.clone(), moved(12_000)]);
    // An export of the rank alone lies where it lies in the export of all.
    assert_eq!(perfetto(&store, &["--ranks", "1"])[0], moved(12_000));
    // No time of the trace is negative.
    set(&store, "1", &["--offset=-12us"]);
    assert_eq!(perfetto(&store, &[]), [moved(12_000), first]);
    // Slices a thousandth longer.
    set(&store, "1", &["--offset", "0ps", "--drift", "1000ppm"]);
    assert_eq!(perfetto(&store, &[])[1][..4], [0, 10_010, 100_100, 110_110]);
}

#[test]
fn a_clock_moves_wall_clocks() {
    let (_dir, store) = two_ranks(r#""baseTimeNanoseconds":1751410835000000000,"#);
    let [first, second] = perfetto(&store, &[]);
    assert_eq!((first[0], &first), (1_751_410_835_000_000_000, &second));
    set(&store, "1", &["--offset", "12us"]);
    let [now, moved] = perfetto(&store, &[]);
    assert_eq!((&now, moved[0] - first[0]), (&first, 12_000));
    assert_eq!(perfetto(&store, &["--ranks", "1"])[0], moved);
}

#[test]
fn a_part_is_the_same_moment_on_all_ranks_and_json_keeps_the_times_of_the_rank() {
    let (_dir, store) = two_ranks("");
    set(&store, "1", &["--offset", "100us"]);
    let json = succeed(&store, &["export", "run", "--from", "95us", "--to", "205us"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    let slices = |rank: &str| {
        let slices = json[rank]["slice"].as_array().unwrap().iter();
        slices.map(|slice| (slice["name"].clone(), slice["start_ps"].clone())).collect::<Vec<_>>()
    };
    let us = 1_000_000;
    assert_eq!(slices("rank_0"), [(json!("a1"), json!(100 * us)), (json!("a2"), json!(200 * us))]);
    assert_eq!(slices("rank_1"), [(json!("a0"), json!(0)), (json!("a1"), json!(100 * us))]);
    assert_eq!(json["rank_0"]["export"][0].get("clock"), None);
    assert_eq!(json["rank_1"]["export"][0]["clock"]["offset_ps"], 100 * us);
}
