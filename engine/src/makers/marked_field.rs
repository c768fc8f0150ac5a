//! A mark for each row of a block by the text of a field.

use super::class_times::BlockClasses;
use super::columns::NamedColumns;
use crate::base::Result;
use crate::block::{BlockColumn, BlockValues, ColumnType};
use crate::model::NameId;
use crate::segment::{BlockReader, Bytes, Segment};

/// A field whose texts have marks.
#[derive(Debug)]
pub(super) struct MarkedField {
    /// Columns of the field with their types.
    columns: Vec<(usize, ColumnType)>,
    /// Mark of rows without a text.
    absent: u8,
    mark: fn(&str) -> u8,
}

impl MarkedField {
    /// A field of a table.
    pub(super) fn of<B: Bytes>(
        table: &NamedColumns<'_, B>,
        name: &str,
        absent: u8,
        mark: fn(&str) -> u8,
    ) -> Self {
        Self { columns: table.columns(name).collect(), absent, mark }
    }

    /// The marks of a block.
    pub(super) fn marks<B: Bytes>(
        &self,
        segment: &Segment<B>,
        block: &mut BlockReader<'_, B>,
    ) -> Result<BlockClasses> {
        let mut marks = BlockClasses::One(self.absent);
        for &(at, kind) in &self.columns {
            let Some(column) = block.column(at)? else { continue };
            let of_values: Vec<u8> = match (kind, column.values()) {
                (ColumnType::Text, BlockValues::Ints(codes)) => self.of_codes(segment, codes)?,
                (ColumnType::LongText, BlockValues::Texts(texts)) => {
                    (0..texts.len()).map(|at| (self.mark)(texts.get(at))).collect()
                }
                _ => continue,
            };
            marks = match column.is_full() {
                true => BlockClasses::of(of_values),
                false => placed(&marks, &column, block.rows(), &of_values),
            };
        }
        Ok(marks)
    }

    /// The marks of texts with these numbers. Equal numbers mostly follow each other.
    fn of_codes<B: Bytes>(&self, segment: &Segment<B>, codes: &[i64]) -> Result<Vec<u8>> {
        let mut marks = Vec::with_capacity(codes.len());
        for run in codes.chunk_by(|one, two| one == two) {
            let text = segment.text(NameId(u32::try_from(run[0]).unwrap_or(u32::MAX)))?;
            marks.resize(marks.len() + run.len(), (self.mark)(text));
        }
        Ok(marks)
    }
}

/// Gives the rows of a column the marks of their values, and all others the marks before.
fn placed(before: &BlockClasses, column: &BlockColumn, rows: usize, of_values: &[u8]) -> BlockClasses {
    let mark = |row: usize| column.slot(row).and_then(|slot| of_values.get(slot).copied());
    BlockClasses::of((0..rows).map(|row| mark(row).unwrap_or_else(|| before.of_row(row))).collect())
}
