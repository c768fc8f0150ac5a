//! The head of a table: titles that sort.

use leptos::prelude::*;

use super::TableSource;
use crate::view::table::Sorting;

/// The head. A click sorts by the column, then the other way round, then not at all.
#[component]
pub fn Head(
    /// The table.
    source: TableSource,
) -> impl IntoView {
    let headings = move || {
        let (table, columns) = (source.table.get(), source.columns.get());
        let columns = columns.iter().filter_map(|&at| table.columns.get(at).cloned());
        let heading = |column: crate::view::table::TableColumn| {
            let (key, about) = (column.key.clone(), explanation(&column.key, &column.title, &column.doc));
            let (title, is_number) = (column.title.clone(), column.is_number());
            let state = Memo::new(move |_| {
                source.sorting.with(|sorting| match sorting {
                    Some(sorting) if sorting.column == key && sorting.descending => "descending",
                    Some(sorting) if sorting.column == key => "ascending",
                    _ => "none",
                })
            });
            let sort = move |_| {
                let next = source.sorting.with_untracked(|now| Sorting::clicked(now.as_ref(), &column));
                source.on_sort.run(next);
            };
            view! {
                <th scope="col" class:number=is_number aria-sort=state>
                    <button class="button-sort" type="button" title=about on:click=sort>
                        {title}
                    </button>
                </th>
            }
        };
        columns.map(heading).collect_view()
    };
    view! {
        <thead>
            <tr>{headings}</tr>
        </thead>
    }
}

/// The exported name and the explanation of a column, as far as they say more than its title.
fn explanation(key: &str, title: &str, doc: &str) -> String {
    match (key == title, doc.is_empty()) {
        (true, _) => doc.to_owned(),
        (false, true) => key.to_owned(),
        (false, false) => format!("{key}\n{doc}"),
    }
}
