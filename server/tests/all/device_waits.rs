//! `nprof waits` and `nprof whatif` on devices whose recordings state what their work waits for,
//! and on jobs without a device.

use std::path::Path;

use serde_json::Value;

use crate::host_job::HostJob;
use crate::ranks::{json_of, nprof, shared, succeed};

const MS: f64 = 1e9;

fn ingested(path: &str) -> Option<tempfile::TempDir> {
    let input = shared(path)?;
    let dir = tempfile::tempdir().unwrap();
    succeed(&dir.path().join("store"), &["ingest", input.to_str().unwrap(), "--db-bucket", "run"]);
    Some(dir)
}

fn waits(store: &Path, rank: &str) -> Value {
    json_of(store, &["waits", "run", "--rank", rank, "--limit", "all", "--output-format", "json"])
}

fn whatif(store: &Path, edits: &[&str]) -> Value {
    json_of(store, &[&["whatif", "run", "--output-format", "json"], edits].concat())
}

fn ps(of: &Value) -> f64 {
    of.as_f64().unwrap()
}

#[test]
fn waits_of_a_device_name_semaphore_and_author() {
    for kind in ["json", "ntff"] {
        let Some(dir) = ingested(&format!("data/neuron/profile_128x128x1000.{kind}")) else { return };
        let store = dir.path().join("store");
        let found = waits(&store, "0");
        let counts = ["stated", "fulfilled", "charged"].map(|key| found["stated_waits"][key].as_u64());
        assert_eq!(counts, [Some(40); 3], "{found}");
        let rows = found["rows"].as_array().unwrap();
        let of_waiter = |waiter: &str, kind: &str| {
            let is_it = |row: &&Value| row["waiter"] == waiter && row["kind"] == kind;
            rows.iter().find(is_it).unwrap_or_else(|| panic!("{waiter} {kind}: {found}"))
        };
        let product = of_waiter("Scalar", "semaphore");
        assert_eq!((&product["awaited"], &product["instruction"]), (&"Tensor".into(), &"ACTIVATE".into()));
        assert!(product["semaphore"].as_str().unwrap().starts_with("S[5]"), "{product}");
        assert_eq!(product["awaited_instruction"], "MATMUL");
        let data = of_waiter("Tensor", "dma");
        assert!(data["awaited"].as_str().unwrap().contains("Q0"), "{data}");
        // Times of all rows, without an author in the last one only.
        assert!(rows.iter().rev().skip(1).all(|row| !row["awaited"].is_null()), "{found}");
        let sum: f64 = rows.iter().map(|row| ps(&row["wait_ps"])).sum();
        assert_eq!(sum, ps(&found["wait_ps"]));
    }
}

#[test]
fn engines_queues_layers_and_semaphores_can_be_changed() {
    let Some(dir) = ingested("data/neuron/profile_128x128x1000.json") else { return };
    let store = dir.path().join("store");
    for edit in ["engine:tensor=0.5", "dma:qGpSimdDynamic=0.5", "layer:_dot*=0.5", "wait:semaphore 2=0"] {
        let found = whatif(&store, &[edit]);
        assert_eq!(found["unchanged_ps"], found["recorded_ps"], "{edit}: {found}");
        assert!(ps(&found["saving_ps"]["middle"]) > 0.0, "{edit}: {found}");
    }
    for (edit, known) in [
        ("engine:Mask=0.5", "`GpSimd`"),
        ("dma:none=0.5", "`qGpSimdDynamic · Q0`"),
        ("layer:none=0.5", "`_dot.3`"),
        ("wait:semaphore 99=0", "semaphore 24"),
    ] {
        let (code, _, message) = nprof(&store, &["whatif", "run", edit]);
        assert_eq!(code, Some(1), "{message}");
        assert!(message.contains("no such work; it has") && message.contains(known), "{message}");
    }
}

#[test]
fn unchanged_runs_of_all_devices_take_their_recorded_time() {
    for path in [
        "data/neuron/profile_bucketed_128x128x2048.ntff",
        "data/aiu/inputs/flexA_job_0.json",
        "data/aiu/inputs/torchA.pt.trace.json",
        "data/kineto/rank-34.Jul_15_10_52_41.1074.pt.trace.json.gz",
        "data/kineto/distributed_info_not_found.json.gz",
    ] {
        let Some(dir) = ingested(path) else { continue };
        let store = dir.path().join("store");
        let found = whatif(&store, &["kernel:*=1"]);
        assert!(ps(&found["recorded_ps"]) > 0.0, "{path}: {found}");
        let all = [&found["unchanged_ps"], &found["predicted_ps"]["low"], &found["predicted_ps"]["high"]];
        assert!(all.into_iter().all(|ps| *ps == found["recorded_ps"]), "{path}: {found}");
    }
}

/// Two ranks without a device, of which one computes longer.
fn host_job() -> (tempfile::TempDir, f64) {
    const STEPS: usize = 6;
    let mut job = HostJob::new(2, 1);
    job.noise_ns = 0;
    for _ in 0..STEPS {
        job.compute(1, 4_000_000);
        job.run(0, ("all_reduce", 1024));
    }
    let dir = tempfile::tempdir().unwrap();
    let traces = dir.path().join("traces");
    job.write(&traces);
    succeed(&dir.path().join("store"), &["ingest", traces.to_str().unwrap(), "--db-bucket", "run"]);
    (dir, STEPS as f64)
}

#[test]
fn a_job_without_a_device_is_replayed_by_its_threads() {
    let (dir, steps) = host_job();
    let store = dir.path().join("store");
    // A step computes 12 ms on the late rank, and its operation takes 0.5 ms.
    for (edits, step_ms) in [
        (&["kernel:linear=1"][..], 12.5),
        (&["kernel:linear=0.5"], 6.5),
        (&["transfer:all-reduce=0.2"], 12.1),
        (&["rank:1=0.5"], 8.5),
        (&["rank:0=0.5"], 12.5),
    ] {
        let found = whatif(&store, edits);
        assert_eq!(ps(&found["recorded_ps"]), steps * 12.5 * MS, "{found}");
        assert_eq!(found["unchanged_ps"], found["recorded_ps"]);
        let middle = ps(&found["predicted_ps"]["middle"]);
        assert!((middle - steps * step_ms * MS).abs() <= 0.01 * steps * 12.5 * MS, "{edits:?}: {found}");
    }
}

#[test]
fn threads_of_a_job_without_a_device_wait_for_the_late_rank() {
    let (dir, steps) = host_job();
    let store = dir.path().join("store");
    let found = waits(&store, "0");
    let rows = found["rows"].as_array().unwrap();
    let in_operations: f64 =
        rows.iter().filter(|row| row["kind"] == "operation").map(|row| ps(&row["wait_ps"])).sum();
    assert!((in_operations - steps * 4.0 * MS).abs() < 0.01 * MS, "{found}");
    assert!(rows.iter().any(|row| row["kind"] == "operation" && row["root"] == "rank 1"), "{found}");
    let path = json_of(&store, &["critical-path", "run", "--limit", "all", "--output-format", "json"]);
    assert_eq!(ps(&path["length_ps"]), steps * 12.5 * MS);
    assert_eq!(path["by_rank"][0]["rank"], 1, "{path}");
    assert!(ps(&path["by_rank"][0]["ps"]) >= steps * 11.9 * MS, "{path}");
}
