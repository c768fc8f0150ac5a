//! The clocks of all ranks, as their calls show them, from the table of ranks of a job segment.

use super::schema::RANKS;
use crate::base::{ClockFit, Result};
use crate::exec::Cancel;
use crate::makers::columns::Columns;
use crate::makers::rows::{int_of, of};
use crate::model::OwnedValue;
use crate::segment::{Bytes, Segment};

/// The clock of each rank by number: the map from the times of its segment to those of the job
/// segment. Rows without a clock are skipped. Empty for a segment without a table of ranks.
///
/// # Errors
/// If bytes are missing or damaged.
pub fn clocks<B: Bytes>(segment: &Segment<B>) -> Result<Vec<(u32, ClockFit)>> {
    let table = Columns::of(segment, RANKS.name, Cancel::NEVER);
    let rows = table.map_or(Ok(Vec::new()), |table| table.all_rows())?;
    let clock = |row: &Vec<(&str, OwnedValue)>| {
        let int = |name| of(row, name).and_then(int_of);
        let drift_ppb = i32::try_from(int("drift_ppb")?).ok()?;
        let bound_ps = int("bound").and_then(|bound| u64::try_from(bound).ok());
        let fit = ClockFit::new(int("at")?, int("offset")?, drift_ppb, bound_ps).ok()?;
        Some((u32::try_from(int("rank")?).ok()?, fit))
    };
    Ok(rows.iter().filter_map(clock).collect())
}
