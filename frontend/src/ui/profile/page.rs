//! Arrangement of the parts of a profile's page, and the keys that do not belong to the timeline.

use leptos::prelude::*;

use super::bar::Bar;
use super::data::DataPage;
use super::hovered::HoverTip;
use super::missing::{Failed, failure};
use super::opened::Opened;
use super::panel::Panel;
use super::rail::Rail;
use super::ranks::{RankTabs, open_neighbour, show_fewer, show_more};
use super::search::Search;
use super::summary::SummaryPage;
use crate::fetch::Source;
use crate::fetch::embedded::{Embedded, Unpacked};
use crate::ui::app::{is_for_page, is_outside_of_fields};
use crate::ui::failure::Loading;
use crate::ui::format;
use crate::ui::splitter::PanelSize;
use crate::ui::timeline::{Timeline, Times};
use crate::view::hits::Walk;
use crate::view::keys::{Held, Press, RankStep, rank_step};
use crate::view::place::GO_MS;
use crate::view::shortcut::{PageKey, page_key};
use crate::view::{Command, Hover, ProfilePlace};

/// The page of the profile with this slug.
#[component]
pub fn ProfilePage(
    /// The profile's name for URLs.
    slug: String,
) -> impl IntoView {
    let opened = Opened::new(slug);
    let search = Search::new(opened);
    let size = PanelSize::new();
    let going = StoredValue::new(None::<f64>);
    let keys = window_event_listener(leptos::ev::keydown, move |event| {
        if !go(&event, opened, going) {
            press(&event, opened, search, size);
        }
    });
    on_cleanup(move || keys.remove());
    let failure = Memo::new(move |_| failure(opened));
    let place = Memo::new(move |_| opened.view.with(|view| view.place));
    opened.correct_address();
    opened.complete_link();
    Effect::new(move |_| document().set_title(&format!("{} · nprof", name(opened))));
    view! {
        <div class="profile">
            <Bar opened search />
            <div class="profile-body">
                <Rail opened />
                <div class="profile-place">
                    <RankTabs opened />
                    {move || match (failure.get(), place.get()) {
                        (Some(failure), _) => view! { <Failed opened failure /> }.into_any(),
                        (None, ProfilePlace::Summary) => view! { <SummaryPage opened /> }.into_any(),
                        (None, ProfilePlace::Data) => view! { <DataPage opened /> }.into_any(),
                        (None, ProfilePlace::Timeline) => {
                            view! {
                                <TimelineArea opened />
                                <Panel opened search size />
                            }
                                .into_any()
                        }
                    }}
                </div>
            </div>
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

/// Opens a place by its two keys. The second one counts for [`GO_MS`]. Returns true if the key is
/// used up.
fn go(event: &web_sys::KeyboardEvent, opened: Opened, going: StoredValue<Option<f64>>) -> bool {
    if !is_for_page(event) {
        return false;
    }
    let now_ms = event.time_stamp();
    let since = going.try_update_value(Option::take).flatten();
    if since.is_some_and(|since| now_ms - since < GO_MS)
        && let Some(place) = ProfilePlace::of_letter(&event.key())
    {
        event.prevent_default();
        opened.act(&Command::GoTo(place));
        return true;
    }
    if page_key(&event.key(), &event.code()) == Some(PageKey::Go) {
        going.set_value(Some(now_ms));
        event.prevent_default();
        return true;
    }
    false
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
        (Some(RankStep::More), _) => show_more(opened),
        (Some(RankStep::Fewer), _) => show_fewer(opened),
        (None, Some(PageKey::Search)) => search.focus(),
        (None, Some(PageKey::Panel)) => size.toggle(),
        (None, Some(PageKey::Help | PageKey::Go) | None) => return,
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
