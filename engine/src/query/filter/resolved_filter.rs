//! The rows that a query finds.
//!
//! Texts are found as in a search: in the dictionary, then by postings. Numbers are compared block
//! by block; zone maps tell which blocks can have any that pass.

use roaring::RoaringBitmap;

use super::filter_scope::FilterScope;
use super::grammar;
use super::resolved_test::{ResolvedTest, TestedColumn};
use crate::base::Result;
use crate::block::{BlockValues, ColumnType, ZoneMap};
use crate::exec::Work;
use crate::model::TableKind;
use crate::query::search::{self, HitPage, PatternError, SearchHits, SearchPattern};
use crate::segment::{BlockReader, Bytes, Segment};

/// A query whose fields and numbers are those of a segment.
#[derive(Debug, Clone)]
pub struct ResolvedFilter {
    words: Vec<ResolvedWord>,
}

#[derive(Debug, Clone)]
struct ResolvedWord {
    excludes: bool,
    test: ResolvedTest,
}

/// The slices with a text that matches.
impl From<SearchPattern> for ResolvedFilter {
    fn from(pattern: SearchPattern) -> Self {
        Self { words: vec![ResolvedWord { excludes: false, test: ResolvedTest::Text(pattern) }] }
    }
}

impl ResolvedFilter {
    /// Looks up the fields of a query. A word that means nothing on this rank is an error.
    pub fn new<B: Bytes>(
        segment: &Segment<B>,
        query: &str,
        scope: &FilterScope<'_>,
    ) -> Result<Self, PatternError> {
        let (filter, faults) = Self::of_some_rank(segment, query, scope)?;
        faults.into_iter().next().map_or(Ok(filter), Err)
    }

    /// Looks up the fields of a query about several ranks. A word that means nothing on this rank
    /// finds nothing there; such words come back as faults.
    pub fn of_some_rank<B: Bytes>(
        segment: &Segment<B>,
        query: &str,
        scope: &FilterScope<'_>,
    ) -> Result<(Self, Vec<PatternError>), PatternError> {
        let (mut words, mut faults) = (Vec::new(), Vec::new());
        for (at, word) in grammar::words(query)? {
            let test = ResolvedTest::new(segment, &word.test, scope).unwrap_or_else(|what| {
                faults.push(PatternError { at: Some(at), what });
                ResolvedTest::All(false)
            });
            words.push(ResolvedWord { excludes: word.excludes, test });
        }
        Ok((Self { words }, faults))
    }

    /// The slices that the query finds; the hits of the page in detail. An empty query finds
    /// nothing.
    pub fn find<B: Bytes>(&self, segment: &Segment<B>, page: HitPage, work: Work<'_>) -> Result<SearchHits> {
        // The fields of the hits of a single text are named.
        if let [ResolvedWord { excludes: false, test: ResolvedTest::Text(pattern) }] = &self.words[..] {
            return search::find(segment, pattern, page, work);
        }
        search::hits_of(segment, self.rows(segment, work)?, page, work)
    }

    /// The rows of the slices that the query finds. An empty query finds nothing.
    pub fn rows<B: Bytes>(&self, segment: &Segment<B>, work: Work<'_>) -> Result<RoaringBitmap> {
        if self.words.is_empty() {
            return Ok(RoaringBitmap::new());
        }
        let mut rows = all_slices(segment);
        for ResolvedWord { excludes, test } in &self.words {
            let found = rows_of(segment, test, work)?;
            match excludes {
                true => rows -= found,
                false => rows &= found,
            }
        }
        Ok(rows)
    }
}

fn all_slices<B: Bytes>(segment: &Segment<B>) -> RoaringBitmap {
    let mut rows = RoaringBitmap::new();
    for table in segment.footer().tables.iter().filter(|table| table.spec.kind == TableKind::Slices) {
        rows.insert_range(table.first_row..table.first_row.saturating_add(table.rows));
    }
    rows
}

fn rows_of<B: Bytes>(segment: &Segment<B>, test: &ResolvedTest, work: Work<'_>) -> Result<RoaringBitmap> {
    match test {
        ResolvedTest::All(true) => Ok(all_slices(segment)),
        ResolvedTest::All(false) => Ok(RoaringBitmap::new()),
        ResolvedTest::Text(pattern) => search::rows(segment, pattern, &|_| true, work),
        ResolvedTest::Columns { pattern, texts, numbers } => {
            let mut rows = match pattern {
                Some(pattern) if !texts.is_empty() => {
                    search::rows(segment, pattern, &|column| texts.contains(&column), work)?
                }
                _ => RoaringBitmap::new(),
            };
            for tested in numbers {
                rows |= rows_of_numbers(segment, tested, work)?;
            }
            Ok(rows)
        }
        ResolvedTest::Tracks(tracks) => {
            let mut rows = RoaringBitmap::new();
            for track in tracks {
                let of = &segment.footer().tracks[track.0 as usize];
                rows.insert_range(of.first_row..of.first_row.saturating_add(of.rows));
            }
            Ok(rows & all_slices(segment))
        }
    }
}

/// The rows with a number that passes.
fn rows_of_numbers<B: Bytes>(
    segment: &Segment<B>,
    tested: &TestedColumn,
    work: Work<'_>,
) -> Result<RoaringBitmap> {
    let TestedColumn { column, test, .. } = tested;
    let column = *column;
    let zones = segment.zones(column)?;
    let can_pass = |zone: &ZoneMap| match *zone {
        ZoneMap::None => true,
        // Large unsigned numbers are stored as negative ones.
        ZoneMap::Ints { min, max } => {
            let is_unsigned = segment.kind(column) == ColumnType::Uint && min < 0;
            is_unsigned || test.meets_wholes(tested.number(min), tested.number(max))
        }
        ZoneMap::Floats { min, max } => test.meets(min, max),
    };
    let blocks: Vec<usize> = (0..zones.len()).filter(|&block| can_pass(&zones[block])).collect();
    let found = work.gather(blocks.len(), |at| block_numbers(segment, tested, blocks[at]))?;
    let mut rows = RoaringBitmap::new();
    for (first_row, found) in found {
        // A bitmap is filled fastest by runs of rows.
        let mut passed = found.iter().enumerate().peekable();
        while let Some((start, passes)) = passed.next() {
            if *passes {
                let mut end = start + 1;
                while passed.next_if(|(_, passes)| **passes).is_some() {
                    end += 1;
                }
                rows.insert_range(first_row + start as u32..first_row + end as u32);
            }
        }
    }
    Ok(rows)
}

/// The first row of a block, and for each row whether its number passes.
fn block_numbers<B: Bytes>(
    segment: &Segment<B>,
    tested: &TestedColumn,
    block: usize,
) -> Result<(u32, Vec<bool>)> {
    let TestedColumn { column, test, .. } = tested;
    let column = *column;
    let table = segment.footer().columns[column].table;
    let first_row =
        segment.footer().tables[usize::from(table.0)].first_row + segment.blocks(table)?.first_row(block);
    let mut reader = BlockReader::new(segment, table, block)?;
    let rows = reader.rows();
    let Some(values) = reader.column(column)? else { return Ok((first_row, Vec::new())) };
    let is_unsigned = segment.kind(column) == ColumnType::Uint;
    let passes: Vec<bool> = match values.values() {
        BlockValues::Ints(ints) if is_unsigned => {
            ints.iter().map(|value| test.has_whole(value.cast_unsigned().into())).collect()
        }
        BlockValues::Ints(ints) => ints.iter().map(|value| test.has_whole(tested.number(*value))).collect(),
        BlockValues::Floats(floats) => floats.iter().map(|value| test.has(*value)).collect(),
        BlockValues::Texts(_) => return Ok((first_row, Vec::new())),
    };
    Ok((first_row, (0..rows).map(|at| values.slot(at).is_some_and(|slot| passes[slot])).collect()))
}
