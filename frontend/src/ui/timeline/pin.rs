//! The button that shows a track of all ranks, and the heading of such rows.

use leptos::prelude::*;

use crate::ui::controls::{Glyph, Icon, If};
use crate::view::rows::pins::{PinOffers, PinnedRanks};
use crate::view::rows::track_path::TrackPath;
use crate::view::state::tracks::TracksState;
use crate::view::{Act, Command};

/// State that the buttons and headings read.
#[derive(Debug, Clone, Copy)]
pub struct PinMenu {
    /// The ranks that a pinned track can be shown of.
    pub offers: Memo<PinOffers>,
    /// The state of the tracks.
    pub state: Memo<TracksState>,
}

/// Shows a track of all ranks. Nothing if there is one rank.
#[component]
pub fn PinButton(
    /// The track.
    path: TrackPath,
    /// The offers.
    menu: PinMenu,
    /// Receives the user's commands.
    on_command: Callback<Command>,
) -> impl IntoView {
    let path = StoredValue::new(path);
    view! {
        <If is=move || menu.offers.get().are_several()>
            <button
                class="track-pin"
                type="button"
                title=Act::PinTrack.titled("Show this track of all ranks")
                aria-label="Show this track of all ranks"
                on:click=move |_| on_command.run(Command::Pin(path.get_value()))
            >
                <Icon glyph=Glyph::Pin />
            </button>
        </If>
    }
}

/// The choice of ranks beside the name of a pinned track, and the button that unpins it.
#[component]
pub fn PinnedHead(
    /// The pinned track.
    path: TrackPath,
    /// The offers.
    menu: PinMenu,
    /// Receives the user's commands.
    on_command: Callback<Command>,
) -> impl IntoView {
    let now = Memo::new(move |_| menu.state.with(|state| state.pins.of));
    let are_beside = Memo::new(move |_| menu.state.with(|state| state.ranks.len() > 1));
    let options = move || {
        let offers = menu.offers.get();
        let option = move |choice: PinnedRanks| {
            view! {
                <option value=choice.name() prop:selected=move || now.get() == choice>
                    {choice.words(offers.ranks)}
                </option>
            }
        };
        offers.choices(now.get(), are_beside.get()).map(option).collect_view()
    };
    let choose = move |event| {
        let choice = PinnedRanks::from_name(&event_target_value(&event));
        choice.into_iter().for_each(|choice| on_command.run(Command::PinRanks(choice)));
    };
    view! {
        <select class="select rank-order pin-ranks" aria-label="Ranks of the pinned tracks" on:change=choose>
            {options}
        </select>
        <button
            class="track-unpin"
            type="button"
            title="Unpin this track"
            aria-label="Unpin this track"
            on:click=move |_| on_command.run(Command::Pin(path.clone()))
        >
            <Icon glyph=Glyph::Close />
        </button>
    }
}
