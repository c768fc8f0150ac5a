//! How rows are spread over time: their number in each of several equal spans.
//!
//! The block list tells the times of a block. A block that lies within one cell is counted by its
//! rows; the starts of all others are decoded.

use std::ops::Range;

use roaring::RoaringBitmap;

use crate::base::{Interval, Result, Time, narrow};
use crate::exec::Work;
use crate::model::{TableId, TableKind};
use crate::segment::{Bytes, ColumnRole, Segment};

/// Rows of one block.
struct BlockRows {
    table: TableId,
    block: usize,
    first_row: u32,
    rows: u32,
}

/// Equal parts of a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DensityCells {
    /// The span.
    pub span: Interval,
    /// Number of its parts.
    pub count: usize,
}

impl DensityCells {
    /// No part: nothing is counted.
    pub const NONE: Self = Self { span: Interval { start: Time(0), end: Time(0) }, count: 0 };

    /// The part with a time. `None` outside of the span; its end is in the last part.
    fn at(self, time_ps: i64) -> Option<usize> {
        let past_ps = i128::from(time_ps) - i128::from(self.span.start.0);
        let at = past_ps * self.count as i128 / i128::from(self.span.duration_ps().max(1));
        let last = self.count.checked_sub(1)?;
        (self.span.start.0..=self.span.end.0).contains(&time_ps).then(|| at.clamp(0, last as i128) as usize)
    }

    /// The parts with a time from `start_ps` to before `end_ps`. `None` without parts.
    pub(super) fn of(self, start_ps: i64, end_ps: i64) -> Option<Range<u32>> {
        let first = self.at(start_ps.clamp(self.span.start.0, self.span.end.0))?;
        let last = self.at(end_ps.saturating_sub(1).clamp(self.span.start.0, self.span.end.0))?;
        Some(narrow(first)..narrow(last.max(first) + 1))
    }
}

/// The number of these rows of slices that start in each part of a span. A start at the end of the
/// span counts in the last part, and one outside does not count.
pub fn density<B: Bytes>(
    segment: &Segment<B>,
    rows: &RoaringBitmap,
    cells: DensityCells,
    work: Work<'_>,
) -> Result<Vec<u32>> {
    let (mut counts, span) = (vec![0_u32; cells.count], cells.span);
    if cells.count == 0 || rows.is_empty() {
        return Ok(counts);
    }
    let blocks = blocks_with(segment, rows)?;
    // The cells of a block in order, each with its number of rows.
    let of_blocks = work.gather(blocks.len(), |at| {
        let BlockRows { table, block, first_row, rows: count } = blocks[at];
        let list = segment.blocks(table)?;
        let range = first_row..first_row.saturating_add(count);
        let (first, last) = (cells.at(list.starts()[block]), cells.at(list.end(block)));
        if list.end(block) < span.start.0 || list.starts()[block] > span.end.0 {
            return Ok(Vec::new());
        }
        if let (Some(first), true) = (first, first == last) {
            let found = u32::try_from(rows.range_cardinality(range)).unwrap_or(count);
            return Ok(vec![(first, found)]);
        }
        let starts = segment.core_ints(table, ColumnRole::Start, block)?;
        let mut found: Vec<(usize, u32)> = Vec::new();
        for row in rows.range(range) {
            let Some(&start_ps) = starts.get((row - first_row) as usize) else { break };
            let Some(cell) = cells.at(start_ps) else { continue };
            match found.last_mut() {
                Some((of, count)) if *of == cell => *count += 1,
                _ => found.push((cell, 1)),
            }
        }
        Ok(found)
    })?;
    for (cell, count) in of_blocks.into_iter().flatten() {
        counts[cell] = counts[cell].saturating_add(count);
    }
    Ok(counts)
}

/// The blocks of slices that have any of these rows.
fn blocks_with<B: Bytes>(segment: &Segment<B>, rows: &RoaringBitmap) -> Result<Vec<BlockRows>> {
    let mut found = Vec::new();
    for (number, table) in (0_u16..).zip(&segment.footer().tables) {
        if table.spec.kind != TableKind::Slices {
            continue;
        }
        let list = segment.blocks(TableId(number))?;
        for block in 0..list.len() {
            let first_row = table.first_row + list.first_row(block);
            let count = narrow(list.rows(block));
            if rows.range_cardinality(first_row..first_row.saturating_add(count)) > 0 {
                found.push(BlockRows { table: TableId(number), block, first_row, rows: count });
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{RankTrack, rank_of};
    use crate::model::Role;

    /// The cells of the rows that a test takes, of slices with these starts.
    #[track_caller]
    fn check(starts: &[i64], is_wanted: impl Fn(u32) -> bool, span: (i64, i64), expected: &[u32]) {
        let slices: Vec<_> = starts.iter().map(|&start| ("x", start, start + 3)).collect();
        let segment = rank_of("trace_event", &[RankTrack::of(Role::Kernels, &slices)]);
        let rows = (0..narrow(starts.len())).filter(|row| is_wanted(*row)).collect();
        let parts = DensityCells { span: Interval::new(span.0, span.1), count: expected.len() };
        assert_eq!(density(&segment, &rows, parts, Work::IN_PLACE).unwrap(), expected);
    }

    #[test]
    fn rows_are_counted_where_they_start() {
        check(&[0, 1, 50, 99], |_| true, (0, 100), &[2, 0, 1, 1]);
        check(&[0, 1, 50, 99], |row| row != 1, (0, 100), &[1, 0, 1, 1]);
        check(&[0, 1, 50, 99], |_| false, (0, 100), &[0, 0]);
        check(&[0, 1, 50, 99], |_| true, (0, 100), &[]);
    }

    #[test]
    fn times_outside_do_not_count() {
        check(&[0, 10, 20, 30, 90], |_| true, (10, 30), &[1, 2]);
        check(&[5, 6], |_| true, (5, 5), &[1, 0]);
        check(&[5, 6], |_| true, (20, 30), &[0, 0]);
    }

    #[test]
    fn blocks_add_up() {
        let starts: Vec<i64> = (0..20_000).collect();
        check(&starts, |row| row % 2 == 0, (0, 20_000), &[2_500; 4]);
        check(&starts, |_| true, (0, 1_000_000), &[20_000, 0]);
        check(&starts, |_| true, (5_000, 14_999), &[5_000, 5_000]);
    }
}
