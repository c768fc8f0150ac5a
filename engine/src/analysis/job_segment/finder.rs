//! Finds the slices of an operation in a job segment by its number: on the row of its kind, and
//! on the rows of its ranks.

use super::{STEP_PS, shown};
use crate::base::order::sort_by_key;
use crate::base::{Error, Interval, Result};
use crate::makers::FieldColumns;
use crate::makers::job::schema::{CALLS, CallRow, OPERATIONS, TRANSFERS, TransferRow};
use crate::makers::job::{is_job, rank_of};
use crate::model::{CollectiveKind, TableId, TrackId};
use crate::query::slice;
use crate::segment::{Bytes, Segment};
use crate::tile::block_slices;

/// Direction of a step from an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sense {
    /// To the next operation of its communicator and kind.
    Next,
    /// To the previous one.
    Previous,
}

/// A transfer within an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OperationSend {
    /// Row of its slice.
    pub row: u32,
    /// Number of the rank that sends.
    pub from: u32,
    /// Number of the rank that receives.
    pub to: u32,
    /// Start of the send.
    pub sent_ps: i64,
    /// The time when the other rank has the data. Wrong clocks can put it before the send.
    pub received_ps: i64,
}

/// A slice of an operation.
#[derive(Debug, Clone, Copy)]
pub(super) struct OperationPart {
    pub(super) row: u32,
    pub(super) start_ps: i64,
    pub(super) end_ps: i64,
    /// Row of the call in the timeline of its rank. Only slices of calls have it.
    pub(super) call: u32,
}

/// The slices of a rank in an operation: the wait, if there is one, and the transfer.
#[derive(Debug)]
pub(super) struct RankParts {
    pub(super) rank: u32,
    pub(super) parts: Vec<OperationPart>,
}

/// An operation over all ranks.
#[derive(Debug)]
pub(super) struct WholeOperation {
    /// The row of its communicator and kind.
    pub(super) track: TrackId,
    pub(super) number: i64,
    /// Row of the slice with all fields.
    pub(super) row: u32,
    pub(super) span: Interval,
    pub(super) kind: CollectiveKind,
    pub(super) root: Option<u32>,
    /// Empty if it is not known.
    pub(super) algorithm: String,
}

/// Times up to and with those before and after: slices that touch it overlap it.
fn span(start_ps: i64, end_ps: i64) -> Interval {
    Interval::new(shown(start_ps).saturating_sub(1), end_ps.saturating_add(STEP_PS))
}

/// The operation to which a row belongs, as its own slice or as a call. `None` for other rows.
pub(super) fn operation_at<B: Bytes>(segment: &Segment<B>, row: u32) -> Result<Option<WholeOperation>> {
    let footer = segment.footer();
    let Some(track) = segment.track_of(row).filter(|_| is_job(footer)) else {
        return Ok(None);
    };
    let table = footer.table_of(track);
    let is_in = |name: &&str| table.is_some() && table == segment.table(name);
    let names = [OPERATIONS.name, CALLS.name, TRANSFERS.name];
    let Some(name) = names.into_iter().find(is_in) else { return Ok(None) };
    let at = slice::read(segment, row)?;
    let Some(number) = OperationFinder::new(segment, name)?.number_of(row)? else { return Ok(None) };
    let only = (name == OPERATIONS.name).then_some(track);
    operation_of(segment, number, Interval::new(at.slice.start_ps, at.end_ps()), only)
}

/// The operation with this number, of which a slice or a call has these times. `only` is its track,
/// if that is known.
pub(super) fn operation_of<B: Bytes>(
    segment: &Segment<B>,
    number: i64,
    during: Interval,
    only: Option<TrackId>,
) -> Result<Option<WholeOperation>> {
    let operations = OperationFinder::new(segment, OPERATIONS.name)?;
    for track in operations.tracks().filter(|track| only.is_none_or(|only| only == *track)) {
        let parts = operations.parts(track, number, span(during.start.0, during.end.0))?;
        let Some(part) = parts.last() else { continue };
        // The wait comes right before the transfer, and only the transfer has all fields.
        let whole = operations.parts(track, number, span(part.start_ps, part.end_ps))?;
        let (Some(first), Some(last)) = (whole.first(), whole.last()) else { continue };
        let (kind, root, algorithm) = operations.kind_of(last.row)?;
        let span = span(first.start_ps, last.end_ps);
        return Ok(Some(WholeOperation { track, number, row: last.row, span, kind, root, algorithm }));
    }
    Ok(None)
}

/// The slices of all ranks in an operation, in the order of tracks.
pub(super) fn ranks_of<B: Bytes>(segment: &Segment<B>, operation: &WholeOperation) -> Result<Vec<RankParts>> {
    let (calls, footer) = (OperationFinder::new(segment, CALLS.name)?, segment.footer());
    let mut ranks = Vec::new();
    for (track, rank) in calls.tracks().filter_map(|track| Some((track, rank_of(footer, track)?))) {
        let parts = calls.parts(track, operation.number, operation.span)?;
        if !parts.is_empty() {
            ranks.push(RankParts { rank, parts });
        }
    }
    Ok(ranks)
}

/// The transfers of an operation, in the order of tracks.
pub(super) fn sends_of<B: Bytes>(
    segment: &Segment<B>,
    operation: &WholeOperation,
) -> Result<Vec<OperationSend>> {
    // Only jobs whose traces have transfers have the table.
    let Some(table) = segment.table(TRANSFERS.name) else { return Ok(Vec::new()) };
    let (finder, of) = (OperationFinder::new(segment, TRANSFERS.name)?, TransferRow::by(|field| field.name));
    let fields = FieldColumns::of(segment, table, [of.from_rank, of.to_rank, of.received]);
    // With wrong clocks a transfer can lie beside its operation.
    let (span, length_ps) = (operation.span, operation.span.duration_ps());
    let near = Interval::new(span.start.0.saturating_sub(length_ps), span.end.0.saturating_add(length_ps));
    let mut found = Vec::new();
    for track in finder.tracks() {
        for part in finder.parts(track, operation.number, near)? {
            let place = segment.place(part.row)?;
            let fields = fields.block(segment, place.block)?;
            let rank = |field| fields.int(field, place.at).and_then(|rank| u32::try_from(rank).ok());
            let (Some(from), Some(to), Some(took)) = (rank(0), rank(1), fields.int(2, place.at)) else {
                continue;
            };
            let (row, sent_ps) = (part.row, part.start_ps);
            found.push(OperationSend { row, from, to, sent_ps, received_ps: sent_ps.saturating_add(took) });
        }
    }
    Ok(found)
}

/// Finds slices of a table by the number of their operation.
pub(super) struct OperationFinder<'s, B> {
    segment: &'s Segment<B>,
    table: TableId,
    /// Number of the operation, and row of the call.
    numbers: FieldColumns<2>,
}

impl<'s, B: Bytes> OperationFinder<'s, B> {
    pub(super) fn new(segment: &'s Segment<B>, table: &'static str) -> Result<Self> {
        debug_assert!(is_job(segment.footer()));
        let missing = Error::Inconsistent { what: "a job segment without its tables" };
        let table = segment.table(table).ok_or(missing)?;
        // Tables of calls and of transfers have the same two fields.
        let of = CallRow::by(|field| field.name);
        Ok(Self { segment, table, numbers: FieldColumns::of(segment, table, [of.operation, of.row]) })
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

    /// Kind, root and algorithm of the operation in this row.
    fn kind_of(&self, row: u32) -> Result<(CollectiveKind, Option<u32>, String)> {
        let place = self.segment.place(row)?;
        let fields = FieldColumns::of(self.segment, self.table, ["kind", "root", "algorithm"]);
        let fields = fields.block(self.segment, place.block)?;
        let name = fields.text(self.segment, 0, place.at)?;
        let kind = CollectiveKind::from_name(name);
        let root = fields.int(1, place.at).and_then(|root| u32::try_from(root).ok());
        let algorithm = fields.text(self.segment, 2, place.at)?.to_owned();
        Ok((kind.unwrap_or(CollectiveKind::Other), root, algorithm))
    }

    /// The slices of an operation on a track that overlap a time, by start.
    pub(super) fn parts(&self, track: TrackId, number: i64, at: Interval) -> Result<Vec<OperationPart>> {
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
                    let call = numbers.int(1, place).and_then(|row| u32::try_from(row).ok());
                    let (row, start_ps) = (slice.row, slice.start_ps);
                    parts.push(OperationPart { row, start_ps, end_ps, call: call.unwrap_or_default() });
                }
                place += 1;
            })?;
        }
        sort_by_key(&mut parts, |part| (part.start_ps, part.end_ps, part.row));
        Ok(parts)
    }

    /// The slice with the number that is nearest to one on the same track, in a direction. Numbers
    /// grow along a track, but operations that overlap mix their slices. So the block after the
    /// first one with such a number is searched, too.
    pub(super) fn beside(&self, row: u32, number: i64, sense: Sense) -> Result<Option<(i64, u32)>> {
        let Some(track) = self.segment.track_of(row) else { return Ok(None) };
        let (blocks, own) = (self.segment.blocks_of(track)?, self.segment.place(row)?.block);
        let list = self.segment.blocks(self.table)?;
        let first_row = self.segment.footer().tables[usize::from(self.table.0)].first_row;
        let order: Vec<usize> = match sense {
            // A wait stands before its transfer, perhaps in the block before.
            Sense::Next => (own.saturating_sub(1).max(blocks.start)..blocks.end).collect(),
            Sense::Previous => (blocks.start..own + 1).rev().collect(),
        };
        let mut best = None::<(i64, u32)>;
        for block in order {
            let is_last = best.is_some();
            let numbers = self.numbers.block(self.segment, block)?;
            let rows = (first_row.saturating_add(list.first_row(block))..).zip(0..list.rows(block));
            for found in rows.filter_map(|(row, place)| Some((numbers.int(0, place)?, row))) {
                let is_nearer = match sense {
                    Sense::Next => found.0 > number && best.is_none_or(|best| found < best),
                    Sense::Previous => found.0 < number && best.is_none_or(|best| found > best),
                };
                if is_nearer {
                    best = Some(found);
                }
            }
            if is_last {
                break;
            }
        }
        Ok(best)
    }
}
