//! The rail at the left of a profile's page: its places. On a narrow screen it is a bar at the
//! foot.

use leptos::prelude::*;

use super::data::entry::entries;
use super::open_profile::Opened;
use crate::ui::controls::{Glyph, Icon, If};
use crate::ui::shell::Address;
use crate::ui::text::format;
use crate::view::url::page::PagePlace;
use crate::view::{Act, ProfilePlace, View};

fn glyph(place: ProfilePlace) -> Glyph {
    match place {
        ProfilePlace::Timeline => Glyph::Timeline,
        ProfilePlace::Summary => Glyph::Summary,
        ProfilePlace::Data => Glyph::Table,
        ProfilePlace::Compare => Glyph::Compare,
    }
}

/// Whether a place has something to show. As long as the rank is not known, all have.
fn has_content(opened: Opened, place: ProfilePlace) -> bool {
    let Some(rank) = opened.rank_detail() else { return true };
    match place {
        ProfilePlace::Timeline => true,
        ProfilePlace::Summary => rank.entry.events > 0,
        ProfilePlace::Data => !entries(&rank).is_empty(),
        ProfilePlace::Compare => opened.can_compare(),
    }
}

/// Links to the places of the page.
#[component]
pub fn Rail(
    /// The opened profile.
    opened: Opened,
) -> impl IntoView {
    view! {
        <nav class="rail" aria-label="Places">
            {ProfilePlace::ALL.map(|place| view! { <RailLink opened place /> }).collect_view()}
        </nav>
    }
}

#[component]
fn RailLink(opened: Opened, place: ProfilePlace) -> impl IntoView {
    let address = expect_context::<Address>();
    let is_here = Memo::new(move |_| opened.session.view.with(|view| view.place == place));
    let is_present = Memo::new(move |_| is_here.get() || has_content(opened, place));
    let href = move || {
        let view = opened.session.view.get();
        address.link(&PagePlace::Profile(View { place, ..view }))
    };
    let open = move |event: web_sys::MouseEvent| {
        let elsewhere = event.ctrl_key() || event.meta_key() || event.shift_key() || event.alt_key();
        if event.button() == 0 && !elsewhere {
            event.prevent_default();
            opened.go_to_place(place);
        }
    };
    let warnings = move || {
        let count = opened.rank_detail().map_or(0, |rank| rank.warnings.len() as u64);
        (place == ProfilePlace::Data && count > 0).then(|| {
            let text = format::counted(count, "warning", "warnings");
            view! { <span class="rail-mark" title=text.clone()><span class="unseen">{text.clone()}</span></span> }
        })
    };
    let title = Act::GoTo(place).titled(place.title());
    view! {
        <If is=move || is_present.get()>
            <a
                class="rail-link"
                href=href
                title=title.clone()
                aria-current=move || is_here.get().then_some("page")
                on:click=open
            >
                <Icon glyph=glyph(place) />
                <span>{place.title()}</span>
                {warnings}
            </a>
        </If>
    }
}
