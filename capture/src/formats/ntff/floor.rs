//! Earliest starts that can still come while records are read. A first pass finds the earliest
//! start of each block of records, so that rows can be written while later records are read.

use super::record::{DeviceRecord, RECORD_LEN};

/// Records of a block.
const BLOCK_RECORDS: usize = 1 << 13;

/// Records that follow each other in a segment.
#[derive(Debug, Clone, Copy)]
pub struct RecordBlock<'a> {
    /// Number of the first record in its segment.
    first: u64,
    bytes: &'a [u8],
}

impl<'a> RecordBlock<'a> {
    /// Cuts segments into blocks.
    pub fn of(segments: &[&'a [u8]]) -> Vec<Self> {
        let of_segment = |bytes: &'a [u8]| {
            let blocks = (0..).step_by(BLOCK_RECORDS).zip(bytes.chunks(BLOCK_RECORDS * RECORD_LEN));
            blocks.map(|(first, bytes)| Self { first, bytes })
        };
        segments.iter().copied().flat_map(of_segment).collect()
    }

    /// The records with their numbers in their segment.
    pub fn records(&self) -> impl Iterator<Item = (u64, DeviceRecord)> + use<'a> {
        let (whole, _) = self.bytes.as_chunks::<RECORD_LEN>();
        (self.first..).zip(whole.iter().map(DeviceRecord::from_bytes))
    }
}

/// Earliest starts by block, and the starts that wait for their ends.
#[derive(Debug, Default)]
pub struct Floors {
    /// Earliest start of each block.
    earliest: Vec<i64>,
    /// Earliest start of all blocks after each block.
    later: Vec<i64>,
    /// Number of starts of each block without an end.
    open: Vec<u32>,
    /// The first block that can have such starts.
    oldest: usize,
}

impl Floors {
    /// Takes the earliest start of each block; `i64::MAX` if a block has none.
    #[must_use]
    pub fn new(earliest: Vec<i64>) -> Self {
        let mut later = vec![i64::MAX; earliest.len()];
        for block in (1..earliest.len()).rev() {
            later[block - 1] = later[block].min(earliest[block]);
        }
        let open = vec![0; earliest.len()];
        Self { earliest, later, open, oldest: 0 }
    }

    /// Notes a start of a block.
    #[inline]
    pub fn opened(&mut self, block: u32) {
        if let Some(open) = self.open.get_mut(block as usize) {
            *open += 1;
        }
    }

    /// Notes that a start of a block has its end, or is given up.
    #[inline]
    pub fn closed(&mut self, block: u32) {
        if let Some(open) = self.open.get_mut(block as usize) {
            *open = open.saturating_sub(1);
        }
    }

    /// A time before which nothing starts that has no end after this block.
    pub fn after(&mut self, block: u32) -> i64 {
        let block = block as usize;
        while self.oldest < block && self.open[self.oldest] == 0 {
            self.oldest += 1;
        }
        let open = (self.oldest..=block).filter(|&at| self.open.get(at).is_some_and(|open| *open > 0));
        let of_open = open.map(|at| self.earliest[at]).min().unwrap_or(i64::MAX);
        of_open.min(self.later.get(block).copied().unwrap_or(i64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_floor_is_below_all_that_can_come() {
        let mut floors = Floors::new(vec![10, 30, 20, i64::MAX]);
        floors.opened(0);
        floors.opened(0);
        assert_eq!(floors.after(0), 10);
        floors.closed(0);
        assert_eq!(floors.after(0), 10);
        floors.closed(0);
        assert_eq!(floors.after(0), 20);
        floors.opened(1);
        assert_eq!(floors.after(1), 20);
        assert_eq!(floors.after(2), 30);
        floors.closed(1);
        assert_eq!(floors.after(2), i64::MAX);
    }

    #[test]
    fn blocks_number_the_records_of_each_segment() {
        let bytes = vec![0; (BLOCK_RECORDS + 2) * RECORD_LEN + 3];
        let blocks = RecordBlock::of(&[&bytes, &bytes[..RECORD_LEN]]);
        let firsts: Vec<(u64, usize)> =
            blocks.iter().map(|block| (block.first, block.records().count())).collect();
        assert_eq!(firsts, [(0, BLOCK_RECORDS), (BLOCK_RECORDS as u64, 2), (0, 1)]);
    }
}
