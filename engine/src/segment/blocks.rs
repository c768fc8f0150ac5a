//! The list of a table's blocks: rows and time span of each block, and the division into packs.
//!
//! A block has rows of one track. A pack is one block, or several small ones of consecutive tracks.
//! The columns of a pack are encoded together.

use std::ops::Range;

use super::room::RoomShare;
use crate::base::bytes::Cursor;
use crate::base::{Interval, Result, in_memory};
use crate::block::{self, list};
use crate::index::MaxEndTree;

/// All blocks of a table, in the order of rows; blocks of a track are adjacent.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct BlockList {
    /// First row of each block, counted within the table. The last entry is the number of rows.
    first_rows: Vec<u32>,
    /// Start of the first slice of each block.
    starts: Vec<i64>,
    /// Latest end in each block.
    ends: MaxEndTree,
    /// First block of each pack. The last entry is the number of blocks.
    packs: Vec<u32>,
}

/// Rows of a track, or of a side table, as the footer states them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrackRows {
    /// Number of rows, at least one.
    pub rows: u32,
    /// Start of the first row.
    pub start_ps: i64,
    /// Latest end of all rows.
    pub end_ps: i64,
}

/// Collects the blocks of a table while the table is written.
#[derive(Debug, Default)]
pub struct BlockListWriter {
    /// Number of blocks of each track.
    of_tracks: Vec<i64>,
    /// Rows, starts, and ends minus starts of the blocks of tracks with several blocks. The footer
    /// states them for the other tracks.
    rows: Vec<i64>,
    starts: Vec<i64>,
    lengths: Vec<i64>,
    /// Number of blocks of each pack.
    packs: Vec<i64>,
}

impl BlockListWriter {
    /// Adds the blocks of the next track: rows, start and latest end of each.
    pub fn track(&mut self, blocks: &[(u32, i64, i64)]) {
        self.of_tracks.push(blocks.len() as i64);
        for &(rows, start_ps, end_ps) in blocks.iter().filter(|_| blocks.len() > 1) {
            self.rows.push(i64::from(rows));
            self.starts.push(start_ps);
            self.lengths.push(end_ps.wrapping_sub(start_ps));
        }
    }

    /// Adds the next pack, which has this many blocks.
    pub fn pack(&mut self, blocks: usize) {
        self.packs.push(blocks as i64);
    }

    /// Number of packs so far.
    #[must_use]
    pub fn packs(&self) -> usize {
        self.packs.len()
    }

    /// Appends the list.
    pub fn encode(&self, out: &mut Vec<u8>) {
        for list in [&self.of_tracks, &self.rows, &self.starts, &self.lengths, &self.packs] {
            list::put_ints(list, out);
        }
    }
}

impl BlockList {
    /// Number of blocks.
    #[must_use]
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Whether the table has no blocks.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// First row of a block, counted within the table.
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

    /// Latest end in a block.
    #[must_use]
    pub fn end(&self, block: usize) -> i64 {
        self.ends.ends()[block]
    }

    /// Number of packs.
    #[must_use]
    pub fn packs(&self) -> usize {
        self.packs.len().saturating_sub(1)
    }

    /// Number of the pack that holds a block.
    #[must_use]
    pub fn pack_of(&self, block: usize) -> usize {
        if self.packs() == self.len() {
            return block;
        }
        self.packs.partition_point(|&first| first as usize <= block).saturating_sub(1)
    }

    /// Blocks of a pack.
    #[must_use]
    pub fn blocks_of_pack(&self, pack: usize) -> Range<usize> {
        self.packs[pack] as usize..self.packs[pack + 1] as usize
    }

    /// Number of rows of consecutive blocks.
    #[must_use]
    pub fn rows_of(&self, blocks: Range<usize>) -> usize {
        (self.first_rows[blocks.end] - self.first_rows[blocks.start]) as usize
    }

    /// The blocks in `blocks` that can overlap a window, ascending. A block that overlaps it is
    /// never left out.
    pub fn overlapping(&self, blocks: Range<usize>, window: Interval) -> impl Iterator<Item = usize> + '_ {
        let starts = &self.starts[blocks.clone()];
        let to = blocks.start + starts.partition_point(|&start| start < window.end.0);
        self.ends.reaching(blocks.start, to, window.start.0)
    }

    /// The block that holds this row of the table.
    #[must_use]
    pub fn block_of(&self, row: u32) -> Option<usize> {
        let block = self.first_rows.partition_point(|&first| first <= row).checked_sub(1)?;
        (block < self.len()).then_some(block)
    }

    /// Reads the list of a table with these tracks, in the order of rows.
    pub fn decode(cursor: &mut Cursor<'_>, tracks: &[TrackRows], taken: &mut RoomShare<'_>) -> Result<Self> {
        taken.grow(tracks.len(), TRACK_BYTES)?;
        let of_tracks = list::read_ints_of(cursor, tracks.len())?;
        let single = of_tracks.iter().filter(|&&blocks| blocks == 1).count();
        let several = tracks.iter().zip(&of_tracks).filter(|(_, blocks)| **blocks != 1);
        // A block has a row at least.
        let rows: u64 = several.map(|(track, _)| u64::from(track.rows)).sum();
        let listed = list::stated_len(cursor, in_memory(rows))?;
        taken.grow(single.saturating_add(listed), BLOCK_BYTES)?;
        let rows = list::read_ints_of(cursor, listed)?;
        let starts = list::read_ints_of(cursor, listed)?;
        let lengths = list::read_ints_of(cursor, listed)?;
        let packs = list::stated_len(cursor, single + listed)?;
        let packs = list::read_ints_of(cursor, packs)?;
        let mut blocks = DecodedList::with_capacity(single + listed);
        let mut listed = rows.iter().zip(&starts).zip(&lengths);
        for (track, &count) in tracks.iter().zip(&of_tracks) {
            if count == 1 {
                blocks
                    .add(i64::from(track.rows), track.start_ps, track.end_ps)
                    .ok_or_else(|| cursor.corrupt())?;
                continue;
            }
            let before = blocks.rows();
            for _ in 0..count {
                let Some(((&rows, &start), &length)) = listed.next() else { return Err(cursor.corrupt()) };
                blocks.add(rows, start, start.wrapping_add(length)).ok_or_else(|| cursor.corrupt())?;
            }
            if blocks.rows() - before != track.rows {
                return Err(cursor.corrupt());
            }
        }
        if listed.next().is_some() {
            return Err(cursor.corrupt());
        }
        cursor.finish()?;
        blocks.packed(&packs).ok_or_else(|| cursor.corrupt())
    }
}

/// Memory that reading the number of blocks of a track takes, in bytes.
const TRACK_BYTES: usize = size_of::<i64>();
/// Memory that reading a block's entry takes, in bytes: its row, start, end and pack, and the four
/// numbers that they are made of.
const BLOCK_BYTES: usize = 2 * size_of::<u32>() + (2 + 4) * size_of::<i64>();

/// A list that is being read.
struct DecodedList {
    list: BlockList,
    ends: Vec<i64>,
}

impl DecodedList {
    /// An empty list, with memory for this many blocks.
    fn with_capacity(blocks: usize) -> Self {
        let mut first_rows = Vec::with_capacity(blocks + 1);
        first_rows.push(0);
        let (starts, ends) = (Vec::with_capacity(blocks), Vec::with_capacity(blocks));
        Self { list: BlockList { first_rows, starts, ..BlockList::default() }, ends }
    }

    /// Number of rows so far.
    fn rows(&self) -> u32 {
        self.list.first_rows.last().copied().unwrap_or_default()
    }

    /// Adds a block. `None` if `rows` is not a possible number of rows.
    fn add(&mut self, rows: i64, start_ps: i64, end_ps: i64) -> Option<()> {
        let rows = u32::try_from(rows).ok().filter(|&rows| rows > 0 && rows as usize <= block::ROWS)?;
        self.list.first_rows.push(self.rows().checked_add(rows)?);
        self.list.starts.push(start_ps);
        self.ends.push(end_ps);
        Some(())
    }

    /// The whole list, with this many blocks in each pack. `None` if a pack is empty or too long,
    /// or if the packs do not cover all blocks.
    fn packed(self, packs: &[i64]) -> Option<BlockList> {
        let Self { mut list, ends } = self;
        let blocks = list.len();
        let mut first = 0_usize;
        list.packs.reserve_exact(packs.len() + 1);
        list.packs.push(0);
        for &count in packs {
            let next = first.checked_add(usize::try_from(count).ok()?)?;
            let fits = next > first && next <= blocks && list.rows_of(first..next) <= block::ROWS;
            list.packs.push(u32::try_from(next).ok().filter(|_| fits)?);
            first = next;
        }
        list.ends = MaxEndTree::new(ends);
        (first == blocks).then_some(list)
    }
}

#[cfg(test)]
mod tests {
    use super::super::room::SegmentRoom;
    use super::*;

    /// Writes tracks with their blocks, and packs with their numbers of blocks; returns the bytes
    /// and what the footer states.
    fn read(tracks: &[&[(u32, i64, i64)]], packs: &[usize]) -> (Vec<u8>, Vec<TrackRows>) {
        let mut writer = BlockListWriter::default();
        tracks.iter().for_each(|blocks| writer.track(blocks));
        packs.iter().for_each(|&blocks| writer.pack(blocks));
        let mut bytes = Vec::new();
        writer.encode(&mut bytes);
        let of = |blocks: &&[(u32, i64, i64)]| TrackRows {
            rows: blocks.iter().map(|block| block.0).sum(),
            start_ps: blocks[0].1,
            end_ps: blocks.iter().map(|block| block.2).max().unwrap(),
        };
        (bytes, tracks.iter().map(of).collect())
    }

    fn decode(bytes: &[u8], rows: &[TrackRows]) -> Result<BlockList> {
        BlockList::decode(&mut Cursor::new(bytes, 0, "blocks"), rows, &mut SegmentRoom::of_file(0).part())
    }

    fn decoded(tracks: &[&[(u32, i64, i64)]], packs: &[usize]) -> Result<BlockList> {
        let (bytes, rows) = read(tracks, packs);
        decode(&bytes, &rows)
    }

    #[test]
    fn lists_survive_and_find_rows() {
        let blocks = decoded(&[&[(3, -5, 10), (2, 4, 9)]], &[1, 1]).unwrap();
        let found: Vec<_> = (0..6).map(|row| blocks.block_of(row)).collect();
        assert_eq!(found, [Some(0), Some(0), Some(0), Some(1), Some(1), None]);
        assert_eq!((blocks.first_row(1), blocks.rows(1)), (3, 2));
        assert_eq!(blocks.overlapping(0..2, Interval::new(10, 11)).collect::<Vec<_>>(), [0]);
        assert_eq!(blocks.overlapping(0..2, Interval::new(0, 4)).collect::<Vec<_>>(), [0]);
        assert_eq!([0, 1].map(|block| blocks.pack_of(block)), [0, 1]);
    }

    #[test]
    fn a_track_of_one_block_has_what_the_footer_says() {
        let blocks = decoded(&[&[(3, -5, 10)], &[(7, 1, 2), (1, 2, 4)], &[(1, 8, 8)]], &[1, 1, 2]).unwrap();
        let all = (0..4).map(|block| (blocks.rows(block), blocks.starts()[block], blocks.end(block)));
        assert_eq!(all.collect::<Vec<_>>(), [(3, -5, 10), (7, 1, 2), (1, 2, 4), (1, 8, 8)]);
        assert_eq!([0, 1, 2, 3].map(|block| blocks.pack_of(block)), [0, 1, 2, 2]);
        assert_eq!((blocks.packs(), blocks.blocks_of_pack(2), blocks.rows_of(2..4)), (3, 2..4, 2));
    }

    #[test]
    fn contradictions_are_corrupt() {
        let (bytes, mut rows) = read(&[&[(3, 0, 1), (3, 1, 2)]], &[1, 1]);
        rows[0].rows += 1;
        assert!(decode(&bytes, &rows).is_err(), "rows of a track");
        assert!(decode(&bytes, &[]).is_err(), "no such track");
        let one: &[(u32, i64, i64)] = &[(2_000, 0, 1)];
        for packs in [&[][..], &[1], &[1, 0, 1], &[1, 2], &[3]] {
            assert!(decoded(&[one, one], packs).is_err(), "{packs:?}");
        }
        assert!(decoded(&[one, one], &[2]).is_err(), "a pack with too many rows");
        assert!(decoded(&[one, one], &[1, 1]).is_ok());
        assert!(decoded(&[&[(2_049, 0, 1)]], &[1]).is_err(), "a block with too many rows");
    }

    #[test]
    fn no_cut_survives() {
        let (bytes, rows) = read(&[&[(3, 0, 1), (3, 1, 2)], &[(5, 0, 9)]], &[1, 1, 1]);
        for keep in 0..bytes.len() {
            assert!(decode(&bytes[..keep], &rows).is_err());
        }
    }
}
