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

/// Result of a search.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Found {
    /// Hits of the requested page, in order of time.
    pub hits: Vec<Hit>,
    /// Number of hits before the first of `hits`, or before the page's place if `hits` is empty.
    pub before: u64,
    /// Rows of all slices that match.
    pub rows: RoaringBitmap,
}

/// A block of a column that can have matches.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    column: usize,
    block: usize,
    /// Whether every row matches, which is known without decoding.
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

/// All slices with a text that matches; the hits of the page in detail.
///
/// # Errors
/// If bytes are missing or damaged; `Cancelled` if the work was cancelled.
pub fn find<B: Bytes>(
    segment: &Segment<B>,
    pattern: &Pattern,
    page: HitPage,
    work: Work<'_>,
) -> Result<Found> {
    if pattern.is_nothing() {
        return Ok(Found::default());
    }
    let chunks = work.gather(segment.chunk_count(), |chunk| search_chunk(segment, chunk, pattern, work))?;
    let matches = Matches::new(&chunks);
    let candidates = candidates(segment, &matches)?;
    let found =
        work.gather(candidates.len(), |at| search_block(segment, candidates[at], &matches, pattern, work))?;
    let found: Vec<BlockMatches> = found.into_iter().flatten().collect();
    let rows = rows_of(segment, &found);
    let (hits, before) = page::hit_page(segment, found, page, work)?;
    Ok(Found { hits, before, rows })
}

fn search_chunk<B: Bytes>(
    segment: &Segment<B>,
    chunk: usize,
    pattern: &Pattern,
    work: Work<'_>,
) -> Result<Box<ChunkBits>> {
    let mut bits = Box::new([0; CHUNK_TEXTS / WORD]);
    pattern.for_each_match(
        segment.chunk(chunk)?,
        || !work.cancel.is_cancelled(),
        |at| bits[at / WORD] |= 1 << (at % WORD),
    );
    Ok(bits)
}

/// The blocks to search, by column.
fn candidates<B: Bytes>(segment: &Segment<B>, matches: &Matches) -> Result<Vec<Candidate>> {
    let mut candidates = Vec::new();
    for (column, meta) in segment.footer().columns.iter().enumerate() {
        let is_text = matches!(meta.kind, ColumnType::LongText | ColumnType::LongJson);
        let of_slices = segment.footer().tables[usize::from(meta.table.0)].spec.kind == TableKind::Slices;
        if !of_slices || !is_text && (!meta.kind.is_code() || matches.is_empty()) {
            continue;
        }
        let blocks = segment.blocks(meta.table)?;
        let listed = meta.kind.is_code() && meta.postings.len > 0;
        if listed {
            let mut cursor = segment.cursor(meta.postings, "postings")?;
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
            let zones = segment.zones(column)?.iter();
            for (block, (zone, seen)) in zones.zip(segment.code_spans(column)?).enumerate() {
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

fn search_block<B: Bytes>(
    segment: &Segment<B>,
    of: Candidate,
    matches: &Matches,
    pattern: &Pattern,
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
    of: Candidate,
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

fn rows_of<B: Bytes>(segment: &Segment<B>, found: &[BlockMatches]) -> RoaringBitmap {
    let rows =
        segment.footer().tables.last().map_or(0, |table| table.first_row as usize + table.rows as usize);
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

/// A bit for each row.
fn bits_of(rows: usize, is_match: impl Fn(usize) -> bool) -> Vec<u64> {
    let word = |first: usize| {
        let of = first..rows.min(first + WORD);
        of.rev().fold(0, |word, at| word << 1 | u64::from(is_match(at)))
    };
    (0..rows).step_by(WORD).map(word).collect()
}
