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
/// Characters of a text of a row that can be opened, which stay in sight.
const LEAST_TEXT: usize = 24;
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

/// The same widths with texts cut, the widest first, so that all columns fit into `room_ch`
/// characters. Columns that are too many for it keep their least widths, and the table scrolls.
#[must_use]
pub fn fitted(mut widths: Vec<usize>, table: &DataTable, columns: &[usize], room_ch: usize) -> Vec<usize> {
    let shown = columns.iter().filter_map(|&at| table.columns.get(at));
    let can_be_cut: Vec<bool> =
        shown.map(|column| !column.is_number() && column.picture_ch.is_none()).collect();
    let mut lacking = widths.iter().sum::<usize>().saturating_sub(room_ch);
    while lacking > 0 {
        let texts = widths.iter().copied().enumerate();
        let texts = texts.filter(|(at, width)| can_be_cut[*at] && *width > LEAST_TEXT);
        let Some((widest, _)) = texts.max_by_key(|(_, width)| *width) else { break };
        widths[widest] -= 1;
        lacking -= 1;
    }
    widths
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

#[cfg(test)]
mod tests {
    use nprof_engine::wire::rows::ColumnValues;

    use super::*;
    use crate::view::table::texts;

    #[test]
    fn texts_give_way_to_the_room_and_numbers_do_not() {
        let text = |key: &str| TableColumn::new(key, key, "", texts(vec!["a".to_owned()]));
        let number = TableColumn::new("number", "Number", "s", ColumnValues::Ints(vec![1]));
        let table = DataTable { columns: vec![text("name"), text("track"), number], rows: 1 };
        let columns: Vec<usize> = (0..table.columns.len()).collect();
        let fit = |room_ch| fitted(vec![48, 30, 10], &table, &columns, room_ch);
        assert_eq!(fit(100), [48, 30, 10]);
        assert_eq!(fit(80), [40, 30, 10]);
        assert_eq!(fit(66), [28, 28, 10]);
        assert_eq!(fit(0), [LEAST_TEXT, LEAST_TEXT, 10]);
    }
}
