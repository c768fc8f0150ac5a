//! Categories of slices by the words that they contain.

use rustc_hash::FxHashMap;

use crate::base::Result;
use crate::model::NameId;
use crate::segment::{Bytes, Segment};

/// Part of the categories of spans that a program draws over its work.
pub(super) const ANNOTATION: &str = "annotation";

/// Words in the categories of slices that are drawn around work: spans, frames, the trace itself.
pub(super) const AROUND: [&str; 3] = [ANNOTATION, "python", "Trace"];

/// Whether slices of this category are drawn around work, and are none.
pub(in crate::makers) fn is_around_work(category: &str) -> bool {
    AROUND.iter().any(|word| category.contains(word))
}

/// The categories that contain one of some words. A trace has few, and each is looked at once.
#[derive(Debug)]
pub(super) struct CategoryWords {
    words: &'static [&'static str],
    known: FxHashMap<u32, bool>,
}

impl CategoryWords {
    pub(super) fn new(words: &'static [&'static str]) -> Self {
        Self { words, known: FxHashMap::default() }
    }

    /// Whether the category with this number in the dictionary contains one of the words. A slice
    /// without a category does not.
    pub(super) fn are_in<B: Bytes>(&mut self, segment: &Segment<B>, category: Option<u32>) -> Result<bool> {
        let Some(category) = category else { return Ok(false) };
        if let Some(known) = self.known.get(&category) {
            return Ok(*known);
        }
        let text = segment.text(NameId(category))?;
        let found = self.words.iter().any(|word| text.contains(word));
        self.known.insert(category, found);
        Ok(found)
    }
}
