//! The badge that says how the current rank is aligned, and switches between aligned and raw times.

use leptos::prelude::*;

use super::clock_words::said;
use crate::ui::controls::If;
use crate::ui::profile::open_profile::Opened;
use crate::view::time::axes::is_any_moved;
use crate::view::{Act, Timebase};

/// Whether the clocks of any ranks differ.
#[must_use]
pub fn has_clocks(opened: Opened) -> bool {
    opened.profile.info.with(|answer| match answer {
        Some(Ok(profile)) => is_any_moved(&profile.ranks),
        _ => false,
    })
}

/// The badge. Nothing if no rank is moved.
#[component]
pub fn ClockSwitch(
    /// The opened profile.
    opened: Opened,
) -> impl IntoView {
    let base = Memo::new(move |_| opened.session.view.with(|view| view.timebase));
    let said = Memo::new(move |_| {
        let current = opened.current.source.get().map(|source| source.rank);
        opened.profile.info.with(|answer| match answer {
            Some(Ok(profile)) => said(&profile.ranks, current, base.get()),
            _ => None,
        })
    });
    let text = move || said.get().map(|said| said.text);
    let title = move || said.get().map(|said| Act::SwitchClock.titled(&said.title));
    view! {
        <If is=move || said.with(Option::is_some)>
            <button
                class="clock-switch"
                type="button"
                role="switch"
                aria-checked=move || (base.get() == Timebase::Aligned).to_string()
                title=title
                on:click=move |_| opened.switch_clock()
            >
                {text}
            </button>
        </If>
    }
}
