//! Search: which slices have a text in their name or in one of their text fields.
//!
//! The dictionary is searched once, chunk by chunk. Postings tell the blocks that matter, or where a column has too many
//! texts for them its zone maps and the codes that were seen in its blocks before; those are decoded, and only those.
//! Chunks and blocks are shared among all cores.

mod any_case;
mod matches;
mod needle;
mod page;
mod pattern;
mod regex;

use roaring::RoaringBitmap;

use self::matches::{ChunkBits, Matches, Share};
pub use self::page::{Hit, HitPage, HitPlace};
pub use self::pattern::{Pattern, PatternError, Syntax};
use crate::base::{Error, Result};
use crate::block::{BlockColumn, BlockValues, ColumnType};
use crate::exec::Work;
use crate::index::Postings;
use crate::model::TableKind;
use crate::segment::{BlockReader, Bytes, CHUNK_TEXTS, CodeSpans, ColumnRole, Segment};

/// Bits of a word.
const WORD: usize = u64::BITS as usize;

/// What a search found.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Found {
    /// The hits of the page that was asked for, in order of time.
    pub hits: Vec<Hit>,
    /// How many hits come before the first of `hits`; before the page's place where it has none.
    pub before: u64,
    /// Rows of all slices that match.
    pub rows: RoaringBitmap,
}

/// A block of a column that may have matches.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    column: usize,
    block: usize,
    /// Every row matches, which is known without decoding.
    is_all: bool,
}

/// Rows of a block that match in a column.
struct BlockMatches {
    of: Candidate,
    first_row: u32,
    /// A bit for each row.
    bits: Vec<u64>,
}

impl BlockMatches {
    fn has(&self, at: usize) -> bool {
        self.bits[at / WORD] >> (at % WORD) & 1 == 1
    }
}

impl<B: Bytes> Segment<B> {
    /// All slices with a text that matches; those of a page in detail.
    ///
    /// # Errors
    /// Where bytes are missing or damaged; `Cancelled` if the answer is wanted no more.
    pub fn search(&self, pattern: &Pattern, page: HitPage, work: Work<'_>) -> Result<Found> {
        if pattern.is_nothing() {
            return Ok(Found::default());
        }
        let chunks = work.gather(self.chunk_count(), |chunk| self.search_chunk(chunk, pattern, work))?;
        let matches = Matches::new(&chunks);
        let candidates = self.candidates(&matches)?;
        let found =
            work.gather(candidates.len(), |at| self.search_block(candidates[at], &matches, pattern, work))?;
        let found: Vec<BlockMatches> = found.into_iter().flatten().collect();
        let rows = self.rows_of(&found);
        let (hits, before) = self.hit_page(found, page, work)?;
        Ok(Found { hits, before, rows })
    }

    fn search_chunk(&self, chunk: usize, pattern: &Pattern, work: Work<'_>) -> Result<Box<ChunkBits>> {
        let mut bits = Box::new([0; CHUNK_TEXTS / WORD]);
        pattern.for_each_match(
            self.chunk(chunk)?,
            || !work.cancel.is_cancelled(),
            |at| bits[at / WORD] |= 1 << (at % WORD),
        );
        Ok(bits)
    }

    /// The blocks to look at, by column.
    fn candidates(&self, matches: &Matches) -> Result<Vec<Candidate>> {
        let mut candidates = Vec::new();
        for (column, meta) in self.footer().columns.iter().enumerate() {
            let is_text = matches!(meta.kind, ColumnType::LongText | ColumnType::LongJson);
            let of_slices = self.footer().tables[usize::from(meta.table.0)].spec.kind == TableKind::Slices;
            if !of_slices || !is_text && (!meta.kind.is_code() || matches.is_empty()) {
                continue;
            }
            let blocks = self.blocks(meta.table)?;
            let listed = meta.kind.is_code() && meta.postings.len > 0;
            if listed {
                let mut cursor = self.cursor(meta.postings, "postings")?;
                let postings = Postings::decode(&mut cursor, meta.postings.offset)?;
                for pack in postings.packs_with(|code| matches.has(code))? {
                    if pack as usize >= blocks.packs() {
                        return Err(Error::Corrupt { what: "postings", offset: meta.postings.offset });
                    }
                    let of_pack = blocks.blocks_of_pack(pack as usize);
                    candidates.extend(of_pack.map(|block| Candidate { column, block, is_all: false }));
                }
            } else if is_text {
                candidates.extend((0..blocks.len()).map(|block| Candidate { column, block, is_all: false }));
            } else if meta.role == ColumnRole::Name || matches!(meta.role, ColumnRole::Field(_)) {
                let zones = self.zones(column)?.iter();
                for (block, (zone, seen)) in zones.zip(self.seen_codes(column)?).enumerate() {
                    let share = match (matches.share_of_zone(*zone), seen.get()) {
                        (Share::Some, Some(spans)) => matches.share_of_spans(spans),
                        (share, _) => share,
                    };
                    if share != Share::None {
                        candidates.push(Candidate { column, block, is_all: share == Share::All });
                    }
                }
            }
        }
        Ok(candidates)
    }

    fn search_block(
        &self,
        of: Candidate,
        matches: &Matches,
        pattern: &Pattern,
        work: Work<'_>,
    ) -> Result<Option<BlockMatches>> {
        let meta = &self.footer().columns[of.column];
        let list = self.blocks(meta.table)?;
        let rows = list.rows(of.block);
        let bits = if of.is_all {
            bits_of(rows, |_| true)
        } else {
            let mut reader = BlockReader::new(self, meta.table, of.block)?;
            let Some(column) = reader.column(of.column)? else { return Ok(None) };
            match column.values() {
                BlockValues::Ints(codes) => {
                    self.see_codes(of, &column, codes)?;
                    match column.is_full() {
                        true => bits_of(rows, |at| matches.has(codes[at])),
                        false => {
                            bits_of(rows, |at| column.slot(at).is_some_and(|slot| matches.has(codes[slot])))
                        }
                    }
                }
                BlockValues::Texts(texts) => {
                    let mut found = vec![false; texts.len()];
                    pattern.for_each_match(texts, || !work.cancel.is_cancelled(), |at| found[at] = true);
                    bits_of(rows, |at| column.slot(at).is_some_and(|slot| found[slot]))
                }
                BlockValues::Floats(_) => return Ok(None),
            }
        };
        let first_row = self.footer().tables[usize::from(meta.table.0)].first_row + list.first_row(of.block);
        let found = BlockMatches { of, first_row, bits };
        Ok(found.bits.iter().any(|&word| word != 0).then_some(found))
    }

    /// Keeps which codes a block has, where the next search has no postings to tell it.
    fn see_codes(&self, of: Candidate, column: &BlockColumn, codes: &[i64]) -> Result<()> {
        if self.footer().columns[of.column].postings.len > 0 || !column.is_full() {
            return Ok(());
        }
        let seen = &self.seen_codes(of.column)?[of.block];
        if seen.get().is_none()
            && let Some(spans) = CodeSpans::of(codes)
        {
            // Another search may have been faster: it saw the same.
            seen.set(spans).ok();
        }
        Ok(())
    }

    fn rows_of(&self, found: &[BlockMatches]) -> RoaringBitmap {
        let rows =
            self.footer().tables.last().map_or(0, |table| table.first_row as usize + table.rows as usize);
        let mut words = vec![0_u64; rows / WORD + 2];
        for of in found {
            let (mut at, shift) = (of.first_row as usize / WORD, of.first_row as usize % WORD);
            for &bits in &of.bits {
                words[at] |= bits << shift;
                at += 1;
                if shift > 0 {
                    words[at] |= bits >> (WORD - shift);
                }
            }
        }
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        RoaringBitmap::from_lsb0_bytes(0, &bytes)
    }
}

/// A bit for each row.
fn bits_of(rows: usize, is_match: impl Fn(usize) -> bool) -> Vec<u64> {
    let word = |first: usize| {
        let of = first..rows.min(first + WORD);
        of.rev().fold(0, |word, at| word << 1 | u64::from(is_match(at)))
    };
    (0..rows).step_by(WORD).map(word).collect()
}
