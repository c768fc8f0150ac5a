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

/// A column of a pack. `None` if no row has a value.
#[derive(Debug)]
struct KeptColumn {
    /// Position in the footer.
    column: usize,
    pack: usize,
    decoded: Option<Arc<BlockColumn>>,
}

impl KeptColumn {
    fn bytes(&self) -> usize {
        self.decoded.as_ref().map_or(0, |column| column.memory_bytes())
    }
}

/// The columns of a block.
#[derive(Debug)]
struct KeptSlices {
    table: TableId,
    block: usize,
    columns: Arc<SliceColumns>,
}

impl KeptSlices {
    fn is_of(&self, table: TableId, block: usize) -> bool {
        self.table == table && self.block == block
    }
}

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

    /// A decoded column of a pack by its position in the footer, if it is still kept.
    pub fn kept_column(&self, column: usize, pack: usize) -> Option<Option<Arc<BlockColumn>>> {
        let kept = self.columns_of_packs.lock().ok()?;
        let of = kept.iter().rev().find(|of| of.column == column && of.pack == pack)?;
        Some(of.decoded.clone())
    }

    /// Keeps a column of a pack, and drops the oldest.
    pub fn keep_column(&self, column: usize, pack: usize, decoded: Option<Arc<BlockColumn>>) {
        if let Ok(mut kept) = self.columns_of_packs.lock() {
            kept.push_back(KeptColumn { column, pack, decoded });
            let mut total: usize = kept.iter().map(KeptColumn::bytes).sum();
            while kept.len() > KEPT_COLUMNS || total > KEPT_BYTES {
                total -= kept.pop_front().as_ref().map_or(0, KeptColumn::bytes);
            }
        }
    }

    /// The columns of a block of slices, if they are still kept.
    pub fn kept_slices(&self, table: TableId, block: usize) -> Option<Arc<SliceColumns>> {
        let kept = self.blocks_of_slices.lock().ok()?;
        kept.iter().rev().find(|of| of.is_of(table, block)).map(|of| Arc::clone(&of.columns))
    }

    /// Keeps the columns of a block of slices, and drops the oldest.
    pub fn keep_slices(&self, table: TableId, block: usize, columns: &Arc<SliceColumns>) {
        if let Ok(mut kept) = self.blocks_of_slices.lock()
            && !kept.iter().any(|of| of.is_of(table, block))
        {
            if kept.len() >= KEPT_BLOCKS {
                kept.pop_front();
            }
            kept.push_back(KeptSlices { table, block, columns: Arc::clone(columns) });
        }
    }
}
