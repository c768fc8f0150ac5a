//! Actions on a table: filter, choice of columns, copy, download.

use leptos::prelude::*;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Blob, BlobPropertyBag, HtmlElement, Url};

use super::TableSource;
use super::marks::MarkedRows;
use crate::ui::controls::{Glyph, Icon, keeps_focus};
use crate::ui::shell::{Messages, clipboard};
use crate::ui::text::format;
use crate::view::table::{as_csv, as_tsv};

/// Marked rows of a table, and the ways out of the page.
#[derive(Clone, Copy)]
pub struct TableToolsState {
    source: TableSource,
    /// The marked rows.
    pub marked: MarkedRows,
    messages: Messages,
}

impl TableToolsState {
    /// No row is marked.
    #[must_use]
    pub fn new(source: TableSource) -> Self {
        Self { source, marked: MarkedRows::new(), messages: expect_context::<Messages>() }
    }

    /// The marked rows, or all if none is marked.
    fn rows(self) -> Vec<u32> {
        let span = untrack(|| self.marked.span());
        self.source.rows.with_untracked(|rows| match span {
            Some((first, last)) => {
                let end = (last as usize + 1).min(rows.len());
                rows.get(first as usize..end).unwrap_or_default().to_vec()
            }
            None => rows.to_vec(),
        })
    }

    /// Copies the marked rows, or all if none is marked, for a spreadsheet.
    pub fn copy(self) {
        let columns = self.source.columns.get_untracked();
        let rows = self.rows();
        let text = self.source.table.with_untracked(|table| as_tsv(table, &rows, &columns));
        clipboard::copy(text, if rows.len() == 1 { "Row" } else { "Rows" }, None, self.messages);
    }

    /// Saves all shown rows as a file of comma-separated values.
    fn download(self, name: &str) {
        let columns = self.source.columns.get_untracked();
        let text = self
            .source
            .table
            .with_untracked(|table| self.source.rows.with_untracked(|rows| as_csv(table, rows, &columns)));
        if save(&text, name).is_err() {
            self.messages.fail("The browser did not let the page save a file", None);
        }
    }
}

/// Saves a text as a file of the browser's downloads.
fn save(text: &str, name: &str) -> Result<(), JsValue> {
    let kind = BlobPropertyBag::new();
    kind.set_type("text/csv;charset=utf-8");
    let blob = Blob::new_with_str_sequence_and_options(&js_sys::Array::of1(&text.into()), &kind)?;
    let url = Url::create_object_url_with_blob(&blob)?;
    let link = document().create_element("a")?;
    link.set_attribute("href", &url)?;
    link.set_attribute("download", name)?;
    link.unchecked_ref::<HtmlElement>().click();
    Url::revoke_object_url(&url)
}

/// The line above a table: filter with the number of matches, columns, copy, download.
#[component]
pub fn TableTools(
    /// The table.
    tools: TableToolsState,
    /// Text of the filter.
    #[prop(into)]
    filter: Signal<String>,
    /// Called with a changed filter.
    on_filter: Callback<String>,
    /// Fault of the filter.
    #[prop(into)]
    mistake: Signal<Option<String>>,
    /// Whether a column is hidden, by its key.
    is_hidden: Callback<String, bool>,
    /// Hides a column or shows it again.
    on_toggle: Callback<String>,
    /// Name of a downloaded file.
    #[prop(into)]
    file: Signal<String>,
    /// Further controls.
    children: Children,
) -> impl IntoView {
    let source = tools.source;
    let matches = move || {
        let (shown, all) = (source.rows.with(|rows| rows.len()) as u64, source.unfiltered.get());
        let all_rows = format::counted(all, "row", "rows");
        match filter.with(|filter| filter.trim().is_empty()) {
            true => all_rows,
            false => format!("{} of {all_rows}", format::count(shown)),
        }
    };
    view! {
        <div class="table-tools">
            <FilterBox filter on_filter mistake />
            <span class="table-matches" role="status">{matches}</span>
            {move || mistake.get().map(|mistake| view! { <span class="table-mistake" role="alert">{mistake}</span> })}
            <span class="table-tools-gap"></span>
            {children()}
            <ColumnChooser source is_hidden on_toggle />
            <CopyButton tools />
            <button
                class="button"
                type="button"
                aria-label="Download CSV"
                title="Save the shown rows and columns as a file"
                on:click=move |_| tools.download(&file.get_untracked())
            >
                <Icon glyph=Glyph::Download />
                "CSV"
            </button>
        </div>
    }
}

/// The box for the text of the filter. Escape clears and leaves it.
#[component]
fn FilterBox(
    filter: Signal<String>,
    on_filter: Callback<String>,
    mistake: Signal<Option<String>>,
) -> impl IntoView {
    let box_node = NodeRef::<leptos::html::Input>::new();
    let leave = move |event: web_sys::KeyboardEvent| {
        if event.key() == "Escape"
            && let Some(input) = box_node.get_untracked()
        {
            event.stop_propagation();
            on_filter.run(String::new());
            input.blur().ok();
        }
    };
    view! {
        <label class="field table-filter" class:is-wrong=move || mistake.with(Option::is_some)>
            <Icon glyph=Glyph::Search />
            <span class="unseen">"Filter rows"</span>
            <input
                node_ref=box_node
                type="search"
                spellcheck="false"
                autocomplete="off"
                placeholder="Filter: text, column:text, column>10us"
                aria-invalid=move || mistake.with(Option::is_some).to_string()
                prop:value=filter
                on:input=move |event| on_filter.run(event_target_value(&event))
                on:keydown=leave
            />
        </label>
    }
}

/// The button that copies the marked rows, or all if none is marked.
#[component]
fn CopyButton(tools: TableToolsState) -> impl IntoView {
    let label = move || match tools.marked.span() {
        Some((first, last)) if last > first => {
            format!("Copy {} rows", format::count(u64::from(last - first) + 1))
        }
        Some(_) => "Copy row".to_owned(),
        None => "Copy".to_owned(),
    };
    view! {
        <button
            class="button button-copy"
            type="button"
            title="Copy with tabs between values, for a spreadsheet"
            on:click=move |_| tools.copy()
        >
            <Icon glyph=Glyph::Copy />
            {label}
        </button>
    }
}

/// The list of columns behind a button. Columns without any value are not offered.
#[component]
fn ColumnChooser(
    source: TableSource,
    is_hidden: Callback<String, bool>,
    on_toggle: Callback<String>,
) -> impl IntoView {
    let choices = move || {
        let table = source.table.get();
        let columns = table.columns.iter().filter(|column| !column.is_empty());
        let choice = |column: &crate::view::table::TableColumn| {
            let (key, toggled) = (column.key.clone(), column.key.clone());
            view! {
                <li>
                    <label title=column.doc.clone()>
                        <input
                            type="checkbox"
                            prop:checked=move || !is_hidden.run(key.clone())
                            on:change=move |_| on_toggle.run(toggled.clone())
                        />
                        {column.title.clone()}
                    </label>
                </li>
            }
        };
        columns.map(choice).collect_view()
    };
    let node = NodeRef::<leptos::html::Details>::new();
    let close = move || {
        if let Some(details) = node.try_get_untracked().flatten() {
            details.set_open(false);
        }
    };
    let left = move |event: web_sys::FocusEvent| {
        // A click on what takes no focus leaves the list open.
        if event.related_target().is_some() && !keeps_focus(&event) {
            close();
        }
    };
    let press = move |event: web_sys::KeyboardEvent| {
        if event.key() == "Escape" {
            event.stop_propagation();
            close();
        }
    };
    view! {
        <details class="column-chooser" node_ref=node on:focusout=left on:keydown=press>
            <summary class="button">
                "Columns"
                <Icon glyph=Glyph::Down />
            </summary>
            <ul aria-label="Columns">{choices}</ul>
        </details>
    }
}
