//! Search: which slices have this text in their name or in one of their text fields.
//!
//! The dictionary is searched once; postings, or where a column has too many texts for them its zone maps, then tell the
//! blocks, and only those are decoded.

use std::collections::BinaryHeap;

use memchr::memmem::Finder;
use roaring::RoaringBitmap;

use crate::base::{Error, Result};
use crate::block::{BlockValues, ColumnType, ZoneMap};
use crate::codec::Texts;
use crate::index::Postings;
use crate::model::TableKind;
use crate::segment::{BlockReader, Bytes, CHUNK_TEXTS, ColumnRole, Segment};

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

/// Texts that match, by their numbers.
struct Matches {
    texts: RoaringBitmap,
    /// The same as bits: a block's rows ask for each.
    bits: Vec<u64>,
}

impl Matches {
    fn new(texts: RoaringBitmap) -> Self {
        let len = texts.max().map_or(0, |max| max as usize / 64 + 1);
        let mut bits = vec![0; len];
        texts.iter().for_each(|text| bits[text as usize / 64] |= 1 << (text % 64));
        Self { texts, bits }
    }

    fn has(&self, code: i64) -> bool {
        let word = usize::try_from(code / 64).ok().and_then(|at| self.bits.get(at));
        word.is_some_and(|word| word >> (code % 64) & 1 == 1)
    }

    /// Whether any lies in the range of a block's codes.
    fn any_within(&self, zone: ZoneMap) -> bool {
        let ZoneMap::Ints { min, max } = zone else { return true };
        match (u32::try_from(min), u32::try_from(max)) {
            (Ok(min), Ok(max)) => self.texts.range_cardinality(min..=max) > 0,
            _ => true,
        }
    }
}

/// What a search has found so far.
struct Finding {
    limit: usize,
    /// A bit for each row of the segment.
    rows: Vec<u8>,
    /// The first hits, the last of them on top.
    first: BinaryHeap<Hit>,
}

impl Finding {
    /// Marks a row; whether it is a new one.
    fn mark(&mut self, row: u32) -> bool {
        let (byte, bit) = (&mut self.rows[row as usize / 8], 1 << (row % 8));
        let is_new = *byte & bit == 0;
        *byte |= bit;
        is_new
    }

    fn hit(&mut self, hit: Hit) {
        self.first.push(hit);
        if self.first.len() > self.limit {
            self.first.pop();
        }
    }
}

impl<B: Bytes> Segment<B> {
    /// All slices with `query` in a text; the first `limit` by time in detail.
    ///
    /// # Errors
    /// Where bytes are missing or damaged.
    pub fn search(&self, query: &str, limit: usize) -> Result<Found> {
        if query.is_empty() {
            return Ok(Found::default());
        }
        let needle = Needle::new(query);
        let matches = Matches::new(self.texts_with(&needle)?);
        let tables = &self.footer().tables;
        let rows = tables.last().map_or(0, |table| table.first_row as usize + table.rows as usize);
        let mut finding = Finding { limit, rows: vec![0; rows / 8 + 1], first: BinaryHeap::new() };
        for (at, meta) in self.footer().columns.iter().enumerate() {
            if tables[usize::from(meta.table.0)].spec.kind != TableKind::Slices {
                continue;
            }
            let listed = meta.kind.is_code() && meta.postings.len > 0;
            if listed {
                let mut cursor = self.cursor(meta.postings, "postings")?;
                let postings = Postings::decode(&mut cursor, meta.postings.offset)?;
                for block in postings.blocks_with(&matches.texts)? {
                    self.search_block(at, block as usize, &matches, &needle, &mut finding)?;
                }
                continue;
            }
            let of_names = meta.role == ColumnRole::Name || matches!(meta.role, ColumnRole::Field(_));
            let is_text = matches!(meta.kind, ColumnType::LongText | ColumnType::LongJson);
            if !(is_text || meta.kind.is_code() && of_names) {
                continue;
            }
            for block in 0..self.blocks(meta.table)?.len() {
                let zone = self.directory(at)?.entries[block].zone;
                if is_text || matches.any_within(zone) {
                    self.search_block(at, block, &matches, &needle, &mut finding)?;
                }
            }
        }
        let rows = RoaringBitmap::from_lsb0_bytes(0, &finding.rows);
        Ok(Found { hits: finding.first.into_sorted_vec(), rows })
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

    fn search_block(
        &self,
        column: usize,
        block: usize,
        matches: &Matches,
        needle: &Needle,
        finding: &mut Finding,
    ) -> Result<()> {
        let meta = &self.footer().columns[column];
        let list = self.blocks(meta.table)?;
        if block >= list.len() {
            return Err(Error::Corrupt { what: "postings", offset: meta.postings.offset });
        }
        let mut reader = BlockReader::new(self, meta.table, block)?;
        let Some(values) = reader.column(column)? else { return Ok(()) };
        let found: Vec<bool> = match values.values() {
            BlockValues::Ints(codes) => codes.iter().map(|&code| matches.has(code)).collect(),
            BlockValues::Texts(long) => {
                let mut found = vec![false; long.len()];
                needle.for_each_match(long, |at| found[at] = true);
                found
            }
            BlockValues::Floats(_) => Vec::new(),
        };
        if !found.contains(&true) {
            return Ok(());
        }
        let first_row = self.footer().tables[usize::from(meta.table.0)].first_row + list.first_row(block);
        // A block that starts after the last of the first hits brings none of them: its times are not needed.
        let start_ps = list.starts()[block];
        let is_late = finding.first.len() >= finding.limit
            && finding.first.peek().is_none_or(|last| start_ps > last.start_ps);
        let starts = if is_late { Vec::new() } else { reader.core_ints(ColumnRole::Start)? };
        for (at, row) in (first_row..).take(reader.rows()).enumerate() {
            let is_match = values.slot(at).is_some_and(|slot| found[slot]);
            if is_match
                && finding.mark(row)
                && let Some(&start_ps) = starts.get(at)
            {
                finding.hit(Hit { start_ps, row, role: meta.role });
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
