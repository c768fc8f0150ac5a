//! Which files become which profile and rank: traces of several jobs, and cycles of one rank.

use std::fs;
use std::path::{Path, PathBuf};

use nprof_capture::archive::fixture::gzip;
use nprof_server::store::{Profile, Store};

use crate::cli::{fail, run, succeed};
use crate::ranks::shared;

/// Text of a trace with two slices of 5 µs, the second one a second after the first. The properties
/// stand behind the events.
fn trace(properties: &str, first_us: u64) -> Vec<u8> {
    let event =
        |name: &str, us: u64| format!(r#"{{"ph":"X","name":"{name}","pid":4711,"tid":1,"ts":{us},"dur":5}}"#);
    let events = [event("a", first_us), event("b", first_us + 1_000_000)].join(",");
    format!(r#"{{"traceEvents":[{events}],"schemaVersion":1,{properties}}}"#).into_bytes()
}

fn rank_of(rank: u32, size: u32) -> String {
    format!(r#""distributedInfo":{{"backend":"nccl","rank":{rank},"world_size":{size}}}"#)
}

/// Microseconds of a wall clock.
const NOW_US: u64 = 1_700_000_000_000_000;

fn write(dir: &Path, name: &str, bytes: &[u8]) -> String {
    let path = dir.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, bytes).unwrap();
    path.to_str().unwrap().to_owned()
}

/// The profiles of a store: number and files of each rank.
fn profiles(store: &Path) -> Vec<String> {
    let of_profile = |profile: &Profile| {
        let ranks = profile.manifest.ranks.iter();
        ranks.map(|rank| format!("{} {}", rank.rank, rank.inputs.join("+"))).collect::<Vec<_>>().join(", ")
    };
    let mut all: Vec<String> =
        Store::open(store).unwrap().survey().unwrap().profiles.iter().map(of_profile).collect();
    all.sort();
    all
}

#[test]
fn traces_of_different_jobs_are_a_profile_each() {
    let dir = tempfile::tempdir().unwrap();
    let store = dir.path().join("store");
    let control = write(dir.path(), "control.json.gz", &gzip(&trace(&rank_of(3, 8), NOW_US)));
    let test = write(dir.path(), "test.json.gz", &gzip(&trace(&rank_of(1, 2), NOW_US + 900_000_000_000)));
    let refused = fail(&store, &["ingest", &control, &test, "--db-bucket", "both"], 1);
    assert!(refused.contains("control.json.gz, test.json.gz") && refused.contains("--as-ranks"), "{refused}");
    assert!(profiles(&store).is_empty());
    let output = run(&store, &["ingest", &control, &test]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("2 profiles, because the traces state"), "{said}");
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 2);
    assert_eq!(profiles(&store), ["1 test.json.gz", "3 control.json.gz"]);
    let forced = dir.path().join("forced");
    let output = run(&forced, &["ingest", &control, &test, "--as-ranks", "--db-bucket", "both"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("--as-ranks was given:\n  rank 1: test.json.gz\n  rank 3: control"), "{said}");
    assert_eq!(profiles(&forced), ["1 test.json.gz, 3 control.json.gz"]);
    // An output takes one profile.
    let refused = fail(&store, &["view", &control, &test, "--output-format", "json", "-o", "-"], 1);
    assert!(refused.contains("several profiles"), "{refused}");
}

#[test]
fn times_tell_jobs_apart_if_nothing_else_does() {
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str, us: u64| write(dir.path(), name, &trace(r#""x":1"#, us));
    let before = file("before.json", NOW_US);
    let [left, right] = [file("left.json", NOW_US + 60_000_000), file("right.json", NOW_US + 60_500_000)];
    let store = dir.path().join("store");
    succeed(&store, &["ingest", &before, &left, &right]);
    assert_eq!(profiles(&store), ["0 before.json", "0 left.json, 1 right.json"]);
    // A directory is one job, unless its traces are days apart.
    let store = dir.path().join("whole");
    file("d/before.json", NOW_US);
    file("d/after.json", NOW_US + 60_000_000);
    file("d/much_later.json", NOW_US + 200_000_000_000);
    succeed(&store, &["ingest", dir.path().join("d").to_str().unwrap()]);
    assert_eq!(profiles(&store), ["0 after.json, 1 before.json", "0 much_later.json"]);
}

/// A job of two ranks with two cycles each.
fn cycles(dir: &Path, pack: impl Fn(Vec<u8>) -> Vec<u8>) -> PathBuf {
    for (cycle, first_us) in [(9, NOW_US), (10, NOW_US + 70_000_000)] {
        for rank in 0..2 {
            let name = format!("run/iteration_{cycle}/rank{rank}_trace.json");
            write(dir, &name, &pack(trace(&rank_of(rank, 2), first_us)));
        }
    }
    dir.join("run")
}

#[test]
fn cycles_of_a_rank_are_one_rank() {
    let rank =
        |rank: u32| format!("{rank} iteration_9/rank{rank}_trace.json+iteration_10/rank{rank}_trace.json");
    let expected = [rank(0), rank(1)].join(", ");
    for pack in [(|bytes| bytes) as fn(Vec<u8>) -> Vec<u8>, |bytes| gzip(&bytes)] {
        let dir = tempfile::tempdir().unwrap();
        let (job, store) = (cycles(dir.path(), pack), dir.path().join("store"));
        succeed(&store, &["ingest", job.to_str().unwrap(), "--db-bucket", "job"]);
        assert_eq!(profiles(&store), [expected.as_str()]);
        let ranks = Store::open(&store).unwrap().find("job").unwrap().manifest.ranks.clone();
        assert_eq!(ranks[1].end_ps - ranks[1].start_ps, 71_000_005_000_000, "both cycles, and the gap");
        let exported = succeed(&store, &["export", "job", "--rank", "1"]);
        assert!(exported.contains("not recorded"), "{exported}");
        // The files by their names give the same.
        let named = dir.path().join("named");
        let files = ["9/rank0", "9/rank1", "10/rank0", "10/rank1"];
        let files = files.map(|file| job.join(format!("iteration_{file}_trace.json")));
        let files: Vec<&str> = files.iter().map(|file| file.to_str().unwrap()).collect();
        succeed(&named, &[&["ingest"][..], &files].concat());
        assert_eq!(profiles(&named), [expected.as_str()]);
    }
}

#[test]
fn traces_of_a_rank_that_overlap_are_no_cycles() {
    let dir = tempfile::tempdir().unwrap();
    for cycle in [1, 2] {
        let name = format!("run/iteration_{cycle}/rank0_trace.json");
        write(dir.path(), &name, &trace(&rank_of(0, 1), NOW_US + 500_000 * cycle));
    }
    let (job, store) = (dir.path().join("run"), dir.path().join("store"));
    let job = job.to_str().unwrap();
    let output = run(&store, &["ingest", job]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("2 profiles, because several traces tell rank 0"), "{said}");
    assert_eq!(profiles(&store).len(), 2);
    let output = run(&store, &["ingest", job, "--as-ranks"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("tells rank 0 like") && said.contains("their times overlap"), "{said}");
}

#[test]
fn a_damaged_cycle_of_a_directory_is_left_out_alone() {
    let dir = tempfile::tempdir().unwrap();
    let (job, store) = (cycles(dir.path(), |bytes| bytes), dir.path().join("store"));
    // Its beginning and its facts are those of a trace, but it has no event.
    let broken = format!(
        r#"{{"schemaVersion":1,{},"displayTimeUnit":{{"ts":{}}}}}"#,
        rank_of(0, 2),
        NOW_US + 140_000_000
    );
    write(dir.path(), "run/iteration_11/rank0_trace.json", broken.as_bytes());
    succeed(&store, &["ingest", job.to_str().unwrap()]);
    let found = profiles(&store);
    assert!(found.len() == 1 && !found[0].contains("iteration_11"), "{found:?}");
}

#[test]
fn real_jobs_stay_one_profile_and_other_files_do_not() {
    let Some(data) = shared("data") else { return };
    let dir = tempfile::tempdir().unwrap();
    let ranks = |inputs: &[PathBuf]| {
        let store = dir.path().join("store");
        let inputs: Vec<&str> = inputs.iter().map(|path| path.to_str().unwrap()).collect();
        succeed(&store, &[&["ingest"][..], &inputs].concat());
        let ranks = profiles(&store).iter().map(|ranks| ranks.split(", ").count()).collect::<Vec<_>>();
        fs::remove_dir_all(store).unwrap();
        ranks
    };
    let listed = |folder: &str, ending: &str| -> Vec<PathBuf> {
        let entries = fs::read_dir(data.join(folder)).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| path.to_str().unwrap().ends_with(ending)).collect()
    };
    assert_eq!(ranks(&[data.join("kineto/dlrm_8_ranks")]), [8]);
    assert_eq!(ranks(&listed("kineto/dlrm_8_ranks", ".json")), [8]);
    assert_eq!(ranks(&listed("kineto/vision_2_ranks", ".gz")), [2]);
    let diff = ["control/control.json.gz", "test/test.json.gz"]
        .map(|name| data.join("kineto/trace_diff").join(name));
    assert_eq!(ranks(&diff), [1, 1]);
    let ntff = &listed("neuron", ".ntff")[..4];
    assert_eq!(ranks(ntff), [1; 4]);
    assert_eq!(ranks(&[data.join("cases3/torchtitan-iterations-are-not-ranks")]), [2]);
    assert_eq!(ranks(&[data.join("cases3/names-without-rank-natural-order")]), [6]);
}
