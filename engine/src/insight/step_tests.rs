//! Steps of operations: a rank that receives data waits for the one that sends them.

use super::JobGraph;
use super::tests::{Drawn, US, predicted, work_of};
use super::wait::{Party, WaitKind, WaitRow, waits};
use super::walk::JobEdges;
use crate::analysis::{Job, RankInput, matched, report};
use crate::exec::{Cancel, Work};
use crate::model::{
    CallList, CollectiveKind, Communicator, Membership, RankCalls, Signature, TransferEnd, TransferStep,
};
use crate::spill::NoShelf;

/// Rank 0 computes longer than rank 1, which waits for its data. Neither waits for the operation
/// around both steps, which ends before the run does.
const SENDER: [Drawn; 3] =
    [Drawn(0, "gemm", 0, 100), Drawn(1, "send", 101, 110), Drawn(2, "all-reduce", 1, 250)];
const RECEIVER: [Drawn; 4] = [
    Drawn(0, "gemm", 0, 20),
    Drawn(1, "receive", 21, 115),
    Drawn(2, "all-reduce", 1, 250),
    Drawn(1, "add", 116, 320),
];

fn input(rank: u32, end: TransferEnd) -> RankInput {
    let calls = CallList {
        starts_ps: vec![US],
        durations_ps: vec![249 * US],
        signatures: vec![0],
        numbers: vec![0],
        rows: vec![2],
        steps: vec![0],
        ..CallList::default()
    };
    let communicator =
        Communicator { name: "all".to_owned(), membership: Membership::Stated, ranks: vec![0, 1], size: 2 };
    let signature = Signature {
        communicator: 0,
        kind: CollectiveKind::AllReduce,
        dtype: "Float".to_owned(),
        algorithm: String::new(),
        count: 1,
        bytes: 4,
        peer: None,
    };
    let (start_ps, end_ps) =
        if end == TransferEnd::Send { (101 * US, 110 * US) } else { (21 * US, 115 * US) };
    let peer = 1 - rank;
    let transfers =
        vec![TransferStep { call: 0, start_ps, end_ps, end, peer, number: 0, is_to_many: false, row: 1 }];
    let calls = RankCalls {
        calls,
        communicators: vec![communicator],
        signatures: vec![signature],
        transfers,
        recorded_ps: (0, 320 * US),
        ..RankCalls::default()
    };
    RankInput { rank, calls, given: None, stated_ps: 0 }
}

fn job(ends: [TransferEnd; 2]) -> JobGraph {
    let job = Job::new((0..).zip(ends).map(|(rank, end)| input(rank, end)).collect());
    let found = matched(&job, Cancel::NEVER).unwrap();
    let report = report(&job, found, Cancel::NEVER).unwrap();
    let works = vec![work_of(&SENDER), work_of(&RECEIVER)];
    JobGraph::new(&job, &report, works, &NoShelf, Work::IN_PLACE).unwrap()
}

#[test]
fn a_receipt_waits_for_its_sender() {
    let of = job([TransferEnd::Send, TransferEnd::Receive]);
    let edges = JobEdges::of(&of, Work::IN_PLACE).unwrap();
    let rows = waits(&edges, 1, Work::IN_PLACE).unwrap();
    // Rank 0 had a gap of 1 µs before its send, which is a row of its own.
    let waited: Vec<&WaitRow> = rows.iter().filter(|row| row.kind == WaitKind::Operation).collect();
    assert!(waited.iter().all(|row| row.awaited == Some(Party::Rank(0))), "{waited:?}");
    assert_eq!(waited.iter().map(|row| row.wait_ps).sum::<i64>(), 80 * US);
    // The sender comes 50 µs earlier, and so does all behind the receipt.
    let found = predicted(&of, &["kernel:gemm=0.5"]);
    assert_eq!((found.recorded_ps, found.unchanged_ps), (320 * US, 320 * US));
    assert_eq!(found.predicted.middle_ps, 270 * US);
}

#[test]
fn a_receipt_without_a_sender_waits_for_nobody() {
    let of = job([TransferEnd::Receive, TransferEnd::Receive]);
    let edges = JobEdges::of(&of, Work::IN_PLACE).unwrap();
    let rows = waits(&edges, 1, Work::IN_PLACE).unwrap();
    assert!(rows.iter().all(|row| row.kind != WaitKind::Operation), "{rows:?}");
}
