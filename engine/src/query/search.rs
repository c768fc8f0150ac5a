//! Search: which slices have this text in their name or in one of their text fields.
//!
//! The dictionary is searched once; postings then tell the blocks, and only those are decoded.

use std::collections::BinaryHeap;

use roaring::RoaringBitmap;

use crate::base::{Error, Result};
use crate::block::{BlockValues, ColumnType};
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

    fn is_in(&self, text: &str, lower: &mut String) -> bool {
        if !self.any_case {
            return text.contains(&self.text);
        }
        lower.clear();
        lower.extend(text.chars().flat_map(char::to_lowercase));
        lower.contains(&self.text)
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
        let mut lower = String::new();
        for chunk in 0..self.chunk_count() {
            let first = u32::try_from(chunk * CHUNK_TEXTS).unwrap_or(u32::MAX);
            for (id, text) in (first..).zip(self.chunk(chunk)?.iter()) {
                if needle.is_in(text, &mut lower) {
                    texts.insert(id);
                }
            }
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
        let starts = self.core_ints(meta.table, ColumnRole::Start, block)?;
        let first_row = self.footer().tables[usize::from(meta.table.0)].first_row + list.first_row(block);
        let mut lower = String::new();
        for ((at, row), &start_ps) in (first_row..).enumerate().zip(&starts) {
            let Some(slot) = values.slot(at) else { continue };
            let matches = match values.values() {
                BlockValues::Ints(codes) => u32::try_from(codes[slot]).is_ok_and(|code| texts.contains(code)),
                BlockValues::Texts(long) => needle.is_in(long.get(slot), &mut lower),
                BlockValues::Floats(_) => false,
            };
            if matches && rows.insert(row) {
                first.push(Hit { start_ps, row, role: meta.role });
                if first.len() > limit {
                    first.pop();
                }
            }
        }
        Ok(())
    }
}
