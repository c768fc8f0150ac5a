//! Warnings of the ingest as a table.

use std::sync::Arc;

use leptos::prelude::*;
use nprof_engine::base::narrow;
use nprof_engine::wire::catalog::WarningEntry;
use nprof_engine::wire::detail::FieldContent;
use nprof_engine::wire::rows::ColumnValues;

use crate::ui::profile::open_profile::Opened;
use crate::ui::table::DrawCell;
use crate::ui::text::format;
use crate::view::Command;
use crate::view::table::{DataTable, TableColumn, texts};
use crate::view::text::moments::{TextPart, parts};

const WHAT: &str = "what";
const PLACE: &str = "first_place";

/// The warnings, in the order of the ingest.
#[must_use]
pub fn warnings_table(warnings: &[WarningEntry]) -> DataTable {
    let column =
        |text: fn(&WarningEntry) -> &String| texts(warnings.iter().map(|of| text(of).clone()).collect());
    let counts = ColumnValues::Uints(warnings.iter().map(|warning| warning.count).collect());
    DataTable {
        columns: vec![
            TableColumn::new(WHAT, "What", "", column(|warning| &warning.what)),
            TableColumn::new("kind", "Kind", "", column(|warning| &warning.title)),
            TableColumn::new(PLACE, "First place", "", column(|warning| &warning.first_place)),
            TableColumn::new("times", "Times", "count", counts),
        ],
        rows: narrow(warnings.len()),
    }
}

/// Draws timestamps in warnings as links to the time around them.
#[must_use]
pub fn warning_cells(opened: Opened) -> DrawCell {
    Arc::new(move |column, row| match column.cell(row)? {
        FieldContent::Text(text) if column.key == WHAT || column.key == PLACE => {
            Some(with_moments(opened, &text).into_any())
        }
        _ => None,
    })
}

fn with_moments(opened: Opened, text: &str) -> impl IntoView + use<> {
    let clock = opened.times.clock;
    let axis = opened.axis();
    let part = |part: &TextPart<'_>| match *part {
        TextPart::Text(text) => text.to_owned().into_any(),
        TextPart::Moment(ps) => {
            let ps = axis.shared(ps);
            view! {
            <button
                class="button-link"
                type="button"
                title=move || {
                    let exact = clock.with(|clock| format::exact_ns(clock.since_zero(ps)));
                    format!("{exact}: show the time around it")
                }
                on:click=move |_| opened.act(&Command::Show(opened.around(ps)))
            >
                {move || clock.with(|clock| clock.text(ps))}
            </button>
            }
            .into_any()
        }
    };
    let title = text.to_owned();
    view! { <span title=title>{parts(text).iter().map(part).collect_view()}</span> }
}
