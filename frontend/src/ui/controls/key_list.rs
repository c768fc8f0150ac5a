//! Rows of a list that stay in the document while their keys stay, and views that depend on a
//! condition.
//!
//! `For` and `Show` of Leptos are compiled anew for each list and each view. These functions box
//! what differs, so a further list costs the page a tenth of the code.

use leptos::prelude::*;

/// A row that is not drawn unless its key is new.
struct Keyed {
    key: String,
    draw: Box<dyn FnOnce() -> AnyView + Send>,
}

/// The rows of a list that changes. A row is drawn once for each new key.
pub fn keyed<T: Send + 'static>(
    items: impl Fn() -> Vec<T> + Send + Sync + 'static,
    key: fn(&T) -> String,
    draw: impl Fn(T) -> AnyView + Clone + Send + Sync + 'static,
) -> AnyView {
    boxed(Box::new(move || {
        let row = |item: T| {
            let draw = draw.clone();
            Keyed { key: key(&item), draw: Box::new(move || draw(item)) }
        };
        items().into_iter().map(row).collect()
    }))
}

fn boxed(rows: Box<dyn Fn() -> Vec<Keyed> + Send + Sync>) -> AnyView {
    view! { <For each=rows key=|row| row.key.clone() children=|row| (row.draw)() /> }.into_any()
}

/// Children that are in the document while a condition holds.
#[component]
pub fn If<F>(
    /// The condition.
    is: F,
    /// The children.
    children: ChildrenFn,
) -> impl IntoView
where
    F: Fn() -> bool + Send + Sync + 'static,
{
    while_true(Box::new(is), children)
}

fn while_true(is: Box<dyn Fn() -> bool + Send + Sync>, children: ChildrenFn) -> AnyView {
    let is = Memo::new(move |_| is());
    (move || is.get().then(|| children())).into_any()
}
