//! Members of operations, and steps from operation to operation.

use std::collections::BTreeMap;

use super::*;
use crate::analysis::tests::{Plan, Says, analysed, job_segment, make};
use crate::makers::job::schema::{CALLS, OPERATIONS};
use crate::makers::job::{rank_of, waits_in};
use crate::model::{OwnedValue, TrackId};
use crate::query::fields;
use crate::segment::Segment;

type Bytes = Vec<u8>;

/// A job with operations of several communicators and kinds, and its job segment.
fn stage(lost: i64) -> (Job, Report, Segment<Bytes>) {
    let (job, report) =
        analysed(make(&Plan { ranks: 6, seed: 7, says: Says::Numbers, lost, apart_us: 500 }).inputs);
    let segment = job_segment(&job, &report);
    (job, report, segment)
}

/// The rows of a table of slices.
fn rows(segment: &Segment<Bytes>, name: &str) -> std::ops::Range<u32> {
    let table = segment.footer().tables.iter().find(|table| table.spec.name == name).unwrap();
    table.first_row..table.first_row + table.rows
}

fn number(segment: &Segment<Bytes>, row: u32) -> i64 {
    let fields = fields::read(segment, row).unwrap().into_iter();
    let is_number = |id: u32| segment.footer().fields[id as usize].1.name == "operation";
    let number = fields.filter(|(id, _)| is_number(id.0)).find_map(|(_, value)| match value {
        OwnedValue::Int(number) => Some(number),
        _ => None,
    });
    number.unwrap()
}

/// The list of tables can tell operations from their waits.
#[test]
fn waits_are_counted_apart_from_operations() {
    for lost in [0, 20] {
        let (_, report, segment) = stage(lost);
        let table =
            |name: &str| segment.footer().tables.iter().find(|table| table.spec.name == name).unwrap();
        let waited = report.operations.iter().filter(|one| one.wait_ps > 0).count() as u64;
        assert!(waited > 0);
        assert_eq!(u64::from(table(OPERATIONS.name).rows), report.operations.len() as u64 + waited);
        assert_eq!(waits_in(&segment, table(OPERATIONS.name)).unwrap(), waited);
        let others = [CALLS.name, "job", "rank"].map(|name| waits_in(&segment, table(name)).unwrap());
        assert_eq!(others, [0; 3]);
    }
}

#[test]
fn every_slice_of_an_operation_lists_the_calls_of_all_its_ranks() {
    let (job, report, segment) = stage(20);
    let mut order: Vec<usize> = (0..report.operations.len()).collect();
    order.sort_unstable_by_key(|&at| (report.operations[at].span.first_ps, at));
    for row in rows(&segment, OPERATIONS.name).chain(rows(&segment, CALLS.name)) {
        let at = order[usize::try_from(number(&segment, row) - 1).unwrap()];
        let mut expected: Vec<_> = report
            .arrivals(&job, at)
            .iter()
            .map(|one| {
                let rank = &job.ranks[one.member.rank];
                let call = rank.calls.rows[one.member.call];
                (rank.rank, call, shown(one.start_ps), shown(one.end_ps.max(one.start_ps)))
            })
            .collect();
        expected.sort_unstable();
        let members = of_row(&segment, row).unwrap().unwrap().members;
        let mut found: Vec<_> =
            members.iter().map(|one| (one.rank, one.call, one.start_ps, one.end_ps)).collect();
        found.sort_unstable();
        assert_eq!(found, expected, "row {row}");
        let waits: i64 = members.iter().map(|one| one.wait_ps).sum();
        let exact = report.operations[at].wait_ps;
        assert!((waits - exact).abs() < 2 * STEP_PS * 6, "{waits} and {exact}");
        for one in &members {
            let track = segment.track_of(one.row).unwrap();
            assert_eq!(rank_of(segment.footer(), track), Some(one.rank));
        }
        let last = report.operations[at].last.map(|last| job.ranks[last as usize].rank);
        let awaited: Vec<u32> = members.iter().filter(|one| one.is_awaited).map(|one| one.rank).collect();
        if let Some(last) = last.filter(|_| members.len() > 1) {
            assert_eq!(awaited, [last], "row {row}");
        }
    }
}

/// The numbers of operations that steps in one direction visit, from a row on.
fn walk(segment: &Segment<Bytes>, mut row: u32, sense: Sense) -> Vec<i64> {
    let (mut found, track) = (vec![number(segment, row)], segment.track_of(row));
    while let Some(next) = beside(segment, row, sense).unwrap() {
        assert_eq!(segment.track_of(next), track);
        row = next;
        found.push(number(segment, row));
    }
    found
}

#[test]
fn steps_visit_the_operations_of_a_communicator_and_kind_in_order() {
    let (_, _, segment) = stage(60);
    let mut of_kind = BTreeMap::<TrackId, Vec<i64>>::new();
    for row in rows(&segment, OPERATIONS.name) {
        of_kind.entry(segment.track_of(row).unwrap()).or_default().push(number(&segment, row));
    }
    let mut of_rank = BTreeMap::<(TrackId, TrackId), Vec<(i64, u32)>>::new();
    let kind_of = |number: i64| *of_kind.iter().find(|(_, numbers)| numbers.contains(&number)).unwrap().0;
    for row in rows(&segment, CALLS.name) {
        let number = number(&segment, row);
        let key = (segment.track_of(row).unwrap(), kind_of(number));
        of_rank.entry(key).or_default().push((number, row));
    }
    let firsts = of_kind.iter().map(|(track, numbers)| {
        let row = rows(&segment, OPERATIONS.name).find(|&row| segment.track_of(row) == Some(*track));
        (row.unwrap(), numbers.clone())
    });
    let of_ranks = of_rank.values().map(|calls| {
        let first = calls.iter().min().unwrap();
        (first.1, calls.iter().map(|call| call.0).collect())
    });
    let mut walks = 0;
    for (first, mut expected) in firsts.chain(of_ranks).collect::<Vec<(u32, Vec<i64>)>>() {
        expected.sort_unstable();
        expected.dedup();
        assert_eq!(walk(&segment, first, Sense::Next), expected);
        let mut last = first;
        while let Some(next) = beside(&segment, last, Sense::Next).unwrap() {
            last = next;
        }
        expected.reverse();
        assert_eq!(walk(&segment, last, Sense::Previous), expected);
        walks += 1;
    }
    assert!(walks > 7, "{walks} rows");
    let side = rows(&segment, "rank").start;
    assert_eq!(beside(&segment, side, Sense::Next), Ok(None));
}
