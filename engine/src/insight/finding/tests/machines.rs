//! Rules about one machine: its host, its queues, and its time without work.

use super::super::{DataGap, EvidenceMeasure, EvidenceValue, Facts, Judgement, RuleName, findings};
use super::Analysed;
use crate::analysis::{Job, RankInput, matched, report};
use crate::exec::{Cancel, Work};
use crate::insight::region::NoSteps;
use crate::insight::tests::{Drawn, work_of};
use crate::insight::{JobGraph, Scenario};
use crate::model::{RankCalls, RankWork, Role};
use crate::spill::NoShelf;

const US: i64 = 1_000_000;

pub(super) fn machine(slices: &[Drawn]) -> Analysed {
    machine_of(work_of(slices))
}

fn machine_of(work: RankWork) -> Analysed {
    let job = Job::new(vec![RankInput { rank: 0, calls: RankCalls::default(), given: None, stated_ps: 0 }]);
    let found = matched(&job, Cancel::NEVER).unwrap();
    let report = report(&job, found, Cancel::NEVER).unwrap();
    let graph = JobGraph::new(&job, &report, vec![work], &NoShelf, Work::IN_PLACE).unwrap();
    Analysed { job, report, graph }
}

/// Kernels that follow each other.
pub(super) fn busy(count: i64) -> Vec<Drawn> {
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
        // The host needs 190 µs before it launches again. The last call holds no launch back.
    }
    let of = machine(&slices);
    let found = of.found(RuleName::HostBlocks);
    assert_eq!(found.place.rank, Some(0));
    assert!(found.text().contains("19 times"), "{}", found.text());
    // Most waits were not recorded: the thread goes on once the device is done.
    let mut slices = Vec::new();
    for at in 0..20 {
        let start = at * 300;
        slices.push(Drawn(9, "launch", start, start + 4));
        slices.push(Drawn(0, "gemm", start + 5, start + 105));
        slices.push(Drawn(9, "prepare", start + 107, start + 298));
    }
    slices.push(Drawn(9, "cudaStreamSynchronize", 10, 106));
    let found = machine(&slices).found(RuleName::HostBlocks).clone();
    let waited_ps = |measure| match found.measured(measure).map(|one| one.quantity) {
        Some(EvidenceValue::Time(ps)) => ps,
        other => panic!("{other:?}"),
    };
    let (before_ps, in_ps) = (waited_ps(EvidenceMeasure::WaitedBefore), waited_ps(EvidenceMeasure::Waited));
    assert!(in_ps < 100 * US && before_ps > 1_700 * US, "{}", found.text());
    assert!(found.saved_ps().is_some_and(|ps| ps <= before_ps + in_ps), "{}", found.text());
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

/// The pause of one thread is no idle time while the device works on what another one launched.
#[test]
fn a_device_that_works_is_not_idle_while_a_host_makes_no_call() {
    let mut slices = launched(10, 102, 100);
    // One launch of a long kernel, and 900 µs later the next one.
    slices.extend([Drawn(9, "launch", 1_020, 1_024), Drawn(0, "long", 1_025, 1_900)]);
    slices.extend([Drawn(9, "launch", 1_950, 1_954), Drawn(0, "gemm", 1_955, 2_055)]);
    let of = machine(&slices);
    let found = of.found(RuleName::IdleGap);
    assert_eq!(found.place.span_ps.map(|(start, end)| end - start <= 55 * US), Some(true), "{found:?}");
    assert!(found.saving.unwrap().middle_ps <= 55 * US, "{found:?}");
}

/// The pause is one finding, not two.
#[test]
fn a_pause_of_a_host_is_no_matter_of_launches() {
    let mut slices = launched(20, 102, 100);
    slices.extend(
        launched(20, 102, 100)
            .into_iter()
            .map(|Drawn(queue, name, start, end)| Drawn(queue, name, start + 4_000, end + 4_000)),
    );
    let of = machine(&slices);
    assert!(of.found(RuleName::IdleGap).saving.unwrap().middle_ps > 1_900 * US);
    assert_eq!(of.verdict(RuleName::LaunchBound), Judgement::Nothing);
}

/// Launch-bound work in the middle of a run is the place to look at.
#[test]
fn the_place_of_launches_is_where_they_hold_the_device_back() {
    let shifted = |slices: Vec<Drawn>, by: i64| {
        slices.into_iter().map(move |Drawn(queue, name, start, end)| Drawn(queue, name, start + by, end + by))
    };
    // Kernels from 100 to 2,100 µs, all launched at once.
    let ahead =
        |at: i64| [Drawn(9, "launch", 2 * at, 2 * at + 1), Drawn(0, "gemm", 100 + 100 * at, 199 + 100 * at)];
    let mut slices: Vec<Drawn> = (0..20).flat_map(ahead).collect();
    slices.extend(shifted(launched(40, 50, 10), 2_140));
    slices.extend(shifted((0..20).flat_map(ahead).collect(), 4_140));
    let (start, end) = machine(&slices).found(RuleName::LaunchBound).place.span_ps.unwrap();
    assert!((start - 2_140 * US).abs() < 120 * US && (end - 4_140 * US).abs() < 120 * US, "{start} {end}");
}

/// Kernels of two queues that the device executes one at a time, all launched ahead.
fn by_turns(count: i64) -> Vec<Drawn> {
    let pair = |at: i64| {
        let queue = u32::try_from(at % 2).unwrap();
        [Drawn(9, "launch", 2 * at, 2 * at + 1), Drawn(queue, "gemm", 100 + 100 * at, 199 + 100 * at)]
    };
    (0..count).flat_map(pair).collect()
}

#[test]
fn a_device_that_executes_one_kernel_at_a_time_is_busy() {
    let of = machine(&by_turns(40));
    assert_eq!(of.verdict(RuleName::LaunchBound), Judgement::Nothing);
    let work = Scenario::with_free_launches();
    let facts = Facts::new(&of.job, &of.report, &of.graph, Work::IN_PLACE).unwrap();
    let saving = facts.saving(&work).unwrap();
    assert!(saving.high_ps < 150 * US, "one executor cannot do two kernels at once: {saving:?}");
}

#[test]
fn work_without_launches_lets_nobody_tell() {
    let mut slices = busy(20);
    slices.extend(
        launched(20, 105, 100)
            .into_iter()
            .map(|Drawn(queue, name, start, end)| Drawn(queue, name, start + 2_040, end + 2_040)),
    );
    let of = machine(&slices);
    assert_eq!(of.verdict(RuleName::LaunchBound), Judgement::CannotTell(DataGap::SomeLaunches(0.5)));
    let recording = of.found(RuleName::Recording);
    assert!(
        recording.text().ends_with("lacks the launches of 50.0 % of the work of devices"),
        "{}",
        recording.text()
    );
    assert_eq!(machine(&launched(20, 105, 100)).verdict(RuleName::Recording), Judgement::Nothing);
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
fn an_engine_waits_for_transfers() {
    let mut slices = Vec::new();
    for at in 0..20 {
        let start = at * 200;
        slices.push(Drawn(1, "load", start, start + 98));
        slices.push(Drawn(0, "gemm", start + 100, start + 199));
    }
    let mut work = work_of(&slices);
    let is_loading = |at: &usize| work.party(*at as u32) == "queue 1";
    let queue = (0..work.queues.len()).find(is_loading).unwrap();
    work.queues[queue].identity.role = Role::Queue;
    let of = machine_of(work);
    let found = of.found(RuleName::DmaWait);
    assert_eq!(found.place.track.as_deref(), Some("queue 0"));
    assert!(found.text().contains("for queue 1"), "{}", found.text());
    // The same wait is none for another engine.
    assert!(!tracks(&of.verdict(RuleName::ChipWait)).contains(&Some("queue 0")));
    // Without queues of transfers, nobody is asked.
    let of = machine(&slices);
    let facts = Facts::new(&of.job, &of.report, &of.graph, Work::IN_PLACE).unwrap();
    assert!(findings(&facts).unwrap().iter().all(|one| one.rule != RuleName::DmaWait));
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
    let reason = DataGap::Steps(NoSteps::NoRepetition);
    assert_eq!(machine(&busy(20)).verdict(RuleName::SlowStep), Judgement::CannotTell(reason));
}
