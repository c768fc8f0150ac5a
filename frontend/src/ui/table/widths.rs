//! Widths of columns, from their titles and some values. They stay while the rows scroll.

use super::cell::cell_title;
use crate::ui::text::width::digits_of;
use crate::view::table::{ColumnClaim, DataTable, TableColumn};

/// Rows that decide the widths, spread over the table.
const SAMPLE: u32 = 120;
/// Least and greatest width of a column, in characters.
const NARROWEST: usize = 5;
const WIDEST: usize = 48;
/// Greatest width of a column in a table with few columns.
const WIDEST_OF_FEW: usize = 96;
const FEW: usize = 5;
/// Characters of a text that stay in sight if the table has no room for all.
const CUT_TEXT: usize = 12;
/// Padding of a cell on both sides, in characters.
const PLAIN_PADDING_CH: usize = 2;

/// Widths of columns in characters.
#[must_use]
pub fn widths(table: &DataTable, columns: &[usize]) -> Vec<usize> {
    let widest = if columns.len() <= FEW { WIDEST_OF_FEW } else { WIDEST };
    let columns = columns.iter().filter_map(|&at| table.columns.get(at));
    columns
        .map(|column| {
            let step = (table.rows / SAMPLE).max(1) as usize;
            let rows = (0..table.rows).step_by(step).chain(table.rows.checked_sub(1));
            let values = rows.map(|row| digits_of(&cell_title(column, row)));
            let content = column.picture_ch.unwrap_or_else(|| values.max().unwrap_or_default());
            // The title has a sign for the order beside it.
            content.max(column.title.chars().count() + 2).clamp(NARROWEST, widest)
        })
        .collect()
}

/// Widths that the columns of a table of a few rows ask for. Texts can be cut, numbers and titles
/// cannot.
#[must_use]
pub fn claims(table: &DataTable, columns: &[usize]) -> Vec<ColumnClaim> {
    let widths = widths(table, columns).into_iter();
    let columns = columns.iter().filter_map(|&at| table.columns.get(at));
    let claim = |(column, width): (&TableColumn, usize)| {
        let least = if column.is_number() { width } else { width.min(CUT_TEXT) };
        ColumnClaim { width_ch: least + PLAIN_PADDING_CH, gives_way: column.gives_way }
    };
    columns.zip(widths).map(claim).collect()
}
