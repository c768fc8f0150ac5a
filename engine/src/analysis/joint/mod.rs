//! Writes the joint segment: operations of all ranks, calls of each rank with their waits, and
//! tables that compare ranks.
//!
//! It is a function of the ranks' segments, like the overlay, so it can be lost and written again.
//! As a segment it has tiles, search, details and exports like any rank. Times are those of the
//! clock that all ranks share.

mod operations;
mod tables;
mod tracks;

use self::operations::Writer;
use super::{Job, Report};
use crate::base::Result;
use crate::model::{RankInfo, Sink};
use crate::vendor::joint::SOURCE;

/// Version of the joint segment. One of another version is written again.
pub const VERSION: u32 = 1;

/// Writes the joint segment of a job.
///
/// # Errors
/// If the sink fails.
pub fn write(job: &Job, report: &Report, sink: &mut dyn Sink) -> Result<()> {
    sink.rank(RankInfo { source: SOURCE.to_owned(), title: "All ranks".to_owned(), ..RankInfo::default() });
    // Numbers follow the first arrivals, so they grow along each row of the timeline.
    let mut order: Vec<usize> = (0..report.operations.len()).collect();
    order.sort_unstable_by_key(|&at| (report.operations[at].span.first_ps, at));
    let mut writer = Writer::new(job, report, sink)?;
    for (number, &at) in (1..).zip(&order) {
        writer.operation(number, at)?;
    }
    tables::write(job, report, &order, sink)
}
