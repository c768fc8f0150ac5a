//! Matching texts of the dictionary, by their numbers.

use crate::base::in_memory;
use crate::block::ZoneMap;
use crate::segment::{CHUNK_TEXTS, CodeSpans};

/// Bits of the matching texts of a chunk.
pub type ChunkBits = [u64; CHUNK_TEXTS / WORD];

/// Bits of a word.
const WORD: usize = u64::BITS as usize;

/// The matching texts.
#[derive(Debug, Default)]
pub struct Matches {
    /// A bit for each text.
    bits: Vec<u64>,
    /// Number of matches before each word of `bits`, and in all.
    before: Vec<u32>,
}

/// Share of the rows of a block that match, as far as it is known without decoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatchShare {
    /// No row.
    None,
    /// Possibly some rows.
    Some,
    /// Every row.
    All,
}

impl Matches {
    /// Combines the bits of all chunks.
    pub fn new(chunks: &[Box<ChunkBits>]) -> Self {
        let bits: Vec<u64> = chunks.iter().flat_map(|chunk| chunk.iter().copied()).collect();
        let mut before = vec![0];
        let mut count = 0;
        before.extend(bits.iter().map(|word| {
            count += word.count_ones();
            count
        }));
        Self { bits, before }
    }

    /// Whether no text matches.
    pub fn is_empty(&self) -> bool {
        self.before.last().is_none_or(|&count| count == 0)
    }

    /// Whether the text with this number matches.
    pub fn has(&self, code: i64) -> bool {
        let word = usize::try_from(code).ok().and_then(|code| self.bits.get(code / WORD));
        word.is_some_and(|word| word >> (code % WORD as i64) & 1 == 1)
    }

    /// Number of matches among the texts before this one.
    fn count_before(&self, code: u64) -> u64 {
        let at = in_memory(code / WORD as u64);
        let Some(word) = self.bits.get(at) else {
            return self.before.last().copied().unwrap_or_default().into();
        };
        let below = word & ((1 << (code % WORD as u64)) - 1);
        u64::from(self.before[at]) + u64::from(below.count_ones())
    }

    /// Number of matches in a range of text numbers, both ends included.
    fn count(&self, min: u32, max: u32) -> u64 {
        self.count_before(u64::from(max) + 1).saturating_sub(self.count_before(u64::from(min)))
    }

    /// Share of a block whose codes lie in this range.
    pub fn share_of_zone(&self, zone: ZoneMap) -> MatchShare {
        let ZoneMap::Ints { min, max } = zone else { return MatchShare::Some };
        match (u32::try_from(min), u32::try_from(max)) {
            (Ok(min), Ok(max)) if self.count(min, max) == 0 => MatchShare::None,
            _ => MatchShare::Some,
        }
    }

    /// Share of a block that has exactly these codes and a code in every row.
    pub fn share_of_spans(&self, spans: &CodeSpans) -> MatchShare {
        let (mut matching, mut all) = (0, 0);
        for span in spans.iter() {
            matching += self.count(*span.start(), *span.end());
            all += u64::from(span.end() - span.start()) + 1;
        }
        match matching {
            0 => MatchShare::None,
            _ if matching == all => MatchShare::All,
            _ => MatchShare::Some,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn shares_are_those_of_a_scan(
            matching in prop::collection::btree_set(0_i64..10_000, 0..3000),
            codes in prop::collection::vec(0_i64..10_000, 1..20),
        ) {
            let mut chunks: Vec<Box<ChunkBits>> = (0..3).map(|_| Box::new([0; CHUNK_TEXTS / WORD])).collect();
            for &code in &matching {
                let at = code as usize;
                chunks[at / CHUNK_TEXTS][at % CHUNK_TEXTS / WORD] |= 1 << (at % WORD);
            }
            let matches = Matches::new(&chunks);
            let count = codes.iter().filter(|code| matching.contains(code)).count();
            prop_assert_eq!(codes.iter().filter(|&&code| matches.has(code)).count(), count);
            let spans = CodeSpans::of(&codes).unwrap();
            match matches.share_of_spans(&spans) {
                MatchShare::None => prop_assert_eq!(count, 0),
                MatchShare::Some => {}
                MatchShare::All => prop_assert_eq!(count, codes.len()),
            }
            let (min, max) = (*codes.iter().min().unwrap(), *codes.iter().max().unwrap());
            let any = matching.range(min..=max).next().is_some();
            prop_assert_eq!(matches.share_of_zone(ZoneMap::Ints { min, max }) == MatchShare::Some, any);
        }
    }
}
