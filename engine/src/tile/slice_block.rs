//! The slices of a block, column by column: what summing up many of them needs, and nothing that only one of them needs.

use std::ops::Range;

use super::cut::LaneSlice;
use crate::base::{Error, Interval, Result};
use crate::model::{TableId, TrackId};
use crate::segment::{BlockReader, Bytes, ColumnRole, Segment};

const DAMAGED: Error = Error::Corrupt { what: "core column", offset: 0 };

/// The slices of a block. All columns have an entry for each.
#[derive(Debug)]
pub struct SliceBlock {
    /// Row of the first.
    first_row: u32,
    /// Those that overlap the window.
    showing: Vec<Range<usize>>,
    starts: Vec<i64>,
    durations: Vec<i64>,
    names: Vec<i64>,
    forms: Vec<i64>,
    lanes: Vec<i64>,
}

/// What tells a slice's place in a tile.
#[derive(Debug, Clone, Copy)]
pub struct Placed {
    /// Position in the block.
    pub at: usize,
    /// Start.
    pub start_ps: i64,
    /// End.
    pub end_ps: i64,
    /// Its row.
    pub row: u32,
    /// Number of its name.
    pub name: u32,
    /// Its lane.
    pub lane: u32,
}

impl SliceBlock {
    /// Decodes a block; `None` where none of its slices overlaps the window.
    ///
    /// # Errors
    /// Where bytes are missing or damaged.
    fn read<B: Bytes>(
        reader: &mut BlockReader<'_, B>,
        first_row: u32,
        window: Interval,
    ) -> Result<Option<Self>> {
        let starts = reader.core_ints(ColumnRole::Start)?;
        let durations = reader.core_ints(ColumnRole::Duration)?;
        let showing = window.runs_of(&starts, &durations);
        if showing.is_empty() {
            return Ok(None);
        }
        Ok(Some(Self {
            first_row,
            showing,
            starts,
            durations,
            names: reader.core_ints(ColumnRole::Name)?,
            forms: reader.core_ints(ColumnRole::Form)?,
            lanes: reader.core_ints(ColumnRole::Lane)?,
        }))
    }

    /// The slices that overlap the window, in order.
    pub fn overlapping(&self) -> impl Iterator<Item = Result<Placed>> + '_ {
        self.showing.iter().cloned().flatten().map(|at| {
            let start_ps = self.starts[at];
            Ok(Placed {
                at,
                start_ps,
                end_ps: start_ps.saturating_add(self.durations[at]),
                // A block has at most 65,535 rows.
                row: self.first_row + at as u32,
                name: u32::try_from(self.names[at]).map_err(|_| DAMAGED)?,
                lane: u32::try_from(self.lanes[at]).map_err(|_| DAMAGED)?,
            })
        })
    }

    /// All of one slice but its depth, which tiles do not show.
    ///
    /// # Errors
    /// Where its form is none.
    pub fn slice(&self, placed: Placed) -> Result<LaneSlice> {
        Ok(LaneSlice {
            start_ps: placed.start_ps,
            duration_ps: self.durations[placed.at],
            row: placed.row,
            name: placed.name,
            form: u8::try_from(self.forms[placed.at]).map_err(|_| DAMAGED)?,
            lane: placed.lane,
            depth: 0,
        })
    }
}

impl<B: Bytes> Segment<B> {
    /// Calls `each` with the blocks of a track that have slices in a window, in order of start.
    ///
    /// # Errors
    /// Where bytes are missing or damaged; those of `each`.
    pub fn for_each_slice_block_in(
        &self,
        track: TrackId,
        window: Interval,
        mut each: impl FnMut(&SliceBlock) -> Result<()>,
    ) -> Result<()> {
        let Some(table) = self.table_of(track) else { return Ok(()) };
        let list = self.blocks(table)?;
        let first_row = self.footer().tables[usize::from(table.0)].first_row;
        for block in list.overlapping(self.blocks_of(track)?, window) {
            let mut reader = BlockReader::new(self, table, block)?;
            if let Some(block) = SliceBlock::read(&mut reader, first_row + list.first_row(block), window)? {
                each(&block)?;
            }
        }
        Ok(())
    }

    /// The slices of a track that overlap a window, in order of start.
    ///
    /// # Errors
    /// Where bytes are missing or damaged.
    pub fn slices_in(&self, track: TrackId, window: Interval) -> Result<Vec<LaneSlice>> {
        let mut found = Vec::new();
        self.for_each_slice_in(track, window, |slice| found.push(slice))?;
        Ok(found)
    }

    /// Calls `each` with the slices of a track that overlap a window, in order of start.
    ///
    /// # Errors
    /// Where bytes are missing or damaged.
    pub fn for_each_slice_in(
        &self,
        track: TrackId,
        window: Interval,
        mut each: impl FnMut(LaneSlice),
    ) -> Result<()> {
        let Some(table) = self.table_of(track) else { return Ok(()) };
        let blocks = self.blocks_of(track)?;
        for block in self.blocks(table)?.overlapping(blocks, window) {
            self.block_slices(table, block, |slice| {
                if window.overlaps(slice.start_ps, slice.start_ps.saturating_add(slice.duration_ps)) {
                    each(slice);
                }
            })?;
        }
        Ok(())
    }

    /// Calls `each` with every slice of a block.
    ///
    /// # Errors
    /// Where bytes are missing or damaged.
    pub fn block_slices(&self, table: TableId, block: usize, mut each: impl FnMut(LaneSlice)) -> Result<()> {
        let first_row =
            self.footer().tables[usize::from(table.0)].first_row + self.blocks(table)?.first_row(block);
        let mut reader = BlockReader::new(self, table, block)?;
        let starts = reader.core_ints(ColumnRole::Start)?;
        let durations = reader.core_ints(ColumnRole::Duration)?;
        let names = reader.core_ints(ColumnRole::Name)?;
        let forms = reader.core_ints(ColumnRole::Form)?;
        let lanes = reader.core_ints(ColumnRole::Lane)?;
        let shifts = match self.column(table, ColumnRole::LaneShift) {
            Some(column) => reader.column(column)?.map(|shifts| shifts.into_full_ints(0)).transpose()?,
            None => None,
        };
        // Without shifts slices do not nest.
        let depth =
            |at: usize| u32::try_from(shifts.as_ref().map_or(0, |shifts| lanes[at].wrapping_sub(shifts[at])));
        for at in 0..starts.len() {
            each(LaneSlice {
                start_ps: starts[at],
                duration_ps: durations[at],
                row: first_row + u32::try_from(at).map_err(|_| DAMAGED)?,
                name: u32::try_from(names[at]).map_err(|_| DAMAGED)?,
                form: u8::try_from(forms[at]).map_err(|_| DAMAGED)?,
                lane: u32::try_from(lanes[at]).map_err(|_| DAMAGED)?,
                depth: depth(at).map_err(|_| DAMAGED)?,
            });
        }
        Ok(())
    }
}
