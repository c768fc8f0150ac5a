//! Laws of the analysis on random jobs whose truth is known.

use proptest::prelude::*;

use rustc_hash::FxHashMap;

use super::*;
use crate::base::Interval;
use crate::exec::Work;
use crate::ingest::{BuildOptions, Builder};
use crate::makers::job::over_time::over_time;
use crate::makers::job::{SOURCE, metrics::groups as job_metrics, rank_of, subject_of};
use crate::metrics::trace::span;
use crate::model::collective::NO_NUMBER;
use crate::model::{
    CallList, CollectiveKind, Communicator, ComputeLoad, FieldId, Membership, OwnedValue, RankCalls,
    Signature, TableId, TrackId,
};
use crate::query::fields::for_each_row;
use crate::segment::{Footer, Segment};
use crate::spill::MemoryScratch;

pub(super) const US: i64 = 1_000_000;

/// Repeatable random numbers.
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn below(&mut self, limit: i64) -> i64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        i64::try_from((self.0 >> 33) % limit.unsigned_abs()).unwrap()
    }
}

/// A call as a trace states it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Says {
    Numbers,
    Groups,
}

#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub(super) ranks: usize,
    pub(super) seed: u64,
    pub(super) says: Says,
    /// Lost calls in a thousand.
    pub(super) lost: i64,
    /// Most microseconds between clocks.
    pub(super) apart_us: i64,
}

/// A job with its truth.
pub(super) struct Made {
    pub(super) inputs: Vec<RankInput>,
    pub(super) offsets: Vec<i64>,
    /// Rank and row of the members of each operation, as far as recorded.
    truth: Vec<Vec<(usize, u32)>>,
}

pub(super) fn make(plan: &Plan) -> Made {
    let Plan { ranks, seed, says, lost, apart_us } = *plan;
    let mut dice = Dice(seed ^ 0x5bd1_e995);
    let offsets: Vec<i64> =
        (0..ranks).map(|rank| if rank == 0 { 0 } else { dice.below(2 * apart_us + 1) - apart_us }).collect();
    let offsets: Vec<i64> = offsets.into_iter().map(|us| us * US).collect();
    let mut groups: Vec<Vec<usize>> = vec![(0..ranks).collect()];
    groups.extend((0..ranks / 2).map(|pair| vec![2 * pair, 2 * pair + 1]));
    if ranks > 2 {
        groups.extend((0..2).map(|place| (0..ranks).filter(|rank| rank % 2 == place).collect()));
    }
    let mut inputs: Vec<RankInput> =
        (0..ranks).map(|rank| input(u32::try_from(rank).unwrap(), &groups)).collect();
    let mut now = vec![1_000 * US; ranks];
    let mut truth = Vec::new();
    let mut row = vec![0_u32; ranks];
    for round in 0..40_u32 {
        for (number, group) in groups.iter().enumerate() {
            if number == 0 && round % 8 != 7 {
                continue;
            }
            let transfer = 12 * US + dice.below(3_000) * 1_000 + i64::from(number == 0) * 4 * US;
            let starts: Vec<i64> =
                group.iter().map(|&rank| now[rank] + 150 * US + dice.below(90_000) * 1_000).collect();
            let last = *starts.iter().max().unwrap();
            let mut members = Vec::new();
            for (&rank, start) in group.iter().zip(starts) {
                let end = last + transfer + dice.below(1_500) * 1_000;
                now[rank] = end;
                if dice.below(1_000) < lost {
                    continue;
                }
                let calls = &mut inputs[rank].calls;
                let own = calls.communicators.iter().position(|one| one.name == number.to_string()).unwrap();
                calls.calls.starts_ps.push(start + offsets[rank]);
                calls.calls.durations_ps.push(end - start);
                calls.calls.signatures.push(u32::try_from(own).unwrap());
                calls.calls.numbers.push(if says == Says::Numbers { round } else { NO_NUMBER });
                calls.calls.rows.push(row[rank]);
                members.push((rank, row[rank]));
                row[rank] += 1;
            }
            truth.push(members);
        }
    }
    for (input, now) in inputs.iter_mut().zip(now) {
        input.calls.recorded_ps = (0, now);
    }
    truth.retain(|members| !members.is_empty());
    truth.sort();
    Made { inputs, offsets, truth }
}

fn input(rank: u32, groups: &[Vec<usize>]) -> RankInput {
    let mut calls = RankCalls { calls: CallList::default(), ..RankCalls::default() };
    for (number, group) in groups.iter().enumerate() {
        if group.contains(&(rank as usize)) {
            let ranks: Vec<u32> = group.iter().map(|&rank| u32::try_from(rank).unwrap()).collect();
            let size = u32::try_from(ranks.len()).unwrap();
            let communicator = u32::try_from(calls.communicators.len()).unwrap();
            calls.communicators.push(Communicator {
                name: number.to_string(),
                membership: Membership::Stated,
                ranks,
                size,
            });
            calls.signatures.push(Signature {
                communicator,
                kind: CollectiveKind::AllReduce,
                dtype: "Float".to_owned(),
                algorithm: String::new(),
                count: 1_000,
                bytes: 4_000,
                peer: None,
            });
        }
    }
    RankInput { rank, calls, given: None, stated_ps: 0 }
}

/// Takes a call out of a trace.
pub(super) fn remove_call(input: &mut RankInput, at: usize) {
    let calls = &mut input.calls.calls;
    calls.starts_ps.remove(at);
    calls.durations_ps.remove(at);
    for column in [&mut calls.signatures, &mut calls.numbers, &mut calls.rows] {
        column.remove(at);
    }
}

pub(super) fn analysed(inputs: Vec<RankInput>) -> (Job, Report) {
    let job = Job::new(inputs);
    let found = matched(&job, Cancel::NEVER).unwrap();
    let report = report(&job, found, Cancel::NEVER).unwrap();
    (job, report)
}

pub(super) fn shown(job: &Job, report: &Report) -> Vec<Vec<(usize, u32)>> {
    let member = |one: InstanceCall| (one.rank, job.ranks[one.rank].calls.rows[one.call]);
    let mut found: Vec<Vec<_>> =
        (0..report.instances.len()).map(|at| report.instances.members(at).map(member).collect()).collect();
    found.sort();
    found
}

pub(super) fn plans() -> impl Strategy<Value = Plan> {
    let says = prop_oneof![Just(Says::Numbers), Just(Says::Groups)];
    (2..9_usize, any::<u64>(), says, 0..50_i64, 0..30_000_i64)
        .prop_map(|(ranks, seed, says, lost, apart_us)| Plan { ranks, seed, says, lost, apart_us })
}

/// Rank and time of a finding that must not depend on an order.
fn sums(report: &Report) -> (f64, f64, f64, f64) {
    let sum = |of: fn(&RankReport) -> f64| report.ranks.iter().map(of).sum::<f64>();
    let links: f64 = report.links.iter().map(|link| link.root_blame_ps).sum();
    (
        sum(|rank| rank.wait_ps as f64),
        sum(|rank| rank.blame_ps),
        sum(|rank| rank.last_takes_all_ps),
        sum(|rank| rank.root_blame_ps) + links,
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn calls_match_and_bounds_hold(plan in plans()) {
        let made = make(&plan);
        let (job, report) = analysed(made.inputs);
        prop_assert_eq!(shown(&job, &report), made.truth);
        for (rank, clock) in report.clocks.ranks.iter().enumerate() {
            let at = clock.fit.at_ps();
            let right = made.offsets[report.clocks.reference] - made.offsets[rank];
            prop_assert!(clock.low_ps.is_none_or(|low| low <= right), "rank {rank}: {right} below {clock:?}");
            prop_assert!(clock.high_ps.is_none_or(|high| high >= right), "rank {rank}: {right} above {clock:?}");
            let off = clock.fit.to_shared(crate::base::Time(at)).0 - at - right;
            prop_assert!(off.abs() < 6 * US, "rank {rank} is off by {off} ps");
        }
        prop_assert_eq!(report.clocks.violations, 0);
    }

    #[test]
    fn blame_adds_up_to_what_was_waited(plan in plans()) {
        let (_, report) = analysed(make(&plan).inputs);
        let (wait, direct, last, root) = sums(&report);
        for blame in [direct, last, root] {
            prop_assert!((blame - wait).abs() <= 1e-6 * wait + 1.0, "{blame} for {wait}");
        }
        for rank in &report.ranks {
            prop_assert!(rank.wait_ps >= 0 && rank.root_blame_ps >= 0.0);
        }
    }

    #[test]
    fn the_order_of_ranks_does_not_matter(plan in plans(), by in 1..7_usize) {
        let (_, report) = analysed(make(&plan).inputs);
        let mut inputs = make(&plan).inputs;
        let by = by % inputs.len();
        inputs.rotate_left(by);
        let (_, other) = analysed(inputs);
        prop_assert_eq!(&report.clocks, &other.clocks);
        prop_assert_eq!(&report.ranks, &other.ranks);
        prop_assert_eq!(report.links, other.links);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    #[test]
    fn an_overlay_keeps_what_was_matched_in_few_bytes(plan in plans()) {
        let job = Job::new(make(&plan).inputs);
        let found = matched(&job, Cancel::NEVER).unwrap();
        let bytes = overlay::encode(&job, &found);
        prop_assert_eq!(overlay::decode(&job, &bytes), Ok(found));
        let calls: usize = job.ranks.iter().map(|rank| rank.calls.len()).sum();
        // 48 bytes a rank are for its clock.
        prop_assert!(bytes.len() <= 3 * calls + 48 * plan.ranks + 16, "{} bytes for {calls} calls", bytes.len());
    }

    #[test]
    fn damaged_overlays_are_refused(plan in plans(), at in any::<prop::sample::Index>(), flip in 1..=255_u8) {
        let job = Job::new(make(&plan).inputs);
        let mut bytes = overlay::encode(&job, &matched(&job, Cancel::NEVER).unwrap());
        let at = at.index(bytes.len());
        prop_assert!(overlay::decode(&job, &bytes[..at]).is_err());
        bytes[at] ^= flip;
        // A flipped byte can be another valid overlay. It must be one that fits the job.
        if let Ok(found) = overlay::decode(&job, &bytes) {
            let report = report(&job, found, Cancel::NEVER).unwrap();
            prop_assert_eq!(report.ranks.len(), job.ranks.len());
        }
    }
}

#[test]
fn clocks_that_agree_stay_unmoved() {
    for says in [Says::Numbers, Says::Groups] {
        let plan = Plan { ranks: 6, seed: 4, says, lost: 10, apart_us: 0 };
        let (_, report) = analysed(make(&plan).inputs);
        assert_eq!(report.clocks.verdict, ClockVerdict::Agree, "{says:?}");
        assert!(report.used.iter().all(|fit| fit.offset_ps() == 0 && fit.drift_ppb() == 0));
    }
}

#[test]
fn another_size_and_a_missing_call_are_findings_of_the_minority() {
    for says in [Says::Numbers, Says::Groups] {
        let plan = Plan { ranks: 6, seed: 9, says, lost: 0, apart_us: 5_000 };
        let mut inputs = make(&plan).inputs;
        // The last call of all, with which the job ends: rank 0 has another size, rank 3 lacks it.
        for input in &mut inputs {
            let last = input.calls.calls.signatures.iter().rposition(|of| *of == 0).unwrap();
            (last + 1..input.calls.calls.len()).rev().for_each(|at| remove_call(input, at));
        }
        let other = Signature { count: 7, ..inputs[0].calls.signatures[0].clone() };
        inputs[0].calls.signatures.push(other);
        let number = u32::try_from(inputs[0].calls.signatures.len() - 1).unwrap();
        *inputs[0].calls.calls.signatures.last_mut().unwrap() = number;
        let gone = inputs[3].calls.calls.len() - 1;
        remove_call(&mut inputs[3], gone);
        let (_, report) = analysed(inputs);
        let found: Vec<(u32, Mismatch)> =
            report.contradictions.iter().map(|one| (one.rank, one.what)).collect();
        assert_eq!(found, [(0, Mismatch::Size), (3, Mismatch::Missing)], "{says:?}");
    }
}

#[test]
fn a_clock_by_hand_is_used_and_not_changed() {
    let plan = Plan { ranks: 3, seed: 2, says: Says::Numbers, lost: 0, apart_us: 900 };
    let mut inputs = make(&plan).inputs;
    let by_hand = crate::base::ClockFit::new(0, 77 * US, 0, None).unwrap();
    inputs[2].given = Some(by_hand);
    let (_, report) = analysed(inputs);
    assert_eq!(report.used[2], by_hand);
    assert_ne!(report.used[1], by_hand);
    assert_eq!(report.used[0].offset_ps(), 0);
}

#[test]
fn what_traces_state_of_their_clocks_is_taken_for_granted() {
    let plan = Plan { ranks: 4, seed: 5, says: Says::Numbers, lost: 0, apart_us: 300 };
    let by_hand = crate::base::ClockFit::new(0, 77 * US, 40, None).unwrap();
    let inputs = |stated_ps: i64| {
        let mut inputs = make(&plan).inputs;
        inputs[1].given = Some(by_hand.of_moved(-stated_ps));
        for input in &mut inputs[1..3] {
            input.calls.move_by(-stated_ps);
            input.stated_ps = stated_ps;
        }
        inputs
    };
    let (job, one) = analysed(inputs(0));
    let (late_job, late) = analysed(inputs(9_000 * US));
    assert_eq!((&one.used, &one.operations, &one.ranks), (&late.used, &late.operations, &late.ranks));
    let [one, late] = [one.clocks_of_segments(&job), late.clocks_of_segments(&late_job)];
    let moved: Vec<i64> = one.zip(late).map(|(one, late)| late.offset_ps() - one.offset_ps()).collect();
    assert_eq!(moved, [0, 9_000 * US, 9_000 * US, 0]);
}

#[test]
fn no_ranks_and_no_calls_are_no_error() {
    let (_, report) = analysed(Vec::new());
    assert_eq!((report.operations.len(), report.clocks.verdict), (0, ClockVerdict::Unknown));
    let input = RankInput { rank: 5, calls: RankCalls::default(), given: None, stated_ps: 0 };
    let (job, report) = analysed(vec![input]);
    assert_eq!((job.ranks.len(), report.operations.len(), report.ranks.len()), (1, 0, 1));
}

pub(super) fn job_segment(job: &Job, report: &Report) -> Segment<Vec<u8>> {
    let (scratch, mut bytes) = (MemoryScratch::default(), Vec::new());
    let mut builder = Builder::new(&scratch, &mut bytes, BuildOptions::default()).unwrap();
    job_segment::write(job, report, &mut builder, Cancel::NEVER).unwrap();
    builder.finish().unwrap();
    Segment::open(bytes).unwrap()
}

#[test]
fn sizes_of_groups_without_members_name_no_number_of_ranks() {
    let mut inputs = make(&Plan { ranks: 4, seed: 1, says: Says::Numbers, lost: 0, apart_us: 0 }).inputs;
    for communicator in inputs.iter_mut().flat_map(|input| &mut input.calls.communicators) {
        communicator.ranks.clear();
        (communicator.size, communicator.membership) = (0, Membership::Unknown);
    }
    let (job, report) = analysed(inputs);
    let groups = job_metrics(&job_segment(&job, &report), Work::IN_PLACE).unwrap();
    let sizes = groups.iter().find(|group| group.key == "job_sizes").unwrap();
    let names: Vec<&str> = sizes.metrics.iter().map(|metric| metric.name.as_str()).collect();
    assert_eq!(names, ["all-reduce, 3.9 KiB, unknown ranks"]);
}

/// The rows of a table, by the names of their fields.
pub(super) fn rows_of(segment: &Segment<Vec<u8>>, table: &str) -> Vec<FxHashMap<String, OwnedValue>> {
    let at = segment.footer().tables.iter().position(|of| of.spec.name == table).unwrap();
    let mut rows = Vec::new();
    for_each_row(segment, TableId(u16::try_from(at).unwrap()), |_, fields| {
        let name = |id: FieldId| segment.footer().fields[id.0 as usize].1.name.clone();
        rows.push(fields.into_iter().map(|(id, value)| (name(id), value)).collect());
        Ok::<_, crate::base::Error>(())
    })
    .unwrap();
    rows
}

/// An integer of a row.
pub(super) fn int(row: &FxHashMap<String, OwnedValue>, name: &str) -> Option<i64> {
    match row.get(name) {
        Some(OwnedValue::Int(value)) => Some(*value),
        _ => None,
    }
}

#[test]
fn a_job_segment_has_every_call_and_every_wait() {
    let made = make(&Plan { ranks: 6, seed: 7, says: Says::Groups, lost: 20, apart_us: 500 });
    let (job, report) = analysed(made.inputs);
    let segment = job_segment(&job, &report);
    assert_eq!(segment.footer().rank.source, SOURCE);
    let rows = |table: &str| rows_of(&segment, table);
    let (calls, operations) = (rows("call"), rows("operation"));
    // The details of each call equal the report, in whole nanoseconds.
    let first_row = segment.footer().tables[1].first_row;
    let (mut transfers, mut waited, mut blamed, mut arrows) = (Vec::new(), 0, 0, 0);
    for (row, fields) in (first_row..).zip(&calls) {
        let derived = job_segment::of_row(&segment, row).unwrap().unwrap();
        let of = derived.call.unwrap();
        assert!(of.late_ps >= 0 && of.wait_ps >= 0 && of.blame_ps >= 0, "{derived:?}");
        arrows += derived.waiting.len();
        match derived.awaited {
            Some(awaited) => {
                let other = job_segment::of_row(&segment, awaited).unwrap().unwrap();
                let late_ps = other.call.unwrap().late_ps;
                assert!(other.waiting.contains(&row) && late_ps == of.late_ps + of.wait_ps);
            }
            None => {
                transfers.push(fields);
                waited += of.wait_ps;
                blamed += of.blame_ps;
            }
        }
    }
    let count = job.ranks.iter().map(|rank| rank.calls.len()).sum::<usize>();
    assert_eq!((transfers.len(), calls.len()), (count, count + arrows));
    let exact: i64 = report.ranks.iter().map(|rank| rank.wait_ps).sum();
    let rounding = 2_000 * i64::try_from(calls.len()).unwrap();
    assert!(waited > 0 && (waited - exact).abs() < rounding && (blamed - waited).abs() < rounding);
    assert_eq!(operations.iter().filter_map(|row| int(row, "wait")).sum::<i64>(), exact);
    assert_eq!(rows("rank").iter().filter_map(|row| int(row, "wait")).sum::<i64>(), exact);
    let side = segment.footer().tables.iter().find(|table| table.spec.name == "rank").unwrap().first_row;
    assert_eq!(job_segment::of_row(&segment, side), Ok(None), "a row of no operation");
    let mut numbers: Vec<i64> = transfers.iter().filter_map(|row| int(row, "operation")).collect();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers, (1..=i64::try_from(report.operations.len()).unwrap()).collect::<Vec<_>>());
}

#[test]
fn a_job_segment_has_the_load_of_each_rank_that_computes() {
    let mut made = make(&Plan { ranks: 6, seed: 7, says: Says::Groups, lost: 20, apart_us: 500 });
    for input in made.inputs.iter_mut().filter(|input| input.rank % 2 == 1) {
        input.calls.compute_load =
            ComputeLoad::of(&[(0, 50 * US), (60 * US, 70 * US)], Interval::new(0, 100 * US));
    }
    let (job, report) = analysed(made.inputs);
    let segment = job_segment(&job, &report);
    let footer = segment.footer();
    let table = footer.tables.iter().find(|table| table.spec.name == "computation").unwrap();
    let changes = |rank: &JobRank| rank.rest.compute_load.changes().count();
    assert_eq!(table.rows as usize, job.ranks.iter().map(changes).sum::<usize>());
    assert!(table.rows >= 3 * 4, "a change at 0, 50, 60 and 70 us");
    let subjects = |of: fn(&Footer, TrackId) -> Option<u32>| {
        (0..).map(TrackId).zip(&footer.tracks).filter_map(|(track, _)| of(footer, track)).collect::<Vec<_>>()
    };
    assert_eq!(subjects(rank_of), [0, 1, 2, 3, 4, 5]);
    assert_eq!(subjects(subject_of), [0, 1, 2, 3, 4, 5, 1, 3, 5]);
}

#[test]
fn waits_over_time_add_up_to_the_waits_of_each_rank() {
    let made = make(&Plan { ranks: 6, seed: 7, says: Says::Numbers, lost: 0, apart_us: 0 });
    let (job, report) = analysed(made.inputs);
    let segment = job_segment(&job, &report);
    let whole = span(&segment);
    for most_steps in [1, 7, 64, 1_000] {
        let found = over_time(&segment, whole, most_steps, Work::IN_PLACE).unwrap();
        let steps = found.steps();
        assert!((1..=most_steps as usize).contains(&steps), "{steps} of {most_steps}");
        let recorded_ps = |at: usize| {
            let start_ps = found.start_ps + found.step_ps * i64::try_from(at).unwrap();
            (start_ps + found.step_ps).min(whole.end.0) - start_ps.max(whole.start.0)
        };
        for (waits, rank) in found.ranks.iter().zip(&report.ranks) {
            let waited: f64 = waits.shares.iter().enumerate().map(|(at, s)| s * recorded_ps(at) as f64).sum();
            assert!((waited - rank.wait_ps as f64).abs() < 1_000.0, "{waited} {}", rank.wait_ps);
            assert_eq!(waits.rank, rank.rank);
        }
        let spreads = found.spreads();
        assert_eq!(spreads.len(), steps);
        for (at, spread) in spreads.iter().enumerate() {
            let of = |number: u32| found.ranks.iter().find(|rank| rank.rank == number).unwrap().shares[at];
            assert_eq!((of(spread.least.1), of(spread.most.1)), (spread.least.0, spread.most.0));
            assert!(spread.least.0 <= spread.median && spread.median <= spread.most.0);
        }
    }
    let late = Interval::new(whole.end.0 + 1, whole.end.0 + 2);
    assert_eq!(over_time(&segment, late, 9, Work::IN_PLACE).unwrap().steps(), 0);
}
