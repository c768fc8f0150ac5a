//! The page's one table: heads that sort, cells, keys and copies, for tables of any length.
//!
//! [`VirtualTable`] fills its place and holds only the rows in sight in the page. [`PlainTable`]
//! shows a few rows inside of other content. Both draw the same [`TableSource`].

mod cell;
mod follow;
mod head;
mod marks;
mod tools;
mod virtual_table;
mod widths;

use std::sync::Arc;

use leptos::html::Div;
use leptos::prelude::*;

pub use cell::cell_title;
pub use follow::follow_height;
pub use tools::{TableTools, TableToolsState};
pub use virtual_table::VirtualTable;

use self::cell::Cells;
use self::follow::follow_width;
use self::head::Head;
use self::widths::claims;
use crate::ui::text::format;
use crate::view::table::{DataTable, Sorting, TableColumn, fitting};

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

/// Width of a character in CSS pixels: more than that of a digit in the fonts of the page.
const CHARACTER_PX: f64 = 8.0;

/// A table of a few rows. Further rows are counted below. Columns without room are left out, in the
/// order in which they give way.
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
    let (node, width_px) = (NodeRef::<Div>::new(), RwSignal::new(f64::INFINITY));
    follow_width(node, width_px);
    let all = source.columns;
    let columns = Memo::new(move |_| {
        let room_ch = (width_px.get() / CHARACTER_PX) as usize;
        let all = all.get();
        let shown = source.table.with(|table| fitting(&claims(table, &all), room_ch));
        shown.into_iter().map(|at| all[at]).collect::<Vec<usize>>()
    });
    let source = TableSource { columns: columns.into(), ..source };
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
        <div class="table-room" node_ref=node>
            <table class=format!("grid-table {class}")>
                <Head source />
                <tbody>{rows}</tbody>
            </table>
        </div>
    }
}
