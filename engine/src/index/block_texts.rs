//! Texts of a column's blocks, collected while a segment is built. Postings are made of them. A
//! text of a block takes one or two bytes. As a pair of numbers it took eight, which was most of
//! the memory of a long build.

use crate::base::bytes::{Cursor, Put};

/// Numbers of texts, block by block.
#[derive(Debug, Default)]
pub struct BlockTexts {
    /// For each block: the step to its number, the number of texts, and the steps from text to
    /// text.
    bytes: Vec<u8>,
    last_block: u32,
    len: usize,
}

impl BlockTexts {
    /// Number of texts, summed over blocks.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no texts.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds the texts of a block, in ascending order. Blocks come in ascending order too.
    pub fn push(&mut self, block: u32, texts: &[u32]) {
        self.bytes.put_varint(u64::from(block - self.last_block));
        self.bytes.put_varint(texts.len() as u64);
        let mut before = 0;
        for &text in texts {
            self.bytes.put_varint(u64::from(text - before));
            before = text;
        }
        self.last_block = block;
        self.len += texts.len();
    }

    /// Adds the texts of another part of the column. Its first block has the number `first` here.
    pub fn append(&mut self, part: &Self, first: u32) {
        part.for_each(|block, texts| self.push(block + first, texts));
    }

    /// Pairs of a text and the number of its block, sorted by text, then by block.
    #[must_use]
    pub fn pairs(&self) -> Vec<(u32, u32)> {
        let mut pairs = Vec::with_capacity(self.len);
        self.for_each(|block, texts| pairs.extend(texts.iter().map(|&text| (text, block))));
        // As one number each, pairs compare without a branch.
        pairs.sort_unstable_by_key(|&(text, block)| u64::from(text) << 32 | u64::from(block));
        pairs
    }

    fn for_each(&self, mut take: impl FnMut(u32, &[u32])) {
        let mut cursor = Cursor::new(&self.bytes, 0, "texts of blocks");
        let (mut block, mut texts) = (0, Vec::new());
        // The bytes that `push` has written are valid.
        while let (Ok(step), Ok(count)) = (cursor.varint_u32(), cursor.varint_u32()) {
            block += step;
            texts.clear();
            let mut text = 0;
            for _ in 0..count {
                text += cursor.varint_u32().unwrap_or_default();
                texts.push(text);
            }
            take(block, &texts);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn parts_give_back_what_they_took(
            blocks in prop::collection::vec(prop::collection::btree_set(any::<u32>(), 0..5), 0..40),
            split in 0_usize..40,
        ) {
            let split = split.min(blocks.len());
            let mut parts = [BlockTexts::default(), BlockTexts::default()];
            let mut expected = Vec::new();
            for (at, texts) in blocks.iter().enumerate() {
                let (part, first) = if at < split { (0, 0) } else { (1, split) };
                parts[part].push((at - first) as u32, &texts.iter().copied().collect::<Vec<_>>());
                expected.extend(texts.iter().map(|&text| (text, at as u32)));
            }
            let [mut whole, rest] = parts;
            whole.append(&rest, split as u32);
            expected.sort_unstable();
            prop_assert_eq!(whole.len(), expected.len());
            prop_assert_eq!(whole.pairs(), expected);
        }
    }
}
