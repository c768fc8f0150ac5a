//! Jobs whose calls state no process group: `nprof ranks` names the rank that is late, or says why
//! nobody can tell.

use serde_json::Value;

use crate::host_job::HostJob;
use crate::ranks::{json_of, succeed};

const MS: i64 = 1_000_000;
/// Lateness that is planted in each step.
const LATE: i64 = 40 * MS;
const SIZE: i64 = 263_168;

/// An ingested job.
struct Ingested(tempfile::TempDir);

impl Ingested {
    fn of(job: &HostJob) -> Self {
        let made = Self(tempfile::tempdir().unwrap());
        let traces = made.0.path().join("traces");
        job.write(&traces);
        succeed(&made.store(), &["ingest", traces.to_str().unwrap(), "--db-bucket", "job"]);
        made
    }

    fn store(&self) -> std::path::PathBuf {
        self.0.path().join("store")
    }

    fn ranks(&self) -> Value {
        json_of(&self.store(), &["ranks", "job", "--output-format", "json"])
    }

    fn text(&self) -> String {
        succeed(&self.store(), &["ranks", "job"])
    }

    /// The ranks of each operation.
    fn members(&self) -> Vec<Vec<u64>> {
        let found = json_of(&self.store(), &["collectives", "job", "--output-format", "json"]);
        let ranks = |one: &Value| {
            let members = one["members"].as_object().unwrap();
            let mut ranks: Vec<u64> = members.keys().map(|rank| rank.parse().unwrap()).collect();
            ranks.sort_unstable();
            ranks
        };
        found["instances"].as_array().unwrap().iter().map(ranks).collect()
    }
}

/// Checks that only the planted rank is named, and what the job would gain.
#[track_caller]
fn check_named(job: &HostJob, slow: u64, steps: i64) -> Ingested {
    let made = Ingested::of(job);
    let found = made.ranks();
    let named =
        |cause: &&Value| cause["stands_out"] == true && cause["cause"].as_str().unwrap().starts_with("rank");
    let causes: Vec<&str> = found["causes"]
        .as_array()
        .unwrap()
        .iter()
        .filter(named)
        .map(|one| one["cause"].as_str().unwrap())
        .collect();
    assert_eq!(causes, [format!("rank {slow}")], "{}", made.text());
    assert_eq!(found["job"]["straggler"].as_u64(), Some(slow));
    let delay = found["job"]["straggler_delay_ns"].as_f64().unwrap() / (steps * LATE) as f64;
    assert!((1.0..1.3).contains(&delay), "{delay} of what was planted\n{}", made.text());
    made
}

/// Steps with an all-reduce each.
fn plain(ranks: usize, slow: usize, steps: usize, seed: u64) -> HostJob {
    let mut job = HostJob::new(ranks, seed);
    run(&mut job, slow, steps);
    job
}

fn run(job: &mut HostJob, slow: usize, steps: usize) {
    for _ in 0..steps {
        job.compute(slow, LATE + 2 * MS);
        job.run(0, ("all_reduce", SIZE));
    }
}

#[test]
fn the_late_rank_of_one_host_is_named() {
    for (ranks, slow, seed) in [(2, 1, 1), (2, 0, 2), (3, 2, 3), (4, 0, 4), (4, 2, 5)] {
        let made = check_named(&plain(ranks, slow, 24, seed), slow as u64, 24);
        let found = made.ranks();
        assert_eq!(found["verdict"], "agree");
        assert!(found["clocks"].as_array().unwrap().iter().all(|clock| clock["offset_ns"] == 0.0));
        let all: Vec<u64> = (0..ranks as u64).collect();
        assert_eq!(made.members(), vec![all; 24], "{ranks} ranks, rank {slow}");
        assert!(
            made.text().contains("\nclocks: unmoved; all ranks have that of their host"),
            "{}",
            made.text()
        );
    }
}

#[test]
fn backends_of_all_names_are_read() {
    for backend in ["mpi", "ucc", "xccl", "hccl", "fabric"] {
        let mut job = HostJob::new(2, 7);
        job.backend = backend;
        run(&mut job, 1, 12);
        check_named(&job, 1, 12);
    }
}

#[test]
fn hosts_whose_clocks_are_apart_are_aligned() {
    for (seed, ahead_ms) in [(1, 3_000), (2, -250), (3, 7)] {
        let mut job = HostJob::new(4, seed);
        job.hosts = vec![("node0", 0), ("node0", 0), ("node1", ahead_ms * MS), ("node1", ahead_ms * MS)];
        run(&mut job, 3, 30);
        let found = check_named(&job, 3, 30).ranks();
        let offset = |rank: usize| found["clocks"][rank]["offset_ns"].as_f64().unwrap();
        assert_eq!((offset(1), offset(2)), (0.0, offset(3)), "ranks of a host have one clock");
        assert!((offset(2) + (ahead_ms * MS) as f64).abs() < 4e6, "{ahead_ms} ms: {}", offset(2));
    }
}

#[test]
fn traces_that_begin_later_or_have_more_calls_match() {
    let mut job = HostJob::new(4, 11);
    run(&mut job, 3, 5);
    job.begin(1);
    run(&mut job, 3, 20);
    check_named(&job, 3, 25);

    let mut job = HostJob::new(4, 12);
    for step in 0..24 {
        job.compute(2, LATE + 2 * MS);
        if step == 9 {
            // An all-reduce of which the traces of others have nothing.
            let start = job.now[1];
            job.call(1, 0, ("all_reduce", SIZE), (start, start + 2 * MS));
            job.now[1] = start + 2 * MS;
        }
        job.run(0, ("all_reduce", SIZE));
        job.broadcast(0, 0, 100);
    }
    check_named(&job, 2, 24);
}

#[test]
fn calls_of_several_groups_go_to_the_one_that_their_times_allow() {
    for (seed, pair_size) in [(1, 1_000), (2, SIZE)] {
        let mut job = HostJob::new(4, seed);
        job.groups = vec![vec![0, 1, 2, 3], vec![0, 1], vec![2, 3]];
        for _ in 0..24 {
            job.compute(2, LATE + 2 * MS);
            job.run(1, ("all_reduce", pair_size));
            job.run(2, ("all_reduce", pair_size));
            job.run(0, ("all_reduce", SIZE));
        }
        let made = check_named(&job, 2, 24);
        let members = made.members();
        let count = |ranks: &[u64]| members.iter().filter(|one| *one == ranks).count();
        let counts = [count(&[0, 1, 2, 3]), count(&[0, 1]), count(&[2, 3])];
        assert_eq!((counts, members.len()), ([24; 3], 72), "{}", made.text());
    }
}

#[test]
fn a_group_that_some_ranks_have_is_told_apart() {
    let mut job = HostJob::new(4, 21);
    job.groups = vec![vec![0, 1, 2, 3], vec![0, 1]];
    for _ in 0..24 {
        job.compute(1, LATE + 2 * MS);
        job.run(1, ("all_reduce", SIZE));
        job.run(0, ("all_reduce", SIZE));
    }
    let made = check_named(&job, 1, 24);
    let members = made.members();
    assert_eq!(members.iter().filter(|one| one.len() == 2).count(), 24);
    assert_eq!(members.iter().filter(|one| one.len() == 4).count(), 24);
}

#[test]
fn what_nobody_can_tell_is_said() {
    // All ranks come at the same times: the calls can be of all, or of pairs in lock-step.
    let mut job = HostJob::new(4, 31);
    job.groups = vec![vec![0, 1, 2, 3], vec![0, 1], vec![2, 3]];
    job.noise_ns = 0;
    run(&mut job, 9, 12);
    let made = Ingested::of(&job);
    let text = made.text();
    assert!(
        text.contains("cannot tell the process group of 24 calls of ranks 0, 1: they can belong to `0`"),
        "{text}"
    );
    assert!(text.contains("no operation has two ranks") || text.contains("no rank stands out"), "{text}");
    let rows = made.ranks()["calls_without_group"].as_array().unwrap().len();
    assert_eq!(rows, 4);

    // Which two of four ranks exchange data is not stated either.
    let mut job = plain(4, 1, 12, 32);
    let now = job.now.clone();
    for rank in [0, 1] {
        job.call(rank, 0, (["send", "recv"][rank], 30), (now[rank], now[rank] + MS));
    }
    let text = check_named(&job, 1, 12).text();
    assert!(text.contains("which ranks of `0` (ranks 0–3) exchange data is not stated"), "{text}");
}

#[test]
fn traces_without_a_list_of_groups_match_if_all_ranks_wait_for_each_other() {
    let mut job = HostJob::new(3, 41);
    job.lists_groups = false;
    run(&mut job, 1, 24);
    check_named(&job, 1, 24);
}
