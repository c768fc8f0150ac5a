//! The page's one table: heads that sort, cells, keys and copies, for tables of any length.
//!
//! [`VirtualTable`] fills its place and holds only the rows in sight in the page. [`PlainTable`]
//! shows a few rows inside of other content. Both draw the same [`TableSource`].

mod cell;
mod head;
mod marked;
mod tools;
mod virtual_table;
mod widths;

use std::sync::Arc;

use leptos::prelude::*;

pub use cell::cell_title;
pub use tools::{TableTools, TableToolsState};
pub use virtual_table::{VirtualTable, follow_height};

use self::cell::Cells;
use self::head::Head;
use crate::ui::text::format;
use crate::view::table::{DataTable, Sorting, TableColumn};

/// Draws a cell in its own way; `None` for the usual way.
pub type DrawCell = Arc<dyn Fn(&TableColumn, u32) -> Option<AnyView> + Send + Sync>;

/// Content of a table.
#[derive(Clone, Copy)]
pub struct TableSource {
    /// All columns and rows.
    pub table: Signal<Arc<DataTable>>,
    /// Positions of the shown columns.
    pub columns: Signal<Vec<usize>>,
    /// The shown rows, in their order.
    pub rows: Signal<Arc<Vec<u32>>>,
    /// Number of rows that are shown without a filter.
    pub unfiltered: Signal<u64>,
    /// The order.
    pub sorting: Signal<Option<Sorting>>,
    /// Called with the order after a click on a heading.
    pub on_sort: Callback<Option<Sorting>>,
    /// Draws cells.
    pub draw: StoredValue<DrawCell>,
}

/// A table of a few rows. Further rows are counted below.
#[component]
pub fn PlainTable(
    /// The table.
    source: TableSource,
    /// Maximum number of rows in the page.
    most: usize,
    /// Noun for the rows, such as `names`.
    noun: &'static str,
    /// CSS class.
    #[prop(default = "")]
    class: &'static str,
) -> impl IntoView {
    let rows = move || {
        let (table, columns, rows) = (source.table.get(), source.columns.get(), source.rows.get());
        let shown = rows.iter().take(most).map(|&row| {
            let (table, columns) = (Arc::clone(&table), columns.clone());
            view! {
                <tr>
                    <Cells table columns row draw=source.draw />
                </tr>
            }
        });
        let shown = shown.collect_view();
        let more = rows.len().saturating_sub(most);
        let more = (more > 0).then(|| {
            view! {
                <tr>
                    <td class="muted" colspan=columns.len().to_string()>
                        {format!("and {} more {noun}", format::count(more as u64))}
                    </td>
                </tr>
            }
        });
        view! {
            {shown}
            {more}
        }
    };
    view! {
        <table class=format!("grid-table {class}")>
            <Head source />
            <tbody>{rows}</tbody>
        </table>
    }
}
