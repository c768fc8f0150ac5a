//! Writing the rows of one table: columns in blocks, zone maps, postings.

use std::collections::BTreeMap;

use super::row::Packed;
use crate::base::Result;
use crate::block::{self, BlockValues, ColumnType, ZoneMap, encode_block};
use crate::codec::Texts;
use crate::index::encode_postings;
use crate::model::TableId;
use crate::segment::{BlockEntry, BlockListWriter, ColumnMeta, ColumnRole, Directory, Piece, PieceWriter};

/// Takes the rows of a table in order.
#[derive(Debug)]
pub struct TableWriter {
    blocks: BlockListWriter,
    columns: BTreeMap<(ColumnRole, ColumnType), ColumnWriter>,
    /// Rows of the block that is being filled.
    rows: u16,
    block_start_ps: i64,
    block_end_ps: i64,
    /// Bytes of texts in place in the block that is being filled.
    text_bytes: usize,
    /// Rows of finished blocks.
    rows_before: u32,
}

/// A block ends early when its texts in place reach this size: the codec takes 256 MiB, and a reader holds a block.
const MAX_BLOCK_TEXT: usize = 16 << 20;

/// What a table consists of once it is written.
#[derive(Debug)]
pub struct WrittenTable {
    /// Its rows.
    pub rows: u32,
    /// Its block list.
    pub blocks: Piece,
    /// Its columns.
    pub columns: Vec<ColumnMeta>,
}

impl TableWriter {
    /// For a table without rows.
    pub fn new() -> Self {
        Self {
            blocks: BlockListWriter::default(),
            columns: BTreeMap::new(),
            rows: 0,
            block_start_ps: 0,
            block_end_ps: 0,
            text_bytes: 0,
            rows_before: 0,
        }
    }

    /// Begins a row, which lasts from `start_ps` to `end_ps`; its values follow.
    ///
    /// # Errors
    /// Those of the output.
    pub fn begin_row(&mut self, start_ps: i64, end_ps: i64, writer: &mut PieceWriter<'_>) -> Result<()> {
        if usize::from(self.rows) == block::ROWS || self.text_bytes >= MAX_BLOCK_TEXT {
            self.end_block(writer)?;
        }
        if self.rows == 0 {
            (self.block_start_ps, self.block_end_ps) = (start_ps, end_ps);
        }
        self.block_end_ps = self.block_end_ps.max(end_ps);
        self.rows += 1;
        Ok(())
    }

    /// Gives the row a value.
    pub fn value(&mut self, role: ColumnRole, kind: ColumnType, value: Packed<'_>) {
        if let Packed::Text(text) = value {
            self.text_bytes += text.len();
        }
        let finished = self.blocks.len();
        let column = self.columns.entry((role, kind)).or_insert_with(|| ColumnWriter::new(kind, finished));
        column.push(self.rows - 1, value);
    }

    /// Ends the block: the next row is of another track.
    ///
    /// # Errors
    /// Those of the output.
    pub fn end_block(&mut self, writer: &mut PieceWriter<'_>) -> Result<()> {
        if self.rows == 0 {
            return Ok(());
        }
        let number = u32::try_from(self.blocks.len()).unwrap_or(u32::MAX);
        for (&(role, kind), column) in &mut self.columns {
            let searchable =
                kind.is_code() && (role == ColumnRole::Name || matches!(role, ColumnRole::Field(_)));
            column.end_block(self.rows, kind, searchable.then_some(number), writer)?;
        }
        self.blocks.push(u32::from(self.rows), self.block_start_ps, self.block_end_ps);
        self.rows_before += u32::from(self.rows);
        self.rows = 0;
        self.text_bytes = 0;
        Ok(())
    }

    /// Writes directories and postings.
    ///
    /// # Errors
    /// Those of the output.
    pub fn finish(mut self, id: TableId, writer: &mut PieceWriter<'_>) -> Result<WrittenTable> {
        self.end_block(writer)?;
        let mut bytes = Vec::new();
        self.blocks.encode(&mut bytes);
        let blocks = writer.piece(&bytes)?;
        let mut columns = Vec::new();
        for ((role, kind), column) in self.columns {
            bytes.clear();
            column.directory.encode(&mut bytes);
            let directory = writer.piece(&bytes)?;
            let mut postings = Piece::default();
            if !column.postings.is_empty() {
                bytes.clear();
                encode_postings(column.postings, &mut bytes);
                postings = writer.piece(&bytes)?;
            }
            columns.push(ColumnMeta { table: id, role, kind, directory, postings, bytes: column.bytes });
        }
        Ok(WrittenTable { rows: self.rows_before, blocks, columns })
    }
}

/// Collects the values of one column.
#[derive(Debug)]
struct ColumnWriter {
    /// Rows of the current block that have a value.
    rows: Vec<u16>,
    values: BlockValues,
    directory: Directory,
    /// Numbers of texts and of the blocks that hold them.
    postings: Vec<(u32, u32)>,
    bytes: u64,
}

const ABSENT: BlockEntry =
    BlockEntry { piece: Piece { offset: 0, len: 0, checksum: 0 }, zone: ZoneMap::None };

impl ColumnWriter {
    /// A column that first occurs after `finished` blocks.
    fn new(kind: ColumnType, finished: usize) -> Self {
        let values = match kind {
            ColumnType::Float => BlockValues::Floats(Vec::new()),
            ColumnType::LongText | ColumnType::LongJson => BlockValues::Texts(Texts::default()),
            ColumnType::Int | ColumnType::Uint | ColumnType::Bool | ColumnType::Text | ColumnType::Json => {
                BlockValues::Ints(Vec::new())
            }
        };
        Self {
            rows: Vec::new(),
            values,
            directory: Directory { entries: vec![ABSENT; finished] },
            postings: Vec::new(),
            bytes: 0,
        }
    }

    fn push(&mut self, row: u16, value: Packed<'_>) {
        match (&mut self.values, value) {
            (BlockValues::Ints(values), Packed::Int(value)) => values.push(value),
            (BlockValues::Floats(values), Packed::Float(value)) => values.push(value),
            (BlockValues::Texts(texts), Packed::Text(text)) => {
                texts.bytes.push_str(text);
                texts.ends.push(u32::try_from(texts.bytes.len()).unwrap_or(u32::MAX));
            }
            // The type of a column decides both sides.
            (BlockValues::Ints(_) | BlockValues::Floats(_) | BlockValues::Texts(_), _) => return,
        }
        self.rows.push(row);
    }

    fn end_block(
        &mut self,
        rows: u16,
        kind: ColumnType,
        searchable: Option<u32>,
        writer: &mut PieceWriter<'_>,
    ) -> Result<()> {
        if self.rows.is_empty() {
            self.directory.entries.push(ABSENT);
            return Ok(());
        }
        let mut present = vec![self.rows.len() == usize::from(rows); usize::from(rows)];
        self.rows.iter().for_each(|&row| present[usize::from(row)] = true);
        let mut bytes = Vec::new();
        let zone = encode_block(&present, &self.values, kind, &mut bytes);
        let piece = writer.piece(&bytes)?;
        self.bytes += bytes.len() as u64;
        self.directory.entries.push(BlockEntry { piece, zone });
        if let (Some(block), BlockValues::Ints(codes)) = (searchable, &self.values) {
            let mut distinct: Vec<u32> = codes.iter().filter_map(|&code| u32::try_from(code).ok()).collect();
            distinct.sort_unstable();
            distinct.dedup();
            self.postings.extend(distinct.into_iter().map(|code| (code, block)));
        }
        self.rows.clear();
        match &mut self.values {
            BlockValues::Ints(values) => values.clear(),
            BlockValues::Floats(values) => values.clear(),
            BlockValues::Texts(texts) => {
                texts.bytes.clear();
                texts.ends.clear();
            }
        }
        Ok(())
    }
}
