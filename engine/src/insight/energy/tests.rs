//! Laws of the parts of energy, against a sum over single picoseconds.

use proptest::prelude::*;

use super::{EnergyPart, PartTotals, RankActivity, RankPower, RestSpan, WorkSpan, by_region};
use crate::base::Interval;
use crate::exec::Work;
use crate::insight::tests::{Drawn, US, job_of_works, work_of};
use crate::insight::walk::JobEdges;

/// Watts at each picosecond, from 0 on.
fn power_of(watts: &[f64]) -> RankPower {
    let samples: Vec<(i64, f64)> = (0..).zip(watts.iter().copied()).collect();
    RankPower::new(&samples, samples.len() as i64)
}

fn piece(start_ps: i64, end_ps: i64, name: u32) -> WorkSpan {
    WorkSpan { span: Interval::new(start_ps, end_ps), name }
}

fn rest(start_ps: i64, end_ps: i64, part: EnergyPart) -> RestSpan {
    RestSpan { span: Interval::new(start_ps, end_ps), part }
}

/// The parts, one picosecond after the other. A watt for a picosecond is 1e-12 joules.
fn by_hand(watts: &[f64], work: &[WorkSpan], rests: &[RestSpan]) -> PartTotals {
    let names = work.iter().map(|piece| piece.name as usize + 1).max().unwrap_or(0);
    let mut totals = PartTotals { work: vec![0.0; names], rest: [0.0; EnergyPart::ALL.len()] };
    let all = work.iter().map(|piece| piece.span).chain(rests.iter().map(|rest| rest.span));
    let active = all.reduce(Interval::cover).unwrap_or_default();
    for (at, watts) in (0..).zip(watts) {
        let has = |span: &Interval| (span.start.0..span.end.0).contains(&at);
        let running: Vec<&WorkSpan> = work.iter().filter(|piece| has(&piece.span)).collect();
        if running.is_empty() {
            let known = rests.iter().filter(|rest| has(&rest.span)).map(|rest| rest.part).min();
            let other = if has(&active) { EnergyPart::Idle } else { EnergyPart::Outside };
            totals.rest[known.unwrap_or(other) as usize] += watts * 1e-12;
        }
        for piece in &running {
            totals.work[piece.name as usize] += watts * 1e-12 / running.len() as f64;
        }
    }
    totals
}

#[track_caller]
fn check_near(found: f64, expected: f64, whole: f64) {
    assert!((found - expected).abs() <= 1e-9 * whole.max(f64::MIN_POSITIVE), "{found} is not {expected}");
}

#[test]
fn work_waits_and_idle_time_share_the_energy() {
    // Picoseconds 0 and 9 are outside, 4 is idle, 5 waits, 6 is idle until a launch, and at 2 and 3
    // two pieces of work run at once.
    let work = [piece(1, 4, 0), piece(2, 4, 1), piece(7, 9, 0)];
    let rests = [rest(3, 6, EnergyPart::Waiting), rest(4, 7, EnergyPart::Launch)];
    let watts = [5.0, 1.0, 2.0, 2.0, 3.0, 7.0, 8.0, 1.0, 1.0, 11.0];
    let watts_ps = |joules: f64| (joules * 1e12).round();
    let of = |rests: &[RestSpan]| {
        let found = PartTotals::of_energy(&power_of(&watts), &work, rests);
        assert_eq!(found.work.iter().map(|joules| watts_ps(*joules)).collect::<Vec<_>>(), [5.0, 2.0]);
        EnergyPart::ALL.map(|part| watts_ps(found.of(part)))
    };
    assert_eq!(of(&rests), [10.0, 8.0, 0.0, 16.0]);
    assert_eq!(of(&[rest(5, 6, EnergyPart::Waiting), rest(6, 7, EnergyPart::Launch)]), [7.0, 8.0, 3.0, 16.0]);
}

#[test]
fn a_device_waits_for_its_host_and_for_the_last_rank() {
    let early = [
        Drawn(9, "launch", 0, 4),
        Drawn(0, "gemm", 5, 20),
        Drawn(9, "launch", 30, 34),
        Drawn(0, "gemm", 35, 60),
        Drawn(0, "sync", 60, 90),
    ];
    let late = [Drawn(0, "gemm", 5, 80), Drawn(0, "sync", 80, 90)];
    let job = job_of_works([&early[..], &late[..]].map(work_of).to_vec());
    let edges = JobEdges::of(&job, Work::IN_PLACE).unwrap();
    let of = |rank: u32| {
        let activity = RankActivity::of(&edges, rank);
        let totals = PartTotals::of_time(Interval::new(0, 100 * US), &activity.work, &activity.rests);
        let us = |ps: f64| (ps / US as f64).round() as i64;
        let work: Vec<(String, i64)> =
            activity.names.into_iter().zip(totals.work.iter().map(|ps| us(*ps))).collect();
        (work, totals.rest.map(us))
    };
    let named = |gemm: i64, sync: i64| vec![("gemm".to_owned(), gemm), ("sync".to_owned(), sync)];
    let (work, rest) = of(0);
    assert_eq!(work, named(40, 10));
    // The launch itself takes a part of the 15 µs before the second product.
    assert_eq!((rest[0], rest[1] + rest[2], rest[3]), (20, 15, 15));
    assert!(rest[1] >= 10, "{rest:?}");
    assert_eq!(of(1), (named(75, 10), [0, 0, 0, 15]));
}

#[test]
fn power_holds_from_sample_to_sample() {
    let power = RankPower::new(&[(0, 2.0), (10, f64::NAN), (20, -3.0), (30, 4.0)], 40);
    let joules = [-5, 0, 5, 10, 25, 35, 40, 99].map(|time_ps| (power.joules_until(time_ps) * 1e12).round());
    assert_eq!(joules, [0.0, 0.0, 10.0, 20.0, 20.0, 40.0, 60.0, 60.0]);
    assert_eq!((power.span(), power.known_ps(), power.len()), (Interval::new(0, 40), 20, 4));
    assert!((power.joules() - 60e-12).abs() < 1e-24);
    let none = RankPower::new(&[(5, 3.0)], 5);
    assert!(none.is_empty() && none.joules() == 0.0 && none.span() == Interval::default());
}

#[test]
fn the_innermost_region_counts() {
    let watts = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0];
    let regions = [Interval::new(1, 5), Interval::new(2, 4), Interval::new(2, 3), Interval::new(9, 12)];
    let power = power_of(&watts);
    let (of, rest) = by_region(power.span(), &regions, |time_ps| power.joules_until(time_ps));
    let watts_ps: Vec<f64> = of.iter().chain([&rest]).map(|joules| (joules * 1e12).round()).collect();
    assert_eq!(watts_ps, [18.0, 8.0, 4.0, 0.0, 33.0]);
}

fn spans() -> impl Strategy<Value = Vec<Interval>> {
    prop::collection::vec((-5_i64..45, 0_i64..20), 0..8)
        .prop_map(|all| all.into_iter().map(|(start, length)| Interval::lasting(start, length)).collect())
}

fn rests() -> impl Strategy<Value = Vec<RestSpan>> {
    let parts = prop::collection::vec(prop::sample::select(vec![EnergyPart::Waiting, EnergyPart::Launch]), 8);
    let rest = |(span, part): (Interval, EnergyPart)| RestSpan { span, part };
    (spans(), parts).prop_map(move |(spans, parts)| spans.into_iter().zip(parts).map(rest).collect())
}

proptest! {
    #[test]
    fn parts_equal_those_by_hand_and_add_up_to_the_integral(
        watts in prop::collection::vec(0.0_f64..90.0, 1..40),
        pieces in spans(),
        names in prop::collection::vec(0_u32..3, 8),
        rests in rests(),
    ) {
        let of_name = |(span, name): (&Interval, &u32)| WorkSpan { span: *span, name: *name };
        let work: Vec<WorkSpan> = pieces.iter().zip(&names).map(of_name).collect();
        let power = power_of(&watts);
        let found = PartTotals::of_energy(&power, &work, &rests);
        let expected = by_hand(&watts, &work, &rests);
        let whole = power.joules();
        check_near(found.total(), whole, whole);
        prop_assert_eq!(found.work.len(), expected.work.len());
        let of = |totals: &PartTotals| totals.work.iter().chain(&totals.rest).copied().collect::<Vec<f64>>();
        of(&found).into_iter().zip(of(&expected)).for_each(|(one, other)| check_near(one, other, whole));
    }

    #[test]
    fn a_constant_power_gives_shares_of_time(watts in 0.5_f64..90.0, pieces in spans(), rests in rests()) {
        let work: Vec<WorkSpan> = pieces.iter().map(|span| WorkSpan { span: *span, name: 0 }).collect();
        let span = Interval::new(0, 40);
        let energy = PartTotals::of_energy(&RankPower::constant(watts, span), &work, &rests);
        let time = PartTotals::of_time(span, &work, &rests);
        check_near(time.total(), 40.0, 40.0);
        check_near(energy.working(), time.working() * watts * 1e-12, watts * 40e-12);
        for part in EnergyPart::ALL {
            check_near(energy.of(part), time.of(part) * watts * 1e-12, watts * 40e-12);
        }
    }

    #[test]
    fn regions_and_the_rest_add_up_to_the_integral(
        watts in prop::collection::vec(0.0_f64..90.0, 1..40),
        regions in spans(),
    ) {
        let power = power_of(&watts);
        let (of, rest) = by_region(power.span(), &regions, |time_ps| power.joules_until(time_ps));
        check_near(of.iter().sum::<f64>() + rest, power.joules(), power.joules());
        for (at, (region, joules)) in regions.iter().zip(&of).enumerate() {
            // The innermost region is the one that began last, then the shortest.
            let key = |at: usize| (regions[at].start.0, -regions[at].end.0, at);
            let has = |at: usize, ps: i64| (regions[at].start.0..regions[at].end.0).contains(&ps);
            let is_it = |ps: &i64| has(at, *ps) && (0..regions.len()).all(|other| {
                other == at || !has(other, *ps) || key(other) < key(at)
            });
            let expected: f64 = (0..watts.len() as i64).filter(is_it).map(|ps| watts[ps as usize] * 1e-12).sum();
            check_near(*joules, expected, power.joules());
            prop_assert!(region.duration_ps() >= 0);
        }
    }
}
