//! Reads the columns of one block. A column that others depend on is decoded once. Columns of a
//! pack of several blocks are decoded whole. The last few are kept, because the next block mostly
//! belongs to the same pack.

use std::iter::repeat;
use std::ops::Range;
use std::sync::Arc;

use super::directory::StoredAt;
use super::footer::ColumnRole;
use super::footer_codes::column_key;
use super::open_file::PieceBytes;
use super::program::{Predicted, Program};
use super::reader::Segment;
use super::slice_columns::SliceColumns;
use super::source::Bytes;
use crate::base::bytes::Cursor;
use crate::base::{Error, Result};
use crate::block::{BlockColumn, BlockValues, Coding, ColumnType, coding};
use crate::codec::{self, BlockDecoder};
use crate::model::TableId;

/// Name of a pack's bytes in messages.
const BLOCK: &str = "column block";
const NO_PROGRAM: Error = Error::Inconsistent { what: "block of a missing program" };

/// Reads columns of a block.
#[derive(Debug)]
pub struct BlockReader<'a, B> {
    segment: &'a Segment<B>,
    table: TableId,
    block: usize,
    rows: usize,
    pack: usize,
    /// Blocks of the pack.
    packed: Range<usize>,
    decoder: BlockDecoder,
    /// Codes of the track's program, once a column needs them.
    codes: Option<Vec<u32>>,
    /// Durations, once the starts need them or are found with them.
    durations: Option<Vec<i64>>,
    /// Working memory for the differences from the program's predictions.
    differences: Vec<i64>,
}

impl<'a, B: Bytes> BlockReader<'a, B> {
    /// Creates a reader of one block of a table.
    pub fn new(segment: &'a Segment<B>, table: TableId, block: usize) -> Result<Self> {
        let blocks = segment.blocks(table)?;
        let (rows, pack) = (blocks.rows(block), blocks.pack_of(block));
        Ok(Self {
            segment,
            table,
            block,
            rows,
            pack,
            packed: blocks.blocks_of_pack(pack),
            decoder: segment.spare().take_decoder(),
            codes: None,
            durations: None,
            differences: Vec::new(),
        })
    }

    /// Number of rows of the block.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Decodes a column, by its position in the footer. `None` if no row of the block has a value.
    pub fn column(&mut self, column: usize) -> Result<Option<BlockColumn>> {
        self.column_of(column, 0..self.rows)
    }

    /// Decodes the values of some rows of a column. Other rows are skipped if the coding permits.
    ///
    /// # Errors
    /// Same as [`BlockReader::column`]; `Invalid` if rows beyond the end of the block.
    pub fn column_of(&mut self, column: usize, wanted: Range<usize>) -> Result<Option<BlockColumn>> {
        if wanted.start > wanted.end || wanted.end > self.rows {
            return Err(Error::Invalid { what: "rows beyond the end of the block" });
        }
        if self.packed.len() == 1 {
            return self.decode(column, wanted);
        }
        let kept = match self.segment.spare().kept_column(column, self.pack) {
            Some(kept) => kept,
            None => {
                let rows = self.segment.blocks(self.table)?.rows_of(self.packed.clone());
                let decoded = self.decode(column, 0..rows)?.map(Arc::new);
                self.segment.spare().keep_column(column, self.pack, decoded.clone());
                decoded
            }
        };
        let before = self.segment.blocks(self.table)?.rows_of(self.packed.start..self.block);
        Ok(kept.and_then(|kept| kept.part(before..before + self.rows)))
    }

    /// Decodes a column of the pack.
    fn decode(&mut self, column: usize, wanted: Range<usize>) -> Result<Option<BlockColumn>> {
        let Some(bytes) = self.segment.pack_bytes(column, self.pack)? else { return Ok(None) };
        let offset = bytes.offset();
        let meta = &self.segment.footer().columns[column];
        let (role, kind) = (meta.role, meta.kind);
        let mut cursor = bytes.cursor();
        match coding(&mut cursor)? {
            Coding::All | Coding::Masked => {
                let rows = self.segment.blocks(self.table)?.rows_of(self.packed.clone());
                BlockColumn::decode(&bytes, rows, kind, offset, &mut self.decoder).map(Some)
            }
            Coding::Rate if kind == ColumnType::Float => {
                let (role, kind) = column_key(&mut cursor)?;
                cursor.finish()?;
                self.rates(role, kind, offset).map(Some)
            }
            Coding::Predicted | Coding::Codes if self.packed.len() > 1 => Err(cursor.corrupt()),
            Coding::Rate => Err(cursor.corrupt()),
            Coding::Predicted => {
                let program = self.program()?;
                let predicted = program.column(Predicted::Column(role, kind));
                let predicted = predicted.ok_or_else(|| cursor.corrupt())?;
                self.require_codes(program)?;
                let codes = self.codes.as_deref().unwrap_or_default();
                let here = &codes[wanted.clone()];
                let bytes = cursor.take(cursor.remaining())?;
                let column = match codec::constant_int(bytes) {
                    // Nearly every column has one constant difference, which is then 0.
                    Some(difference) => predicted.column(here, repeat(difference)),
                    None => {
                        self.decoder.ints(bytes, predicted.count(codes), &mut self.differences)?;
                        let before = predicted.count(&codes[..wanted.start]);
                        predicted.column(here, self.differences[before..].iter().copied())
                    }
                };
                Ok(Some(column.from_row(wanted.start)))
            }
            Coding::Codes => {
                let program = self.program()?;
                if program.key != (role, kind) {
                    return Err(cursor.corrupt());
                }
                self.require_codes(program)?;
                let key = program.column(Predicted::Column(role, kind)).ok_or_else(|| cursor.corrupt())?;
                let codes = &self.codes.as_deref().unwrap_or_default()[wanted.clone()];
                Ok(Some(key.column(codes, repeat(0)).from_row(wanted.start)))
            }
            Coding::End if role == ColumnRole::Duration && self.packed.len() == 1 => {
                let durations = self.durations_of_ends()?.ok_or_else(|| cursor.corrupt())?;
                Ok(Some(BlockColumn::full(BlockValues::Ints(durations))))
            }
            Coding::End => Err(cursor.corrupt()),
            coding @ (Coding::AfterEnd | Coding::AfterStart) if role == ColumnRole::Start => {
                let values = self.starts(coding, cursor)?;
                Ok(Some(BlockColumn::full(BlockValues::Ints(values))))
            }
            Coding::AfterEnd | Coding::AfterStart => Err(cursor.corrupt()),
        }
    }

    /// Decodes a column in which every row has an integer.
    pub fn core_ints(&mut self, role: ColumnRole) -> Result<Vec<i64>> {
        if let Some(durations) = self.durations.as_ref().filter(|_| role == ColumnRole::Duration) {
            return Ok(durations.clone());
        }
        let damaged = Error::Inconsistent { what: "a core column is missing" };
        let column = self.segment.column(self.table, role).ok_or(damaged)?;
        self.column(column)?.ok_or(damaged)?.into_full_ints(0)
    }

    /// Rates of the whole pack, from a column of sizes in bytes and the durations.
    fn rates(&mut self, role: ColumnRole, kind: ColumnType, offset: u64) -> Result<BlockColumn> {
        let rows = self.segment.blocks(self.table)?.rows_of(self.packed.clone());
        let damaged = Error::Corrupt { what: "rates of a missing column", offset };
        // The coding of a column of sizes is never `Rate`, so this recursion ends.
        let sizes = self.segment.column_of_kind(self.table, role, kind);
        let sizes = sizes.filter(|_| matches!(kind, ColumnType::Int | ColumnType::Uint)).ok_or(damaged)?;
        let durations = self.segment.column(self.table, ColumnRole::Duration).ok_or(damaged)?;
        let durations = self.decode(durations, 0..rows)?.ok_or(damaged)?.into_full_ints(offset)?;
        let sizes = self.decode(sizes, 0..rows)?.ok_or(damaged)?;
        sizes.rates(&durations).ok_or(damaged)
    }

    fn program(&self) -> Result<&'a Program> {
        self.track_program()?.ok_or(NO_PROGRAM)
    }

    /// Program of the track, if it has one.
    fn track_program(&self) -> Result<Option<&'a Program>> {
        let damaged = NO_PROGRAM;
        let table = self.segment.footer().tables.get(usize::from(self.table.0)).ok_or(damaged)?;
        let row = table.first_row + self.segment.blocks(self.table)?.first_row(self.block);
        let track = self.segment.track_of(row).ok_or(damaged)?;
        self.segment.program(track)
    }

    /// Decodes the codes of the rows. Returns whether the block has codes: an earlier block of the
    /// track can have codes that this one lacks.
    fn has_codes(&mut self, program: &Program) -> Result<bool> {
        if self.codes.is_some() {
            return Ok(true);
        }
        let (role, kind) = program.key;
        let Some(column) = self.segment.column_of_kind(self.table, role, kind) else { return Ok(false) };
        let Some(bytes) = self.segment.pack_bytes(column, self.pack)? else { return Ok(false) };
        let mut cursor = Cursor::new(&bytes, bytes.offset(), "codes of a program");
        if coding(&mut cursor)? != Coding::Codes {
            return Ok(false);
        }
        let first = cursor.varint_u32()?;
        self.decoder.ints(cursor.take(cursor.remaining())?, self.rows, &mut self.differences)?;
        self.codes = Some(program.codes(first, &self.differences, bytes.offset())?);
        Ok(true)
    }

    /// Decodes the codes of the rows for a column that depends on them.
    fn require_codes(&mut self, program: &Program) -> Result<()> {
        let damaged = Error::Inconsistent { what: "block without the codes of its program" };
        if self.has_codes(program)? { Ok(()) } else { Err(damaged) }
    }

    /// Ends of all rows, if the durations are stored as ends.
    fn ends(&mut self) -> Result<Option<Vec<i64>>> {
        let Some(column) = self.segment.column(self.table, ColumnRole::Duration) else { return Ok(None) };
        let Some(bytes) = self.segment.pack_bytes(column, self.pack)? else { return Ok(None) };
        let mut cursor = bytes.cursor();
        if coding(&mut cursor)? != Coding::End {
            return Ok(None);
        }
        let program = self.program()?;
        let predicted = program.column(Predicted::End).ok_or_else(|| cursor.corrupt())?;
        self.require_codes(program)?;
        self.decoder.ints(cursor.take(cursor.remaining())?, self.rows, &mut self.differences)?;
        let codes = self.codes.as_deref().unwrap_or_default();
        let end =
            |(&code, difference): (&u32, &i64)| predicted.values[code as usize].wrapping_add(*difference);
        Ok(Some(codes.iter().zip(&self.differences).map(end).collect()))
    }

    /// Durations that are stored as ends.
    fn durations_of_ends(&mut self) -> Result<Option<Vec<i64>>> {
        let starts = self.core_ints(ColumnRole::Start)?;
        if let Some(known) = &self.durations {
            return Ok(Some(known.clone()));
        }
        Ok(self.ends()?.map(|ends| lasting(&ends, &starts)))
    }

    fn starts(&mut self, coding: Coding, mut cursor: Cursor<'_>) -> Result<Vec<i64>> {
        if self.packed.len() > 1 {
            return self.packed_starts(coding, cursor);
        }
        let of = if coding == Coding::AfterEnd { Predicted::GapAfterEnd } else { Predicted::StepAfterStart };
        // A block without codes predicts nothing.
        let predicted = match self.track_program()? {
            Some(program) if program.column(of).is_some() && self.has_codes(program)? => program.column(of),
            _ => None,
        };
        let mut starts = Vec::new();
        let varies = predicted.and_then(|gap| gap.present.as_deref());
        let codes = self.codes.as_deref().unwrap_or_default();
        let count = predicted.filter(|_| varies.is_some()).map_or(self.rows, |gap| gap.count(codes));
        self.decoder.ints(cursor.take(cursor.remaining())?, count, &mut starts)?;
        if let Some(varies) = varies {
            let mut stored = std::mem::take(&mut starts).into_iter();
            let difference = |&code: &u32| if varies[code as usize] { stored.next() } else { Some(0) };
            starts = codes.iter().map_while(difference).collect();
        }
        let first = self.segment.blocks(self.table)?.starts()[self.block];
        if coding == Coding::AfterEnd
            && let Some(ends) = self.ends()?
        {
            let codes = self.codes.as_deref().unwrap_or_default();
            let usual = |row: usize| predicted.map_or(0, |gap| gap.values[codes[row] as usize]);
            starts[0] = first;
            for row in 1..self.rows {
                starts[row] = ends[row - 1].wrapping_add(usual(row)).wrapping_add(starts[row]);
            }
            self.durations = Some(lasting(&ends, &starts));
            return Ok(starts);
        }
        let lasted = if coding == Coding::AfterEnd {
            let durations = self.core_ints(ColumnRole::Duration)?;
            &*self.durations.insert(durations)
        } else {
            &vec![0; self.rows]
        };
        let codes = self.codes.as_deref().unwrap_or_default();
        match predicted {
            Some(predicted) => {
                let usual = codes.iter().map(|&code| predicted.values[code as usize]);
                add_up(first, &mut starts, usual, lasted);
            }
            None => add_up(first, &mut starts, repeat(0), lasted),
        }
        Ok(starts)
    }
}

impl<B: Bytes> BlockReader<'_, B> {
    /// Starts of all blocks of the pack. Each block begins with its own first start.
    fn packed_starts(&mut self, coding: Coding, mut cursor: Cursor<'_>) -> Result<Vec<i64>> {
        let blocks = self.segment.blocks(self.table)?;
        let rows = blocks.rows_of(self.packed.clone());
        let mut starts = Vec::new();
        self.decoder.ints(cursor.take(cursor.remaining())?, rows, &mut starts)?;
        let lasted = if coding == Coding::AfterEnd {
            let durations = self.segment.column(self.table, ColumnRole::Duration);
            let durations = self.decode(durations.ok_or_else(|| cursor.corrupt())?, 0..rows)?;
            durations.ok_or_else(|| cursor.corrupt())?.into_full_ints(0)?
        } else {
            vec![0; rows]
        };
        let mut from = 0;
        for block in self.packed.clone() {
            let to = from + blocks.rows(block);
            add_up(blocks.starts()[block], &mut starts[from..to], repeat(0), &lasted[from..to]);
            from = to;
        }
        Ok(starts)
    }
}

/// Durations of rows with these ends and starts.
fn lasting(ends: &[i64], starts: &[i64]) -> Vec<i64> {
    ends.iter().zip(starts).map(|(end, start)| end.wrapping_sub(*start)).collect()
}

/// Turns differences from the usual step into starts. A row starts at the start of the row before,
/// plus that row's entry in `lasted`, plus the usual step, plus the difference. The first start is
/// known.
fn add_up(first: i64, starts: &mut [i64], usual: impl Iterator<Item = i64>, lasted: &[i64]) {
    let mut rows = starts.iter_mut().zip(usual).zip(lasted.iter().copied());
    let Some(((start, _), duration)) = rows.next() else { return };
    *start = first;
    let mut from = first.wrapping_add(duration);
    for ((start, usual), duration) in rows {
        *start = from.wrapping_add(usual).wrapping_add(*start);
        from = start.wrapping_add(duration);
    }
}

impl<B> Drop for BlockReader<'_, B> {
    fn drop(&mut self) {
        self.segment.spare().give_back(std::mem::take(&mut self.decoder));
    }
}

impl<B: Bytes> Segment<B> {
    /// Checked bytes of a column's pack. `None` if no row has a value.
    pub fn pack_bytes(&self, column: usize, pack: usize) -> Result<Option<PieceBytes<'_>>> {
        let directory = self.directory(column)?;
        let damaged = Error::Inconsistent { what: "missing block" };
        match *directory.places.get(pack).ok_or(damaged)? {
            StoredAt::Absent => Ok(None),
            StoredAt::Inline(start, len) => {
                let start = start as usize;
                let bytes = directory.inline.get(start..start + len as usize).ok_or(damaged)?;
                let offset = self.footer().columns[column].directory.offset;
                Ok(Some(PieceBytes::kept(bytes, offset, BLOCK)))
            }
            StoredAt::Piece(piece) => self.piece(piece, BLOCK).map(Some),
        }
    }

    /// Decodes a block of a column. `None` if no row of it has a value. A caller that needs several
    /// columns of a block uses a [`BlockReader`].
    pub fn block(&self, column: usize, block: usize) -> Result<Option<BlockColumn>> {
        BlockReader::new(self, self.footer().columns[column].table, block)?.column(column)
    }

    /// Decodes a block of a column in which every row has an integer.
    pub fn core_ints(&self, table: TableId, role: ColumnRole, block: usize) -> Result<Vec<i64>> {
        BlockReader::new(self, table, block)?.core_ints(role)
    }

    /// Values of a block of samples.
    pub fn core_floats(&self, table: TableId, block: usize) -> Result<Vec<f64>> {
        let damaged = Error::Inconsistent { what: "counter without values" };
        let column = self.column(table, ColumnRole::Value).ok_or(damaged)?;
        match self.block(column, block)?.map(BlockColumn::into_full_floats) {
            Some(Some(values)) => Ok(values),
            _ => Err(damaged),
        }
    }

    /// Columns of a block of slices, decoded now or kept. If a tile ends within a block, the next
    /// tile needs the block too; [`Segment::keep_slices`] keeps such blocks.
    pub fn slice_columns(&self, table: TableId, block: usize) -> Result<Arc<SliceColumns>> {
        if let Some(kept) = self.spare().kept_slices(table, block) {
            return Ok(kept);
        }
        let mut reader = BlockReader::new(self, table, block)?;
        Ok(Arc::new(SliceColumns::decode(|role| reader.core_ints(role))?))
    }

    /// Keeps the columns of a block that will soon be needed again, and drops the oldest.
    pub fn keep_slices(&self, table: TableId, block: usize, columns: &Arc<SliceColumns>) {
        self.spare().keep_slices(table, block, columns);
    }
}
