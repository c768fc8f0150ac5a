//! Time covered by classes of slices, over all tracks, in one sweep in order of time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::NamedColumns;
use crate::base::{Covered, Result};
use crate::exec::Cancel;
use crate::model::TrackId;
use crate::segment::{BlockReader, Bytes, ColumnRole, Segment};

/// A set of classes, one bit each.
pub type Classes = u32;

/// Maximum number of classes in a sweep.
pub const MAX_CLASSES: usize = Classes::BITS as usize;

/// Totals of a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Activity {
    /// Number of slices.
    pub count: u64,
    /// Sum of their durations in picoseconds.
    pub total_ps: u64,
    /// Time in which at least one slice ran, in picoseconds.
    pub covered_ps: u64,
}

/// Classes of the rows of one block. Maps (track, block, name numbers) to one set per row.
pub type Classify<'a> = dyn Fn(TrackId, usize, &[i64]) -> Result<Vec<Classes>> + 'a;

/// The slices of one track, in order of start.
struct SliceCursor {
    track: TrackId,
    blocks: std::ops::Range<usize>,
    rows: Vec<(i64, i64, Classes)>,
    at: usize,
}

/// Sums the slices of these tracks by class.
pub fn sweep<B: Bytes>(
    segment: &Segment<B>,
    tracks: &[(TrackId, &Classify<'_>)],
    cancel: Cancel<'_>,
) -> Result<[Activity; MAX_CLASSES]> {
    let mut activity = [Activity::default(); MAX_CLASSES];
    let mut covered = [Covered::after(i64::MIN); MAX_CLASSES];
    let mut cursors = Vec::new();
    let mut heap = BinaryHeap::new();
    for &(track, classify) in tracks {
        let mut cursor = SliceCursor { track, blocks: segment.blocks_of(track)?, rows: Vec::new(), at: 0 };
        if let Some((start_ps, ..)) = cursor.peek(segment, classify)? {
            heap.push(Reverse((start_ps, cursors.len())));
        }
        cursors.push((cursor, classify));
    }
    while let Some(Reverse((_, at))) = heap.pop() {
        let (cursor, classify) = &mut cursors[at];
        let Some((start_ps, end_ps, classes)) = cursor.peek(segment, *classify)? else { continue };
        if cursor.at == 0 {
            // The first slice of a block.
            cancel.check()?;
        }
        cursor.at += 1;
        let mut left = classes;
        while left != 0 {
            let class = left.trailing_zeros() as usize;
            left &= left - 1;
            activity[class].count += 1;
            activity[class].total_ps += end_ps.abs_diff(start_ps);
            covered[class].add(start_ps, end_ps);
        }
        if let Some((start_ps, ..)) = cursor.peek(segment, *classify)? {
            heap.push(Reverse((start_ps, at)));
        }
    }
    for (activity, covered) in activity.iter_mut().zip(&covered) {
        activity.covered_ps = covered.total_ps();
    }
    Ok(activity)
}

impl SliceCursor {
    /// The next slice: start, end, classes.
    fn peek<B: Bytes>(
        &mut self,
        segment: &Segment<B>,
        classify: &Classify<'_>,
    ) -> Result<Option<(i64, i64, Classes)>> {
        while self.at == self.rows.len() {
            let Some(block) = self.blocks.next() else { return Ok(None) };
            let Some(table) = segment.table_of(self.track) else { return Ok(None) };
            let mut reader = BlockReader::new(segment, table, block)?;
            let starts = reader.core_ints(ColumnRole::Start)?;
            let durations = reader.core_ints(ColumnRole::Duration)?;
            let names = reader.core_ints(ColumnRole::Name)?;
            let classes = classify(self.track, block, &names)?;
            self.at = 0;
            self.rows = starts
                .iter()
                .zip(&durations)
                .zip(&classes)
                .map(|((&start, &duration), &classes)| (start, start.saturating_add(duration), classes))
                .collect();
        }
        Ok(Some(self.rows[self.at]))
    }
}

/// The mapped value of a text field for each row of a block. Rows without a value get `absent`.
pub fn map_texts<B: Bytes, T: Copy>(
    columns: &NamedColumns<'_, B>,
    name: &str,
    block: usize,
    rows: usize,
    absent: T,
    map: impl Fn(&str) -> T,
) -> Result<Vec<T>> {
    let mut mapped = vec![absent; rows];
    columns.for_each_text(name, block, |row, text| mapped[row] = map(text))?;
    Ok(mapped)
}
