//! What follows from the arrivals at an operation: how late a call was, how long it waited, what
//! waiting it caused, and which calls it waited for. A joint segment does not store it, because it
//! would double its size. It is computed for one call when it is asked for: a block or two of each
//! rank.

use super::awaited::awaited_of;
use super::{STEP_PS, shown};
use crate::analysis::Member;
use crate::analysis::arrival::{Arrival, judge};
use crate::analysis::clock::line::rounded;
use crate::base::{Interval, Result};
use crate::model::{CollectiveKind, TableId, TrackId};
use crate::query::slice;
use crate::segment::{Bytes, Segment};
use crate::tile::block_slices;
use crate::vendor::FieldColumns;
use crate::vendor::joint::schema::{CALLS, OPERATIONS};
use crate::vendor::joint::{SOURCE, rank_of};

/// Facts about a call of a joint segment. Times are in picoseconds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Derived {
    /// Time from the first arrival at the operation to this one.
    pub late_ps: i64,
    /// Time that the rank waited.
    pub wait_ps: i64,
    /// Waiting of other ranks for this one, shared among all that had not come.
    pub blame_ps: i64,
    /// For a wait the row of the call that ended it.
    pub awaited: Option<u32>,
    /// For the call that ended waits their rows.
    pub waiting: Vec<u32>,
}

/// A slice of an operation.
#[derive(Debug, Clone, Copy)]
struct Part {
    row: u32,
    start_ps: i64,
    end_ps: i64,
}

/// The slices of a rank in an operation: the wait, if there is one, and the transfer.
#[derive(Debug)]
struct RankParts {
    rank: u32,
    parts: Vec<Part>,
}

/// The derived facts about a row. `None` for rows that are no calls of a joint segment.
///
/// # Errors
/// If bytes are missing or damaged.
pub fn of_call<B: Bytes>(segment: &Segment<B>, row: u32) -> Result<Option<Derived>> {
    let footer = segment.footer();
    let Some(track) = segment.track_of(row).filter(|&track| rank_of(footer, track).is_some()) else {
        return Ok(None);
    };
    let calls = Finder::new(segment, CALLS.name)?;
    let at = slice::read(segment, row)?;
    let Some(number) = calls.number_of(row)? else { return Ok(None) };
    let around = span(at.slice.start_ps, at.end_ps());
    let Some(operation) = operation_of(segment, number, around)? else { return Ok(None) };
    let mut ranks = Vec::new();
    for (track, rank) in calls.tracks().filter_map(|track| Some((track, rank_of(footer, track)?))) {
        let parts = calls.parts(track, number, operation.span)?;
        if !parts.is_empty() {
            ranks.push(RankParts { rank, parts });
        }
    }
    Ok(derived(&ranks, &operation, (rank_of(footer, track), row)))
}

/// Times up to and with those before and after: slices that touch it overlap it.
fn span(start_ps: i64, end_ps: i64) -> Interval {
    Interval::new(shown(start_ps).saturating_sub(1), end_ps.saturating_add(STEP_PS))
}

fn derived(ranks: &[RankParts], operation: &Whole, (rank, row): (Option<u32>, u32)) -> Option<Derived> {
    let mut arrivals: Vec<Arrival> = (0..)
        .zip(ranks)
        .map(|(at, of)| Arrival {
            member: Member { rank: at, call: 0 },
            start_ps: of.parts.iter().map(|part| part.start_ps).min().unwrap_or_default(),
            end_ps: of.parts.iter().map(|part| part.end_ps).max().unwrap_or_default(),
            wait_ps: 0,
            blame_ps: 0.0,
        })
        .collect();
    let root = ranks.iter().position(|of| Some(of.rank) == operation.root);
    judge(&mut arrivals, operation.kind, root);
    let own = ranks.iter().position(|of| Some(of.rank) == rank)?;
    let one = &arrivals[own];
    let first_ps = arrivals.iter().map(|other| other.start_ps).min()?;
    let mut derived = Derived {
        late_ps: one.start_ps.saturating_sub(first_ps),
        wait_ps: one.wait_ps,
        blame_ps: rounded(one.blame_ps),
        ..Derived::default()
    };
    let wait_of = |of: &RankParts| match of.parts[..] {
        [wait, _] => Some(wait.row),
        _ => None,
    };
    if let Some(awaited) = awaited_of(&arrivals, operation.kind, root) {
        let cause = ranks[awaited].parts.last().map(|part| part.row);
        if wait_of(&ranks[own]) == Some(row) {
            derived.awaited = cause;
        } else if cause == Some(row) {
            derived.waiting = ranks.iter().filter_map(wait_of).collect();
        }
    }
    Some(derived)
}

/// An operation over all ranks.
#[derive(Debug)]
struct Whole {
    span: Interval,
    kind: CollectiveKind,
    root: Option<u32>,
}

/// The operation with this number, which a call at this time has.
fn operation_of<B: Bytes>(segment: &Segment<B>, number: i64, at: Interval) -> Result<Option<Whole>> {
    let operations = Finder::new(segment, OPERATIONS.name)?;
    for track in operations.tracks() {
        let parts = operations.parts(track, number, at)?;
        let Some(part) = parts.last() else { continue };
        // The wait comes right before the transfer, and only the transfer has all fields.
        let whole = operations.parts(track, number, span(part.start_ps, part.end_ps))?;
        let (Some(first), Some(last)) = (whole.first(), whole.last()) else { continue };
        let (kind, root) = operations.kind_of(last.row)?;
        return Ok(Some(Whole { span: span(first.start_ps, last.end_ps), kind, root }));
    }
    Ok(None)
}

/// Finds slices of a table by the number of their operation.
struct Finder<'s, B> {
    segment: &'s Segment<B>,
    table: TableId,
    numbers: FieldColumns<1>,
}

impl<'s, B: Bytes> Finder<'s, B> {
    fn new(segment: &'s Segment<B>, table: &'static str) -> Result<Self> {
        debug_assert_eq!(segment.footer().rank.source, SOURCE);
        let missing = crate::base::Error::Inconsistent { what: "a joint segment without its tables" };
        let table = segment.table(table).ok_or(missing)?;
        Ok(Self { segment, table, numbers: FieldColumns::of(segment, table, ["operation"]) })
    }

    /// The tracks of the table.
    fn tracks(&self) -> impl Iterator<Item = TrackId> + use<'_, 's, B> {
        let footer = self.segment.footer();
        let ids = (0_u32..).zip(&footer.tracks).filter(|(_, track)| track.rows > 0);
        ids.map(|(id, _)| TrackId(id)).filter(|&id| footer.table_of(id) == Some(self.table))
    }

    /// The number of the operation of a row.
    fn number_of(&self, row: u32) -> Result<Option<i64>> {
        let place = self.segment.place(row)?;
        Ok(self.numbers.block(self.segment, place.block)?.int(0, place.at))
    }

    /// Kind and root of the operation in this row.
    fn kind_of(&self, row: u32) -> Result<(CollectiveKind, Option<u32>)> {
        let place = self.segment.place(row)?;
        let fields = FieldColumns::of(self.segment, self.table, ["kind", "root"]);
        let fields = fields.block(self.segment, place.block)?;
        let name = fields.text(self.segment, 0, place.at)?;
        let kind = CollectiveKind::ALL.into_iter().find(|kind| kind.name() == name);
        let root = fields.int(1, place.at).and_then(|root| u32::try_from(root).ok());
        Ok((kind.unwrap_or(CollectiveKind::Other), root))
    }

    /// The slices of an operation on a track that overlap a time, by start.
    fn parts(&self, track: TrackId, number: i64, at: Interval) -> Result<Vec<Part>> {
        let mut parts = Vec::new();
        let blocks = self.segment.blocks_of(track)?;
        for block in self.segment.blocks(self.table)?.overlapping(blocks, at) {
            let numbers = self.numbers.block(self.segment, block)?;
            let rows = self.segment.blocks(self.table)?.rows(block);
            if (0..rows).all(|row| numbers.int(0, row) != Some(number)) {
                continue;
            }
            let mut place = 0;
            block_slices(self.segment, self.table, block, |slice| {
                let end_ps = slice.start_ps.saturating_add(slice.duration_ps);
                if numbers.int(0, place) == Some(number) && at.overlaps(slice.start_ps, end_ps) {
                    parts.push(Part { row: slice.row, start_ps: slice.start_ps, end_ps });
                }
                place += 1;
            })?;
        }
        parts.sort_unstable_by_key(|part| (part.start_ps, part.end_ps, part.row));
        Ok(parts)
    }
}
