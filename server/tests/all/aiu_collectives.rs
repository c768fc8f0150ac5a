//! Collective operations of AIUs over all ranks: their algorithms, their sends and receipts, and
//! those of PyTorch's dialect, which name no ranks.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::aiu::op;
use crate::cli::succeed;

const OPERATIONS: u64 = 3;

/// A step: its name, its ranks and number, its kind, the ranks at the other ends, and start and end
/// in microseconds from the start of the kernel.
type Step<'s> = (&'s str, &'s str, &'s str, &'s str, (u64, u64));

/// A rank of three: in each operation a kernel and the steps of the rank.
fn trace(rank: u32, steps: &[Step<'_>]) -> String {
    let mut slices = Vec::new();
    for number in 0..OPERATIONS {
        let start = 1_000 + number * 1_000;
        slices.push(op(rank, "add_1 Cmpt Exec", (start, 100), ""));
        for (step, ways, kind, peers, (from, to)) in steps {
            let group = format!("AllReduce_all_reduce_{number}");
            let name = format!("{step} [sync={group}_{ways}]");
            let name = if step.contains("Send") { format!("{name} DmaO") } else { format!("{name} DmaI") };
            let key = if peers.contains(',') { "Peers" } else { "Peer" };
            let more = format!(r#","CollGroup":"{group}","{key}":"{peers}","Bytes":"4096","Type":"{kind}""#);
            slices.push(op(rank, &name, (start + from, to - from), &more));
        }
    }
    format!("[{}]", slices.join(","))
}

const SEND: &str = "SenRdmaSend_7";
const RECEIVE: &str = "SenRdmaReceive_9";
const WAIT: &str = "WDone Barrier";

/// 0 sends to 1, 1 to 2, and 2 to all.
fn chain() -> [String; 3] {
    let last = "s2_r0x3_2";
    [
        trace(0, &[(SEND, "s0_r1_0", "SingleCast", "1", (110, 130)), (RECEIVE, last, WAIT, "2", (110, 400))]),
        trace(
            1,
            &[
                (RECEIVE, "s0_r1_0", WAIT, "0", (110, 150)),
                (SEND, "s1_r2_1", "SingleCast", "2", (160, 180)),
                (RECEIVE, last, WAIT, "2", (180, 400)),
            ],
        ),
        trace(
            2,
            &[
                (RECEIVE, "s1_r2_1", WAIT, "1", (110, 200)),
                ("SenRdmaSend_8 - Set BcList", last, "Set BCList", "0,1", (210, 220)),
                ("SenRdmaSend_8 - Xseg to rank 0", last, "MultiCast XSEG", "0", (210, 230)),
                ("SenRdmaSend_8 - Xseg to rank 1", last, "MultiCast XSEG", "1", (220, 240)),
                ("SenRdmaSend_8 Data", last, "MultiCast", "0,1", (240, 400)),
            ],
        ),
    ]
}

/// 1 and 2 send to 0, and 0 to all.
fn tree() -> [String; 3] {
    let last = "s0_r0x6_2";
    let leaf = |rank: u32, way: &'static str| {
        trace(rank, &[(SEND, way, "SingleCast", "0", (110, 130)), (RECEIVE, last, WAIT, "0", (110, 400))])
    };
    [
        trace(
            0,
            &[
                (RECEIVE, "s1_r0_0", WAIT, "1", (110, 150)),
                (RECEIVE, "s2_r0_1", WAIT, "2", (110, 160)),
                ("SenRdmaSend_8 - Xseg to rank 1", last, "MultiCast XSEG", "1", (210, 230)),
                ("SenRdmaSend_8 - Xseg to rank 2", last, "MultiCast XSEG", "2", (220, 240)),
                ("SenRdmaSend_8 Data", last, "MultiCast", "1,2", (240, 400)),
            ],
        ),
        leaf(1, "s1_r0_0"),
        leaf(2, "s2_r0_1"),
    ]
}

fn ingest(folder: &Path, ranks: [String; 3]) {
    let mut args = vec!["ingest".to_owned(), "--db-bucket".to_owned(), "job".to_owned()];
    for (rank, text) in ranks.iter().enumerate() {
        let path = folder.join(format!("rank_{rank}.json"));
        fs::write(&path, text).unwrap();
        args.push(path.to_str().unwrap().to_owned());
    }
    succeed(&folder.join("store"), &args.iter().map(String::as_str).collect::<Vec<_>>());
}

fn collectives(folder: &Path, more: &[&str]) -> String {
    succeed(&folder.join("store"), &[&["collectives", "job"], more].concat())
}

/// The operations with their algorithm, and the sends of each as ranks and microseconds.
#[track_caller]
fn check(ranks: [String; 3], algorithm: &str, expected: &[(u64, u64, u64, u64)]) {
    let dir = tempfile::tempdir().unwrap();
    ingest(dir.path(), ranks);
    let report: Value = serde_json::from_str(&collectives(dir.path(), &["--output-format", "json"])).unwrap();
    let instances = report["instances"].as_array().unwrap();
    assert_eq!(instances.len(), OPERATIONS as usize, "{report}");
    let zero = instances[0]["transfers"][0]["sent_ns"].as_f64().unwrap();
    for (number, one) in instances.iter().enumerate() {
        assert_eq!(one["algorithm"], algorithm, "{one}");
        let us = |value: &Value| {
            let ns = value.as_f64().unwrap() - zero - number as f64 * 1e6;
            (ns / 1e3).round() as u64
        };
        let found: Vec<(u64, u64, u64, u64)> = one["transfers"]
            .as_array()
            .unwrap()
            .iter()
            .map(|of| {
                let rank = |key: &str| of[key].as_u64().unwrap();
                (rank("from"), rank("to"), us(&of["sent_ns"]), us(&of["received_ns"]))
            })
            .collect();
        assert_eq!(found, expected, "{one}");
    }
    for more in [&["--by", "size"][..], &["--output-format", "csv"]] {
        let text = collectives(dir.path(), more);
        let heading = text.lines().next().unwrap_or_default().to_lowercase();
        assert!(heading.contains("algorithm") && text.contains(algorithm), "{text}");
    }
}

#[test]
fn steps_of_a_chain_lead_from_rank_to_rank() {
    check(chain(), "chain", &[(0, 1, 0, 40), (1, 2, 50, 90), (2, 0, 100, 290), (2, 1, 110, 290)]);
}

#[test]
fn a_root_that_receives_from_several_makes_a_tree() {
    check(tree(), "tree", &[(1, 0, 0, 40), (2, 0, 0, 50), (0, 1, 100, 290), (0, 2, 110, 290)]);
}

#[test]
fn operations_of_unknown_steps_have_no_algorithm() {
    let dir = tempfile::tempdir().unwrap();
    let plain = |rank: u32| {
        let more = r#","CollGroup":"AllReduce_all_reduce_1","Bytes":"4096""#;
        format!("[{}]", op(rank, "SenRdmaSend_7 DmaO", (1_000, 100), more))
    };
    ingest(dir.path(), [0, 1, 2].map(plain));
    for more in [&["--output-format", "json"][..], &["--by", "size"], &["--output-format", "csv"]] {
        let text = collectives(dir.path(), more);
        assert!(!text.contains("\"algorithm\"") && !text.contains("ALGORITHM"), "{text}");
        assert!(!text.contains("algorithm,"), "{text}");
    }
}

/// The steps of HCOLL of a rank: when it comes to each of eight operations, and when these end, in
/// microseconds.
fn hcoll(rank: u64, late_us: u64) -> String {
    let step = |name: &str, from: u64, to: u64, launch: u64| {
        format!(
            r#"{{"ph":"X","cat":"gpu_user_annotation","name":"HCOLL {name}","pid":0,"tid":1,"ts":{from},"dur":{},"args":{{"device":0,"stream":1,"correlation":{launch}}}}}"#,
            to - from
        )
    };
    let mut events = Vec::new();
    for (number, gap) in (0..).zip([0, 900, 2_300, 3_000, 4_700, 5_600, 7_100, 7_900]) {
        let start = 1_000 + gap + late_us + (rank * 31 + number * 17) % 90;
        let end = 1_000 + gap + late_us + 150;
        events.push(step("R5 Wait DATA", start, start + 10, 10 * number + rank));
        events.push(step("Wait for Notice", start + 10, end, 10 * number + rank));
    }
    format!(
        r#"{{"schemaVersion":1,"deviceProperties":[{{"id":0,"name":"AIU"}}],"distributedInfo":{{"rank":{rank},"world_size":3}},"traceEvents":[{}]}}"#,
        events.join(",")
    )
}

#[test]
fn operations_that_name_no_ranks_belong_together_by_their_ends() {
    let dir = tempfile::tempdir().unwrap();
    // Clocks are 4 ms apart, far more than the operations.
    ingest(dir.path(), [hcoll(0, 0), hcoll(1, 4_000), hcoll(2, 8_000)]);
    let report: Value = serde_json::from_str(&collectives(dir.path(), &["--output-format", "json"])).unwrap();
    let instances = report["instances"].as_array().unwrap();
    assert_eq!(instances.len(), 8, "{report}");
    for one in instances {
        assert_eq!(one["members"].as_object().unwrap().len(), 3, "{one}");
        assert_eq!(one["state"], "group unknown");
        assert!(one.get("algorithm").is_none() && one.get("transfers").is_none(), "{one}");
    }
    let offsets: Vec<f64> =
        report["clocks"].as_array().unwrap().iter().map(|one| one["offset_ns"].as_f64().unwrap()).collect();
    assert_eq!(offsets, [0.0, -4e6, -8e6]);
}
