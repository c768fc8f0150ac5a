//! Rows of a block that start in a window. Windows that follow each other have each row once.

use std::ops::Range;

use crate::base::{Interval, Result};
use crate::model::TableId;
use crate::segment::{BlockReader, Bytes, ColumnRole, Segment};

/// The rows of a block that start in a window; all rows without one. Starts are read only if the
/// block reaches beyond the window.
pub(super) fn rows_in_window<B: Bytes>(
    segment: &Segment<B>,
    table: TableId,
    block: usize,
    window: Option<Interval>,
    reader: &mut BlockReader<'_, B>,
) -> Result<Range<usize>> {
    let (list, rows) = (segment.blocks(table)?, reader.rows());
    let Some(Interval { start, end }) = window else { return Ok(0..rows) };
    let (first_ps, last_ps) = (list.starts()[block], list.end(block));
    if first_ps >= end.0 || last_ps < start.0 {
        return Ok(0..0);
    }
    if first_ps >= start.0 && last_ps < end.0 {
        return Ok(0..rows);
    }
    let starts = reader.core_ints(ColumnRole::Start)?;
    let before = |ps: i64| starts.partition_point(|&of| of < ps);
    Ok(before(start.0)..before(end.0))
}
