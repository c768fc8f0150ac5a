//! Metrics of several things as tables, and the families without values.

use leptos::prelude::*;
use nprof_engine::wire::detail::FieldContent;
use nprof_engine::wire::summary::{
    AbsentReason, MetricColumnEntry, MetricRowEntry, MetricTableEntry, Summary,
};
use wasm_bindgen::JsCast;

use crate::ui::controls::{Explained, Name};
use crate::ui::text::format::{self, FormattedValue};

/// Rows of a table. `nprof summary` has all.
const MOST_ROWS: usize = 12;

/// The tables of a summary, one below the other.
pub(super) fn tables(summary: &Summary) -> impl IntoView + use<> {
    let filled = summary.tables.iter().filter(|table| !table.rows.is_empty());
    filled.cloned().map(|table| view! { <MetricTable table /> }).collect_view()
}

/// A table with the names of its rows at the left.
#[component]
pub(super) fn MetricTable(table: MetricTableEntry) -> impl IntoView {
    let head = |column: &MetricColumnEntry| {
        let text = column.name.replace('_', " ");
        view! { <th scope="col"><Explained text doc=column.doc.clone() /></th> }
    };
    let heads = table.columns.iter().map(head).collect_view();
    let cell = |(column, value): (&MetricColumnEntry, &Option<FieldContent>)| {
        let value = value.as_ref().map(|value| format::value(value, &column.unit));
        let text = value.map(|FormattedValue { text, .. }| text);
        view! { <td>{text.unwrap_or_else(|| "–".to_owned())}</td> }
    };
    let row = |row: &MetricRowEntry| {
        let cells = table.columns.iter().zip(&row.values).map(cell).collect_view();
        view! { <tr><th scope="row"><Name name=row.name.clone() /></th>{cells}</tr> }
    };
    let rows = table.rows.iter().take(MOST_ROWS).map(row).collect_view();
    let more = table.rows.len().saturating_sub(MOST_ROWS) as u64;
    let more = (more > 0).then(|| {
        view! { <p class="muted">{format!("{} more", format::counted(more, "row", "rows"))}</p> }
    });
    view! {
        <section class="metric-card metric-table" id=element_id(&table.key)>
            <h3>{table.title.clone()}</h3>
            <div class="scroll" tabindex="0" role="region" aria-label=table.title.clone()>
                <table>
                    <thead><tr><th scope="col">{table.row.clone()}</th>{heads}</tr></thead>
                    <tbody>{rows}</tbody>
                </table>
            </div>
            {more}
        </section>
    }
}

/// The id of the table of metrics with this key.
fn element_id(key: &str) -> String {
    format!("metrics-{key}")
}

/// Brings a table of metrics into sight. If it is not there, brings all metrics into sight, which
/// say why.
pub(super) fn reveal_table(key: &str) {
    let table = document().get_element_by_id(&element_id(key));
    let all = || document().query_selector(".all-metrics").ok().flatten();
    let Some(section) = table.or_else(all) else { return };
    section.scroll_into_view();
    let focused = section.query_selector("[tabindex], input").ok().flatten();
    if let Some(focused) = focused.and_then(|found| found.dyn_into::<web_sys::HtmlElement>().ok()) {
        // Fails only if the element is not in the page.
        focused.focus().ok();
    }
}

/// The families without values, each reason once.
pub(super) fn absent(summary: &Summary) -> impl IntoView + use<> {
    let line = |AbsentReason { reason, titles }: AbsentReason<'_>| {
        view! { <p class="muted metric-absent">{format!("{}: not there, {reason}.", titles.join(", "))}</p> }
    };
    summary.absent_by_reason().into_iter().map(line).collect_view()
}
