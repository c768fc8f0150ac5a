//! Contents of a memory: values on ranges of bytes that never overlap.

use std::collections::BTreeMap;
use std::ops::Range;

/// A value for each written byte. Memory grows with the number of different neighbouring values.
#[derive(Debug, Clone)]
pub struct MemoryRegions<T> {
    /// End and value of each piece, by start.
    pieces: BTreeMap<u64, (u64, T)>,
}

impl<T> Default for MemoryRegions<T> {
    fn default() -> Self {
        Self { pieces: BTreeMap::new() }
    }
}

impl<T: Clone> MemoryRegions<T> {
    /// The pieces that overlap a range, in order, uncut.
    pub fn overlapping(&self, range: &Range<u64>) -> impl Iterator<Item = (Range<u64>, &T)> {
        let before = self.pieces.range(..range.start).next_back();
        let before = before.filter(|(_, (end, _))| *end > range.start && !range.is_empty());
        let inside = self.pieces.range(range.start..range.end.max(range.start));
        before.into_iter().chain(inside).map(|(&start, (end, value))| (start..*end, value))
    }

    /// The value of the piece with exactly this range. Programs use the same places again and
    /// again.
    pub fn exactly(&mut self, range: &Range<u64>) -> Option<&mut T> {
        self.pieces.get_mut(&range.start).filter(|(end, _)| *end == range.end).map(|(_, value)| value)
    }

    /// Removes the pieces that overlap a range and returns them, cut to the range. Parts outside
    /// stay.
    pub fn take(&mut self, range: &Range<u64>) -> Vec<(Range<u64>, T)> {
        let starts: Vec<u64> = self.overlapping(range).map(|(piece, _)| piece.start).collect();
        let mut taken = Vec::with_capacity(starts.len());
        for start in starts {
            let Some((end, value)) = self.pieces.remove(&start) else { continue };
            if start < range.start {
                self.pieces.insert(start, (range.start, value.clone()));
            }
            if end > range.end {
                self.pieces.insert(range.end, (end, value.clone()));
            }
            taken.push((start.max(range.start)..end.min(range.end), value));
        }
        taken
    }

    /// Sets the value of a range. Old values must have been removed before, or are replaced.
    pub fn put(&mut self, range: Range<u64>, value: T) {
        if range.is_empty() {
            return;
        }
        if let Some(old) = self.exactly(&range) {
            *old = value;
            return;
        }
        self.take(&range);
        self.pieces.insert(range.start, (range.end, value));
    }

    /// All pieces in order.
    pub fn into_pieces(self) -> impl Iterator<Item = (Range<u64>, T)> {
        self.pieces.into_iter().map(|(start, (end, value))| (start..end, value))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn regions_are_an_array_of_bytes(
            writes in prop::collection::vec((0_u64..40, 0_u64..20), 0..20),
            (start, length) in (0_u64..50, 0_u64..20),
        ) {
            let mut regions = MemoryRegions::default();
            let mut bytes = [None; 80];
            for (number, &(start, length)) in writes.iter().enumerate() {
                regions.put(start..start + length, number);
                bytes[start as usize..(start + length) as usize].fill(Some(number));
            }
            let window = start..start + length;
            if let Some(&mut number) = regions.exactly(&window) {
                prop_assert!(bytes[start as usize..(start + length) as usize].iter().all(|b| *b == Some(number)));
            }
            let mut seen = [None; 80];
            for (piece, value) in regions.take(&window) {
                prop_assert!(piece.start >= window.start && piece.end <= window.end && !piece.is_empty());
                seen[piece.start as usize..piece.end as usize].fill(Some(value));
            }
            for (piece, value) in regions.into_pieces() {
                prop_assert!(seen[piece.start as usize..piece.end as usize].iter().all(Option::is_none));
                seen[piece.start as usize..piece.end as usize].fill(Some(value));
            }
            prop_assert_eq!(seen, bytes);
        }
    }
}
