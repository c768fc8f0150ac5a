//! The bar at the top: the current place, the search, and actions on the page.

use leptos::prelude::*;

use super::opened::Opened;
use super::search::Search;
use super::search::SearchBox;
use crate::fetch::Source;
use crate::ui::controls::{Action, BarActions, Glyph};
use crate::ui::shell::{Brand, DownloadMenu, HelpButton, ThemeButton};

/// The bar of the profile's page.
#[component]
pub fn Bar(
    /// The opened profile.
    opened: Opened,
    /// The search of the profile.
    search: Search,
) -> impl IntoView {
    let source = move || {
        opened.profile.with(|answer| match answer {
            Some(Ok(profile)) => Some(profile.entry.source.clone()),
            _ => None,
        })
    };
    let rank = Memo::new(move |_| {
        let are_several = opened.profile.with(|answer| match answer {
            Some(Ok(profile)) => profile.ranks.len() > 1,
            _ => true,
        });
        opened.rank_number.get().filter(|_| are_several)
    });
    let server = Source::of_page().server().ok();
    view! {
        <header class="bar">
            <Brand />
            <div class="bar-title">
                <span class="separator" aria-hidden="true">
                    "/"
                </span>
                <h1 title=move || opened.name()>{move || opened.name()}</h1>
                {move || source().map(|source| view! { <span class="chip">{source}</span> })}
            </div>
            <SearchBox search />
            <BarActions>
                <LinkButton opened />
                {server.map(|server| view! { <DownloadMenu server profile=opened.slug() rank /> })}
                <ThemeButton />
                <HelpButton />
            </BarActions>
        </header>
    }
}

/// The button that copies a link to exactly this view.
#[component]
fn LinkButton(opened: Opened) -> impl IntoView {
    view! {
        <Action
            label="Copy a link to this view"
            glyph=Glyph::Link
            on_press=Callback::new(move |()| opened.copy_link())
        />
    }
}
