//! The name of the marked span: a field to give it one, or its name with a way to drop it.

use leptos::ev::SubmitEvent;
use leptos::prelude::*;

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
    let renaming = RwSignal::new(None::<NamedSpan>);
    let text = RwSignal::new(String::new());
    let keep = move |event: SubmitEvent| {
        event.prevent_default();
        let name = text.get_untracked().trim().to_owned();
        let Some(span) = span.get_untracked().filter(|_| !name.is_empty()) else { return };
        match renaming.get_untracked() {
            Some(of) if of.name != name => opened.rename_region(of.name, name),
            Some(_) => {}
            None => opened.name_region(name, span),
        }
        renaming.set(None);
        text.set(String::new());
    };
    let cancel = move |_| {
        renaming.set(None);
        text.set(String::new());
    };
    move || {
        span.get()?;
        let is_renamed = renaming.get().is_some() && renaming.get() == named.get();
        Some(match named.get().filter(|_| !is_renamed) {
            Some(named) => {
                let (of, dropped) = (named.clone(), named.name.clone());
                let rename = move |_| {
                    text.set(of.name.clone());
                    renaming.set(Some(of.clone()));
                };
                let drop = move |_| opened.drop_region(dropped.clone());
                view! {
                    <p class="region-name">
                        "Region "<b>{named.name}</b>
                        <button type="button" class="button-link" on:click=rename>"rename"</button>
                        <button type="button" class="button-link" on:click=drop>"delete"</button>
                    </p>
                }
                .into_any()
            }
            None => {
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
                            <button type="button" class="button-link" on:click=cancel>"cancel"</button>
                        })}
                    </form>
                }
                .into_any()
            }
        })
    }
}
