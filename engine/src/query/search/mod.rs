//! Search: finds the slices with a match in their name or in one of their text fields.
//!
//! The dictionary is searched once, chunk by chunk. Postings give the blocks to decode. A column
//! with too many texts has no postings: its zone maps and the codes seen in earlier searches select
//! the blocks. Chunks and blocks are shared among all cores.

mod any_case;
mod matches;
mod needle;
mod page;
mod pattern;
mod pattern_error;
mod regex;

use roaring::RoaringBitmap;

use self::matches::{ChunkBits, MatchShare, Matches};
pub use self::page::{HitPage, HitPlace, SearchMatch};
pub use self::pattern::{SearchPattern, Syntax};
pub use self::pattern_error::PatternError;
use crate::base::order::sort_by_key;
use crate::base::{Result, narrow};
use crate::block::{BlockColumn, BlockValues, ColumnType};
use crate::exec::Work;
use crate::index::Postings;
use crate::model::{TableId, TableKind};
use crate::segment::{BlockReader, Bytes, CHUNK_TEXTS, CodeSpans, ColumnRole, Segment};

/// Bits of a word.
const WORD: usize = u64::BITS as usize;
/// Rows whose matches are collected in one array: 512 KiB.
const NEAR_ROWS: u32 = 1 << 22;

/// Result of a search.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SearchHits {
    /// Hits of the requested page, in order of time.
    pub hits: Vec<SearchMatch>,
    /// Number of hits before the first of `hits`, or before the page's place if `hits` is empty.
    pub before: u64,
    /// Rows of all slices that match.
    pub rows: RoaringBitmap,
}

/// A block of a column that can have matches.
#[derive(Debug, Clone, Copy)]
struct CandidateBlock {
    column: usize,
    block: usize,
    /// Whether every row matches, which is known without decoding.
    is_all: bool,
}

/// Rows of a block that match in a column.
struct BlockMatches {
    of: CandidateBlock,
    first_row: u32,
    /// A bit for each row.
    bits: Vec<u64>,
}

impl BlockMatches {
    fn has(&self, at: usize) -> bool {
        self.bits[at / WORD] >> (at % WORD) & 1 == 1
    }
}

/// All slices with a text that matches; the hits of the page in detail.
pub fn find<B: Bytes>(
    segment: &Segment<B>,
    pattern: &SearchPattern,
    page: HitPage,
    work: Work<'_>,
) -> Result<SearchHits> {
    let found = found_blocks(segment, pattern, &|_| true, work)?;
    let rows = rows_of(&found);
    let (hits, before) = page::hit_page(segment, found, page, work)?;
    Ok(SearchHits { hits, before, rows })
}

/// The rows of all slices with a text that matches in one of the columns that `is_searched` takes.
pub(super) fn rows<B: Bytes>(
    segment: &Segment<B>,
    pattern: &SearchPattern,
    is_searched: &(dyn Fn(usize) -> bool + Sync),
    work: Work<'_>,
) -> Result<RoaringBitmap> {
    Ok(rows_of(&found_blocks(segment, pattern, is_searched, work)?))
}

/// Slices that are known by their rows, as hits; those of the page in detail.
pub(super) fn hits_of<B: Bytes>(
    segment: &Segment<B>,
    rows: RoaringBitmap,
    page: HitPage,
    work: Work<'_>,
) -> Result<SearchHits> {
    let mut found = Vec::new();
    for (number, table) in (0_u16..).zip(&segment.footer().tables) {
        let name = segment.column(TableId(number), ColumnRole::Name);
        let (TableKind::Slices, Some(column)) = (table.spec.kind, name) else { continue };
        let blocks = segment.blocks(TableId(number))?;
        for block in 0..blocks.len() {
            let first_row = table.first_row + blocks.first_row(block);
            let of_block = rows.range(first_row..first_row + narrow(blocks.rows(block)));
            let mut bits = vec![0; blocks.rows(block).div_ceil(WORD)];
            of_block.for_each(|row| {
                bits[(row - first_row) as usize / WORD] |= 1 << ((row - first_row) as usize % WORD)
            });
            if bits.iter().any(|&word| word != 0) {
                found.push(BlockMatches {
                    of: CandidateBlock { column, block, is_all: false },
                    first_row,
                    bits,
                });
            }
        }
    }
    let (hits, before) = page::hit_page(segment, found, page, work)?;
    Ok(SearchHits { hits, before, rows })
}

/// The blocks with a match in one of the columns that `is_searched` takes.
fn found_blocks<B: Bytes>(
    segment: &Segment<B>,
    pattern: &SearchPattern,
    is_searched: &(dyn Fn(usize) -> bool + Sync),
    work: Work<'_>,
) -> Result<Vec<BlockMatches>> {
    if pattern.is_nothing() {
        return Ok(Vec::new());
    }
    let chunks = work.gather(segment.chunk_count(), |chunk| search_chunk(segment, chunk, pattern, work))?;
    let matches = Matches::new(&chunks);
    let candidates = candidates(segment, &matches, is_searched)?;
    let found =
        work.gather(candidates.len(), |at| search_block(segment, candidates[at], &matches, pattern, work))?;
    Ok(found.into_iter().flatten().collect())
}

fn search_chunk<B: Bytes>(
    segment: &Segment<B>,
    chunk: usize,
    pattern: &SearchPattern,
    work: Work<'_>,
) -> Result<Box<ChunkBits>> {
    let mut bits = Box::new([0; CHUNK_TEXTS / WORD]);
    pattern.for_each_match(
        &*segment.chunk(chunk)?,
        || !work.cancel.is_cancelled(),
        |at| bits[at / WORD] |= 1 << (at % WORD),
    );
    Ok(bits)
}

/// The blocks to search, by column.
fn candidates<B: Bytes>(
    segment: &Segment<B>,
    matches: &Matches,
    is_searched: &(dyn Fn(usize) -> bool + Sync),
) -> Result<Vec<CandidateBlock>> {
    let mut candidates = Vec::new();
    for (column, meta) in segment.footer().columns.iter().enumerate() {
        let is_text = matches!(meta.kind, ColumnType::LongText | ColumnType::LongJson);
        let of_slices = segment.footer().tables[usize::from(meta.table.0)].spec.kind == TableKind::Slices;
        if !of_slices || !is_searched(column) || !is_text && (!meta.kind.is_code() || matches.is_empty()) {
            continue;
        }
        let blocks = segment.blocks(meta.table)?;
        let listed = meta.kind.is_code() && meta.postings.len > 0;
        if listed {
            let bytes = segment.piece(meta.postings, "postings")?;
            let postings = Postings::decode(&mut bytes.cursor(), meta.postings.offset)?;
            for pack in postings.packs_with(blocks.packs(), |code| matches.has(code))? {
                let of_pack = blocks.blocks_of_pack(pack as usize);
                candidates.extend(of_pack.map(|block| CandidateBlock { column, block, is_all: false }));
            }
        } else if is_text {
            candidates.extend((0..blocks.len()).map(|block| CandidateBlock { column, block, is_all: false }));
        } else if meta.role == ColumnRole::Name || matches!(meta.role, ColumnRole::Field(_)) {
            let zones = segment.zones(column)?.iter();
            for (block, (zone, seen)) in zones.zip(segment.code_spans(column)?).enumerate() {
                let share = match (matches.share_of_zone(*zone), seen.get()) {
                    (MatchShare::Some, Some(spans)) => matches.share_of_spans(spans),
                    (share, _) => share,
                };
                if share != MatchShare::None {
                    candidates.push(CandidateBlock { column, block, is_all: share == MatchShare::All });
                }
            }
        }
    }
    Ok(candidates)
}

fn search_block<B: Bytes>(
    segment: &Segment<B>,
    of: CandidateBlock,
    matches: &Matches,
    pattern: &SearchPattern,
    work: Work<'_>,
) -> Result<Option<BlockMatches>> {
    let meta = &segment.footer().columns[of.column];
    let list = segment.blocks(meta.table)?;
    let rows = list.rows(of.block);
    let bits = if of.is_all {
        bits_of(rows, |_| true)
    } else {
        let mut reader = BlockReader::new(segment, meta.table, of.block)?;
        let Some(column) = reader.column(of.column)? else { return Ok(None) };
        match column.values() {
            BlockValues::Ints(codes) => {
                keep_codes(segment, of, &column, codes)?;
                match column.is_full() {
                    true => bits_of(rows, |at| matches.has(codes[at])),
                    false => bits_of(rows, |at| column.slot(at).is_some_and(|slot| matches.has(codes[slot]))),
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
    let first_row = segment.footer().tables[usize::from(meta.table.0)].first_row + list.first_row(of.block);
    let found = BlockMatches { of, first_row, bits };
    Ok(found.bits.iter().any(|&word| word != 0).then_some(found))
}

/// Stores the codes of a block for the next search, if the column has no postings.
fn keep_codes<B: Bytes>(
    segment: &Segment<B>,
    of: CandidateBlock,
    column: &BlockColumn,
    codes: &[i64],
) -> Result<()> {
    if segment.footer().columns[of.column].postings.len > 0 || !column.is_full() {
        return Ok(());
    }
    let kept = &segment.code_spans(of.column)?[of.block];
    if kept.get().is_none()
        && let Some(spans) = CodeSpans::of(codes)
    {
        // Another search can have stored the same codes first.
        kept.set(spans).ok();
    }
    Ok(())
}

/// The matching rows of all blocks. A block can come once for each column. Rows that are near each
/// other are collected in one array, so the cost follows from the blocks that were found, not from
/// the number of rows that the footer states.
fn rows_of(found: &[BlockMatches]) -> RoaringBitmap {
    let mut by_row: Vec<&BlockMatches> = found.iter().collect();
    sort_by_key(&mut by_row, |of| of.first_row);
    let mut rows = RoaringBitmap::new();
    for near in by_row.chunk_by(|a, b| a.first_row / NEAR_ROWS == b.first_row / NEAR_ROWS) {
        let first = near.first().map_or(0, |of| of.first_row as usize / WORD);
        let mut words: Vec<u64> = Vec::new();
        for of in near {
            let (mut at, shift) = (of.first_row as usize / WORD - first, of.first_row as usize % WORD);
            words.resize(words.len().max(at + of.bits.len() + 1), 0);
            for &bits in &of.bits {
                words[at] |= bits << shift;
                at += 1;
                if shift > 0 {
                    words[at] |= bits >> (WORD - shift);
                }
            }
        }
        // The bitmap has no room for zeros behind the last row that 32 bits can name.
        words.truncate(words.iter().rposition(|&word| word != 0).map_or(0, |last| last + 1));
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        rows |= RoaringBitmap::from_lsb0_bytes((first * WORD) as u32, &bytes);
    }
    rows
}

/// A bit for each row.
fn bits_of(rows: usize, is_match: impl Fn(usize) -> bool) -> Vec<u64> {
    let word = |first: usize| {
        let of = first..rows.min(first + WORD);
        of.rev().fold(0, |word, at| word << 1 | u64::from(is_match(at)))
    };
    (0..rows).step_by(WORD).map(word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_collected_by_nearness() {
        let of = CandidateBlock { column: 0, block: 0, is_all: false };
        let block = |first_row, rows, every: usize| BlockMatches {
            of,
            first_row,
            bits: bits_of(rows, |at| at % every == 0),
        };
        // Not in order, twice the same rows, across two arrays, and at the end of all rows.
        let last = u32::MAX - 2_000;
        let found = [
            block(NEAR_ROWS - 100, 2_048, 1_000),
            block(70, 130, 64),
            block(70, 130, 65),
            block(last, 2_000, 1_999),
        ];
        let rows: Vec<u32> = rows_of(&found).iter().collect();
        let across = [0, 1_000, 2_000].map(|at| NEAR_ROWS - 100 + at);
        assert_eq!(rows, [&[70, 134, 135, 198][..], &across, &[last, last + 1_999]].concat());
    }
}
