//! The name of the marked span: a field to give it one, or its name with ways to change and drop
//! it.

use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use nprof_engine::base::Interval;

use crate::ui::profile::open_profile::{NamedSpan, Opened};

/// The name of the marked span. Nothing in a page without a server, and for all ranks together.
#[component]
pub fn RegionName(
    /// The opened profile.
    opened: Opened,
) -> impl IntoView {
    let span = Memo::new(move |_| {
        let is_rank = opened.current.source.get().is_some_and(|source| !source.rank.is_all());
        let marked = opened.session.view.with(|view| view.selection.marked)?;
        (is_rank && opened.can_name_regions() && marked.duration_ps() > 0).then_some(marked)
    });
    let named = Memo::new(move |_| span.get().and_then(|span| opened.regions.named_with(span)));
    // A region whose name is being changed.
    let renamed = RwSignal::new(None::<NamedSpan>);
    move || {
        let span = span.get()?;
        let renames = renamed.get().filter(|of| named.with(|named| named.as_ref() == Some(of)));
        Some(match named.get().filter(|_| renames.is_none()) {
            Some(named) => view! { <KnownName opened named renamed /> }.into_any(),
            None => {
                let close = Callback::new(move |()| renamed.set(None));
                view! { <NewName opened span renames close /> }.into_any()
            }
        })
    }
}

/// The name that a span has.
#[component]
fn KnownName(opened: Opened, named: NamedSpan, renamed: RwSignal<Option<NamedSpan>>) -> impl IntoView {
    let (of, dropped) = (named.clone(), named.name.clone());
    let rename = move |_| renamed.set(Some(of.clone()));
    let drop = move |_| opened.drop_region(dropped.clone());
    view! {
        <p class="region-name">
            "Region "<b>{named.name}</b>
            <button type="button" class="button-link" on:click=rename>"rename"</button>
            <button type="button" class="button-link" on:click=drop>"delete"</button>
        </p>
    }
}

/// A field for the name of a span, or for another name of a region.
#[component]
pub fn NewName(
    /// The opened profile.
    opened: Opened,
    /// The span.
    span: Interval,
    /// The region that gets another name.
    renames: Option<NamedSpan>,
    /// Leaves the region as it is.
    close: Callback<()>,
) -> impl IntoView {
    let is_renamed = renames.is_some();
    let known = renames.map(|of| of.name).unwrap_or_default();
    let text = RwSignal::new(known.clone());
    let keep = move |event: SubmitEvent| {
        event.prevent_default();
        let name = text.get_untracked().trim().to_owned();
        if name.is_empty() || name == known {
            return close.run(());
        }
        match known.is_empty() {
            true => opened.name_region(name, span),
            false => opened.rename_region(known.clone(), name),
        }
        close.run(());
    };
    let is_empty = move || text.with(|text| text.trim().is_empty());
    view! {
        <form class="region-name" on:submit=keep>
            <label>
                "Region "
                <input
                    type="text"
                    placeholder="Name this span"
                    maxlength="200"
                    autocomplete="off"
                    prop:value=move || text.get()
                    on:input=move |event| text.set(event_target_value(&event))
                />
            </label>
            <button type="submit" class="button" disabled=is_empty>
                {if is_renamed { "Rename" } else { "Keep" }}
            </button>
            {is_renamed.then(|| view! {
                <button type="button" class="button-link" on:click=move |_| close.run(())>"cancel"</button>
            })}
        </form>
    }
}
