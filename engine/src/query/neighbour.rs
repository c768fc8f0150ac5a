//! From slice to slice: along a lane, and to the lanes beside it.

use super::SliceAt;
use crate::base::{Interval, Result};
use crate::segment::{Bytes, ColumnRole, Segment};

/// Where to go from a slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// To the next slice of the lane.
    Next,
    /// To the previous slice of the lane.
    Previous,
    /// To the lane above: the slice there that overlaps, else the one that comes closest before.
    Up,
    /// To the lane below, likewise.
    Down,
}

impl<B: Bytes> Segment<B> {
    /// The slice in this direction; `None` at the end of the lane or track.
    ///
    /// # Errors
    /// `Invalid` where the row is no slice; else where bytes are missing or damaged.
    pub fn step(&self, row: u32, direction: Direction) -> Result<Option<SliceAt>> {
        let from = self.slice(row)?;
        let found = match direction {
            Direction::Next => self.along_lane(&from, true)?,
            Direction::Previous => self.along_lane(&from, false)?,
            Direction::Up => match from.slice.lane.checked_sub(1) {
                Some(lane) => self.beside(&from, lane)?,
                None => None,
            },
            Direction::Down => self.beside(&from, from.slice.lane + 1)?,
        };
        found.map(|row| self.slice(row)).transpose()
    }

    fn along_lane(&self, from: &SliceAt, forward: bool) -> Result<Option<u32>> {
        let place = self.place(from.slice.row)?;
        let blocks = self.blocks_of(from.track)?;
        let list = self.blocks(place.table)?;
        let first_row = self.footer().tables[usize::from(place.table.0)].first_row;
        let mut block = place.block;
        let mut at = Some(place.at);
        loop {
            let lanes = self.core_ints(place.table, ColumnRole::Lane, block)?;
            let is_lane = |lane: &i64| *lane == i64::from(from.slice.lane);
            let found = if forward {
                let start = at.map_or(0, |at| at + 1);
                lanes[start..].iter().position(is_lane).map(|found| start + found)
            } else {
                lanes[..at.unwrap_or(lanes.len())].iter().rposition(is_lane)
            };
            if let Some(found) = found {
                return Ok(u32::try_from(found).ok().map(|found| first_row + list.first_row(block) + found));
            }
            at = None;
            let next = if forward { Some(block + 1) } else { block.checked_sub(1) };
            match next.filter(|next| blocks.contains(next)) {
                Some(next) => block = next,
                None => return Ok(None),
            }
        }
    }

    fn beside(&self, from: &SliceAt, lane: u32) -> Result<Option<u32>> {
        let window = Interval::new(from.slice.start_ps, from.end_ps().max(from.slice.start_ps + 1));
        let overlapping = self.slices_in(from.track, window)?;
        if let Some(found) = overlapping.iter().find(|slice| slice.lane == lane) {
            return Ok(Some(found.row));
        }
        // The last one of that lane before this slice.
        let before = SliceAt { slice: crate::tile::LaneSlice { lane, ..from.slice }, ..*from };
        self.along_lane(&before, false)
    }
}
