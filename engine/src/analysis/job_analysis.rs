//! The calls of a job with what they show.

use std::ops::Range;

use super::job_segment::{numbers, tables};
use super::table::By;
use super::{Job, Report};
use crate::base::{ClockFit, Result};
use crate::model::{SideTables, Sink, ValueTable};

/// An analysed job.
#[derive(Debug)]
pub struct Analysed {
    /// The calls of all ranks.
    pub job: Job,
    /// The analysis of these calls.
    pub report: Report,
}

impl Analysed {
    /// The clock of the segment of a rank, from its times to those that all ranks share.
    #[must_use]
    pub fn clock_of(&self, rank: u32) -> ClockFit {
        let at = self.job.position(rank);
        at.map_or_else(ClockFit::default, |at| self.report.clock_of_segment(&self.job, at))
    }

    /// The table of ranks, as the job segment has it.
    pub fn ranks(&self) -> Result<ValueTable> {
        made(|sink| tables::ranks(&self.job, &self.report, sink))
    }

    /// The table of the job, as the job segment has it.
    pub fn whole(&self) -> Result<ValueTable> {
        made(|sink| tables::whole(&self.job, &self.report, sink))
    }

    /// The operations at these places of the report, as the job segment has them. `numbers` has the
    /// number of each operation.
    pub fn operations(&self, numbers: &[u32], places: Range<usize>) -> Result<ValueTable> {
        made(|sink| tables::operations(&self.job, &self.report, numbers, places, sink))
    }

    /// The table of causes, as the job segment has it.
    pub fn causes(&self) -> Result<ValueTable> {
        made(|sink| tables::causes(&self.job, &self.report, &numbers(&self.report), sink))
    }

    /// The table of mismatches, as the job segment has it.
    pub fn mismatches(&self) -> Result<ValueTable> {
        made(|sink| tables::mismatches(&self.job, &self.report, &numbers(&self.report), sink))
    }

    /// The operations that have a property in common, a row for each value of it.
    pub fn operations_by(&self, by: By) -> Result<ValueTable> {
        let made = made(|sink| tables::rows_by(&self.job, &self.report, by, sink))?;
        Ok(made.without_empty_columns())
    }
}

/// The table that a writer makes.
fn made(write: impl FnOnce(&mut dyn Sink) -> Result<()>) -> Result<ValueTable> {
    Ok(SideTables::made_by(write)?.into_iter().next().unwrap_or_default())
}
