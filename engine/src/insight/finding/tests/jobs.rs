//! Rules about several ranks.

use super::super::{DataGap, EvidenceMeasure, EvidenceValue, Judgement, Place, RuleName};
use super::Analysed;
use super::stage::{Cause, RANKS, US, job};

/// Time that a job takes longer with these causes.
fn cost_ps(causes: &[Cause]) -> i64 {
    job(causes).length_ps() - job(&[]).length_ps()
}

/// Checks that a rule finds a cause and states what it costs within a tenth, and nothing without.
#[track_caller]
fn check(causes: &[Cause], rule: RuleName) -> Place {
    let of = job(causes);
    let found = of.found(rule);
    let (saving, cost_ps) = (found.saving.unwrap(), cost_ps(causes));
    assert!((saving.middle_ps - cost_ps).abs() * 10 <= cost_ps, "{saving:?} {cost_ps}");
    assert!((saving.low_ps..=saving.high_ps).contains(&cost_ps), "{saving:?} {cost_ps}");
    assert_eq!(job(&[]).verdict(rule), Judgement::Nothing);
    found.place
}

#[test]
fn a_rank_is_late_because_its_work_takes_longer() {
    let causes = [Cause::SlowRank(5, 0.2)];
    let place = check(&causes, RuleName::LateRank);
    assert_eq!(place.rank, Some(5));
    assert!(place.usual_rank.is_some_and(|usual| usual != 5), "it is compared with another one");
    let found = job(&causes).found(RuleName::LateRank);
    let longer = found.measured(EvidenceMeasure::LongerTimes).unwrap();
    assert_eq!(longer.of.as_deref(), Some("gemm"));
    assert!(matches!(longer.quantity, EvidenceValue::Factor(times) if (times - 1.2).abs() < 0.02));
    assert!(found.text().starts_with("rank 5 is late: `gemm` takes 1.2"), "{}", found.text());
}

#[test]
fn a_rank_is_late_because_its_work_begins_later() {
    for step in [0, 3] {
        let causes = [Cause::Pause(2, step, 2_000 * US)];
        assert_eq!(check(&causes, RuleName::LateRank).rank, Some(2));
        let found = job(&causes).found(RuleName::LateRank);
        assert!(found.text().contains("begins 2.0"), "{}", found.text());
    }
}

#[test]
fn a_rank_that_began_late_is_told_from_one_that_works_longer() {
    let text = |causes: &[Cause]| job(causes).found(RuleName::LateRank).text();
    let began = text(&[Cause::Pause(2, 0, 2_000 * US)]);
    assert!(began.starts_with("rank 2 is late: it began 2.0"), "{began}");
    assert!(began.contains(", its own work took as long as on the median rank"), "{began}");
    let slow = text(&[Cause::Pause(2, 0, 2_000 * US), Cause::SlowRank(2, 0.2)]);
    assert!(slow.contains("it began 2.0") && !slow.contains("its own work"), "{slow}");
    assert!(!text(&[Cause::Pause(2, 3, 2_000 * US)]).contains("it began"));
}

#[test]
fn ranks_that_lack_calls_are_not_late_for_it() {
    for cause in [Cause::LostCalls(3, 1), Cause::LateRecording(6, 1)] {
        assert_eq!(job(&[cause]).verdict(RuleName::LateRank), Judgement::Nothing, "{cause:?}");
    }
}

#[test]
fn a_link_is_slow_among_the_ranks_of_a_group() {
    assert_eq!(check(&[Cause::SlowHalf(1, 5, 4)], RuleName::SlowLink).ranks, [4, 5, 6, 7]);
}

#[test]
fn a_link_of_a_rank_is_slow_among_equal_operations() {
    let cause = Cause::SlowPart(3, 4);
    assert_eq!(check(&[cause], RuleName::SlowLink).rank, Some(3));
    let found = job(&[cause]).found(RuleName::SlowLink);
    assert!(found.text().contains("its own part of 40 operations takes 18"), "{}", found.text());
    assert_eq!(job(&[Cause::SlowPart(3, 1)]).verdict(RuleName::SlowLink), Judgement::Nothing);
}

#[test]
fn one_operation_is_an_outlier() {
    let of = job(&[Cause::SlowOperation(4, 20)]);
    let found = of.found(RuleName::OutlierCollective);
    assert_eq!(found.place.ranks.len(), RANKS);
    let (saving, cost_ps) = (found.saving.unwrap(), cost_ps(&[Cause::SlowOperation(4, 20)]));
    assert!((saving.middle_ps - cost_ps).abs() * 10 <= cost_ps, "{saving:?} {cost_ps}");
    assert_eq!(of.verdict(RuleName::SlowLink), Judgement::Nothing);
    assert_eq!(job(&[]).verdict(RuleName::OutlierCollective), Judgement::Nothing);
}

#[test]
fn a_step_is_slow() {
    let of = job(&[Cause::Pause(2, 3, 2_000 * US)]);
    let found = of.found(RuleName::SlowStep);
    assert_eq!(found.measured(EvidenceMeasure::LongerBy).unwrap().of.as_deref(), Some("step 3"));
    assert_eq!(job(&[]).verdict(RuleName::SlowStep), Judgement::Nothing);
}

#[test]
fn communication_is_exposed_if_no_work_covers_it() {
    let of = job(&[Cause::SlowNetwork(3)]);
    let found = of.found(RuleName::ExposedCommunication);
    // 5 operations of 180 µs in each of 8 steps, and the ends of calls are not spread.
    let saving = found.saving.unwrap();
    assert!((saving.middle_ps - 40 * 180 * US).abs() < 400 * US, "{saving:?}");
    assert_eq!(found.measured(EvidenceMeasure::Exposed).unwrap().of.as_deref(), Some("all-reduce"));
}

#[test]
fn a_recording_that_lacks_parts_is_told_with_its_shares() {
    assert_eq!(job(&[]).verdict(RuleName::Recording), Judgement::Nothing);
    let share = |of: &Analysed, rank: Option<u32>, measure| {
        let Judgement::Found(found) = of.verdict(RuleName::Recording) else { panic!("nothing found") };
        let found = found.into_iter().find(|one| one.place.rank == rank).unwrap();
        match found.measured(measure).unwrap().quantity {
            EvidenceValue::Share(share) => share,
            other => panic!("{other:?}"),
        }
    };
    let late = job(&[Cause::LateRecording(6, 2)]);
    assert!((share(&late, Some(6), EvidenceMeasure::RecordedCalls) - 0.75).abs() < 1e-9);
    assert!((share(&late, Some(6), EvidenceMeasure::RecordedTime) - 0.75).abs() < 0.01);
    let lost = job(&[Cause::LostCalls(3, 1)]);
    // One of 5 calls a step of one rank of 8.
    assert!((share(&lost, None, EvidenceMeasure::RecordedCalls) - (1.0 - 1.0 / 40.0)).abs() < 1e-9);
}

#[test]
fn nobody_tells_whether_an_absent_rank_is_late() {
    let of = job(&[Cause::MoreRanks]);
    let missing = DataGap::Ranks { recorded: 8, world: 9 };
    for rule in [RuleName::LateRank, RuleName::SlowLink, RuleName::OutlierCollective] {
        assert_eq!(of.verdict(rule), Judgement::CannotTell(missing), "{rule:?}");
    }
    // A finding stays one.
    let of = job(&[Cause::MoreRanks, Cause::SlowRank(5, 0.2)]);
    assert_eq!(of.found(RuleName::LateRank).place.rank, Some(5));
}

#[test]
fn a_late_rank_behind_a_later_one_is_named_and_costs_nothing() {
    let of = job(&[Cause::SlowRank(5, 0.4), Cause::SlowRank(6, 0.2)]);
    let Judgement::Found(found) = of.verdict(RuleName::LateRank) else { panic!("nothing found") };
    let places: Vec<Option<u32>> = found.iter().map(|one| one.place.rank).collect();
    assert_eq!(places, [Some(5), Some(5), Some(6)]);
    assert!(found[2].text().contains("costs nothing as long as others are later"), "{}", found[2].text());
}

/// Without one of two ranks that are equally late, the run waits for the other one.
#[test]
fn ranks_that_cover_each_other_are_late_together() {
    let causes = [Cause::SlowRank(5, 0.2), Cause::SlowRank(6, 0.2)];
    let of = job(&causes);
    let Judgement::Found(found) = of.verdict(RuleName::LateRank) else { panic!("nothing found") };
    let both = found.iter().find(|one| !one.place.ranks.is_empty()).unwrap();
    let (saving, cost_ps) = (both.saving.unwrap(), cost_ps(&causes));
    assert_eq!(both.place.ranks, [5, 6]);
    assert!((saving.middle_ps - cost_ps).abs() * 10 <= cost_ps, "{saving:?} {cost_ps}");
    assert!(both.text().starts_with("ranks 5 and 6 are late and cover each other"), "{}", both.text());
    assert!(job(&causes[..1]).found(RuleName::LateRank).place.ranks.is_empty());
}

#[test]
fn links_that_cover_each_other_are_slow_together() {
    let causes = [Cause::SlowPart(3, 4), Cause::SlowPart(6, 4)];
    let of = job(&causes);
    let Judgement::Found(found) = of.verdict(RuleName::SlowLink) else { panic!("nothing found") };
    let [both] = found.as_slice() else { panic!("{found:?}") };
    let (saving, cost_ps) = (both.saving.unwrap(), cost_ps(&causes));
    assert_eq!(both.place.ranks, [3, 6]);
    assert!((saving.middle_ps - cost_ps).abs() * 10 <= cost_ps, "{saving:?} {cost_ps}");
    assert!(both.text().starts_with("the links of ranks 3 and 6 are slow"), "{}", both.text());
}
