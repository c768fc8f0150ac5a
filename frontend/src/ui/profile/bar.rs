//! The bar at the top: the current place, the search, and actions on the page.

use leptos::prelude::*;

use super::open_profile::Opened;
use super::search::Search;
use super::search::SearchBox;
use crate::fetch::Source;
use crate::ui::controls::{Action, BarActions, Glyph};
use crate::ui::shell::{Brand, DownloadMenu, HelpButton, InSight, ShownWindow, ThemeButton};
use crate::ui::text::format;
use crate::view::View;
use crate::view::time::axes::Timebase;
use crate::view::time::window::widest;

/// The bar of the profile's page.
#[component]
pub fn Bar(
    /// The opened profile.
    opened: Opened,
    /// The search of the profile.
    search: Search,
) -> impl IntoView {
    let source = move || {
        opened.profile.info.with(|answer| match answer {
            Some(Ok(profile)) => Some(profile.entry.source.clone()),
            _ => None,
        })
    };
    let shown = Memo::new(move |_| shown(opened));
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
                {server.map(|server| view! { <DownloadMenu server profile=opened.slug() shown /> })}
                <ThemeButton />
                <HelpButton />
            </BarActions>
        </header>
    }
}

/// The part that the page shows, for files of just that.
fn shown(opened: Opened) -> InSight {
    let are_several = opened.profile.info.with(|answer| match answer {
        Some(Ok(profile)) => profile.ranks.len() > 1,
        _ => true,
    });
    let (view, reach) = (opened.session.view.get().alone(), opened.times.reach.get());
    let window = view.window_in(reach);
    // A file is cut by the times that all ranks share.
    let is_part = window != widest(reach.whole) && view.timebase == Timebase::Aligned;
    let view = View { window: Some(window), ..view };
    let window = is_part.then(|| {
        let clock = opened.times.clock.get();
        ShownWindow {
            span_ps: (clock.since_zero(window.start.0), clock.since_zero(window.end.0)),
            duration: format::duration(window.duration_ps()),
            view: view.clone().without_numbers().to_string(),
        }
    });
    let current = opened.current.source.get().filter(|source| are_several && source.profile == 0);
    InSight { rank: current.map(|source| source.rank), view: Some(view.to_string()), window }
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
