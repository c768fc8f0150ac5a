//! Working memory of an open segment: decoders that wait for their next use, and the blocks that
//! were decoded last. Threads share it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use super::slice_columns::SliceColumns;
use crate::block::BlockColumn;
use crate::codec::BlockDecoder;
use crate::model::TableId;

/// Number of pack columns that are kept decoded: enough for a tile or a row, of two tables.
const KEPT_COLUMNS: usize = 64;
/// Most bytes of pack columns that are kept decoded. Most columns take 16 KiB; texts can take more.
const KEPT_BYTES: usize = 32 << 20;
/// Blocks that are kept decoded, about 50 kB each: the blocks at one edge of the tracks of a tile.
const KEPT_BLOCKS: usize = 16;

/// A column of a pack, by position in the footer and number of the pack. `None` if no row has a
/// value.
type KeptColumn = ((usize, usize), Option<Arc<BlockColumn>>);

/// Table and number of a block, and its columns.
type KeptSlices = ((TableId, usize), Arc<SliceColumns>);

/// Working memory that speeds up the next call, and holds nothing that a call needs.
#[derive(Debug, Default)]
pub struct Spare {
    /// Unused decoders: one for each thread that reads at the same time.
    decoders: Mutex<Vec<BlockDecoder>>,
    /// Columns of packs that were decoded last, the latest at the end.
    columns_of_packs: Mutex<VecDeque<KeptColumn>>,
    /// Blocks of slices at the edges of tiles, the latest at the end.
    blocks_of_slices: Mutex<VecDeque<KeptSlices>>,
}

impl Spare {
    /// Calls `work` with a decoder that is reused from call to call.
    pub fn with_decoder<R>(&self, work: impl FnOnce(&mut BlockDecoder) -> R) -> R {
        let mut decoder = self.take_decoder();
        let result = work(&mut decoder);
        self.give_back(decoder);
        result
    }

    /// A decoder for one reader; [`Spare::give_back`] returns it.
    pub fn take_decoder(&self) -> BlockDecoder {
        self.decoders
            .lock()
            .map_or_else(|_| BlockDecoder::default(), |mut free| free.pop().unwrap_or_default())
    }

    /// Takes back the decoder from [`Spare::take_decoder`].
    pub fn give_back(&self, decoder: BlockDecoder) {
        if let Ok(mut free) = self.decoders.lock() {
            free.push(decoder);
        }
    }

    /// A decoded column of a pack, if it is still kept.
    pub fn kept_column(&self, of: (usize, usize)) -> Option<Option<Arc<BlockColumn>>> {
        let kept = self.columns_of_packs.lock().ok()?;
        kept.iter().rev().find(|(key, _)| *key == of).map(|(_, column)| column.clone())
    }

    /// Keeps a column of a pack, and drops the oldest.
    pub fn keep_column(&self, of: (usize, usize), column: Option<Arc<BlockColumn>>) {
        if let Ok(mut kept) = self.columns_of_packs.lock() {
            kept.push_back((of, column));
            let bytes = |(_, column): &KeptColumn| column.as_ref().map_or(0, |of| of.memory_bytes());
            let mut total: usize = kept.iter().map(bytes).sum();
            while kept.len() > KEPT_COLUMNS || total > KEPT_BYTES {
                total -= kept.pop_front().as_ref().map_or(0, bytes);
            }
        }
    }

    /// The columns of a block of slices, if they are still kept.
    pub fn kept_slices(&self, of: (TableId, usize)) -> Option<Arc<SliceColumns>> {
        let kept = self.blocks_of_slices.lock().ok()?;
        kept.iter().rev().find(|(key, _)| *key == of).map(|(_, columns)| Arc::clone(columns))
    }

    /// Keeps the columns of a block of slices, and drops the oldest.
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
