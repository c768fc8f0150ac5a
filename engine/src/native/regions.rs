//! Regions of files that this process keeps in memory, of all open segments together.
//!
//! A call of the system takes about 0.7 µs, and a question needs a few hundred pieces. A region is
//! kept if it is needed again soon: a question that reads one piece of a region reads no more than
//! this piece. Its pieces are ranges of it and no copies.
//!
//! *Invariant.* The cache holds at most [`SLOTS`] × [`REGION_LEN`] bytes for all segments.
//! Regions whose pieces are in use come on top. A thread never waits for another one: it reads
//! from the file instead.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};

use crate::segment::SourceBytes;

/// Bytes that are read and kept as one.
pub const REGION_LEN: u64 = 1 << 15;
/// Number of regions that are kept at most, 32 MiB.
const SLOTS: usize = 1024;

/// Regions of this process.
pub static KEPT: RegionCache = RegionCache::new();

/// Regions of files, each in the slot that its number gives.
pub struct RegionCache {
    slots: [Mutex<RegionSlot>; SLOTS],
}

/// Number of a file that is open in this process. Numbers are not used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileNumber(u64);

impl FileNumber {
    /// Number of a file that was just opened.
    pub fn next() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// Place of one region.
struct RegionSlot {
    file: FileNumber,
    region: u64,
    /// Bytes of the region. `None` until the region is needed a second time.
    bytes: Option<Arc<Vec<u8>>>,
}

impl RegionSlot {
    const EMPTY: Self = Self { file: FileNumber(0), region: 0, bytes: None };
}

impl RegionCache {
    const fn new() -> Self {
        Self { slots: [const { Mutex::new(RegionSlot::EMPTY) }; SLOTS] }
    }

    /// Returns the bytes of `range` if their region is kept, or is needed again and can be read.
    /// `read` appends the bytes from an offset on until its buffer has the length, and tells
    /// whether it could. `file_len` is the length of the whole file.
    pub fn range(
        &self,
        file: FileNumber,
        file_len: u64,
        range: Range<u64>,
        read: impl FnOnce(u64, usize, &mut Vec<u8>) -> bool,
    ) -> Option<SourceBytes<'static>> {
        let region = range.start / REGION_LEN;
        let start = region * REGION_LEN;
        let end = file_len.min(start + REGION_LEN);
        if range.is_empty() || range.end > end {
            return None;
        }
        let mut slot = match self.slots[slot_of(file, region)].try_lock() {
            Ok(slot) => slot,
            Err(TryLockError::Poisoned(poisoned)) => PoisonError::into_inner(poisoned),
            Err(TryLockError::WouldBlock) => return None,
        };
        if (slot.file, slot.region) != (file, region) {
            *slot = RegionSlot { file, region, bytes: None };
            return None;
        }
        let bytes = match &slot.bytes {
            Some(bytes) => Arc::clone(bytes),
            None => {
                let len = (end - start) as usize;
                let mut bytes = Vec::new();
                // The caller reads its own piece, and reports what is wrong with it.
                if bytes.try_reserve_exact(len).is_err() || !read(start, len, &mut bytes) {
                    return None;
                }
                Arc::clone(slot.bytes.insert(Arc::new(bytes)))
            }
        };
        Some(SourceBytes::Shared(bytes, (range.start - start) as usize..(range.end - start) as usize))
    }
}

/// Neighbouring regions of a file have neighbouring slots.
fn slot_of(file: FileNumber, region: u64) -> usize {
    const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;
    (file.0.wrapping_mul(SPREAD).wrapping_add(region) % SLOTS as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads bytes that tell their offset, and counts the calls.
    fn ask(regions: &RegionCache, file: FileNumber, range: Range<u64>, calls: &mut u32) -> Option<Vec<u8>> {
        let found = regions.range(file, 100_000, range, |start, len, into| {
            *calls += 1;
            into.extend((start..start + len as u64).map(|at| (at % 251) as u8));
            true
        });
        found.map(|bytes| bytes.to_vec())
    }

    #[test]
    fn a_region_is_read_when_it_is_needed_again_and_then_kept() {
        let (regions, file, mut calls) = (RegionCache::new(), FileNumber::next(), 0);
        assert_eq!(ask(&regions, file, 10..20, &mut calls), None);
        assert_eq!(calls, 0);
        for from in [30, 200, 32_700] {
            let expected: Vec<u8> = (from..from + 68).map(|at| (at % 251) as u8).collect();
            assert_eq!(ask(&regions, file, from..from + 68, &mut calls), Some(expected), "{from}");
            assert_eq!(calls, 1);
        }
        assert_eq!(ask(&regions, FileNumber::next(), 30..40, &mut calls), None, "another file");
        // The last region is shorter.
        assert_eq!(ask(&regions, file, 99_000..99_999, &mut calls), None);
        assert_eq!(ask(&regions, file, 99_999..100_000, &mut calls), Some(vec![(99_999 % 251) as u8]));
        assert_eq!(ask(&regions, file, 99_999..100_001, &mut calls), None, "beyond the end");
    }

    #[test]
    fn pieces_of_two_regions_are_not_taken_from_a_region() {
        let (regions, file, mut calls) = (RegionCache::new(), FileNumber::next(), 0);
        for _ in 0..3 {
            assert_eq!(ask(&regions, file, REGION_LEN - 1..REGION_LEN + 1, &mut calls), None);
            assert_eq!(ask(&regions, file, 5..5, &mut calls), None);
        }
        assert_eq!(calls, 0);
    }

    #[test]
    fn a_region_that_cannot_be_read_is_not_kept() {
        let (regions, file, mut calls) = (RegionCache::new(), FileNumber::next(), 0);
        for _ in 0..3 {
            let half = |_, len: usize, into: &mut Vec<u8>| {
                into.resize(len / 2, 1);
                false
            };
            assert_eq!(regions.range(file, 100_000, 70_000..70_010, half), None);
        }
        assert!(ask(&regions, file, 70_000..70_010, &mut calls).is_some());
    }
}
