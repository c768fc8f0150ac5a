//! The buttons at the end of the bar. On a narrow screen they form a menu behind one button, with
//! their names.

use leptos::prelude::*;

use super::events::keeps_focus;
use super::icon::{Glyph, Icon};
use crate::view::Act;

/// Id of the buttons, for the button that opens the menu.
const ACTIONS_ID: &str = "bar-actions";

/// The buttons of the bar.
#[component]
pub fn BarActions(
    /// Links and buttons.
    children: Children,
) -> impl IntoView {
    let is_open = RwSignal::new(false);
    // The focus moved to an element outside.
    let left = move |event: web_sys::FocusEvent| {
        if !keeps_focus(&event) {
            is_open.set(false);
        }
    };
    let press = move |event: web_sys::KeyboardEvent| {
        if event.key() == "Escape" && is_open.get_untracked() {
            event.stop_propagation();
            is_open.set(false);
        }
    };
    view! {
        <div class="bar-menu" on:focusout=left on:keydown=press>
            <button
                class="button button-icon bar-more"
                type="button"
                aria-label="More"
                aria-expanded=move || is_open.get().to_string()
                aria-controls=ACTIONS_ID
                on:click=move |_| is_open.update(|open| *open = !*open)
            >
                <Icon glyph=Glyph::More />
            </button>
            <div
                id=ACTIONS_ID
                class="bar-actions"
                class:is-open=is_open
                on:click=move |_| is_open.set(false)
            >
                {children()}
            </div>
        </div>
    }
}

/// A button of the bar: an icon. In the menu it also shows its name.
#[component]
pub fn Action(
    /// Name of the action.
    #[prop(into)]
    label: Signal<String>,
    /// The command that does the same by key.
    #[prop(optional)]
    act: Option<Act>,
    /// Icon of the action.
    #[prop(into)]
    glyph: Signal<Glyph>,
    /// Called on a press.
    on_press: Callback<()>,
) -> impl IntoView {
    let title = move || act.map_or_else(|| label.get(), |act| act.titled(&label.get()));
    view! {
        <button
            class="button button-icon"
            type="button"
            aria-label=label
            title=title
            on:click=move |_| on_press.run(())
        >
            {move || view! { <Icon glyph=glyph.get() /> }}
            <span class="bar-label">{label}</span>
        </button>
    }
}
