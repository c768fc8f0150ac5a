//! Rules about measurements beside the graph: errors, kernels that leave a device empty, arrays and
//! their clock, and a host that loads data.

use super::super::{Facts, Finding, Judgement, MetricsNeed, RuleName, findings};
use super::machines::{busy, machine};
use crate::exec::Work;
use crate::insight::tests::Drawn;
use crate::metrics::{ArrayUse, DeviceError, FillGap, KernelFill, RankMeasures};

const US: i64 = 1_000_000;

/// The findings about a run of 10.2 ms with these measurements.
fn found(measures: RankMeasures) -> Vec<Finding> {
    let of = machine(&busy(100));
    let facts = Facts::new(&of.job, &of.report, &of.graph, Work::IN_PLACE).unwrap();
    let all = findings(&facts.with_measures(measures)).unwrap();
    all.into_iter().flat_map(|one| one.verdict.found().to_vec()).collect()
}

fn rules(of: &[Finding]) -> Vec<RuleName> {
    of.iter().map(|one| one.rule).collect()
}

fn arrays() -> ArrayUse {
    ArrayUse {
        rank: 0,
        total_ps: 10_000 * US,
        real_ps: 4_000 * US,
        ideal_ps: 3_000 * US,
        preparation_ps: 200 * US,
        used_hz: 560e6,
        found_hz: 560.1e6,
    }
}

fn of_arrays(arrays: ArrayUse) -> RankMeasures {
    RankMeasures { arrays: Some(arrays), ..RankMeasures::default() }
}

#[test]
fn arrays_preparation_and_clock_are_looked_at() {
    assert_eq!(found(of_arrays(arrays())), []);
    let unused = found(of_arrays(ArrayUse { ideal_ps: 1_000 * US, ..arrays() }));
    assert_eq!(rules(&unused), [RuleName::PtArraysUnused]);
    assert_eq!(unused[0].saved_ps(), Some(3_000 * US));
    let exposed = found(of_arrays(ArrayUse { preparation_ps: 1_500 * US, ..arrays() }));
    assert_eq!(
        (rules(&exposed), exposed[0].saved_ps()),
        (vec![RuleName::PreparationExposed], Some(1_500 * US))
    );
    let wrong = found(of_arrays(ArrayUse { used_hz: 570e6, ..arrays() }));
    assert_eq!(rules(&wrong), [RuleName::WrongClock]);
    let text = "durations were computed with 570.0 MHz, and the slices show 560.1 MHz: they are off by 1.8 %";
    assert_eq!(wrong[0].text(), text);
}

#[test]
fn kernels_that_leave_a_device_empty_are_found_by_their_time() {
    let gap = |time_us: i64| FillGap { time_ps: time_us * US, count: 30, name: "void tiny(int)".to_owned() };
    let fill = |small, bound| {
        let kernels = KernelFill { rank: 0, stated_ps: 10_000 * US, small: gap(small), bound: gap(bound) };
        RankMeasures { kernels: Some(kernels), ..RankMeasures::default() }
    };
    assert_eq!(found(fill(100, 100)), []);
    let small = found(fill(2_000, 100));
    assert_eq!((rules(&small), small[0].saving), (vec![RuleName::LowOccupancy], None));
    assert!(small[0].text().starts_with("30 kernels with fewer blocks"), "{}", small[0].text());
    assert!(small[0].text().ends_with("most of it `tiny`"), "{}", small[0].text());
    assert_eq!(rules(&found(fill(2_000, 2_000))), [RuleName::LowOccupancy; 2]);
}

#[test]
fn errors_of_the_hardware_come_first_and_have_a_place() {
    let error = DeviceError { rank: 3, name: "DMA2D OOB".to_owned(), count: 2, start_ps: 70, row: 9 };
    let errors = |all| RankMeasures { errors: Some(all), ..RankMeasures::default() };
    assert_eq!(found(errors(Vec::new())), []);
    let one = found(errors(vec![error]));
    assert_eq!(
        (rules(&one), one[0].place.rank, one[0].place.row),
        (vec![RuleName::Errors], Some(3), Some(9))
    );
    assert_eq!(one[0].text(), "the hardware reported `DMA2D OOB` 2 times");
}

/// Two bursts of work with 900 µs between them, in which the host is in an operator.
fn pause_in(operator: &'static str) -> Vec<(RuleName, i64)> {
    let burst = |from: i64| {
        (0..10).flat_map(move |at| {
            let start = from + at * 102;
            [Drawn(9, "launch", start, start + 4), Drawn(0, "gemm", start + 5, start + 105)]
        })
    };
    let of = machine(&burst(0).chain(burst(2_000)).collect::<Vec<_>>());
    let facts = Facts::new(&of.job, &of.report, &of.graph, Work::IN_PLACE).unwrap();
    let facts = facts.with_operators(Box::new(move |_, _, _| Some(operator.to_owned())));
    let of_rule = |(rule, verdict): (RuleName, Judgement)| match verdict {
        Judgement::Found(found) => Some((rule, found[0].saved_ps().unwrap() / US)),
        _ => None,
    };
    let all = findings(&facts).unwrap().into_iter();
    let found: Vec<(RuleName, i64)> = all.filter_map(|one| of_rule((one.rule, one.verdict))).collect();
    found
}

#[test]
fn a_host_that_loads_data_is_a_cause_of_its_own() {
    let input = pause_in("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__");
    let &[(RuleName::InputBound, saved_us)] = &input[..] else { panic!("{input:?}") };
    assert!((saved_us - 980).abs() < 50, "{saved_us}");
    let other = pause_in("checkpoint");
    assert!(matches!(other[..], [(RuleName::IdleGap, _)]), "{other:?}");
}

#[test]
fn rules_are_asked_where_traces_have_what_they_need() {
    let of = machine(&busy(9));
    let facts = Facts::new(&of.job, &of.report, &of.graph, Work::IN_PLACE).unwrap();
    let asked = |facts: &Facts<'_>| {
        let all = findings(facts).unwrap();
        let needs = all.iter().map(|one| one.rule.rule().needs);
        needs.filter(|need| *need != MetricsNeed::Nothing).count()
    };
    assert_eq!(asked(&facts), 0);
    assert_eq!(asked(&facts.with_measures(of_arrays(arrays()))), 3);
}
