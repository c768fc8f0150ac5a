//! The list of a table's blocks: how many rows each has and which span of time it covers.

use std::ops::Range;

use crate::base::bytes::Cursor;
use crate::base::{Interval, Result};
use crate::block::{self, list};
use crate::index::MaxEndTree;

/// All blocks of a table, in the order of rows; blocks of a track are adjacent.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct BlockList {
    /// First row of each block, counted within the table, and at the end the number of rows.
    first_rows: Vec<u32>,
    /// Start of the first slice of each block.
    starts: Vec<i64>,
    /// Latest end in each block.
    ends: MaxEndTree,
}

/// Collects a table's blocks while it is written.
#[derive(Debug, Default)]
pub struct BlockListWriter {
    rows: Vec<i64>,
    starts: Vec<i64>,
    /// Ends minus starts: the smaller numbers.
    lengths: Vec<i64>,
}

impl BlockListWriter {
    /// Adds a block.
    pub fn push(&mut self, rows: u32, start_ps: i64, end_ps: i64) {
        self.rows.push(i64::from(rows));
        self.starts.push(start_ps);
        self.lengths.push(end_ps.wrapping_sub(start_ps));
    }

    /// How many blocks so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Appends the list.
    pub fn encode(&self, out: &mut Vec<u8>) {
        list::put_ints(&self.rows, out);
        list::put_ints(&self.starts, out);
        list::put_ints(&self.lengths, out);
    }
}

impl BlockList {
    /// How many blocks.
    #[must_use]
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// First row of a block, within the table.
    #[must_use]
    pub fn first_row(&self, block: usize) -> u32 {
        self.first_rows[block]
    }

    /// Number of rows of a block.
    #[must_use]
    pub fn rows(&self, block: usize) -> usize {
        (self.first_rows[block + 1] - self.first_rows[block]) as usize
    }

    /// Start of the first slice of each block.
    #[must_use]
    pub fn starts(&self) -> &[i64] {
        &self.starts
    }

    /// The latest end in a block.
    #[must_use]
    pub fn end(&self, block: usize) -> i64 {
        self.ends.ends()[block]
    }

    /// Those of `blocks` that a window may touch, ascending. A block that touches it is never left out.
    pub fn overlapping(&self, blocks: Range<usize>, window: Interval) -> impl Iterator<Item = usize> + '_ {
        let starts = &self.starts[blocks.clone()];
        let to = blocks.start + starts.partition_point(|&start| start < window.end.0);
        self.ends.reaching(blocks.start, to, window.start.0)
    }

    /// The block with this row of the table.
    #[must_use]
    pub fn block_of(&self, row: u32) -> Option<usize> {
        let block = self.first_rows.partition_point(|&first| first <= row).checked_sub(1)?;
        (block < self.len()).then_some(block)
    }

    /// Reads the list of a table with this many rows.
    ///
    /// # Errors
    /// Where the bytes are damaged.
    pub fn decode(cursor: &mut Cursor<'_>, table_rows: u32) -> Result<Self> {
        let rows = list::read_ints(cursor)?;
        let starts = list::read_ints_of(cursor, rows.len())?;
        let lengths = list::read_ints_of(cursor, rows.len())?;
        let mut first_rows = vec![0_u32];
        for &rows in &rows {
            let rows = u32::try_from(rows).ok().filter(|&rows| rows > 0 && rows as usize <= block::ROWS);
            let next = rows.and_then(|rows| rows.checked_add(first_rows[first_rows.len() - 1]));
            first_rows.push(next.ok_or_else(|| cursor.corrupt())?);
        }
        if first_rows[first_rows.len() - 1] != table_rows {
            return Err(cursor.corrupt());
        }
        let ends = starts.iter().zip(&lengths).map(|(start, length)| start.wrapping_add(*length)).collect();
        Ok(Self { first_rows, starts, ends: MaxEndTree::new(ends) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(blocks: &[(u32, i64, i64)]) -> Vec<u8> {
        let mut writer = BlockListWriter::default();
        blocks.iter().for_each(|&(rows, start, end)| writer.push(rows, start, end));
        let mut bytes = Vec::new();
        writer.encode(&mut bytes);
        bytes
    }

    #[test]
    fn lists_survive_and_find_rows() {
        let bytes = encoded(&[(3, -5, 10), (2, 4, 9)]);
        let blocks = BlockList::decode(&mut Cursor::new(&bytes, 0, "blocks"), 5).unwrap();
        let found: Vec<_> = (0..6).map(|row| blocks.block_of(row)).collect();
        assert_eq!(found, [Some(0), Some(0), Some(0), Some(1), Some(1), None]);
        assert_eq!((blocks.first_row(1), blocks.rows(1)), (3, 2));
        assert_eq!(blocks.overlapping(0..2, Interval::new(10, 11)).collect::<Vec<_>>(), [0]);
        assert_eq!(blocks.overlapping(0..2, Interval::new(0, 4)).collect::<Vec<_>>(), [0]);
    }

    #[test]
    fn a_wrong_number_of_rows_is_corrupt() {
        let bytes = encoded(&[(3, 0, 1)]);
        assert!(BlockList::decode(&mut Cursor::new(&bytes, 0, "blocks"), 4).is_err());
    }
}
