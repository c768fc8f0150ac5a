//! The growing dictionary: texts by number. Full chunks are encoded while further texts arrive.

use std::sync::Arc;

use super::numbers::TextNumbers;
use crate::base::Result;
use crate::codec::ColumnTexts;
use crate::ingest::limits::TEXT_BYTES;
use crate::model::{NameId, WaitNames, is_wait};
use crate::segment::{CHUNK_TEXTS, MAX_WAITS};
use crate::spill::Scratch;

/// Texts with their numbers, and the texts that are not encoded yet.
pub struct DictionaryBuilder<'a> {
    numbers: TextNumbers<'a>,
    /// Texts of the next chunk so far.
    chunk: ColumnTexts,
    /// Full chunks that were not taken yet, and the bytes of their texts.
    full: Vec<ColumnTexts>,
    full_bytes: usize,
    waits: Arc<WaitNames>,
}

impl<'a> DictionaryBuilder<'a> {
    /// An empty dictionary that keeps up to `limit` bytes of texts in memory.
    pub fn new(scratch: &'a dyn Scratch, limit: usize) -> Self {
        let numbers = TextNumbers::new(scratch, limit);
        Self {
            numbers,
            chunk: ColumnTexts::default(),
            full: Vec::new(),
            full_bytes: 0,
            waits: Arc::default(),
        }
    }

    /// Number of texts.
    pub fn len(&self) -> u32 {
        self.numbers.len()
    }

    /// Whether a text has this number.
    pub fn has(&self, id: NameId) -> bool {
        id.0 < self.len()
    }

    /// Bytes of all texts together, and of what is kept for each.
    pub fn bytes(&self) -> usize {
        self.numbers.text_bytes() + self.len() as usize * TEXT_BYTES
    }

    /// Returns the number of a text like [`TextNumbers::intern`].
    pub fn intern(&mut self, text: &str) -> Result<Option<NameId>> {
        let known = self.len();
        let id = self.numbers.intern(text)?;
        if self.len() > known {
            self.chunk.push(text);
            // A trace with more names of waits has generated them.
            if is_wait(text) && self.waits.numbers().len() < MAX_WAITS {
                Arc::make_mut(&mut self.waits).push(known);
            }
        }
        if self.chunk.len() == CHUNK_TEXTS {
            self.full_bytes += self.chunk.bytes.len();
            // The next chunk probably has about the same length.
            let next = String::with_capacity(self.chunk.bytes.len());
            let next = ColumnTexts { bytes: next, ends: Vec::with_capacity(CHUNK_TEXTS) };
            self.full.push(std::mem::replace(&mut self.chunk, next));
        }
        Ok(id)
    }

    /// The texts that name waits.
    pub fn waits(&self) -> Arc<WaitNames> {
        Arc::clone(&self.waits)
    }

    /// Finds the number of a text like [`TextNumbers::find`].
    pub fn find(&self, text: &str) -> Result<Option<NameId>> {
        self.numbers.find(text)
    }

    /// Takes the full chunks.
    pub fn take_full(&mut self) -> Vec<ColumnTexts> {
        self.full_bytes = 0;
        std::mem::take(&mut self.full)
    }

    /// Bytes of the texts in full chunks.
    pub fn full_bytes(&self) -> usize {
        self.full_bytes
    }

    /// The remaining chunks. The last chunk is not full.
    pub fn into_rest(mut self) -> Vec<ColumnTexts> {
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
            let mut dictionary = DictionaryBuilder::new(&scratch, limit);
            let mut names = Names::default();
            for text in &texts {
                prop_assert_eq!(dictionary.find(text).unwrap(), names.find(text));
                prop_assert_eq!(dictionary.intern(text).unwrap(), names.intern(text));
                prop_assert_eq!(dictionary.find(text).unwrap(), names.find(text));
            }
            prop_assert_eq!(dictionary.len() as usize, names.len());
            prop_assert_eq!(dictionary.bytes(), names.text_bytes() + names.len() * TEXT_BYTES);
            let chunks = dictionary.into_rest();
            let all: Vec<&str> = chunks.iter().flat_map(ColumnTexts::iter).collect();
            prop_assert_eq!(all, names.iter().collect::<Vec<_>>());
        }
    }

    #[test]
    fn full_chunks_are_handed_on() {
        let scratch = MemoryScratch::default();
        let mut dictionary = DictionaryBuilder::new(&scratch, 1000);
        let texts = 3 * CHUNK_TEXTS + 7;
        for at in 0..texts {
            dictionary.intern(&at.to_string()).unwrap();
        }
        assert!(dictionary.full_bytes() > 3 * CHUNK_TEXTS);
        assert_eq!(dictionary.take_full().len(), 3);
        assert_eq!(dictionary.full_bytes(), 0);
        assert_eq!(dictionary.len() as usize, texts);
        assert_eq!(dictionary.into_rest().iter().map(ColumnTexts::len).sum::<usize>(), 7);
    }
}
