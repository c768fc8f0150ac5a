//! The dictionary of texts: each distinct text once, by number.

use rustc_hash::FxHashMap;

use crate::base::narrow;

/// A text of the segment's dictionary, in the order of first use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct NameId(pub u32);

/// Interns texts. Texts lie in one buffer. The map holds hashes, so that a text costs its bytes and
/// 16 more.
#[derive(Debug, Default)]
pub struct Names {
    bytes: String,
    ends: Vec<u32>,
    /// Hash of the text to the first id with it; further ids with the same hash follow through
    /// `next`.
    first: FxHashMap<u64, u32>,
    next: Vec<u32>,
}

/// Ends a chain of equal hashes.
const NONE: u32 = u32::MAX;

/// The buffer is addressed with 32 bits.
const MAX_BYTES: usize = u32::MAX as usize;

impl Names {
    /// Number of this text, which is new or known. `None` if there is no room for it (4 GiB in
    /// all).
    pub fn intern(&mut self, text: &str) -> Option<NameId> {
        if let Some(known) = self.find(text) {
            return Some(known);
        }
        if self.bytes.len() + text.len() > MAX_BYTES {
            return None;
        }
        let new = u32::try_from(self.ends.len()).ok()?;
        self.bytes.push_str(text);
        self.ends.push(u32::try_from(self.bytes.len()).ok()?);
        self.next.push(self.first.insert(hash_of(text), new).unwrap_or(NONE));
        Some(NameId(new))
    }

    /// Number of this text, if it is known.
    #[must_use]
    pub fn find(&self, text: &str) -> Option<NameId> {
        let mut id = self.first.get(&hash_of(text)).copied().unwrap_or(NONE);
        while id != NONE {
            if self.text(NameId(id)) == text {
                return Some(NameId(id));
            }
            id = self.next[id as usize];
        }
        None
    }

    /// Text of a number that [`Names::intern`] returned.
    ///
    /// # Panics
    /// If the number is from elsewhere.
    #[must_use]
    pub fn text(&self, id: NameId) -> &str {
        let index = id.0 as usize;
        let start = if index == 0 { 0 } else { self.ends[index - 1] as usize };
        &self.bytes[start..self.ends[index] as usize]
    }

    /// Number of texts.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no texts.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Bytes of all texts together.
    #[must_use]
    pub fn text_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// All texts, in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..narrow(self.ends.len())).map(|id| self.text(NameId(id)))
    }
}

/// Hash by which texts are looked up.
pub(crate) fn hash_of(text: &str) -> u64 {
    use std::hash::{BuildHasher, BuildHasherDefault};
    BuildHasherDefault::<rustc_hash::FxHasher>::default().hash_one(text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn equal_texts_have_equal_numbers(texts in prop::collection::vec("[a-c]{0,3}", 0..200)) {
            let mut names = Names::default();
            let ids: Vec<NameId> = texts.iter().map(|t| names.intern(t).unwrap()).collect();
            for (text, &id) in texts.iter().zip(&ids) {
                prop_assert_eq!(names.text(id), text.as_str());
                prop_assert_eq!(names.intern(text), Some(id));
            }
            let distinct: std::collections::HashSet<&String> = texts.iter().collect();
            prop_assert_eq!(names.len(), distinct.len());
            prop_assert_eq!(names.iter().count(), names.len());
        }
    }
}
