//! The stored form of the cells of a pyramid's page: column by column.

use super::grid::CELLS;
use super::summary::{CellSummary, PlacedCell, Range, SliceCell, SliceSummary};
use crate::base::Result;
use crate::block::list;
use crate::codec::Encoder;
use crate::segment::{Bytes, PyramidPage, Segment};

/// A page ends at the edge of a tile once it has this many cells. A tile then rarely needs more
/// than one page of a lane. A page rarely holds more than a tile shows.
pub(super) const PAGE_CELLS: usize = 256;
/// Most cells of a page: a page ends at the edge of a tile once it has [`PAGE_CELLS`].
const MAX_PAGE_CELLS: usize = PAGE_CELLS + CELLS.unsigned_abs() as usize;

/// Stored form of a cell's summary.
pub trait Stored: Sized + std::fmt::Debug {
    /// Summary from which the cell is computed.
    type Summary: CellSummary + std::fmt::Debug;
    /// Computes the stored form from a closed cell.
    fn of(summary: &Self::Summary) -> Self;
    /// Appends the contents of cells, column by column.
    fn encode(cells: &[PlacedCell<Self>], encoder: &mut Encoder, out: &mut Vec<u8>);
}

impl Stored for SliceCell {
    type Summary = SliceSummary;

    fn of(summary: &SliceSummary) -> Self {
        summary.cell()
    }

    fn encode(cells: &[PlacedCell<Self>], encoder: &mut Encoder, out: &mut Vec<u8>) {
        let mut put = |of: fn(&Self) -> i64| {
            let column: Vec<i64> = cells.iter().map(|cell| of(&cell.content)).collect();
            list::put_ints_with(&column, encoder, out);
        };
        put(|cell| cell.busy_ps.cast_signed());
        put(|cell| cell.wait_ps.cast_signed());
        put(|cell| i64::from(cell.count));
        put(|cell| i64::from(cell.name));
        put(|cell| i64::from(cell.longest_row));
        put(|cell| cell.longest_ps.cast_signed());
    }
}

impl Stored for Range {
    type Summary = Self;

    fn of(summary: &Self) -> Self {
        *summary
    }

    fn encode(cells: &[PlacedCell<Self>], encoder: &mut Encoder, out: &mut Vec<u8>) {
        let mut encoded = Vec::new();
        for of in [|range: &Self| range.min, |range: &Self| range.max, |range: &Self| range.last] {
            let values: Vec<f64> = cells.iter().map(|cell| of(&cell.content)).collect();
            encoded.clear();
            encoder.floats(&values, &mut encoded);
            crate::base::bytes::Put::put_bytes(out, &encoded);
        }
        let counts: Vec<i64> = cells.iter().map(|cell| i64::from(cell.content.count)).collect();
        list::put_ints_with(&counts, encoder, out);
    }
}

/// Cells of a page of slices. `first_row` is the track's first row.
pub fn slice_cells<B: Bytes>(
    segment: &Segment<B>,
    page: &PyramidPage,
    first_row: u32,
) -> Result<Vec<PlacedCell<SliceCell>>> {
    let bytes = segment.piece(page.piece, "pyramid page")?;
    let mut cursor = bytes.cursor();
    let len = list::stated_len(&cursor, MAX_PAGE_CELLS)?;
    let [indexes, busy, wait, count, name, row, longest] = segment.with_decoder(|decoder| {
        let mut column = || list::read_ints_of_with(&mut cursor, len, decoder);
        Ok([column()?, column()?, column()?, column()?, column()?, column()?, column()?])
    })?;
    let narrow = |value: i64| u32::try_from(value).map_err(|_| cursor.corrupt());
    let mut cells = Vec::with_capacity(indexes.len());
    for (at, &index) in indexes.iter().enumerate() {
        let content = SliceCell {
            busy_ps: busy[at].cast_unsigned(),
            wait_ps: wait[at].cast_unsigned(),
            count: narrow(count[at])?,
            name: narrow(name[at])?,
            longest_row: first_row.checked_add(narrow(row[at])?).ok_or_else(|| cursor.corrupt())?,
            longest_ps: longest[at].cast_unsigned(),
        };
        cells.push(PlacedCell { index, content });
    }
    Ok(cells)
}

/// Cells of a page of a counter.
pub fn range_cells<B: Bytes>(segment: &Segment<B>, page: &PyramidPage) -> Result<Vec<PlacedCell<Range>>> {
    let bytes = segment.piece(page.piece, "pyramid page")?;
    let mut cursor = bytes.cursor();
    let len = list::stated_len(&cursor, MAX_PAGE_CELLS)?;
    let indexes = list::read_ints_of(&mut cursor, len)?;
    let mut column = || {
        let mut values = Vec::new();
        crate::codec::decode_floats(cursor.bytes()?, indexes.len(), &mut values)?;
        Ok(values)
    };
    let (min, max, last) = (column()?, column()?, column()?);
    let counts = list::read_ints_of(&mut cursor, indexes.len())?;
    (0..indexes.len())
        .map(|at| {
            let count = u32::try_from(counts[at]).map_err(|_| cursor.corrupt())?;
            let content = Range { min: min[at], max: max[at], last: last[at], count };
            Ok(PlacedCell { index: indexes[at], content })
        })
        .collect()
}
