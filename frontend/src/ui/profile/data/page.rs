//! The Data place: a list of tables at the left, the open one at the right.

use leptos::prelude::*;

use super::entry::{EntryKind, TableEntry, entries};
use super::rows::TableRowsView;
use crate::ui::controls::Loading;
use crate::ui::profile::open_profile::Opened;
use crate::ui::text::format;
use crate::view::{Command, DataChange};

/// The place with all tables of the rank.
#[component]
pub fn DataPage(
    /// The opened profile.
    opened: Opened,
) -> impl IntoView {
    let list = Memo::new(move |_| opened.rank_detail().map(|rank| entries(&rank)));
    let open = Memo::new(move |_| {
        let wanted = opened.session.view.with(|view| view.data.table.clone());
        list.with(|list| {
            let list = list.as_ref()?;
            match &wanted {
                Some(name) => list.iter().find(|entry| entry.name == *name).cloned(),
                None => list.first().cloned(),
            }
        })
    });
    let missing = move || {
        let name = opened.session.view.with(|view| view.data.table.clone()).unwrap_or_default();
        match name.starts_with('~') {
            true => "Every event of this rank's trace was read.".to_owned(),
            false => format!("This rank has no rows in a table “{name}”."),
        }
    };
    let body = move || match open.get() {
        Some(entry) => view! { <OpenTable opened entry /> }.into_any(),
        None => view! { <p class="panel-empty">{missing}</p> }.into_any(),
    };
    view! {
        <main class="data-place">
            <Show
                when=move || list.with(Option::is_some)
                fallback=|| view! { <Loading what="Loading tables …" /> }
            >
                <nav class="table-list" aria-label="Tables">
                    <h2 class="unseen">"Tables"</h2>
                    {move || {
                        groups(&list.get().unwrap_or_default())
                            .into_iter()
                            .map(|(heading, entries)| view! { <Group opened heading entries open /> })
                            .collect_view()
                    }}
                </nav>
                <section class="table-place" aria-label="Table">
                    {body}
                </section>
            </Show>
        </main>
    }
}

/// Tables under their headings, in the list's order.
fn groups(entries: &[TableEntry]) -> Vec<(String, Vec<TableEntry>)> {
    let chunks = entries.chunk_by(|a, b| a.heading == b.heading);
    chunks.map(|chunk| (chunk[0].heading.clone(), chunk.to_vec())).collect()
}

#[component]
fn Group(
    opened: Opened,
    heading: String,
    entries: Vec<TableEntry>,
    open: Memo<Option<TableEntry>>,
) -> impl IntoView {
    let entry = |entry: TableEntry| {
        let name = entry.name.clone();
        let is_open =
            Memo::new(move |_| open.with(|open| open.as_ref().is_some_and(|open| open.name == name)));
        let node = NodeRef::<leptos::html::Button>::new();
        Effect::new(move |_| {
            if let (true, Some(button)) = (is_open.get(), node.get()) {
                // A long list scrolls to the open table.
                let options = web_sys::ScrollIntoViewOptions::new();
                options.set_block(web_sys::ScrollLogicalPosition::Nearest);
                options.set_inline(web_sys::ScrollLogicalPosition::Nearest);
                button.scroll_into_view_with_scroll_into_view_options(&options);
            }
        });
        let chip = if entry.kind == EntryKind::Warnings { "chip chip-warning" } else { "table-count" };
        let counted = entry.clone();
        let count =
            move || format::count(counted.shown_rows(opened.session.view.with(|view| view.data.with_waits)));
        let show = move |_| opened.act(&Command::Data(DataChange::Open(entry.name.clone())));
        view! {
            <li>
                <button
                    node_ref=node
                    class="table-entry"
                    type="button"
                    aria-current=move || is_open.get().then_some("true")
                    on:click=show
                >
                    <span>{entry.title}</span>
                    <span class=chip>{count}</span>
                </button>
            </li>
        }
    };
    view! {
        <h3>{heading}</h3>
        <ul>{entries.into_iter().map(entry).collect_view()}</ul>
    }
}

#[component]
fn OpenTable(opened: Opened, entry: TableEntry) -> impl IntoView {
    view! {
        <header class="table-head">
            <h2>{entry.title.clone()}</h2>
            <p>{entry.doc.clone()}</p>
        </header>
        <TableRowsView opened entry />
    }
}
