//! Tables of panels.

use std::sync::Arc;

use leptos::prelude::*;

use crate::ui::profile::open_profile::Opened;
use crate::ui::table::{DrawCell, TableSource};
use crate::view::Command;
use crate::view::state::orders::PanelTable;
use crate::view::table::{DataTable, sorted};

/// A table of a panel, in the order that the address tells.
pub fn table_of(
    opened: Opened,
    which: PanelTable,
    table: Signal<Arc<DataTable>>,
    draw: DrawCell,
) -> TableSource {
    let sorting = Memo::new(move |_| opened.session.view.with(|view| view.orders.of(which)));
    let columns = move || table.with(|table| (0..table.columns.len()).collect::<Vec<usize>>());
    let rows = move || {
        table.with(|table| {
            let all = (0..table.rows).collect();
            Arc::new(sorting.with(|sorting| sorted(table, all, sorting.as_ref())))
        })
    };
    let on_sort = Callback::new(move |sorting| opened.act(&Command::SortTable { table: which, sorting }));
    TableSource {
        table,
        columns: Signal::derive(columns),
        rows: Signal::derive(rows),
        unfiltered: Signal::derive(move || table.with(|table| table.rows.into())),
        sorting: sorting.into(),
        on_sort,
        draw: StoredValue::new(draw),
    }
}
