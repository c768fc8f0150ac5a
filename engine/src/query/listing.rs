//! The rows of a table that a window shows, in the order of time.
//!
//! A merge over tracks reads the starts of a block only when the list reaches the block. The number
//! of all rows is counted from the block list, and only blocks at the edges of the window are
//! decoded for it. Memory is bounded by the limit, plus one block of starts a track.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::iter::Flatten;
use std::ops::Range;
use std::vec;

use rustc_hash::FxHashSet;

use crate::base::{Error, Interval, Result};
use crate::exec::Work;
use crate::model::{TableId, TableKind, TrackId};
use crate::segment::{BlockReader, Bytes, ColumnRole, Segment};

/// Selects rows of a table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RowFilter<'a> {
    /// Only rows that overlap this span.
    pub span: Option<Interval>,
    /// Only rows of these tracks.
    pub tracks: Option<&'a [TrackId]>,
}

/// The first rows of a table that a filter selects.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    /// Rows in the order of time, then of row numbers. Rows of side tables are in the order of row
    /// numbers.
    pub rows: Vec<ListedRow>,
    /// Number of rows that the filter selects.
    pub total: u64,
}

/// Position of a listed row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListedRow {
    /// Number of the row among all rows of the rank.
    pub row: u32,
    /// Block of the row, counted within the table.
    pub block: u32,
    /// Position of the row in its block.
    pub at: u32,
    /// Start, or time of a sample, in picoseconds; 0 in a side table.
    pub start_ps: i64,
}

/// The first rows of a table that a filter selects, at most `limit`.
///
/// # Errors
/// `Invalid` if there is no such table, or if it is a side table and the filter is not empty;
/// `Cancelled` if the work was cancelled; otherwise if bytes are missing or damaged.
pub fn list<B: Bytes>(
    segment: &Segment<B>,
    table: TableId,
    filter: RowFilter<'_>,
    limit: usize,
    work: Work<'_>,
) -> Result<Listing> {
    let unknown = Error::Invalid { what: "the table does not exist" };
    let meta = segment.footer().tables.get(usize::from(table.0)).ok_or(unknown)?;
    let list = Lister { segment, table, first_row: meta.first_row, window: filter.span };
    if meta.spec.kind == TableKind::Side {
        if filter != RowFilter::default() {
            return Err(Error::Invalid { what: "the rows of this table have no time and no track" });
        }
        return Ok(Listing { rows: list.side_rows(limit)?, total: u64::from(meta.rows) });
    }
    let wanted = filter.tracks.map(|wanted| wanted.iter().copied().collect::<FxHashSet<TrackId>>());
    let tracks: Vec<TrackId> = (0_u32..)
        .zip(&segment.footer().tracks)
        .filter(|(_, track)| track.rows > 0)
        .map(|(id, _)| TrackId(id))
        .filter(|id| segment.table_of(*id) == Some(table))
        .filter(|id| wanted.as_ref().is_none_or(|wanted| wanted.contains(id)))
        .collect();
    let counts = work.gather(tracks.len(), |at| list.count(tracks[at]))?;
    Ok(Listing { rows: list.merged(&tracks, limit, work)?, total: counts.iter().sum() })
}

struct Lister<'a, B> {
    segment: &'a Segment<B>,
    table: TableId,
    first_row: u32,
    window: Option<Interval>,
}

impl<'a, B: Bytes> Lister<'a, B> {
    fn listed(&self, block: usize, at: usize, start_ps: i64) -> Result<ListedRow> {
        let damaged = Error::Inconsistent { what: "a row beyond the numbers of rows" };
        let narrow = |number: usize| u32::try_from(number).map_err(|_| damaged);
        let (block, at) = (narrow(block)?, narrow(at)?);
        let first = self.segment.blocks(self.table)?.first_row(block as usize);
        let row = self.first_row.checked_add(first).and_then(|row| row.checked_add(at)).ok_or(damaged)?;
        Ok(ListedRow { row, block, at, start_ps })
    }

    fn side_rows(&self, limit: usize) -> Result<Vec<ListedRow>> {
        let blocks = self.segment.blocks(self.table)?;
        let rows = (0..blocks.len()).flat_map(|block| (0..blocks.rows(block)).map(move |at| (block, at)));
        rows.take(limit).map(|(block, at)| self.listed(block, at, 0)).collect()
    }

    /// Blocks of a track that can overlap the window.
    fn blocks(&self, track: TrackId) -> Result<Box<dyn Iterator<Item = usize> + 'a>> {
        let of_track = self.segment.blocks_of(track)?;
        let blocks = self.segment.blocks(self.table)?;
        Ok(match self.window {
            None => Box::new(of_track),
            Some(window) => Box::new(blocks.overlapping(of_track, window)),
        })
    }

    /// Whether the window shows all rows of a block, as far as the block list tells.
    fn shows_all(&self, block: usize) -> Result<bool> {
        let blocks = self.segment.blocks(self.table)?;
        let is_inside =
            |window: Interval| blocks.starts()[block] >= window.start.0 && blocks.end(block) < window.end.0;
        Ok(self.window.is_none_or(is_inside))
    }

    /// Number of rows of a track that the window shows.
    fn count(&self, track: TrackId) -> Result<u64> {
        let mut total = 0;
        for block in self.blocks(track)? {
            total += if self.shows_all(block)? {
                self.segment.blocks(self.table)?.rows(block) as u64
            } else {
                self.open(block)?.1.iter().map(|run| run.len() as u64).sum()
            };
        }
        Ok(total)
    }

    /// Starts of the rows of a block, and the runs of rows that the window shows.
    fn open(&self, block: usize) -> Result<(Vec<i64>, Vec<Range<usize>>)> {
        let mut reader = BlockReader::new(self.segment, self.table, block)?;
        let starts = reader.core_ints(ColumnRole::Start)?;
        let all = 0..starts.len();
        let runs = match self.window {
            Some(window) if !self.shows_all(block)? => {
                let durations = match self.segment.column(self.table, ColumnRole::Duration) {
                    Some(_) => reader.core_ints(ColumnRole::Duration)?,
                    None => vec![0; starts.len()],
                };
                window.runs_of(&starts, &durations)
            }
            _ => vec![all],
        };
        Ok((starts, runs))
    }

    /// The first rows of all tracks together.
    fn merged(&self, tracks: &[TrackId], limit: usize, work: Work<'_>) -> Result<Vec<ListedRow>> {
        let mut cursors = Vec::new();
        let mut heads = BinaryHeap::new();
        for &track in tracks {
            let mut cursor = ListingCursor { list: self, blocks: self.blocks(track)?, open: None };
            if let Some(head) = cursor.next_block()? {
                heads.push(Reverse((head.start_ps, head.row, cursors.len())));
                cursors.push((cursor, head));
            }
        }
        let mut rows = Vec::new();
        while let Some(Reverse((.., at))) = heads.pop() {
            let (cursor, head) = &mut cursors[at];
            let next = if cursor.open.is_some() {
                if rows.len() == limit {
                    break;
                }
                rows.push(*head);
                cursor.next_row()?
            } else {
                // The head stands for a block that is not decoded yet.
                work.cancel.check()?;
                cursor.decode(head.block as usize)?
            };
            if let Some(next) = next {
                *head = next;
                heads.push(Reverse((next.start_ps, next.row, at)));
            }
        }
        Ok(rows)
    }
}

/// Reads a track forward.
struct ListingCursor<'a, B> {
    list: &'a Lister<'a, B>,
    blocks: Box<dyn Iterator<Item = usize> + 'a>,
    /// The block that is being listed.
    open: Option<OpenBlock>,
}

struct OpenBlock {
    block: usize,
    starts: Vec<i64>,
    rows: Flatten<vec::IntoIter<Range<usize>>>,
}

impl<B: Bytes> ListingCursor<'_, B> {
    /// The first row of the next block, which is not decoded yet. Rows that the window shows are
    /// not before it.
    fn next_block(&mut self) -> Result<Option<ListedRow>> {
        self.open = None;
        let Some(block) = self.blocks.next() else { return Ok(None) };
        let start_ps = self.list.segment.blocks(self.list.table)?.starts()[block];
        self.list.listed(block, 0, start_ps).map(Some)
    }

    /// Decodes a block, and returns its first row that the window shows, or else the next block.
    fn decode(&mut self, block: usize) -> Result<Option<ListedRow>> {
        let (starts, runs) = self.list.open(block)?;
        self.open = Some(OpenBlock { block, starts, rows: runs.into_iter().flatten() });
        self.next_row()
    }

    fn next_row(&mut self) -> Result<Option<ListedRow>> {
        let row = self.open.as_mut().and_then(|open| Some((open.rows.next()?, open)));
        match row {
            Some((at, open)) => self.list.listed(open.block, at, open.starts[at]).map(Some),
            None => self.next_block(),
        }
    }
}
