//! Numbers of texts: each distinct text gets one, in the order of first use.
//!
//! The first texts stay in memory, all others go to the scratch space. A new text is compared only
//! with texts of the same hash, so few texts are ever read back. Memory beyond the texts is about
//! 16 bytes per text.

use hashbrown::HashTable;

use crate::base::{Error, Result};
use crate::model::{NameId, hash_of};
use crate::spill::Scratch;

/// Bytes of texts that are written to the scratch space at once.
const PIECE_LEN: usize = 1 << 20;
/// Number of bits that select one of the hash tables. While one table grows it exists twice, the
/// others do not.
const SHARD_BITS: u32 = 6;
/// Positions are kept in 32 bits.
const MAX_BYTES: usize = u32::MAX as usize;

/// Numbers of texts.
pub struct TextNumbers<'a> {
    /// Numbers by hash.
    shards: Vec<HashTable<u32>>,
    /// Some bits of each text's hash. The shard of the text gives the other bits.
    hashes: Vec<u32>,
    /// End position of each text, counted over all texts.
    ends: Vec<u32>,
    /// The first texts, which stay in memory.
    first: String,
    /// Maximum length of `first` in bytes.
    limit: usize,
    spilled: Spilled<'a>,
}

/// The texts after those in memory.
struct Spilled<'a> {
    scratch: &'a dyn Scratch,
    /// Start position and location of each written piece.
    pieces: Vec<(u32, u64)>,
    /// Texts that are not written yet, and the position of the first one.
    last: String,
    last_start: u32,
}

impl<'a> TextNumbers<'a> {
    /// An empty map that keeps up to `limit` bytes of texts in memory.
    pub fn new(scratch: &'a dyn Scratch, limit: usize) -> Self {
        let spilled = Spilled { scratch, pieces: Vec::new(), last: String::new(), last_start: 0 };
        Self {
            shards: std::iter::repeat_with(HashTable::new).take(1 << SHARD_BITS).collect(),
            hashes: Vec::new(),
            ends: Vec::new(),
            first: String::new(),
            limit,
            spilled,
        }
    }

    /// Number of texts.
    pub fn len(&self) -> u32 {
        self.ends.len() as u32
    }

    /// Bytes of all texts together.
    pub fn text_bytes(&self) -> usize {
        self.ends.last().copied().unwrap_or_default() as usize
    }

    /// Returns the number of this text. `None` if the text is new and does not fit (4 GiB in all).
    pub fn intern(&mut self, text: &str) -> Result<Option<NameId>> {
        let hash = hash_of(text);
        if let Some(known) = self.find_hashed(hash, text)? {
            return Ok(Some(known));
        }
        let end = self.text_bytes() + text.len();
        let (Ok(id), true) = (u32::try_from(self.ends.len()), end <= MAX_BYTES) else { return Ok(None) };
        self.keep(text)?;
        self.ends.push(end as u32);
        self.hashes.push(hash as u32);
        let hashes = &self.hashes;
        let spread_of = |id: &u32| spread(hashes[*id as usize]);
        self.shards[shard_of(hash)].insert_unique(spread_of(&id), id, spread_of);
        Ok(Some(NameId(id)))
    }

    /// Returns the number of this text if it is known.
    pub fn find(&self, text: &str) -> Result<Option<NameId>> {
        self.find_hashed(hash_of(text), text)
    }

    fn find_hashed(&self, hash: u64, text: &str) -> Result<Option<NameId>> {
        for &id in self.shards[shard_of(hash)].iter_hash(spread(hash as u32)) {
            if self.hashes[id as usize] == hash as u32 && self.is_text(id, text)? {
                return Ok(Some(NameId(id)));
            }
        }
        Ok(None)
    }

    fn is_text(&self, id: u32, text: &str) -> Result<bool> {
        let start = id.checked_sub(1).map_or(0, |before| self.ends[before as usize]);
        let end = self.ends[id as usize];
        if (end - start) as usize != text.len() {
            return Ok(false);
        }
        match self.first.as_bytes().get(start as usize..end as usize) {
            Some(known) => Ok(known == text.as_bytes()),
            None => self.spilled.is(start, text.as_bytes()),
        }
    }

    /// Stores a text. Texts never move: after the first text that does not fit in memory, all go to
    /// the scratch space.
    fn keep(&mut self, text: &str) -> Result<()> {
        let start = self.text_bytes();
        if start == self.first.len() && start + text.len() <= self.limit {
            self.first.push_str(text);
            return Ok(());
        }
        if self.spilled.is_empty() {
            self.spilled.last_start = start as u32;
        }
        self.spilled.push(text)
    }
}

impl Spilled<'_> {
    fn is_empty(&self) -> bool {
        self.pieces.is_empty() && self.last.is_empty()
    }

    fn push(&mut self, text: &str) -> Result<()> {
        self.last.push_str(text);
        if self.last.len() >= PIECE_LEN {
            self.pieces.push((self.last_start, self.scratch.append(self.last.as_bytes())?));
            self.last_start += self.last.len() as u32;
            self.last.clear();
        }
        Ok(())
    }

    /// Whether these bytes are the text at position `start`.
    fn is(&self, start: u32, text: &[u8]) -> Result<bool> {
        if let Some(at) = start.checked_sub(self.last_start) {
            return Ok(self.last.as_bytes().get(at as usize..).is_some_and(|rest| rest.starts_with(text)));
        }
        let piece = self.pieces.partition_point(|(first, _)| *first <= start).checked_sub(1);
        let &(first, offset) =
            piece.and_then(|piece| self.pieces.get(piece)).ok_or(Error::Storage { what: "a lost text" })?;
        let mut known = vec![0; text.len()];
        self.scratch.read(offset + u64::from(start - first), &mut known)?;
        Ok(known == text)
    }
}

/// Selects the shard by the bits that are not kept.
fn shard_of(hash: u64) -> usize {
    (hash >> (u64::BITS - SHARD_BITS)) as usize
}

/// Spreads the bits of a hash: a table uses the lowest and the highest bits.
fn spread(hash: u32) -> u64 {
    /// 2^64 divided by the golden ratio.
    const RATIO: u64 = 0x9e37_79b9_7f4a_7c15;
    u64::from(hash).wrapping_mul(RATIO).rotate_left(u32::BITS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spill::MemoryScratch;

    #[test]
    fn texts_that_were_written_are_found_again() {
        let scratch = MemoryScratch::default();
        let mut numbers = TextNumbers::new(&scratch, 1000);
        let text = |at: usize| format!("{at}{}", "-".repeat(at % 700));
        let ids: Vec<_> = (0..20_000).map(|at| numbers.intern(&text(at)).unwrap()).collect();
        assert!(numbers.spilled.pieces.len() > 2, "{} pieces", numbers.spilled.pieces.len());
        for (at, id) in ids.iter().enumerate().rev() {
            assert_eq!(numbers.find(&text(at)).unwrap(), *id);
        }
        assert_eq!(numbers.find("not there").unwrap(), None);
        assert_eq!(numbers.len() as usize, ids.len());
    }
}
