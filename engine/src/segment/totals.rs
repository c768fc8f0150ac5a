//! Totals: sums by name for each block of a track. With them, statistics of a long span
//! read only the rows of the blocks at its ends.

use super::room::RoomShare;
use crate::base::Result;
use crate::base::bytes::{Cursor, Put};
use crate::block::ROWS;
use crate::block::list::{self, ListWriter};

/// Totals of the blocks of a track.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BlockTotalsList {
    /// End of each block's names in `names`.
    ends: Vec<usize>,
    names: Vec<BlockNameTotal>,
    covered_ps: Vec<u64>,
}

/// Totals of the slices of one name in one block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockNameTotal {
    /// Number of the name.
    pub name: u32,
    /// Number of slices that start in the block.
    pub count: u32,
    /// Sum of the durations, in picoseconds.
    pub total_ps: u64,
    /// Longest duration, in picoseconds.
    pub longest_ps: u64,
    /// First row of the block with the longest duration.
    pub longest_at: u16,
}

/// Totals of one block.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BlockTotals {
    /// Totals by name, in no particular order.
    pub names: Vec<BlockNameTotal>,
    /// Time in picoseconds in which at least one slice of the block ran, after the end of all
    /// blocks before.
    pub covered_ps: u64,
}

/// Encodes the totals of a track's blocks, which come in order.
#[derive(Debug, Default)]
pub struct TotalsWriter {
    names: ListWriter,
    covered_ps: ListWriter,
    name: ListWriter,
    count: ListWriter,
    total_ps: ListWriter,
    longest_ps: ListWriter,
    longest_at: ListWriter,
}

impl TotalsWriter {
    /// Number of blocks so far.
    #[must_use]
    pub fn blocks(&self) -> u64 {
        self.names.count()
    }

    /// Adds the next block.
    pub fn push(&mut self, block: &BlockTotals) {
        self.names.push(block.names.len() as i64);
        self.covered_ps.push(block.covered_ps.cast_signed());
        for name in &block.names {
            self.name.push(i64::from(name.name));
            self.count.push(i64::from(name.count));
            self.total_ps.push(name.total_ps.cast_signed());
            self.longest_ps.push(name.longest_ps.cast_signed());
            self.longest_at.push(i64::from(name.longest_at));
        }
    }

    /// Appends the totals.
    pub fn encode(self, out: &mut Vec<u8>) {
        self.names.put(out);
        self.covered_ps.put(out);
        out.put_varint(self.name.count());
        for list in [self.name, self.count, self.total_ps, self.longest_ps, self.longest_at] {
            list.put(out);
        }
    }
}

/// Memory that reading the entry of a block takes, in bytes.
const BLOCK_BYTES: usize = 2 * size_of::<i64>() + 2 * size_of::<usize>() + size_of::<u64>();
/// Memory that reading the totals of a name takes, in bytes. The list of totals grows by doubling.
const NAME_BYTES: usize = 5 * size_of::<i64>() + 2 * size_of::<BlockNameTotal>();

impl BlockTotalsList {
    /// Reads the totals of a track with this many blocks.
    pub fn decode(cursor: &mut Cursor<'_>, blocks: usize, taken: &mut RoomShare<'_>) -> Result<Self> {
        taken.grow(blocks, BLOCK_BYTES)?;
        let counts = list::read_ints_of(cursor, blocks)?;
        let covered = list::read_ints_of(cursor, blocks)?;
        let mut len = 0_usize;
        let ends: Option<Vec<usize>> = counts
            .iter()
            .map(|&count| {
                // A name has a row of the block at least.
                len += usize::try_from(count).ok().filter(|&count| count <= ROWS)?;
                Some(len)
            })
            .collect();
        let ends = ends.ok_or_else(|| cursor.corrupt())?;
        if cursor.varint()? != len as u64 {
            return Err(cursor.corrupt());
        }
        taken.grow(len, NAME_BYTES)?;
        let mut column = || list::read_ints_of(cursor, len);
        let (name, count, total, longest, at) = (column()?, column()?, column()?, column()?, column()?);
        let names: Option<Vec<BlockNameTotal>> = (0..len)
            .map(|index| {
                Some(BlockNameTotal {
                    name: u32::try_from(name[index]).ok()?,
                    count: u32::try_from(count[index]).ok()?,
                    total_ps: total[index].cast_unsigned(),
                    longest_ps: longest[index].cast_unsigned(),
                    longest_at: u16::try_from(at[index]).ok()?,
                })
            })
            .collect();
        cursor.finish()?;
        let covered_ps = covered.iter().map(|time| time.cast_unsigned()).collect();
        Ok(Self { ends, names: names.ok_or_else(|| cursor.corrupt())?, covered_ps })
    }

    /// Totals by name of a block of the track.
    #[must_use]
    pub fn names(&self, block: usize) -> &[BlockNameTotal] {
        let start = block.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.names[start..self.ends[block]]
    }

    /// Time in picoseconds in which at least one slice of a block ran. Time before the end of all
    /// blocks before belongs to them.
    #[must_use]
    pub fn covered_ps(&self, block: usize) -> u64 {
        self.covered_ps[block]
    }
}

#[cfg(test)]
mod tests {
    use super::super::room::SegmentRoom;
    use super::*;

    fn decode(bytes: &[u8], blocks: usize) -> Result<BlockTotalsList> {
        BlockTotalsList::decode(
            &mut Cursor::new(bytes, 0, "totals"),
            blocks,
            &mut SegmentRoom::of_file(0).part(),
        )
    }

    #[test]
    fn totals_survive_and_no_cut_does() {
        let name = |name| BlockNameTotal { name, count: 3, total_ps: 900, longest_ps: 500, longest_at: 2047 };
        let blocks = [
            BlockTotals { names: vec![name(4), name(1)], covered_ps: 1_000 },
            BlockTotals { names: vec![name(u32::MAX)], covered_ps: u64::MAX },
        ];
        let (mut writer, mut bytes) = (TotalsWriter::default(), Vec::new());
        blocks.iter().for_each(|block| writer.push(block));
        writer.encode(&mut bytes);
        let totals = decode(&bytes, 2).unwrap();
        for (number, block) in blocks.iter().enumerate() {
            assert_eq!(
                (totals.names(number), totals.covered_ps(number)),
                (&block.names[..], block.covered_ps)
            );
        }
        for keep in 0..bytes.len() {
            assert!(decode(&bytes[..keep], 2).is_err(), "cut at {keep}");
        }
        assert!(decode(&bytes, 3).is_err());
    }
}
