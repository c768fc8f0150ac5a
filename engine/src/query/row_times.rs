//! The times of many rows.

use crate::base::{Result, narrow};
use crate::exec::Cancel;
use crate::segment::{BlockReader, Bytes, ColumnRole, Segment};

/// The time of a row in picoseconds, as it was recorded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RowTime {
    /// Its start.
    pub start_ps: i64,
    /// Its duration.
    pub duration_ps: i64,
}

/// The times of these rows, which ascend; of a row that is not a slice, 0 and 0. Each block is read
/// once.
pub fn row_times<B: Bytes>(segment: &Segment<B>, rows: &[u32], cancel: Cancel<'_>) -> Result<Vec<RowTime>> {
    let mut found = Vec::with_capacity(rows.len());
    while let Some(&row) = rows.get(found.len()) {
        cancel.check()?;
        let place = segment.place(row)?;
        if segment.column(place.table, ColumnRole::Duration).is_none() {
            found.push(RowTime::default());
            continue;
        }
        let mut block = BlockReader::new(segment, place.table, place.block)?;
        let (starts, durations) =
            (block.core_ints(ColumnRole::Start)?, block.core_ints(ColumnRole::Duration)?);
        let first = row - narrow(place.at);
        for &row in &rows[found.len()..] {
            let at = row.checked_sub(first).map(|at| at as usize);
            let Some((at, &start_ps)) = at.and_then(|at| Some((at, starts.get(at)?))) else { break };
            found.push(RowTime { start_ps, duration_ps: durations.get(at).copied().unwrap_or(0) });
        }
    }
    Ok(found)
}
