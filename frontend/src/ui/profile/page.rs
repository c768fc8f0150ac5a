//! Arrangement of the parts of a profile's page, and the keys that do not belong to the timeline.

use leptos::prelude::*;

use super::bar::Bar;
use super::hovered::HoverTip;
use super::missing::{Failed, failure};
use super::opened::Opened;
use super::panel::Panel;
use super::ranks::{RankTabs, open_neighbour};
use super::search::Search;
use crate::fetch::Source;
use crate::fetch::embedded::{Embedded, Unpacked};
use crate::ui::app::{is_for_page, is_outside_of_fields};
use crate::ui::failure::Loading;
use crate::ui::format;
use crate::ui::splitter::PanelSize;
use crate::ui::timeline::{Timeline, Times};
use crate::view::hits::Walk;
use crate::view::keys::{Held, Press, RankStep, rank_step};
use crate::view::shortcut::{PageKey, page_key};
use crate::view::{Command, Hover};

/// The page of the profile with this slug.
#[component]
pub fn ProfilePage(
    /// The profile's name for URLs.
    slug: String,
) -> impl IntoView {
    let opened = Opened::new(slug);
    let search = Search::new(opened);
    let size = PanelSize::new();
    let keys = window_event_listener(leptos::ev::keydown, move |event| press(&event, opened, search, size));
    on_cleanup(move || keys.remove());
    let failure = Memo::new(move |_| failure(opened));
    Effect::new(move |_| document().set_title(&format!("{} · nprof", name(opened))));
    view! {
        <div class="profile">
            <Bar opened search />
            <RankTabs opened />
            {move || match failure.get() {
                Some(failure) => view! { <Failed opened failure /> }.into_any(),
                None => {
                    view! {
                        <TimelineArea opened />
                        <Panel opened search size />
                    }
                        .into_any()
                }
            }}
        </div>
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

fn press(event: &web_sys::KeyboardEvent, opened: Opened, search: Search, size: PanelSize) {
    if !is_outside_of_fields(event) {
        return;
    }
    let (key, code) = (event.key(), event.code());
    let held = Held {
        control: event.ctrl_key(),
        alt: event.alt_key(),
        meta: event.meta_key(),
        shift: event.shift_key(),
    };
    let rank = rank_step(Press { key: &key, code: &code, held });
    match (rank, page_key(&key, &code).filter(|_| is_for_page(event))) {
        (Some(RankStep::Previous), _) => open_neighbour(opened, Walk::Backward),
        (Some(RankStep::Next), _) => open_neighbour(opened, Walk::Forward),
        (None, Some(PageKey::Search)) => search.focus(),
        (None, Some(PageKey::Panel)) => size.toggle(),
        (None, Some(PageKey::Help) | None) => return,
    }
    event.prevent_default();
}

#[component]
fn TimelineArea(opened: Opened) -> impl IntoView {
    let hover = RwSignal::new(None::<Hover>);
    // Changes of the rank reach the timeline without creating it again.
    let here = Memo::new(move |_| {
        let is_rank_here = opened.rank.with(|answer| matches!(answer, Some(Ok(_))));
        // Times count from the profile's start, so nothing is shown before that is known.
        is_rank_here && opened.profile.with(|answer| matches!(answer, Some(Ok(_))))
    });
    let unpacked = Source::of_page().embedded().map(Embedded::unpacked);
    let loading = Signal::derive(move || match unpacked.and_then(|unpacked| unpacked.get()) {
        Some(Unpacked { rank, done_bytes, total_bytes }) => format!(
            "Unpacking rank {rank}: {} of {} …",
            format::bytes(done_bytes),
            format::bytes(total_bytes)
        ),
        None => "Loading the timeline …".to_owned(),
    });
    let selected = Signal::derive(move || opened.selected.get().and_then(Result::ok));
    let times =
        Times { whole: opened.whole, reach: opened.reach, clock: opened.clock, tracks_px: opened.tracks_px };
    let on_command = Callback::new(move |command: Command| opened.act(&command));
    opened.correct_address();
    opened.complete_link();
    let on_hover = Callback::new(move |at| hover.set(at));
    view! {
        <main class="timeline-area">
            {move || if here.get() {
                view! { <Timeline view=opened.view.into() tracks=opened.tracks times selected on_command on_hover /> }.into_any()
            } else {
                view! { <Loading what=loading /> }.into_any()
            }}
        </main>
        <HoverTip opened hover />
    }
}

/// Number of warnings, shown next to the tab's name.
#[must_use]
pub fn warnings(opened: Opened) -> u64 {
    opened.rank_detail().map_or(0, |rank| rank.warnings.len() as u64)
}
