//! Fields of the rows of one block, for readers of collective operations.

use rustc_hash::FxHashMap;

use crate::base::Result;
use crate::block::{BlockColumn, BlockValues, ColumnType};
use crate::model::{FieldId, NameId, TableId, TrackId};
use crate::segment::{BlockReader, Bytes, ColumnRole, Segment};

/// Columns of a table by field name.
#[derive(Debug)]
pub(crate) struct FieldColumns<const N: usize> {
    table: TableId,
    columns: [Vec<usize>; N],
}

impl<const N: usize> FieldColumns<N> {
    /// The columns of these fields. A field that the table lacks has no columns.
    pub(crate) fn of<B: Bytes>(segment: &Segment<B>, table: TableId, names: [&str; N]) -> Self {
        let footer = segment.footer();
        let fields = (0_u32..).zip(&footer.fields).filter(|(_, (of, _))| *of == table);
        let by_name: FxHashMap<&str, u32> =
            fields.map(|(id, (_, field))| (field.name.as_str(), id)).collect();
        let columns = names.map(|name| {
            let Some(&id) = by_name.get(name) else { return Vec::new() };
            let role = ColumnRole::Field(FieldId(id));
            segment.columns_of(table).filter(|&at| footer.columns[at].role == role).collect()
        });
        Self { table, columns }
    }

    /// Decodes the columns of a block.
    pub(crate) fn block<B: Bytes>(&self, segment: &Segment<B>, block: usize) -> Result<CallFields<N>> {
        let mut reader = BlockReader::new(segment, self.table, block)?;
        let mut fields: [Vec<(ColumnType, BlockColumn)>; N] = std::array::from_fn(|_| Vec::new());
        for (columns, decoded) in self.columns.iter().zip(&mut fields) {
            for &at in columns {
                if let Some(column) = reader.column(at)? {
                    decoded.push((segment.kind(at), column));
                }
            }
        }
        Ok(CallFields { fields })
    }
}

/// Decoded fields of a block.
#[derive(Debug)]
pub(crate) struct CallFields<const N: usize> {
    fields: [Vec<(ColumnType, BlockColumn)>; N],
}

impl<const N: usize> CallFields<N> {
    /// The integer of a field in a row.
    pub(crate) fn int(&self, field: usize, row: usize) -> Option<i64> {
        self.raw(field, row, |kind| matches!(kind, ColumnType::Int | ColumnType::Uint))
    }

    /// The number of a field in a row, whatever its type.
    pub(crate) fn number(&self, field: usize, row: usize) -> Option<f64> {
        self.fields[field].iter().find_map(|(kind, column)| match (column.slot(row)?, column.values()) {
            (slot, BlockValues::Floats(values)) => values.get(slot).copied(),
            (slot, BlockValues::Ints(values)) if matches!(kind, ColumnType::Int | ColumnType::Uint) => {
                values.get(slot).map(|value| *value as f64)
            }
            _ => None,
        })
    }

    /// The number of a field's text or JSON text in the dictionary.
    pub(crate) fn code(&self, field: usize, row: usize) -> Option<u32> {
        self.raw(field, row, ColumnType::is_code).and_then(|code| u32::try_from(code).ok())
    }

    /// The text of a field, or an empty one.
    pub(crate) fn text<'s, B: Bytes>(
        &self,
        segment: &'s Segment<B>,
        field: usize,
        row: usize,
    ) -> Result<&'s str> {
        self.code(field, row).map_or(Ok(""), |code| segment.text(NameId(code)))
    }

    fn raw(&self, field: usize, row: usize, is_wanted: impl Fn(ColumnType) -> bool) -> Option<i64> {
        self.fields[field].iter().filter(|(kind, _)| is_wanted(*kind)).find_map(|(_, column)| {
            match (column.slot(row), column.values()) {
                (Some(slot), BlockValues::Ints(values)) => values.get(slot).copied(),
                _ => None,
            }
        })
    }
}

/// Tracks with slices whose role is wanted, each with its table.
pub(super) fn slice_tracks<'s, B: Bytes>(
    segment: &'s Segment<B>,
    is_wanted: impl Fn(crate::model::Role) -> bool + 's,
) -> impl Iterator<Item = (TrackId, TableId)> + 's {
    let tracks = (0_u32..).zip(&segment.footer().tracks);
    tracks.filter_map(move |(id, track)| match track.spec.kind {
        crate::model::TrackContent::Slices(table, _)
            if track.rows > 0 && is_wanted(track.spec.identity.role) =>
        {
            Some((TrackId(id), table))
        }
        _ => None,
    })
}

/// Number of the first row of a block among all rows of the rank.
pub(super) fn first_row<B: Bytes>(segment: &Segment<B>, table: TableId, block: usize) -> Result<u32> {
    let in_table = segment.blocks(table)?.first_row(block);
    Ok(segment.footer().tables[usize::from(table.0)].first_row.saturating_add(in_table))
}

/// The integers in a text, in their order. Signs between them do not matter.
pub(super) fn integers(text: &str) -> impl Iterator<Item = u32> + '_ {
    let words = text.split(|sign: char| !sign.is_ascii_digit());
    words.filter(|word| !word.is_empty()).filter_map(|word| word.parse().ok())
}
