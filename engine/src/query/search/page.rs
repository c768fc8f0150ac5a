//! A page of hits: the nearest hits before and after a place, in order of time, and the number of
//! hits before them.
//!
//! Hits are known as bits of blocks. The block list gives the range of start times of a block. Only
//! blocks that contain the place and the nearest blocks have their starts decoded. Hits of other
//! blocks are counted by their bits.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::BlockMatches;
use crate::base::Result;
use crate::base::order::sort_by_key;
use crate::exec::Work;
use crate::model::TableId;
use crate::segment::{Bytes, ColumnRole, Segment};

/// A place in the order of hits, by start and then row. A hit at exactly this start and row comes
/// after the place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HitPlace {
    /// A time since the profile's origin, in picoseconds.
    pub start_ps: i64,
    /// Among slices that start at that time, slices in lower rows come before the place.
    pub row: u32,
}

impl HitPlace {
    /// Before all hits.
    pub const FIRST: Self = Self { start_ps: i64::MIN, row: 0 };
    /// After all hits.
    pub const LAST: Self = Self { start_ps: i64::MAX, row: u32::MAX };
}

/// The hits to describe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HitPage {
    /// The place that the page surrounds.
    pub at: HitPlace,
    /// Maximum number of hits before the place, the nearest ones.
    pub before: usize,
    /// Maximum number of hits after the place.
    pub after: usize,
}

impl HitPage {
    /// The first `limit` hits.
    #[must_use]
    pub fn first(limit: usize) -> Self {
        Self::after(HitPlace::FIRST, limit)
    }

    /// The next `limit` hits after a place.
    #[must_use]
    pub fn after(at: HitPlace, limit: usize) -> Self {
        Self { at, before: 0, after: limit }
    }

    /// The last `limit` hits before a place.
    #[must_use]
    pub fn before(at: HitPlace, limit: usize) -> Self {
        Self { at, before: limit, after: 0 }
    }

    /// `limit` hits, half of them before the place.
    #[must_use]
    pub fn around(at: HitPlace, limit: usize) -> Self {
        Self { at, before: limit / 2, after: limit.div_ceil(2) }
    }
}

/// A slice that matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SearchMatch {
    /// Start of the slice.
    pub start_ps: i64,
    /// Row of the slice.
    pub row: u32,
    /// The column with the text: the name or a field; the first if there are several.
    pub role: ColumnRole,
}

impl SearchMatch {
    fn place(&self) -> HitPlace {
        HitPlace { start_ps: self.start_ps, row: self.row }
    }
}

/// All matches of one block.
struct BlockHits<'a> {
    table: TableId,
    block: usize,
    /// No slice of the block starts before this.
    start_ps: i64,
    /// No slice of the block starts after this.
    until_ps: i64,
    /// Matches by column, in the order of columns.
    columns: &'a [BlockMatches],
}

impl BlockHits<'_> {
    /// Number of rows that match.
    fn count(&self) -> u64 {
        let word = |at: usize| self.columns.iter().fold(0, |word, of| word | of.bits[at]);
        (0..self.columns[0].bits.len()).map(|at| u64::from(word(at).count_ones())).sum()
    }

    fn straddles(&self, at: HitPlace) -> bool {
        self.start_ps <= at.start_ps && at.start_ps <= self.until_ps
    }
}

/// The hits of a page in order, and the number of hits before the first one.
pub(super) fn hit_page<B: Bytes>(
    segment: &Segment<B>,
    mut found: Vec<BlockMatches>,
    page: HitPage,
    work: Work<'_>,
) -> Result<(Vec<SearchMatch>, u64)> {
    let of_block = |of: &BlockMatches| (segment.footer().columns[of.of.column].table, of.of.block);
    sort_by_key(&mut found, |of| (of_block(of), of.of.column));
    let groups: Result<Vec<BlockHits<'_>>> = found
        .chunk_by(|a, b| of_block(a) == of_block(b))
        .map(|columns| {
            let (table, block) = of_block(&columns[0]);
            let list = segment.blocks(table)?;
            let (start_ps, until_ps) = (list.starts()[block], list.end(block));
            Ok(BlockHits { table, block, start_ps, until_ps, columns })
        })
        .collect();
    let groups = groups?;
    let mut hits = hits_before(segment, &groups, page)?;
    let before = count_before(segment, &groups, page.at, work)?.saturating_sub(hits.len() as u64);
    hits.extend(hits_after(segment, &groups, page)?);
    Ok((hits, before))
}

/// Number of hits before a place.
fn count_before<B: Bytes>(
    segment: &Segment<B>,
    groups: &[BlockHits<'_>],
    at: HitPlace,
    work: Work<'_>,
) -> Result<u64> {
    let straddling: Vec<&BlockHits<'_>> = groups.iter().filter(|group| group.straddles(at)).collect();
    let of_straddling = work.gather(straddling.len(), |number| {
        let mut count = 0;
        each_hit(segment, straddling[number], |hit| count += u64::from(hit.place() < at))?;
        Ok(count)
    })?;
    let earlier = groups.iter().filter(|group| group.until_ps < at.start_ps);
    Ok(earlier.map(BlockHits::count).chain(of_straddling).sum())
}

fn hits_after<B: Bytes>(
    segment: &Segment<B>,
    groups: &[BlockHits<'_>],
    page: HitPage,
) -> Result<Vec<SearchMatch>> {
    let mut groups: Vec<_> = groups.iter().filter(|group| group.until_ps >= page.at.start_ps).collect();
    sort_by_key(&mut groups, |group| group.start_ps);
    // The last of the nearest hits is on top.
    let mut nearest: BinaryHeap<SearchMatch> = BinaryHeap::new();
    for group in groups {
        // A block that starts after the last hit cannot contribute, and neither can later
        // blocks.
        let is_past = nearest.peek().is_none_or(|last| group.start_ps > last.start_ps);
        if nearest.len() >= page.after && is_past {
            break;
        }
        each_hit(segment, group, |hit| {
            if hit.place() >= page.at {
                nearest.push(hit);
                if nearest.len() > page.after {
                    nearest.pop();
                }
            }
        })?;
    }
    Ok(nearest.into_sorted_vec())
}

fn hits_before<B: Bytes>(
    segment: &Segment<B>,
    groups: &[BlockHits<'_>],
    page: HitPage,
) -> Result<Vec<SearchMatch>> {
    let mut groups: Vec<_> = groups.iter().filter(|group| group.start_ps <= page.at.start_ps).collect();
    sort_by_key(&mut groups, |group| Reverse(group.until_ps));
    // The first of the nearest hits is on top.
    let mut nearest: BinaryHeap<Reverse<SearchMatch>> = BinaryHeap::new();
    for group in groups {
        let is_past = nearest.peek().is_none_or(|Reverse(first)| group.until_ps < first.start_ps);
        if nearest.len() >= page.before && is_past {
            break;
        }
        each_hit(segment, group, |hit| {
            if hit.place() < page.at {
                nearest.push(Reverse(hit));
                if nearest.len() > page.before {
                    nearest.pop();
                }
            }
        })?;
    }
    Ok(nearest.into_sorted_vec().into_iter().rev().map(|Reverse(hit)| hit).collect())
}

/// Decodes the starts of a block and calls `each` with its hits, in row order.
fn each_hit<B: Bytes>(
    segment: &Segment<B>,
    group: &BlockHits<'_>,
    mut each: impl FnMut(SearchMatch),
) -> Result<()> {
    let starts = segment.core_ints(group.table, ColumnRole::Start, group.block)?;
    for ((at, &start_ps), row) in starts.iter().enumerate().zip(group.columns[0].first_row..) {
        if let Some(of) = group.columns.iter().find(|of| of.has(at)) {
            each(SearchMatch { start_ps, row, role: segment.footer().columns[of.of.column].role });
        }
    }
    Ok(())
}
