//! The operations of a job segment as points: the time of each transfer, when all ranks had come.
//! Operations with a call of one rank only are none: nobody knows how long such a call waited.

use rustc_hash::FxHashMap;

use super::schema::{COMPLETE, OPERATIONS};
use crate::base::Result;
use crate::exec::Cancel;
use crate::makers::call_columns::{FieldColumns, first_row};
use crate::makers::collective_points::{CollectivePoint, OperationLike};
use crate::model::{CollectiveKind, NameId, WaitingRanks};
use crate::segment::{BlockReader, Bytes, ColumnRole, Segment};

const FIELDS: [&str; 7] = ["operation", "kind", "bytes", "calls", "transfer", "state", "bus_rate"];
const NUMBER: usize = 0;
const KIND: usize = 1;
const BYTES: usize = 2;
const CALLS: usize = 3;
const TRANSFER: usize = 4;
const STATE: usize = 5;
const BUS_RATE: usize = 6;

/// All operations of a job segment with calls of several ranks. None for other segments.
pub(super) fn points<B: Bytes>(segment: &Segment<B>, cancel: Cancel<'_>) -> Result<Vec<CollectivePoint>> {
    let Some(table) = segment.table(OPERATIONS.name) else { return Ok(Vec::new()) };
    let columns = FieldColumns::of(segment, table, FIELDS);
    let mut kinds: FxHashMap<u32, CollectiveKind> = FxHashMap::default();
    let mut points = Vec::new();
    for block in 0..segment.blocks(table)?.len() {
        cancel.check()?;
        let fields = columns.block(segment, block)?;
        let starts = BlockReader::new(segment, table, block)?.core_ints(ColumnRole::Start)?;
        let first = first_row(segment, table, block)?;
        for ((at, start_ps), row) in starts.into_iter().enumerate().zip(first..) {
            let number = |field| fields.int(field, at).and_then(|number| u32::try_from(number).ok());
            // A slice without a kind is the waiting before an operation.
            let Some(code) = fields.code(KIND, at) else { continue };
            let (Some(time_ps), Some(calls)) = (fields.int(TRANSFER, at), number(CALLS)) else { continue };
            if calls < 2 {
                continue;
            }
            let kind = match kinds.get(&code) {
                Some(&known) => known,
                None => {
                    let kind = CollectiveKind::from_name(segment.text(NameId(code))?);
                    *kinds.entry(code).or_insert(kind.unwrap_or(CollectiveKind::Other))
                }
            };
            let is_whole = fields.text(segment, STATE, at)? == COMPLETE;
            points.push(CollectivePoint {
                like: OperationLike {
                    kind,
                    bytes: fields.int(BYTES, at).and_then(|bytes| u64::try_from(bytes).ok()),
                    ranks: Some(calls),
                },
                number: number(NUMBER),
                row,
                start_ps,
                time_ps,
                bus_rate: fields.number(BUS_RATE, at),
                is_sure: is_whole && kind.waiting() == WaitingRanks::ForAll,
            });
        }
    }
    Ok(points)
}
