//! Comparisons that are cancelled. Work is counted in checks of the cancellation.

use std::sync::atomic::{AtomicU64, Ordering};

use super::group_guess_tests::Stage;
use super::tests::{Plan, Says, make};
use super::*;
use crate::base::Error;
use crate::ingest::{BuildOptions, Builder};
use crate::spill::MemoryScratch;

/// Inputs of a job whose traces state this much of their operations.
fn inputs(says: Option<Says>) -> Vec<RankInput> {
    if let Some(says) = says {
        return make(&Plan { ranks: 6, seed: 7, says, lost: 20, apart_us: 500 }).inputs;
    }
    let mut stage = Stage::new(4, &[("stream 7", &[])]);
    for round in 0..40 {
        for pair in [[0, 1], [2, 3]] {
            let late = i64::try_from(pair[0]).unwrap() * 1_000_000 + round * 977_000;
            stage.run(0, &pair, |_| 40_000_000 + late);
        }
        stage.now.iter_mut().for_each(|now| *now += 300_000_000);
    }
    stage.inputs
}

/// Compares all ranks and writes their job segment. The check with the number `last` tells that
/// the work is cancelled. Returns the checks at the end of each stage.
fn compare(says: Option<Says>, last: u64) -> (Vec<u64>, Result<()>) {
    let (checks, mut stages) = (AtomicU64::new(0), Vec::new());
    let is_cancelled = || checks.fetch_add(1, Ordering::Relaxed) + 1 >= last;
    let cancel = Cancel::when(&is_cancelled);
    let done = || checks.load(Ordering::Relaxed);
    let compared = (|| {
        let mut job = JobBuilder::default();
        inputs(says).into_iter().for_each(|input| job.add(input));
        let job = job.finish(cancel)?;
        stages.push(done());
        let matched = matched(&job, cancel)?;
        stages.push(done());
        let report = report(&job, matched, cancel)?;
        stages.push(done());
        let (scratch, mut bytes) = (MemoryScratch::default(), Vec::new());
        let mut builder = Builder::new(&scratch, &mut bytes, BuildOptions::default())?;
        job_segment::write(&job, &report, &mut builder, cancel)?;
        stages.push(done());
        Ok(())
    })();
    if compared.is_err() {
        stages.push(done());
    }
    (stages, compared)
}

/// Every kind of job: with numbers, with groups, with streams alone.
const JOBS: [Option<Says>; 3] = [Some(Says::Numbers), Some(Says::Groups), None];

#[test]
fn a_comparison_ends_at_the_check_that_finds_it_cancelled() {
    for says in JOBS {
        let (whole, compared) = compare(says, u64::MAX);
        assert_eq!(compared, Ok(()));
        let whole = whole[whole.len() - 1];
        for last in (1..=20).map(|part| whole * part / 20) {
            let (stages, compared) = compare(says, last);
            assert_eq!(compared, Err(Error::Cancelled), "{says:?}, check {last} of {whole}");
            assert_eq!(stages.last(), Some(&last), "{says:?}: work went on");
        }
    }
}

#[test]
fn every_stage_of_a_comparison_checks_at_each_operation() {
    for says in JOBS {
        let job = Job::new(inputs(says));
        let operations = matched(&job, Cancel::NEVER).unwrap().instances.len() as u64;
        let (stages, _) = compare(says, u64::MAX);
        assert!(operations >= 40 && stages.len() == 4, "{says:?}: {stages:?}");
        assert!(stages[0] >= job.ranks.len() as u64, "{says:?}: {stages:?}");
        // Matching, the sample for clocks, causality and its violations; times, states and blame;
        // awaited ranks and rows.
        for (stage, passes) in stages.windows(2).zip([4, 3, 2]) {
            assert!(stage[1] - stage[0] >= passes * operations, "{says:?}: {stages:?} of {operations}");
        }
    }
}
