//! Rules about one machine: its host, its queues, and its time without work.

use super::super::{DataGap, Judgement, RuleName};
use super::Analysed;
use crate::analysis::{Job, RankInput, matched, report};
use crate::exec::{Cancel, Work};
use crate::insight::JobGraph;
use crate::insight::tests::{Drawn, work_of};
use crate::model::RankCalls;

const US: i64 = 1_000_000;

fn machine(slices: &[Drawn]) -> Analysed {
    let work = work_of(slices);
    let job = Job::new(vec![RankInput { rank: 0, calls: RankCalls::default(), given: None, stated_ps: 0 }]);
    let found = matched(&job, Cancel::NEVER).unwrap();
    let report = report(&job, found, Cancel::NEVER).unwrap();
    let graph = JobGraph::new(&job, &report, vec![work], Work::IN_PLACE).unwrap();
    Analysed { job, report, graph }
}

/// Kernels that follow each other.
fn busy(count: i64) -> Vec<Drawn> {
    (0..count).map(|at| Drawn(0, "gemm", 102 * at, 102 * at + 100)).collect()
}

/// A kernel of `work` µs for each launch, one launch in `every` µs.
fn launched(count: i64, every: i64, work: i64) -> Vec<Drawn> {
    let pair = |at: i64| {
        let start = at * every;
        [Drawn(9, "launch", start, start + 4), Drawn(0, "gemm", start + 5, start + 5 + work)]
    };
    (0..count).flat_map(pair).collect()
}

#[test]
fn a_device_waits_for_launches() {
    let of = machine(&launched(100, 50, 10));
    let found = of.found(RuleName::LaunchBound);
    // 99 times 39 µs between kernels.
    let saving = found.saving.unwrap();
    assert!((saving.middle_ps - 99 * 39 * US).abs() < 200 * US, "{saving:?}");
    assert_eq!(machine(&launched(100, 105, 100)).verdict(RuleName::LaunchBound), Judgement::Nothing);
    assert_eq!(machine(&busy(9)).verdict(RuleName::LaunchBound), Judgement::CannotTell(DataGap::Launches));
}

#[test]
fn a_host_waits_for_its_device() {
    let mut slices = Vec::new();
    for at in 0..20 {
        let start = at * 300;
        slices.push(Drawn(9, "launch", start, start + 4));
        slices.push(Drawn(0, "gemm", start + 5, start + 105));
        slices.push(Drawn(9, "cudaStreamSynchronize", start + 10, start + 110));
        // The host needs 190 µs before it launches again.
    }
    let of = machine(&slices);
    let found = of.found(RuleName::HostBlocks);
    assert_eq!(found.place.rank, Some(0));
    assert!(found.text().contains("20 calls"), "{}", found.text());
    assert_eq!(machine(&launched(9, 105, 100)).verdict(RuleName::HostBlocks), Judgement::Nothing);
    assert_eq!(machine(&busy(9)).verdict(RuleName::HostBlocks), Judgement::CannotTell(DataGap::Launches));
}

#[test]
fn a_device_is_idle_and_nothing_says_why() {
    let mut slices = busy(10);
    slices.extend(
        busy(10)
            .into_iter()
            .map(|Drawn(queue, name, start, end)| Drawn(queue, name, start + 2_000, end + 2_000)),
    );
    let of = machine(&slices);
    let found = of.found(RuleName::IdleGap);
    assert_eq!(found.place.span_ps, Some((1_018 * US, 2_000 * US)));
    let saving = found.saving.unwrap();
    assert!((saving.middle_ps - 982 * US).abs() < 5 * US, "{saving:?}");
    assert!(found.text().ends_with("nothing says why"), "{}", found.text());
    assert_eq!(machine(&busy(20)).verdict(RuleName::IdleGap), Judgement::Nothing);
}

#[test]
fn a_device_is_idle_while_its_host_makes_no_call() {
    let mut slices = launched(10, 102, 100);
    slices.extend(
        launched(10, 102, 100)
            .into_iter()
            .map(|Drawn(queue, name, start, end)| Drawn(queue, name, start + 2_000, end + 2_000)),
    );
    let found = machine(&slices).found(RuleName::IdleGap);
    assert!(found.text().ends_with("its host was between two calls"), "{}", found.text());
    let saving = found.saving.unwrap();
    assert!((saving.middle_ps - 980 * US).abs() < 50 * US, "{saving:?}");
}

#[test]
fn a_run_spends_its_time_before_its_work() {
    let mut slices = vec![Drawn(1, "load", 0, 1)];
    slices.extend(
        busy(10)
            .into_iter()
            .map(|Drawn(queue, name, start, end)| Drawn(queue, name, start + 5_000, end + 5_000)),
    );
    let of = machine(&slices);
    assert_eq!(of.found(RuleName::StartUp).place.span_ps, Some((0, 5_000 * US)));
    // The same time is no idle gap beside it.
    assert_eq!(of.verdict(RuleName::IdleGap), Judgement::Nothing);
    assert_eq!(machine(&busy(20)).verdict(RuleName::StartUp), Judgement::Nothing);
}

#[test]
fn an_engine_waits_for_another_one() {
    let mut slices = Vec::new();
    for at in 0..20 {
        let start = at * 200;
        slices.push(Drawn(1, "copy", start, start + 98));
        slices.push(Drawn(0, "gemm", start + 100, start + 199));
    }
    let found = machine(&slices).verdict(RuleName::ChipWait);
    let tracks = tracks(&found);
    assert!(tracks.contains(&Some("queue 0")), "{tracks:?}");
    assert_eq!(machine(&busy(20)).verdict(RuleName::ChipWait), Judgement::Nothing);
}

#[test]
fn an_engine_that_has_little_to_do_may_wait() {
    let mut slices = Vec::new();
    for at in 0..20 {
        let start = at * 200;
        slices.push(Drawn(0, "gemm", start, start + 180));
        slices.push(Drawn(1, "issue", start + 182, start + 199));
    }
    assert_eq!(tracks(&machine(&slices).verdict(RuleName::ChipWait)), [Some("queue 0")]);
}

/// The tracks of what was found.
fn tracks(of: &Judgement) -> Vec<Option<&str>> {
    of.found().iter().map(|one| one.place.track.as_deref()).collect()
}

#[test]
fn steps_are_not_known_without_marks() {
    assert_eq!(machine(&busy(20)).verdict(RuleName::SlowStep), Judgement::CannotTell(DataGap::Steps));
}
