//! Steps from an operation to the one before or after it, of the same communicator and kind.

use super::finder::{OperationFinder, Sense, operation_at, operation_of};
use crate::base::{Interval, Result};
use crate::makers::job::rank_of;
use crate::makers::job::schema::{CALLS, OPERATIONS};
use crate::query::slice;
use crate::segment::{Bytes, Segment};

/// The operation beside that of a row: the row of its transfer, or of the call of the same rank.
/// Operations that lack a call of the rank are passed over. `None` if there is none, and for rows
/// that belong to no operation.
pub fn beside<B: Bytes>(segment: &Segment<B>, row: u32, sense: Sense) -> Result<Option<u32>> {
    let Some(own) = operation_at(segment, row)? else { return Ok(None) };
    let of_rank = segment.track_of(row).filter(|&track| rank_of(segment.footer(), track).is_some());
    let (operations, calls) =
        (OperationFinder::new(segment, OPERATIONS.name)?, OperationFinder::new(segment, CALLS.name)?);
    let mut from = (own.number, own.row);
    while let Some((number, row)) = operations.beside(from.1, from.0, sense)? {
        from = (number, row);
        let at = slice::read(segment, row)?;
        let times = Interval::new(at.slice.start_ps, at.end_ps());
        let Some(found) = operation_of(segment, number, times, Some(own.track))? else { continue };
        let Some(track) = of_rank else { return Ok(Some(found.row)) };
        if let Some(call) = calls.parts(track, number, found.span)?.last() {
            return Ok(Some(call.row));
        }
    }
    Ok(None)
}
