//! The dictionary while it grows: texts by number, handed on in chunks, to be encoded while others still come.

use std::sync::Arc;

use super::numbers::Numbers;
use crate::base::Result;
use crate::codec::Texts;
use crate::model::{NameId, is_wait};
use crate::segment::CHUNK_TEXTS;
use crate::spill::Scratch;

/// Names of waits that are known as such. A trace with more of them has made them up.
const MOST_WAITS: usize = 1 << 16;

/// Texts with their numbers, and those that are not encoded yet.
pub struct Dictionary<'a> {
    numbers: Numbers<'a>,
    /// The texts of the next chunk, so far.
    chunk: Texts,
    /// Chunks that nobody has taken yet, and the bytes of their texts.
    full: Vec<Texts>,
    full_bytes: usize,
    /// Numbers of the texts that name waits, ascending.
    waits: Arc<Vec<u32>>,
}

impl<'a> Dictionary<'a> {
    /// An empty one, which keeps up to `limit` bytes of texts in memory.
    pub fn new(scratch: &'a dyn Scratch, limit: usize) -> Self {
        let numbers = Numbers::new(scratch, limit);
        Self { numbers, chunk: Texts::default(), full: Vec::new(), full_bytes: 0, waits: Arc::default() }
    }

    /// How many texts.
    pub fn len(&self) -> u32 {
        self.numbers.len()
    }

    /// Whether a text has this number.
    pub fn has(&self, id: NameId) -> bool {
        id.0 < self.len()
    }

    /// Bytes of all texts together.
    pub fn text_bytes(&self) -> usize {
        self.numbers.text_bytes()
    }

    /// As [`Numbers::intern`].
    ///
    /// # Errors
    /// Those of the scratch space.
    pub fn intern(&mut self, text: &str) -> Result<Option<NameId>> {
        let known = self.len();
        let id = self.numbers.intern(text)?;
        if self.len() > known {
            self.chunk.push(text);
            if is_wait(text) && self.waits.len() < MOST_WAITS {
                Arc::make_mut(&mut self.waits).push(known);
            }
        }
        if self.chunk.len() == CHUNK_TEXTS {
            self.full_bytes += self.chunk.bytes.len();
            // The next chunk will be about as long.
            let next = String::with_capacity(self.chunk.bytes.len());
            let next = Texts { bytes: next, ends: Vec::with_capacity(CHUNK_TEXTS) };
            self.full.push(std::mem::replace(&mut self.chunk, next));
        }
        Ok(id)
    }

    /// Numbers of the texts that name waits, ascending.
    pub fn waits(&self) -> Arc<Vec<u32>> {
        Arc::clone(&self.waits)
    }

    /// As [`Numbers::find`].
    ///
    /// # Errors
    /// Those of the scratch space.
    pub fn find(&self, text: &str) -> Result<Option<NameId>> {
        self.numbers.find(text)
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
    fn full_chunks_are_handed_on() {
        let scratch = MemoryScratch::default();
        let mut dictionary = Dictionary::new(&scratch, 1000);
        let texts = 3 * CHUNK_TEXTS + 7;
        for at in 0..texts {
            dictionary.intern(&at.to_string()).unwrap();
        }
        assert!(dictionary.full_bytes() > 3 * CHUNK_TEXTS);
        assert_eq!(dictionary.take_full().len(), 3);
        assert_eq!(dictionary.full_bytes(), 0);
        assert_eq!(dictionary.len() as usize, texts);
        assert_eq!(dictionary.into_rest().iter().map(Texts::len).sum::<usize>(), 7);
    }
}
