//! The bar at the top: where we are, search, and what can be done with the page.

use leptos::prelude::*;

use super::opened::Opened;
use super::page::name;
use super::search::Search;
use super::search_box::SearchBox;
use crate::ui::actions::{Action, BarActions};
use crate::ui::app::{Brand, HelpButton};
use crate::ui::clipboard;
use crate::ui::icon::Glyph;
use crate::ui::message::Messages;
use crate::ui::theme::ThemeButton;

/// The bar.
#[component]
pub fn Bar(
    /// The opened profile.
    opened: Opened,
    /// Its search.
    search: Search,
) -> impl IntoView {
    let source = move || {
        opened.profile.with(|answer| match answer {
            Some(Ok(profile)) => Some(profile.entry.source.clone()),
            _ => None,
        })
    };
    view! {
        <header class="bar">
            <Brand />
            <div class="bar-title">
                <span class="separator" aria-hidden="true">
                    "/"
                </span>
                <h1 title=move || name(opened)>{move || name(opened)}</h1>
                {move || source().map(|source| view! { <span class="chip">{source}</span> })}
            </div>
            <SearchBox search />
            <BarActions>
                <LinkButton opened />
                <ThemeButton />
                <HelpButton />
            </BarActions>
        </header>
    }
}

/// Copies a link to exactly this view.
#[component]
fn LinkButton(opened: Opened) -> impl IntoView {
    let messages = expect_context::<Messages>();
    let copy = move |()| {
        let origin = window().location().origin().unwrap_or_default();
        clipboard::copy(format!("{origin}{}", opened.view.get_untracked()), "Link to this view", messages);
    };
    view! {
        <Action
            label="Copy a link to this view"
            glyph=Glyph::Link
            on_press=Callback::new(copy)
        />
    }
}
