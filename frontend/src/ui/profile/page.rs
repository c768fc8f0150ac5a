//! How the parts of a profile's page stand together, and the keys that are not the timeline's own.

use leptos::prelude::*;

use super::bar::Bar;
use super::hovered::HoverTip;
use super::opened::{Opened, Tab};
use super::panel::Panel;
use super::ranks::{RankTabs, open_neighbour};
use super::search::Search;
use super::search_cursor::Walk;
use crate::ui::address::Link;
use crate::ui::app::is_for_page;
use crate::ui::failure::{Failure, Loading};
use crate::ui::place::Place;
use crate::ui::splitter::{self, Splitter};
use crate::ui::timeline::Timeline;
use crate::view::{Command, Hover};

/// The page of the profile with this slug.
#[component]
pub fn ProfilePage(
    /// The profile's name for URLs.
    slug: String,
) -> impl IntoView {
    let opened = Opened::new(slug);
    let search = Search::new(opened);
    let height_px = RwSignal::new(splitter::remembered_height_px());
    let keys = window_event_listener(leptos::ev::keydown, move |event| press(&event, opened, search));
    on_cleanup(move || keys.remove());
    let failure = Memo::new(move |_| failure(opened));
    Effect::new(move |_| document().set_title(&format!("{} · nprof", name(opened))));
    view! {
        <div class="profile">
            <Bar opened search />
            <RankTabs opened />
            {move || match failure.get() {
                Some((title, reason)) => view! { <Failed opened title reason /> }.into_any(),
                None => {
                    view! {
                        <TimelineArea opened />
                        <Splitter height_px />
                        <Panel opened search height_px />
                    }
                        .into_any()
                }
            }}
        </div>
    }
}

/// The profile or the rank is not to be had.
#[component]
fn Failed(opened: Opened, title: &'static str, reason: String) -> impl IntoView {
    view! {
        <main class="profile-failure">
            <Failure title reason on_retry=opened.retry />
            <Link place=Place::List>"All profiles"</Link>
        </main>
    }
}

/// The profile's name for people, as far as it is known.
#[must_use]
pub fn name(opened: Opened) -> String {
    opened.profile.with(|answer| match answer {
        Some(Ok(profile)) => profile.entry.display_name.clone(),
        _ => opened.slug(),
    })
}

fn press(event: &web_sys::KeyboardEvent, opened: Opened, search: Search) {
    if !is_for_page(event) {
        return;
    }
    match event.key().as_str() {
        "/" => search.focus(),
        "[" => open_neighbour(opened, Walk::Backward),
        "]" => open_neighbour(opened, Walk::Forward),
        _ => return,
    }
    event.prevent_default();
}

#[component]
fn TimelineArea(opened: Opened) -> impl IntoView {
    let hover = RwSignal::new(None::<Hover>);
    // News of the rank reach the timeline without making it anew.
    let here = Memo::new(move |_| opened.rank.with(|answer| matches!(answer, Some(Ok(_)))));
    let rank = Signal::derive(move || opened.rank_detail());
    let selected = Signal::derive(move || opened.selected.get().and_then(Result::ok));
    let on_command = Callback::new(move |command: Command| opened.act(&command));
    let on_hover = Callback::new(move |at| hover.set(at));
    view! {
        <main class="timeline-area">
            {move || if here.get() {
                view! { <Timeline view=opened.view.into() rank selected on_command on_hover /> }.into_any()
            } else {
                view! { <Loading what="Loading the timeline …" /> }.into_any()
            }}
        </main>
        <HoverTip opened hover />
    }
}

/// Why there is no timeline.
fn failure(opened: Opened) -> Option<(&'static str, String)> {
    let of_profile = opened.profile.with(|answer| match answer {
        Some(Err(error)) => Some(("This profile did not arrive", error.to_string())),
        Some(Ok(profile)) if profile.ranks.is_empty() => {
            Some(("This profile is empty", "It has no ranks: ingest the trace again".to_owned()))
        }
        _ => None,
    });
    of_profile.or_else(|| {
        opened.rank.with(|answer| match answer {
            Some(Err(error)) => Some(("This rank did not arrive", error.to_string())),
            _ => None,
        })
    })
}

/// Whether a tab has anything to show, as a number beside its name.
#[must_use]
pub fn warnings(opened: Opened) -> u64 {
    opened.rank_detail().map_or(0, |rank| rank.warnings.len() as u64)
}

/// All tabs with their names.
pub const TABS: [(Tab, &str); 5] = [
    (Tab::Details, "Details"),
    (Tab::Selection, "Selection"),
    (Tab::Search, "Search"),
    (Tab::Summary, "Summary"),
    (Tab::Warnings, "Warnings"),
];
