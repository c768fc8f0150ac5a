//! Search: which slices have this text in their name or in one of their text fields.
//!
//! The dictionary is searched once; postings then tell the blocks, and only those are decoded.

use std::collections::BinaryHeap;

use memchr::memmem::Finder;
use roaring::RoaringBitmap;

use crate::base::{Error, Result};
use crate::block::{BlockValues, ColumnType};
use crate::codec::Texts;
use crate::index::Postings;
use crate::model::TableKind;
use crate::segment::{Bytes, CHUNK_TEXTS, ColumnRole, Segment};

/// What a search found.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Found {
    /// The first hits in order of time.
    pub hits: Vec<Hit>,
    /// Rows of all slices that match.
    pub rows: RoaringBitmap,
}

/// A slice that matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hit {
    /// When it starts.
    pub start_ps: i64,
    /// Its row.
    pub row: u32,
    /// Where the text was found: the name or a field.
    pub role: ColumnRole,
}

/// How texts are compared: without regard to case, unless the query has a capital letter.
struct Needle {
    text: String,
    any_case: bool,
}

impl Needle {
    fn new(query: &str) -> Self {
        let any_case = !query.chars().any(char::is_uppercase);
        Self { text: query.to_owned(), any_case }
    }

    /// Calls `found` with the position of every text that has the query in it, ascending.
    ///
    /// All texts are searched as one run of bytes, at the speed of memory; a match that reaches over the end of a text
    /// is none.
    fn for_each_match(&self, texts: &Texts, mut found: impl FnMut(usize)) {
        if self.any_case && !self.text.is_ascii() {
            let needle = self.text.to_lowercase();
            let matches = texts.iter().enumerate().filter(|(_, text)| text.to_lowercase().contains(&needle));
            return matches.for_each(|(at, _)| found(at));
        }
        // A text with letters beyond ASCII keeps them: an ASCII query does not ask for them.
        let lower = self.any_case.then(|| texts.bytes.to_ascii_lowercase());
        let bytes = lower.as_ref().unwrap_or(&texts.bytes).as_bytes();
        let finder = Finder::new(self.text.as_bytes());
        let mut from = 0;
        while let Some(at) = finder.find(&bytes[from..]).map(|at| from + at) {
            let text = texts.ends.partition_point(|&end| end as usize <= at);
            let end = texts.ends.get(text).map_or(bytes.len(), |&end| end as usize);
            if at + self.text.len() <= end {
                found(text);
                from = end;
            } else {
                from = at + 1;
            }
        }
    }
}

impl<B: Bytes> Segment<B> {
    /// All slices with `query` in a text; the first `limit` by time in detail.
    ///
    /// # Errors
    /// Where bytes are missing or damaged.
    pub fn search(&self, query: &str, limit: usize) -> Result<Found> {
        let mut found = Found::default();
        if query.is_empty() {
            return Ok(found);
        }
        let needle = Needle::new(query);
        let texts = self.texts_with(&needle)?;
        let mut first = BinaryHeap::new();
        for (at, meta) in self.footer().columns.iter().enumerate() {
            let of_slices = self.footer().tables[usize::from(meta.table.0)].spec.kind == TableKind::Slices;
            let blocks = match meta.kind {
                _ if !of_slices => continue,
                ColumnType::Text | ColumnType::Json if !texts.is_empty() && meta.postings.len > 0 => {
                    let mut cursor = self.cursor(meta.postings, "postings")?;
                    Postings::decode(&mut cursor, meta.postings.offset)?.blocks_with(&texts)?
                }
                ColumnType::LongText | ColumnType::LongJson => {
                    (0..u32::try_from(self.blocks(meta.table)?.len()).unwrap_or(u32::MAX)).collect()
                }
                _ => continue,
            };
            for block in blocks {
                self.search_block(at, block as usize, &texts, &needle, limit, &mut found.rows, &mut first)?;
            }
        }
        found.hits = first.into_sorted_vec();
        Ok(found)
    }

    fn texts_with(&self, needle: &Needle) -> Result<RoaringBitmap> {
        let mut texts = RoaringBitmap::new();
        for chunk in 0..self.chunk_count() {
            let first = u32::try_from(chunk * CHUNK_TEXTS).unwrap_or(u32::MAX);
            needle.for_each_match(self.chunk(chunk)?, |at| {
                texts.insert(first.saturating_add(u32::try_from(at).unwrap_or(u32::MAX)));
            });
        }
        Ok(texts)
    }

    #[expect(clippy::too_many_arguments, reason = "the state of one search, used once")]
    fn search_block(
        &self,
        column: usize,
        block: usize,
        texts: &RoaringBitmap,
        needle: &Needle,
        limit: usize,
        rows: &mut RoaringBitmap,
        first: &mut BinaryHeap<Hit>,
    ) -> Result<()> {
        let meta = self.footer().columns[column];
        let list = self.blocks(meta.table)?;
        if block >= list.len() {
            return Err(Error::Corrupt { what: "postings", offset: meta.postings.offset });
        }
        let Some(values) = self.block(column, block)? else { return Ok(()) };
        let matches = match values.values() {
            BlockValues::Ints(codes) => {
                codes.iter().map(|&code| u32::try_from(code).is_ok_and(|code| texts.contains(code))).collect()
            }
            BlockValues::Texts(long) => {
                let mut matches = vec![false; long.len()];
                needle.for_each_match(long, |at| matches[at] = true);
                matches
            }
            BlockValues::Floats(_) => Vec::new(),
        };
        if !matches.contains(&true) {
            return Ok(());
        }
        let starts = self.core_ints(meta.table, ColumnRole::Start, block)?;
        let first_row = self.footer().tables[usize::from(meta.table.0)].first_row + list.first_row(block);
        for ((at, row), &start_ps) in (first_row..).enumerate().zip(&starts) {
            let is_match = values.slot(at).is_some_and(|slot| matches[slot]);
            if is_match && rows.insert(row) {
                first.push(Hit { start_ps, row, role: meta.role });
                if first.len() > limit {
                    first.pop();
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn texts(of: &[String]) -> Texts {
        let mut texts = Texts::default();
        for text in of {
            texts.bytes.push_str(text);
            texts.ends.push(u32::try_from(texts.bytes.len()).unwrap());
        }
        texts
    }

    proptest! {
        #[test]
        fn finds_what_a_comparison_text_by_text_finds(
            of in prop::collection::vec("[abAB\u{e4}]{0,4}", 0..40),
            query in "[abB\u{e4}]{1,3}",
        ) {
            let needle = Needle::new(&query);
            let mut found = Vec::new();
            needle.for_each_match(&texts(&of), |at| found.push(at));
            let fold = |text: &str| if needle.any_case { text.to_lowercase() } else { text.to_owned() };
            let expected: Vec<usize> =
                (0..of.len()).filter(|&at| fold(&of[at]).contains(&fold(&query))).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
