//! Slices of a block, column by column: the columns that are needed to sum up many slices.

use std::ops::Range;
use std::sync::Arc;

use super::lane_tile::LaneSlice;
use crate::base::{Error, Interval, Result};
use crate::model::{SliceForm, TableId, TrackId};
use crate::segment::{BlockReader, Bytes, ColumnRole, Segment, SliceColumns};

const DAMAGED: Error = Error::Inconsistent { what: "core column" };

/// The slices of a block.
#[derive(Debug)]
pub struct SliceBlock {
    /// Row number of the block's first slice.
    first_row: u32,
    /// Positions of the slices that overlap the window.
    showing: Vec<Range<usize>>,
    columns: Arc<SliceColumns>,
}

/// Position of a slice in a tile.
#[derive(Debug, Clone, Copy)]
pub struct SlicePosition {
    /// Start in picoseconds since the profile's origin.
    pub start_ps: i64,
    /// End in picoseconds since the profile's origin.
    pub end_ps: i64,
    /// Row number of the slice.
    pub row: u32,
    /// Number of the slice's name.
    pub name: u32,
}

impl SliceBlock {
    /// Slices that overlap the window, in order. Each item is a lane and the positions of adjacent
    /// slices of that lane.
    pub fn runs(&self) -> impl Iterator<Item = (u32, Range<usize>)> + '_ {
        self.showing.iter().flat_map(move |showing| {
            let mut left = showing.clone();
            std::iter::from_fn(move || {
                let (&lane, rest) = self.columns.lanes.get(left.clone())?.split_first()?;
                let run = rest.iter().take_while(|&&of| of == lane).count() + 1;
                let start = left.start;
                left.start += run;
                Some((lane, start..left.start))
            })
        })
    }

    /// Time, row and name of the slice at a position.
    #[inline]
    pub fn placed(&self, at: usize) -> SlicePosition {
        let start_ps = self.columns.starts[at];
        SlicePosition {
            start_ps,
            end_ps: start_ps.saturating_add(self.columns.durations[at]),
            // At most `block::ROWS` rows, so the cast loses nothing.
            row: self.first_row + at as u32,
            name: self.columns.names[at],
        }
    }

    /// The slice at a position, without its depth, which tiles do not show.
    #[must_use]
    pub fn slice(&self, at: usize) -> LaneSlice {
        let SlicePosition { start_ps, row, name, .. } = self.placed(at);
        LaneSlice {
            start_ps,
            duration_ps: self.columns.durations[at],
            row,
            name,
            form: self.columns.forms[at],
            lane: self.columns.lanes[at],
            depth: 0,
        }
    }
}

/// Calls `each` with the blocks of a track that have slices in a window, in order of start. A
/// block that lies only partly in the window stays decoded for a while.
pub fn for_each_slice_block_in<B: Bytes>(
    segment: &Segment<B>,
    track: TrackId,
    window: Interval,
    mut each: impl FnMut(&SliceBlock) -> Result<()>,
) -> Result<()> {
    let Some(table) = segment.table_of(track) else { return Ok(()) };
    let list = segment.blocks(table)?;
    let first_row = segment.footer().tables[usize::from(table.0)].first_row;
    for block in list.overlapping(segment.blocks_of(track)?, window) {
        let columns = segment.slice_columns(table, block)?;
        if list.starts()[block] < window.start.0 || list.end(block) > window.end.0 {
            segment.keep_slices(table, block, &columns);
        }
        let showing = window.runs_of(&columns.starts, &columns.durations);
        each(&SliceBlock { first_row: first_row + list.first_row(block), showing, columns })?;
    }
    Ok(())
}

/// Slices of a track that overlap a window, in order of start.
pub fn slices_in<B: Bytes>(segment: &Segment<B>, track: TrackId, window: Interval) -> Result<Vec<LaneSlice>> {
    let mut found = Vec::new();
    for_each_slice_in(segment, track, window, |slice| found.push(slice))?;
    Ok(found)
}

/// Calls `each` with the slices of a track that overlap a window, in order of start.
pub fn for_each_slice_in<B: Bytes>(
    segment: &Segment<B>,
    track: TrackId,
    window: Interval,
    mut each: impl FnMut(LaneSlice),
) -> Result<()> {
    let Some(table) = segment.table_of(track) else { return Ok(()) };
    let blocks = segment.blocks_of(track)?;
    for block in segment.blocks(table)?.overlapping(blocks, window) {
        block_slices(segment, table, block, |slice| {
            if window.overlaps(slice.start_ps, slice.start_ps.saturating_add(slice.duration_ps)) {
                each(slice);
            }
        })?;
    }
    Ok(())
}

/// Calls `each` with every slice of a block.
pub fn block_slices<B: Bytes>(
    segment: &Segment<B>,
    table: TableId,
    block: usize,
    mut each: impl FnMut(LaneSlice),
) -> Result<()> {
    let first_row =
        segment.footer().tables[usize::from(table.0)].first_row + segment.blocks(table)?.first_row(block);
    let mut reader = BlockReader::new(segment, table, block)?;
    let starts = reader.core_ints(ColumnRole::Start)?;
    let durations = reader.core_ints(ColumnRole::Duration)?;
    let names = reader.core_ints(ColumnRole::Name)?;
    let forms = reader.core_ints(ColumnRole::Form)?;
    let lanes = reader.core_ints(ColumnRole::Lane)?;
    let shifts = match segment.column(table, ColumnRole::LaneShift) {
        Some(column) => reader.column(column)?.map(|shifts| shifts.into_full_ints(0)).transpose()?,
        None => None,
    };
    // Without lane shifts, slices do not nest.
    let depth =
        |at: usize| u32::try_from(shifts.as_ref().map_or(0, |shifts| lanes[at].wrapping_sub(shifts[at])));
    for at in 0..starts.len() {
        each(LaneSlice {
            start_ps: starts[at],
            duration_ps: durations[at],
            row: first_row + u32::try_from(at).map_err(|_| DAMAGED)?,
            name: u32::try_from(names[at]).map_err(|_| DAMAGED)?,
            form: SliceForm::of_code(forms[at]).ok_or(DAMAGED)?,
            lane: u32::try_from(lanes[at]).map_err(|_| DAMAGED)?,
            depth: depth(at).map_err(|_| DAMAGED)?,
        });
    }
    Ok(())
}
