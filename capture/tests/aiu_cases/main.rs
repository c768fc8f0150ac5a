//! Compares what the reader of AIU traces finds with what acelyzer wrote, case by case. The cases
//! lie beside the project (`../shared/data/aiu`, or below `NPROF_SHARED`); without them the test
//! says so and passes. `docs/aiu.md` lists the cases.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a test and its helpers")]

mod compare;
mod expectation;
mod read;

use std::fmt::Write;
use std::path::PathBuf;

use self::compare::Check::{self, *};

/// Folder of the cases, if it is there.
fn folder() -> Option<PathBuf> {
    let shared = std::env::var_os("NPROF_SHARED")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared"), PathBuf::from);
    let folder = shared.join("data/aiu");
    if folder.is_dir() {
        return Some(folder);
    }
    println!("skipped: {} is not there", folder.display());
    None
}

/// The checks that must succeed in each case. The remaining outputs of a case are better or not
/// there yet; `docs/aiu.md` says which.
const CASES: [(&str, &[Check]); 44] = [
    ("driftA", &[Slices, Stamps, Power, Summary, Active, Cycles]),
    ("flexA_all", &[Slices, Stamps, Preps, Power, PtActive, Summary, Active, Cycles, Categories]),
    ("flexA_autopilot", &[Slices, Stamps, Preps, Power, Summary, Active, Cycles]),
    ("flexA_filter", &[]),
    ("flexA_inductor", &[Slices, Stamps, Preps, Power, PtActive, Summary, Active, Cycles, Categories]),
    ("flexA_job1", &[Slices, Stamps, Preps, Power, PtActive, Summary, Active, Cycles, Categories]),
    ("flexA_keepprep", &[Slices, Stamps, Preps, Power, Summary, Active, Cycles]),
    ("flexA_limit", &[]),
    ("flexA_twophase", &[Slices, Stamps, Preps, Power, Summary, Active, Cycles]),
    ("flexA_wrongfreq", &[Slices, Preps, Summary, Active, Cycles]),
    // The true shift is 987,654.321 us, and acelyzer's 987,676.916.
    ("mixA_v100", &[Apart(22.595), Summary, Cycles]),
    ("overlapB_tid9", &[Slices, Summary]),
    ("own_allreduce_flow", &[Stamps]),
    ("own_allreduce_flow_v100", &[Durations, Stamps]),
    ("own_basic", &[Slices, Summary]),
    ("own_basic_async", &[]),
    ("own_basic_drop", &[]),
    ("own_basic_pddf", &[Summary]),
    ("own_basic_tb", &[Summary]),
    ("own_flex_cat", &[Slices, Stamps, Power, PtActive, Summary, Active, Cycles, Categories]),
    ("own_flex_cat_deffreq", &[Slices, Stamps, Power, Summary, Active, Cycles, Categories]),
    ("own_flex_nostats", &[Slices, Stamps, Power]),
    ("own_flex_power3", &[Slices, Stamps, PowerByCycles, Summary, Active, Cycles]),
    ("own_meta_only", &[]),
    ("shiftA_fix", &[]),
    ("shiftA_nofix", &[Slices, Stamps, Preps, Power, Summary, Active, Cycles]),
    ("tiny_shift", &[]),
    ("torchA", &[Slices, Transfers]),
    ("torchA_cat", &[Slices, Transfers, Categories]),
    ("torchA_pddf", &[]),
    ("torchA_tb", &[Slices, Transfers]),
    ("torchA_tp2", &[Slices, Transfers]),
    ("torchA_verify_bad", &[]),
    ("torchA_verify_ok", &[]),
    ("tp4_coll_v100", &[Durations, Stamps, Collectives, Summary]),
    ("tp4_dmabw_v100", &[Durations, Stamps, Summary]),
    ("tp4_flow", &[Durations, Stamps, Summary, Cycles]),
    ("tp4_noflow_keepprep", &[Durations, Stamps, Summary, Cycles]),
    ("tp4_nosync", &[Slices, Stamps, Preps, Power, Summary, Active, Cycles]),
    ("tp4_summarize", &[Summary, Cycles]),
    ("tp4_tb", &[Durations, Summary, Cycles]),
    ("tp4x3_coll_v100", &[Durations, Stamps, Collectives, Summary]),
    ("tp4x3_flow", &[Durations, Stamps, Summary, Cycles]),
    ("tp4x3_sync2", &[Durations, Stamps, Summary, Cycles]),
];

#[test]
fn the_reader_finds_what_acelyzer_wrote() {
    let Some(folder) = folder() else { return };
    let mut report = String::new();
    let mut is_equal = true;
    for (case, checks) in CASES {
        let expected = expectation::Case::open(&folder, case);
        let ranks = read::ranks(&folder, &expected.command);
        let others = checks.iter().filter(|check| !Check::ALL.contains(check));
        for &check in Check::ALL.iter().chain(others) {
            let found = compare::compare(check, &expected, &ranks);
            let must = checks.contains(&check);
            match found {
                Some(Ok(())) => writeln!(report, "{case}: {check:?} equal").unwrap(),
                Some(Err(why)) if must => {
                    is_equal = false;
                    writeln!(report, "{case}: {check:?} DIFFERS: {why}").unwrap();
                }
                Some(Err(why)) => writeln!(report, "{case}: {check:?} other: {why}").unwrap(),
                None if must => {
                    is_equal = false;
                    writeln!(report, "{case}: {check:?} HAS NOTHING TO COMPARE").unwrap();
                }
                None => {}
            }
        }
    }
    println!("{report}");
    assert!(is_equal, "{report}");
}
