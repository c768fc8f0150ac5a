//! The dictionary while it grows: each distinct text gets a number, in the order of first use.
//!
//! The texts that came first stay in memory, all others go to the scratch space: a new text is compared with those of the
//! same hash only, so that few are ever read back. Memory beyond the texts is about 16 bytes a text. Texts are handed on
//! in chunks, to be encoded while others still come.

use hashbrown::HashTable;

use crate::base::{Error, Result};
use crate::codec::Texts;
use crate::model::{NameId, hash_of};
use crate::segment::CHUNK_TEXTS;
use crate::spill::Scratch;

/// Bytes of texts that are written to the scratch space at once.
const PIECE_LEN: usize = 1 << 20;
/// Tables that the hashes are spread over: while one grows it is there twice, the others are not.
const SHARD_BITS: u32 = 6;
/// Positions are kept in 32 bits.
const MAX_BYTES: usize = u32::MAX as usize;

/// Numbers of texts.
pub struct Dictionary<'a> {
    /// Numbers by hash.
    shards: Vec<HashTable<u32>>,
    /// Some bits of each text's hash; which shard it is in says the others.
    hashes: Vec<u32>,
    /// Where each text ends, counted over all of them.
    ends: Vec<u32>,
    /// The texts that came first.
    first: String,
    /// How long `first` may become.
    limit: usize,
    spilled: Spilled<'a>,
    /// The texts of the next chunk, so far.
    chunk: Texts,
    /// Chunks that nobody has taken yet, and the bytes of their texts.
    full: Vec<Texts>,
    full_bytes: usize,
}

/// What comes after the texts in memory.
struct Spilled<'a> {
    scratch: &'a dyn Scratch,
    /// For each piece that is written: which position it begins at, and where it is.
    pieces: Vec<(u32, u64)>,
    /// The texts that are not written yet, and the position of the first.
    last: String,
    last_start: u32,
}

impl<'a> Dictionary<'a> {
    /// An empty one, which keeps up to `limit` bytes of texts in memory.
    pub fn new(scratch: &'a dyn Scratch, limit: usize) -> Self {
        let spilled = Spilled { scratch, pieces: Vec::new(), last: String::new(), last_start: 0 };
        Self {
            shards: std::iter::repeat_with(HashTable::new).take(1 << SHARD_BITS).collect(),
            hashes: Vec::new(),
            ends: Vec::new(),
            first: String::new(),
            limit,
            spilled,
            chunk: Texts::default(),
            full: Vec::new(),
            full_bytes: 0,
        }
    }

    /// How many texts.
    pub fn len(&self) -> u32 {
        self.ends.len() as u32
    }

    /// Whether a text has this number.
    pub fn has(&self, id: NameId) -> bool {
        (id.0 as usize) < self.ends.len()
    }

    /// Bytes of all texts together.
    pub fn text_bytes(&self) -> usize {
        self.ends.last().copied().unwrap_or_default() as usize
    }

    /// The number of this text, if it is known or there is room for it (4 GiB in all).
    ///
    /// # Errors
    /// Those of the scratch space.
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
        self.chunk.push(text);
        if self.chunk.len() == CHUNK_TEXTS {
            self.full_bytes += self.chunk.bytes.len();
            // The next chunk will be about as long.
            let next = String::with_capacity(self.chunk.bytes.len());
            let next = Texts { bytes: next, ends: Vec::with_capacity(CHUNK_TEXTS) };
            self.full.push(std::mem::replace(&mut self.chunk, next));
        }
        Ok(Some(NameId(id)))
    }

    /// The number of this text, if it is known.
    ///
    /// # Errors
    /// Those of the scratch space.
    pub fn find(&self, text: &str) -> Result<Option<NameId>> {
        self.find_hashed(hash_of(text), text)
    }

    /// The chunks that are full.
    pub fn take_full(&mut self) -> Vec<Texts> {
        self.full_bytes = 0;
        std::mem::take(&mut self.full)
    }

    /// Bytes of their texts.
    pub fn full_bytes(&self) -> usize {
        self.full_bytes
    }

    /// The chunks that nobody has taken; the last is not full.
    pub fn into_rest(mut self) -> Vec<Texts> {
        if !self.chunk.is_empty() {
            self.full.push(self.chunk);
        }
        self.full
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

    /// Texts never move: once one did not fit into memory, none that follow are kept there.
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

    /// Whether these bytes stand at a position.
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

/// By the bits that are not kept.
fn shard_of(hash: u64) -> usize {
    (hash >> (u64::BITS - SHARD_BITS)) as usize
}

/// What a table takes for the hash: it looks at the lowest bits and at the highest.
fn spread(hash: u32) -> u64 {
    /// 2^64 divided by the golden ratio.
    const RATIO: u64 = 0x9e37_79b9_7f4a_7c15;
    u64::from(hash).wrapping_mul(RATIO).rotate_left(u32::BITS)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::Names;
    use crate::spill::MemoryScratch;

    proptest! {
        #[test]
        fn it_numbers_texts_as_names_do(
            texts in prop::collection::vec("[a-c]{0,4}", 0..300),
            limit in 0_usize..200,
        ) {
            let scratch = MemoryScratch::default();
            let mut dictionary = Dictionary::new(&scratch, limit);
            let mut names = Names::default();
            for text in &texts {
                prop_assert_eq!(dictionary.find(text).unwrap(), names.find(text));
                prop_assert_eq!(dictionary.intern(text).unwrap(), names.intern(text));
                prop_assert_eq!(dictionary.find(text).unwrap(), names.find(text));
            }
            prop_assert_eq!(dictionary.len() as usize, names.len());
            prop_assert_eq!(dictionary.text_bytes(), names.text_bytes());
            let chunks = dictionary.into_rest();
            let all: Vec<&str> = chunks.iter().flat_map(Texts::iter).collect();
            prop_assert_eq!(all, names.iter().collect::<Vec<_>>());
        }
    }

    #[test]
    fn texts_that_were_written_are_found_again() {
        let scratch = MemoryScratch::default();
        let mut dictionary = Dictionary::new(&scratch, 1000);
        let text = |at: usize| format!("{at}{}", "-".repeat(at % 700));
        let ids: Vec<_> = (0..20_000).map(|at| dictionary.intern(&text(at)).unwrap()).collect();
        assert!(dictionary.spilled.pieces.len() > 2, "{} pieces", dictionary.spilled.pieces.len());
        for (at, id) in ids.iter().enumerate().rev() {
            assert_eq!(dictionary.find(&text(at)).unwrap(), *id);
        }
        assert_eq!(dictionary.find("not there").unwrap(), None);
        assert_eq!(dictionary.len() as usize, ids.len());
        assert_eq!(dictionary.take_full().len(), ids.len() / CHUNK_TEXTS);
    }
}
