//! Analysis of all ranks of a job: matched collective operations, one clock, and who waits for
//! whom.
//!
//! A pure function of what [`crate::makers::collectives`] reads from the ranks' segments. Memory is
//! 40 bytes a call; time is linear in calls, but for sorting.

mod arrival;
mod blame;
mod builder;
mod chance;
mod clock;
mod culprit;
mod delays;
mod exposure;
mod instances;
mod islands;
mod job;
mod job_analysis;
pub mod job_segment;
mod matching;
mod meeting;
mod members;
mod overlap;
pub mod overlay;
mod placing;
mod report;
mod root;
mod slow_transfers;
mod state;
mod steps;
pub mod table;
mod totals;
mod transfers;

#[cfg(test)]
mod blame_tests;
#[cfg(test)]
mod cancel_tests;
#[cfg(test)]
mod certainty_tests;
#[cfg(test)]
mod clock_tests;
#[cfg(test)]
mod cost_tests;
#[cfg(test)]
mod group_guess_tests;
#[cfg(test)]
mod law_tests;
#[cfg(test)]
mod loss_tests;
#[cfg(test)]
mod part_tests;
#[cfg(test)]
mod report_names_tests;
#[cfg(test)]
mod shift_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod transfer_tests;

pub use arrival::{Arrival, InstanceTimes};
pub use blame::report;
pub use builder::JobBuilder;
pub use clock::{ClockVerdict, JobClocks, RankClock, Unbounded};
pub use culprit::{Cost, SlowTransfer, Suspect, costs, shown_by};
pub use instances::{InstanceCall, Instances};
pub use job::{Group, Job, JobRank, JobSignature, MAX_RANKS, RankInput, Unplaced};
pub use job_analysis::Analysed;
pub use report::{
    Contradiction, InstanceReport, LinkReport, Mismatch, OperationState, Presence, RankReport, Report,
};
pub use slow_transfers::{is_slow_transfer, usual_transfers};
pub use steps::{StepReport, steps};
pub use totals::{JobTotals, totals};
pub use transfers::{Passage, algorithm, passages};

use crate::base::Result;
use crate::exec::Cancel;

/// Matched operations and the clocks that they show.
#[derive(Debug, Clone, PartialEq)]
pub struct MatchedJob {
    /// The operations.
    pub instances: Instances,
    /// The clocks.
    pub clocks: JobClocks,
}

/// Matches the calls of all ranks and finds the clocks.
pub fn matched(job: &Job, cancel: Cancel<'_>) -> Result<MatchedJob> {
    let numbered = matching::by_number(job, cancel)?;
    let whole = islands::Islands::whole(job.ranks.len());
    if !matching::needs_clocks(job) {
        let start = clock::tree(job, &numbered, cancel)?;
        let (clocks, _) = clock::find(job, &numbered, &whole, start, cancel)?;
        return Ok(MatchedJob { instances: numbered, clocks });
    }
    let (start, islands) = match numbered.is_empty() {
        true => matching::rough_clocks(job, cancel)?,
        false => (clock::tree(job, &numbered, cancel)?, whole),
    };
    let first = matching::by_all(job, &start, &islands, cancel)?;
    let (_, lines) = clock::find(job, &first, &islands, start, cancel)?;
    let instances = matching::by_all(job, &lines, &islands, cancel)?;
    let (clocks, _) = clock::find(job, &instances, &islands, lines, cancel)?;
    Ok(MatchedJob { instances, clocks })
}
