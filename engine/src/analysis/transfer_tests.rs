//! Transfers from rank to rank, and the algorithms of operations.

use super::group_guess_tests::Stage;
use super::tests::{US, analysed, int, job_segment, rows_of};
use super::*;
use crate::makers::job::schema::{CALLS, OPERATIONS, TRANSFERS};
use crate::model::{OwnedValue, TransferEnd, TransferStep};
use crate::segment::Segment;

/// Two operations of three ranks, each 100 us long.
fn stage() -> Stage {
    let mut stage = Stage::new(3, &[("all", &[0, 1, 2])]);
    for _ in 0..2 {
        stage.run(0, &[0, 1, 2], |_| 100 * US);
    }
    stage
}

/// Adds a step to both ranks in operation `call`: from the start of the send to the receipt, in
/// microseconds from the start of the first operation.
fn step(stage: &mut Stage, call: u32, from: u32, to: u32, number: u32, sent: i64, received: i64) {
    let many = number >= 10;
    for (rank, end, peer) in [(from, TransferEnd::Send, to), (to, TransferEnd::Receive, from)] {
        let (start_us, end_us) = if rank == from { (sent, sent + 5) } else { (received - 5, received) };
        let [start_ps, end_ps] = [start_us, end_us].map(|us| (1_000 + us) * US);
        let transfers = &mut stage.inputs[rank as usize].calls.transfers;
        let row = 100 * call + number;
        transfers.push(TransferStep { call, start_ps, end_ps, end, peer, number, is_to_many: many, row });
        transfers.sort_unstable();
    }
}

/// A chain in both operations: 0 to 1, 1 to 2, and 2 to all.
fn chain() -> Stage {
    let mut stage = stage();
    for (call, at) in [(0, 0), (1, 100)] {
        step(&mut stage, call, 0, 1, 0, at + 10, at + 20);
        step(&mut stage, call, 1, 2, 1, at + 20, at + 30);
        for to in [0, 1] {
            step(&mut stage, call, 2, to, 10, at + 40, at + 60);
        }
    }
    stage
}

#[track_caller]
fn check(stage: Stage, at: usize, expected: Option<&str>, sends: &[(usize, usize, i64, i64)]) {
    let (job, report) = analysed(stage.inputs);
    assert_eq!(algorithm(&job, &report, at), expected);
    let us = |ps: i64| ps / US - 1_000;
    let found: Vec<(usize, usize, i64, i64)> = passages(&job, &report, at)
        .iter()
        .map(|one| (one.from, one.to, us(one.sent_ps), us(one.received_ps)))
        .collect();
    assert_eq!(found, sends);
}

#[test]
fn sends_and_receipts_of_an_operation_belong_together() {
    let of_second = [(0, 1, 110, 120), (1, 2, 120, 130), (2, 0, 140, 160), (2, 1, 140, 160)];
    check(chain(), 1, Some("chain"), &of_second);
    check(stage(), 1, None, &[]);
    let mut tree = stage();
    step(&mut tree, 0, 1, 0, 0, 10, 20);
    step(&mut tree, 0, 2, 0, 1, 10, 20);
    check(tree, 0, Some("tree"), &[(1, 0, 10, 20), (2, 0, 10, 20)]);
    // Only one end was recorded.
    let mut cut = stage();
    step(&mut cut, 0, 1, 0, 0, 10, 20);
    cut.inputs[0].calls.transfers.clear();
    check(cut, 0, Some("chain"), &[]);
}

#[test]
fn equal_steps_belong_together_in_their_order() {
    let mut twice = stage();
    step(&mut twice, 0, 0, 1, 0, 10, 20);
    step(&mut twice, 0, 0, 1, 0, 50, 60);
    check(twice, 0, Some("chain"), &[(0, 1, 10, 20), (0, 1, 50, 60)]);
}

#[test]
fn a_stated_algorithm_wins() {
    let mut stage = chain();
    for input in &mut stage.inputs {
        input.calls.signatures[0].algorithm = "Ring".to_owned();
    }
    let (job, report) = analysed(stage.inputs);
    assert_eq!(algorithm(&job, &report, 0), Some("Ring"));
    let rows = table::rows(&job, &report, table::By::Kind);
    assert_eq!(rows[0].algorithms, ["Ring"]);
}

fn rows(segment: &Segment<Vec<u8>>, name: &str) -> std::ops::Range<u32> {
    let table = segment.footer().tables.iter().find(|table| table.spec.name == name);
    table.map_or(0..0, |table| table.first_row..table.first_row + table.rows)
}

#[test]
fn a_job_segment_has_the_transfers() {
    let (job, report) = analysed(chain().inputs);
    let segment = job_segment(&job, &report);
    for row in rows_of(&segment, OPERATIONS.name) {
        // The wait of an operation has only its number.
        let expected = row.contains_key("kind").then(|| OwnedValue::Text("chain".to_owned()));
        assert_eq!(row.get("algorithm"), expected.as_ref(), "{row:?}");
    }
    let ends: Vec<_> = rows_of(&segment, TRANSFERS.name)
        .iter()
        .map(|row| ["operation", "from_rank", "to_rank", "received"].map(|name| int(row, name).unwrap()))
        .collect();
    assert_eq!((ends.len(), ends[0]), (8, [1, 0, 1, 10 * US]));
    for name in [OPERATIONS.name, CALLS.name, TRANSFERS.name] {
        for row in rows(&segment, name) {
            let of = job_segment::of_row(&segment, row).unwrap().unwrap();
            assert_eq!((of.members.len(), of.sends.len()), (3, 4), "{name} {row}");
            assert_eq!(of.algorithm, if name == CALLS.name { "chain" } else { "" }, "{name}");
            let first = of.sends.iter().min_by_key(|one| one.sent_ps).unwrap();
            assert_eq!((first.from, first.to, first.received_ps - first.sent_ps), (0, 1, 10 * US));
        }
    }
}

#[test]
fn wrong_clocks_let_data_come_before_they_are_sent() {
    let mut stage = stage();
    step(&mut stage, 0, 0, 1, 0, 30, 20);
    let (job, report) = analysed(stage.inputs);
    let segment = job_segment(&job, &report);
    let row = rows(&segment, TRANSFERS.name).start;
    let of = job_segment::of_row(&segment, row).unwrap().unwrap();
    assert_eq!(of.sends[0].received_ps - of.sends[0].sent_ps, -10 * US);
}

#[test]
fn traces_without_steps_have_neither_table_nor_column() {
    let (job, report) = analysed(stage().inputs);
    let segment = job_segment(&job, &report);
    assert!(rows(&segment, TRANSFERS.name).is_empty());
    assert!(segment.footer().tracks.iter().all(|track| track.spec.name != "Transfers"));
    assert!(rows_of(&segment, OPERATIONS.name).iter().all(|row| !row.contains_key("algorithm")));
}
