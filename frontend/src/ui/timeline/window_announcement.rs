//! Tells users of screen readers which part of the trace is in sight, after it has changed.

use std::time::Duration;

use leptos::leptos_dom::helpers::{TimeoutHandle, set_timeout_with_handle};
use leptos::prelude::*;
use nprof_engine::base::{Interval, Time};

use crate::ui::text::format;
use crate::view::View;
use crate::view::time::window_words::ends_in_words;

/// Length of the rest after which the window is told. A zoom or a move is many windows.
const REST: Duration = Duration::from_millis(500);

/// The window in words, once it has rested after a change. A step to a slice is told as that slice,
/// so its window is not told.
#[component]
pub fn SpokenWindow(
    /// The current view.
    view: Signal<View>,
    /// The visible span.
    window: Memo<Interval>,
    /// The moment that counts as zero.
    zero: Memo<Time>,
) -> impl IntoView {
    let (spoken, rest) = (RwSignal::new(String::new()), StoredValue::new(None::<TimeoutHandle>));
    let forget = move || {
        rest.try_update_value(Option::take).flatten().iter().for_each(TimeoutHandle::clear);
    };
    let row = Memo::new(move |_| view.with(|view| view.selection.row));
    Effect::new(move |before: Option<(Interval, Option<u32>)>| {
        let now = (window.get(), row.get());
        forget();
        if let Some((window, row)) = before
            && row == now.1
            && window != now.0
        {
            let tell = move || {
                let shown = now.0;
                let duration = format::duration(shown.duration_ps());
                let ends = zero.try_get_untracked().map(|zero| ends_in_words(shown, zero.0));
                ends.into_iter().for_each(|ends| drop(spoken.try_set(format!("{ends}, {duration}"))));
            };
            rest.set_value(set_timeout_with_handle(tell, REST).ok());
        }
        now
    });
    on_cleanup(forget);
    view! { <p class="unseen" aria-live="polite">{spoken}</p> }
}
