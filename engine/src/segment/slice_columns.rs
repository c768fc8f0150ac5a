//! The columns of a block of slices that tiles are cut from. If a tile ends within a block, the
//! next tile needs the block too. So the last few such blocks stay decoded.

use std::sync::Arc;

use super::{BlockReader, Bytes, ColumnRole, Segment};
use crate::base::{Error, Result};
use crate::model::TableId;

/// Blocks that are kept decoded, about 50 kB each: the blocks at one edge of the tracks of a tile.
const KEPT_BLOCKS: usize = 16;

const DAMAGED: Error = Error::Inconsistent { what: "core column" };

/// Columns of a block of slices that tiles show. Each column has one entry a slice.
#[derive(Debug)]
pub struct SliceColumns {
    /// Starts in picoseconds, ascending.
    pub starts: Vec<i64>,
    /// Durations in picoseconds.
    pub durations: Vec<i64>,
    /// Numbers of the names.
    pub names: Vec<u32>,
    /// Codes of the forms.
    pub forms: Vec<u8>,
    /// Lane numbers.
    pub lanes: Vec<u32>,
}

/// Table and number of a block, and its columns.
pub type KeptSlices = ((TableId, usize), Arc<SliceColumns>);

impl SliceColumns {
    fn read<B: Bytes>(reader: &mut BlockReader<'_, B>) -> Result<Self> {
        Ok(Self {
            starts: reader.core_ints(ColumnRole::Start)?,
            durations: reader.core_ints(ColumnRole::Duration)?,
            names: narrow(&reader.core_ints(ColumnRole::Name)?, u32::MAX, |name| name as u32)?,
            forms: narrow(&reader.core_ints(ColumnRole::Form)?, u8::MAX, |form| form as u8)?,
            lanes: narrow(&reader.core_ints(ColumnRole::Lane)?, u32::MAX, |lane| lane as u32)?,
        })
    }
}

/// Narrows numbers of at most `max`, which is one less than a power of two. All numbers are checked
/// at once: a check of each would take longer than the rest.
fn narrow<T>(numbers: &[i64], max: impl Into<i64>, narrow: impl Fn(i64) -> T) -> Result<Vec<T>> {
    let bits = numbers.iter().fold(0, |bits, number| bits | number);
    if bits & !max.into() == 0 {
        Ok(numbers.iter().map(|&number| narrow(number)).collect())
    } else {
        Err(DAMAGED)
    }
}

impl<B: Bytes> Segment<B> {
    /// Columns of a block of slices, decoded now or kept.
    ///
    /// # Errors
    /// If bytes are missing or damaged.
    pub fn slice_columns(&self, table: TableId, block: usize) -> Result<Arc<SliceColumns>> {
        if let Some(kept) = self.kept_slices((table, block)) {
            return Ok(kept);
        }
        Ok(Arc::new(SliceColumns::read(&mut BlockReader::new(self, table, block)?)?))
    }

    fn kept_slices(&self, of: (TableId, usize)) -> Option<Arc<SliceColumns>> {
        let kept = self.blocks_of_slices.lock().ok()?;
        kept.iter().rev().find(|(key, _)| *key == of).map(|(_, columns)| Arc::clone(columns))
    }

    /// Keeps the columns of a block that will soon be needed again, and drops the oldest.
    pub fn keep_slices(&self, of: (TableId, usize), columns: &Arc<SliceColumns>) {
        if let Ok(mut kept) = self.blocks_of_slices.lock()
            && !kept.iter().any(|(key, _)| *key == of)
        {
            if kept.len() >= KEPT_BLOCKS {
                kept.pop_front();
            }
            kept.push_back((of, Arc::clone(columns)));
        }
    }
}
