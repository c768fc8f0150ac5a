//! The cells of a row.

use std::sync::Arc;

use leptos::prelude::*;
use nprof_engine::wire::detail::FieldContent;

use super::DrawCell;
use crate::ui::text::format::{self, FormattedValue};
use crate::view::table::{DataTable, TableColumn};

/// A text from this length on has a tooltip with all of it: it can be cut off.
const LONG_CHARS: usize = 24;

/// The cells of a row.
#[component]
pub fn Cells(
    /// The table.
    table: Arc<DataTable>,
    /// Positions of the shown columns.
    columns: Vec<usize>,
    /// The row.
    row: u32,
    /// Draws cells in their own way.
    draw: StoredValue<DrawCell>,
) -> impl IntoView {
    let columns = columns.iter().filter_map(|&at| table.columns.get(at));
    let cell = |column: &TableColumn| {
        if let Some(drawn) = draw.with_value(|draw| draw(column, row)) {
            return view! { <td class:number=column.is_number()>{drawn}</td> }.into_any();
        }
        let Some(FormattedValue { text, exact }) = shown(column, row) else {
            return view! { <td></td> }.into_any();
        };
        let title = exact.or_else(|| (text.chars().count() >= LONG_CHARS).then(|| text.clone()));
        if !column.is_number() {
            return view! { <td title=title>{text}</td> }.into_any();
        }
        let (number, unit) = split_unit(&text);
        let unit = (!unit.is_empty()).then(|| view! { <span class="unit">{unit.to_owned()}</span> });
        view! {
            <td class="number" title=title>
                {number.to_owned()}
                {unit}
            </td>
        }
        .into_any()
    };
    columns.map(cell).collect_view()
}

/// A value for people. `None` if the row has none.
pub fn shown(column: &TableColumn, row: u32) -> Option<FormattedValue> {
    let value = column.cell(row)?;
    Some(match value {
        // On one line.
        FieldContent::Json(text) => FormattedValue::plain(text),
        value => match format::value(&value, column.unit_of(row)) {
            FormattedValue { exact: Some(exact), .. } if column.is_exact => FormattedValue::plain(exact),
            shown => shown,
        },
    })
}

/// A value for people as one text; empty if the row has none.
#[must_use]
pub fn cell_title(column: &TableColumn, row: u32) -> String {
    shown(column, row).map(|shown| shown.text).unwrap_or_default()
}

/// Splits a number from its unit, with the space between them.
fn split_unit(text: &str) -> (&str, &str) {
    let at = text.find(' ');
    // A long duration has two numbers: `3 min 20 s`.
    at.filter(|at| !text[*at..].contains(|letter: char| letter.is_ascii_digit()))
        .map_or((text, ""), |at| text.split_at(at))
}
