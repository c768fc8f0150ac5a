//! The rows of tables on the timeline, with one block per track in memory at a time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use super::BlockFields;
use crate::base::{Error, Result, narrow};
use crate::model::{FieldId, NameId, OwnedValue, SliceForm, TableId, TableKind, TrackId};
use crate::segment::{Bytes, ColumnRole, Segment};

/// A slice, an instant or a sample with its fields.
#[derive(Debug, Clone, PartialEq)]
pub struct TimedRow {
    /// Row number among all rows of the rank.
    pub row: u32,
    /// Track of the row.
    pub track: TrackId,
    /// Start, or time of a sample, in picoseconds.
    pub start_ps: i64,
    /// Content of the row.
    pub content: RowContent,
    /// Fields that have a value.
    pub fields: Vec<(FieldId, OwnedValue)>,
}

/// Content of a row on the timeline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RowContent {
    /// A slice or an instant.
    Slice {
        /// Duration in picoseconds.
        duration_ps: i64,
        /// Number of its name.
        name: NameId,
        /// Form of the slice.
        form: SliceForm,
        /// Lane in the track.
        lane: u32,
    },
    /// A sample.
    Sample {
        /// The value.
        value: f64,
    },
}

/// Order of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowOrder {
    /// By time, over all tracks.
    Time,
    /// By table, then by track, then by time.
    Track,
}

/// Calls `each` with every row of these tables of slices or samples. Order by time merges the rows
/// of all tables.
pub fn for_each_timed<B: Bytes, E: From<Error>>(
    segment: &Segment<B>,
    tables: &[TableId],
    order: RowOrder,
    mut each: impl FnMut(TimedRow) -> Result<(), E>,
) -> Result<(), E> {
    let mut tracks = tables.iter().flat_map(|&table| {
        let ids = (0_u32..).zip(&segment.footer().tracks).map(|(id, _)| TrackId(id));
        ids.filter(move |track| segment.table_of(*track) == Some(table)).map(move |track| (table, track))
    });
    match order {
        RowOrder::Track => {
            tracks.try_for_each(|(table, track)| for_each_of_track(segment, table, track, &mut each))?
        }
        RowOrder::Time => {
            let mut cursors = tracks
                .map(|(table, track)| RowCursor::new(segment, table, track))
                .collect::<Result<Vec<_>>>()?;
            let mut heads = BinaryHeap::new();
            for (at, cursor) in cursors.iter_mut().enumerate() {
                heads.extend(cursor.peek()?.map(|start_ps| Reverse((start_ps, at))));
            }
            while let Some(Reverse((_, at))) = heads.pop() {
                if let Some(row) = cursors[at].next()? {
                    each(row)?;
                }
                heads.extend(cursors[at].peek()?.map(|start_ps| Reverse((start_ps, at))));
            }
        }
    }
    Ok(())
}

/// Calls `each` with every row of a track in the order of time. The track must be in this table.
pub fn for_each_of_track<B: Bytes, E: From<Error>>(
    segment: &Segment<B>,
    table: TableId,
    track: TrackId,
    mut each: impl FnMut(TimedRow) -> Result<(), E>,
) -> Result<(), E> {
    let mut cursor = RowCursor::new(segment, table, track)?;
    while let Some(row) = cursor.next()? {
        each(row)?;
    }
    Ok(())
}

/// Reads a track forward.
struct RowCursor<'a, B> {
    segment: &'a Segment<B>,
    table: TableId,
    track: TrackId,
    blocks: Range<usize>,
    block: Option<RowBlock>,
    at: usize,
}

/// The rows of one block, decoded.
struct RowBlock {
    first_row: u32,
    starts_ps: Vec<i64>,
    core: RowValues,
    fields: BlockFields,
}

enum RowValues {
    Slices { durations_ps: Vec<i64>, names: Vec<i64>, forms: Vec<i64>, lanes: Vec<i64> },
    Samples { values: Vec<f64> },
}

impl<'a, B: Bytes> RowCursor<'a, B> {
    fn new(segment: &'a Segment<B>, table: TableId, track: TrackId) -> Result<Self> {
        Ok(Self { segment, table, track, blocks: segment.blocks_of(track)?, block: None, at: 0 })
    }

    /// Start of the next row.
    fn peek(&mut self) -> Result<Option<i64>> {
        loop {
            if let Some(start_ps) = self.block.as_ref().and_then(|block| block.starts_ps.get(self.at)) {
                return Ok(Some(*start_ps));
            }
            let Some(next) = self.blocks.next() else {
                // The rows of a finished track need no memory.
                self.block = None;
                return Ok(None);
            };
            self.block = Some(RowBlock::decode(self.segment, self.table, next)?);
            self.at = 0;
        }
    }

    fn next(&mut self) -> Result<Option<TimedRow>> {
        let Some(start_ps) = self.peek()? else { return Ok(None) };
        let Some(block) = &self.block else { return Ok(None) };
        let row = TimedRow {
            row: block.first_row.saturating_add(narrow(self.at)),
            track: self.track,
            start_ps,
            content: block.core.row(self.at)?,
            fields: block.fields.row(self.segment, self.at)?,
        };
        self.at += 1;
        Ok(Some(row))
    }
}

impl RowBlock {
    fn decode<B: Bytes>(segment: &Segment<B>, table: TableId, block: usize) -> Result<Self> {
        let ints = |role| segment.core_ints(table, role, block);
        let core = match segment.footer().tables[usize::from(table.0)].spec.kind {
            TableKind::Slices => RowValues::Slices {
                durations_ps: ints(ColumnRole::Duration)?,
                names: ints(ColumnRole::Name)?,
                forms: ints(ColumnRole::Form)?,
                lanes: ints(ColumnRole::Lane)?,
            },
            TableKind::Samples => {
                let damaged = Error::Inconsistent { what: "samples without values" };
                let column = segment.column(table, ColumnRole::Value).ok_or(damaged)?;
                let values = segment.block(column, block)?.and_then(|block| block.into_full_floats());
                RowValues::Samples { values: values.ok_or(damaged)? }
            }
            TableKind::Side => return Err(Error::Invalid { what: "a side table has no times" }),
        };
        let fields = BlockFields::decode(segment, table, block)?;
        let in_table = segment.blocks(table)?.first_row(block);
        let first_row = segment.footer().tables[usize::from(table.0)].first_row.saturating_add(in_table);
        Ok(Self { first_row, starts_ps: ints(ColumnRole::Start)?, core, fields })
    }
}

impl RowValues {
    fn row(&self, at: usize) -> Result<RowContent> {
        let damaged = Error::Inconsistent { what: "core columns of different lengths" };
        match self {
            Self::Slices { durations_ps, names, forms, lanes } => {
                let code = *forms.get(at).ok_or(damaged)?;
                let name = u32::try_from(*names.get(at).ok_or(damaged)?).map_err(|_| damaged)?;
                Ok(RowContent::Slice {
                    duration_ps: *durations_ps.get(at).ok_or(damaged)?,
                    name: NameId(name),
                    form: SliceForm::of_code(code).ok_or(damaged)?,
                    lane: u32::try_from(*lanes.get(at).ok_or(damaged)?).map_err(|_| damaged)?,
                })
            }
            Self::Samples { values } => Ok(RowContent::Sample { value: *values.get(at).ok_or(damaged)? }),
        }
    }
}
