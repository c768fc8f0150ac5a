//! The columns of a track's first rows, from which a program is learnt.

use std::borrow::Cow;

use crate::block::ColumnType;
use crate::codec;
use crate::ingest::rows::{FieldColumn, RowBuffer};
use crate::segment::{ColumnRole, Predicted};

/// Estimated bits per change that say in which row a value changes.
const STEP_BITS: usize = 4;

/// A column of a sample that can be predicted: values, and for each row the position of its value
/// plus one.
pub(super) struct SampleColumn<'a> {
    pub(super) of: Predicted,
    pub(super) values: Cow<'a, [i64]>,
    pub(super) slots: Option<Vec<u32>>,
}

impl SampleColumn<'_> {
    /// Value of a row.
    pub(super) fn at(&self, row: usize) -> Option<i64> {
        match &self.slots {
            None => self.values.get(row).copied(),
            Some(slots) => (slots[row] as usize).checked_sub(1).map(|slot| self.values[slot]),
        }
    }
}

/// All columns of the first `sample` rows that a program can predict.
pub(super) fn columns_of(rows: &RowBuffer, sample: usize) -> Vec<SampleColumn<'_>> {
    let (starts, durations) = (&rows.starts[..sample], &rows.durations[..sample]);
    // The first row has no previous row. Its gap and step are 0 here.
    let mut gaps = vec![0_i64; sample];
    let mut steps = vec![0_i64; sample];
    for row in 1..sample {
        steps[row] = starts[row].wrapping_sub(starts[row - 1]);
        gaps[row] = steps[row].wrapping_sub(durations[row - 1]);
    }
    let full = |of, values| SampleColumn { of, values, slots: None };
    let mut columns = vec![
        full(Predicted::GapAfterEnd, gaps.into()),
        full(Predicted::StepAfterStart, steps.into()),
        full(Predicted::Column(ColumnRole::Duration, ColumnType::Int), durations.into()),
        full(Predicted::Column(ColumnRole::Name, ColumnType::Text), (&rows.names[..sample]).into()),
    ];
    for column in &rows.fields {
        let of = Predicted::Column(ColumnRole::Field(column.field), column.kind);
        if column.by_use.is_some() {
            columns.push(spelt_out(rows, column, of, sample));
            continue;
        }
        let Some(values) = column.ints() else { continue };
        let slots = column.slots(&(0..sample));
        let slots = (slots.len() < sample).then(|| column.slot_of_row(rows.len()));
        columns.push(SampleColumn { of, values: values.into(), slots });
    }
    columns
}

/// A column whose values follow from the templates of the rows.
fn spelt_out<'a>(
    rows: &'a RowBuffer,
    column: &'a FieldColumn,
    of: Predicted,
    sample: usize,
) -> SampleColumn<'a> {
    let values = rows.ints(column, &(0..sample)).unwrap_or_default();
    let slots = (values.len() < sample).then(|| {
        let mut present = vec![false; sample];
        rows.mark(column, &(0..sample), &mut present);
        let mut slot = 0;
        let mut slot_of = |is_there| {
            slot += u32::from(is_there);
            if is_there { slot } else { 0 }
        };
        present.into_iter().map(&mut slot_of).collect()
    });
    SampleColumn { of, values, slots }
}

/// Approximate bits of a column that is stored by itself: as differences, or as distances from the
/// minimum.
pub(super) fn plain_bits(column: &SampleColumn<'_>, sample: usize) -> usize {
    let mut before = None;
    let (mut deltas, mut count, mut min, mut max) = (0, 0_usize, i64::MAX, i64::MIN);
    for value in (0..sample).filter_map(|row| column.at(row)) {
        let delta = value.wrapping_sub(before.unwrap_or(value));
        deltas += if delta == 0 { 0 } else { width(delta) + STEP_BITS };
        before = Some(value);
        count += 1;
        (min, max) = (min.min(value), max.max(value));
    }
    // A column with missing values also has a mask.
    let mask = if count == sample { 0 } else { sample };
    let distances = count * (u64::BITS - max.wrapping_sub(min).cast_unsigned().leading_zeros()) as usize;
    let chains = match column.of {
        Predicted::Column(_, ColumnType::Text) => {
            codec::chains_bits((0..sample).filter_map(|row| column.at(row)))
        }
        _ => usize::MAX,
    };
    deltas.min(distances).min(chains) + mask
}

/// Bits of a number with its sign; 0 for zero.
pub(super) fn width(value: i64) -> usize {
    (u64::BITS - crate::base::bytes::zigzag(value).leading_zeros()) as usize
}
