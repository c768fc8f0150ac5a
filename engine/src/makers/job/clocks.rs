//! The clocks of all ranks, as their calls show them, from the table of ranks of a job segment.

use super::schema::RankRow;
use crate::base::{ClockFit, Result};
use crate::exec::Cancel;
use crate::makers::FieldCell;
use crate::segment::{Bytes, Segment};

/// The clock of each rank by number: the map from the times of its segment to those of the job
/// segment. Rows without a clock are skipped. Empty for a segment without a table of ranks.
pub fn clocks<B: Bytes>(segment: &Segment<B>) -> Result<Vec<(u32, ClockFit)>> {
    let clock = |row: &RankRow<FieldCell>| {
        let drift_ppb = i32::try_from((row.drift_ppm.float()? * 1e3).round() as i64).ok()?;
        let bound_ps = row.bound.int().and_then(|bound| u64::try_from(bound).ok());
        let fit = ClockFit::new(row.at.int()?, row.offset.int()?, drift_ppb, bound_ps).ok()?;
        Some((row.rank.number()?, fit))
    };
    let rows = RankRow::read(segment, Cancel::NEVER)?;
    Ok(rows.iter().filter_map(clock).collect())
}
