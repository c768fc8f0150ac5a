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
    let text = RwSignal::new(String::new());
    let keep = move |event: SubmitEvent| {
        event.prevent_default();
        let name = text.get_untracked().trim().to_owned();
        if let (Some(span), false) = (span.get_untracked(), name.is_empty()) {
            opened.name_region(name, span);
            text.set(String::new());
        }
    };
    move || {
        span.get()?;
        Some(match named.get() {
            Some(NamedSpan { name, .. }) => {
                let dropped = name.clone();
                let drop = move |_| opened.drop_region(dropped.clone());
                view! {
                    <p class="region-name">
                        "Region "<b>{name}</b>
                        <button type="button" class="button-link" on:click=drop>"delete"</button>
                    </p>
                }
                .into_any()
            }
            None => view! {
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
                    <button type="submit" class="button" disabled=move || text.with(|text| text.trim().is_empty())>
                        "Keep"
                    </button>
                </form>
            }
            .into_any(),
        })
    }
}
