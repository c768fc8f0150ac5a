//! The conditions of `--fail-on`, and the failure if one holds.

use std::io::Write;

use clap::Args;

use nprof_engine::analysis::Analysed;

use super::run_condition::{KnownFacts, RunCondition, checked};
use crate::print::condition_report::{CheckedCondition, ConditionState};
use crate::store::Profile;

/// Exit code: the command worked, and what it found breaks a limit of the user.
pub(super) const EXIT_CODE: u8 = 3;

/// Text about the broken limits.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Failing(pub(super) String);

/// Exit code: the command worked, and data is missing that a limit of the user needs.
pub(super) const UNDECIDED_EXIT_CODE: u8 = 4;

/// Text about limits of which nobody can tell whether they are broken.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Undecided(pub(super) String);

/// Ends a command after its output is complete: with a failure if a condition holds, else if nobody
/// can tell.
pub(super) fn conclude(checked: &[CheckedCondition], out: &mut dyn Write) -> anyhow::Result<()> {
    let reasons = |state: ConditionState| -> Vec<&str> {
        let of_state = checked.iter().filter(|one| one.state == state);
        let mut reasons: Vec<&str> = of_state.flat_map(|one| &one.reasons).map(String::as_str).collect();
        reasons.dedup();
        reasons
    };
    let (broken, undecided) = (reasons(ConditionState::Broken), reasons(ConditionState::Undecided));
    if broken.is_empty() && undecided.is_empty() {
        return Ok(());
    }
    out.flush()?;
    match broken.is_empty() {
        false => Err(Failing(broken.join("; ")).into()),
        true => Err(Undecided(undecided.join("; ")).into()),
    }
}

/// Conditions that make the command fail.
#[derive(Debug, Args)]
pub(super) struct FailArgs {
    /// Exit with 3 if this holds, such as `wait > 10%`, `root-blame > 5 ms`, `mismatches > 0`,
    /// `finding:late-rank > 1%` or `mfu < 30%`; with 4 if nobody can tell; can be repeated
    ///
    /// A condition is a quantity of the worst rank, `>` and a limit. `wait` and `exposed` take a
    /// share of the rank's time or a time. `blame` and `root-blame` take a share of all waiting or
    /// a time. `lost` takes a share of the rank's operations or a number. `mismatches` takes a
    /// number, and counts all ranks. The conditions of `nprof summary` are allowed, too.
    #[arg(long, value_name = "CONDITION")]
    fail_on: Vec<RunCondition>,
}

impl FailArgs {
    /// Checks the conditions.
    pub(super) fn checked(&self, profile: &Profile, of: &Analysed) -> anyhow::Result<Vec<CheckedCondition>> {
        checked(&self.fail_on, profile, KnownFacts { analysed: Some(of), ..KnownFacts::default() })
    }
}
