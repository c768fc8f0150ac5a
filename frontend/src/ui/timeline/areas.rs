//! The ruler and the rows: elements that show the canvases and handle the pointer.

use leptos::prelude::*;

use super::canvases::Tools;
use super::pointer::{Asks, BY_POINTER, Gestures};
use super::stage::StageHandle;
use super::track_list::TrackList;
use super::wheel::ChosenWheel;
use super::{Scene, TimelineElements, space_key};
use crate::ui::controls::{If, own_element, scrolled_px};
use crate::ui::shell::Messages;
use crate::view::pointing::wheel::WheelUse;
use crate::view::rows::layout::sight::RowPart;
use crate::view::{Command, Size};

/// The ruler. A drag on it marks a span.
#[component]
pub fn RulerArea(
    /// The page elements.
    parts: TimelineElements,
    /// The stage that draws on them.
    stage: StageHandle,
    /// The zero of timestamps, in words.
    zero: Signal<String>,
    /// Receives the user's commands.
    on_command: Callback<Command>,
    /// Receivers of clicks.
    asks: Asks,
) -> impl IntoView {
    let gestures = Gestures::new(stage, parts.scrollers, on_command, asks, RwSignal::new(false));
    view! {
        <canvas
            class="ruler"
            node_ref=parts.ruler
            title=move || format!("Drag to mark a span. {}", zero.get())
            aria-hidden="true"
            on:pointerdown=move |event| gestures.press_ruler(&event)
            on:pointermove=move |event| gestures.pull_ruler(&event)
            on:pointerup=move |event| gestures.release(&event)
            on:pointercancel=move |event| gestures.lose(&event)
            on:wheel=move |event| { gestures.wheel(&event, WheelUse::Zoom); }
        ></canvas>
    }
}

/// The rows: the canvases in front of the lists of tracks, which scroll.
#[component]
pub fn Rows(
    /// The page elements.
    parts: TimelineElements,
    /// The content to show.
    scene: Scene,
    /// The stage that draws on the elements.
    stage: StageHandle,
    /// Receives the user's commands.
    on_command: Callback<Command>,
    /// Receivers of clicks.
    asks: Asks,
) -> impl IntoView {
    let pins_px = Memo::new(move |_| scene.sight.with(|sight| sight.pinned.height_px));
    let has_pins = Memo::new(move |_| pins_px.get() > 0.0);
    view! {
        <div class="timeline-frame" node_ref=parts.frame style=move || format!("--pins: {}px", pins_px.get())>
            <RowsOfPart part=RowPart::Pinned has_rows=has_pins parts scene on_command />
            <RowsOfPart part=RowPart::Others has_rows=true parts scene on_command />
            <SightCanvases parts scene stage on_command asks />
            <If is=move || has_pins.get()>
                <div class="timeline-edge" aria-hidden="true"></div>
            </If>
            // The focus ring. It is above the canvases and headings, which would cover an outline
            // of the rows.
            <div class="timeline-ring" aria-hidden="true"></div>
        </div>
    }
}

/// The rows of a part, which scroll.
#[component]
fn RowsOfPart(
    part: RowPart,
    /// Whether the part has any rows. The keyboard skips an empty part.
    #[prop(into)]
    has_rows: Signal<bool>,
    parts: TimelineElements,
    scene: Scene,
    on_command: Callback<Command>,
) -> impl IntoView {
    let rows = parts.scrollers.of(part);
    let (class, label) = match part {
        RowPart::Pinned => ("timeline-pins", "Pinned tracks over time"),
        RowPart::Others => ("timeline-rows", "Tracks over time"),
    };
    let scrolled = move |event| {
        let Some(now_px) = scrolled_px(&event) else { return };
        scene.scrolled_px.update(|(pinned_px, others_px)| match part {
            RowPart::Pinned => *pinned_px = now_px,
            RowPart::Others => *others_px = now_px,
        });
    };
    let unmark = |event: web_sys::FocusEvent| {
        if let Some(rows) = own_element::<web_sys::Element>(&event) {
            // An element that is gone needs no mark.
            rows.remove_attribute(BY_POINTER).ok();
        }
    };
    let measures_width = part == RowPart::Others;
    let width = measures_width.then(|| view! { <div class="timeline-width" node_ref=parts.width></div> });
    view! {
        <div
            class=class
            node_ref=rows
            role="group"
            tabindex=move || if has_rows.get() { "0" } else { "-1" }
            aria-label=label
            on:scroll=scrolled
            on:blur=unmark
        >
            {width}
            <If is=move || has_rows.get()>
                <TrackList
                    part
                    view=scene.view
                    sheet=scene.tracks.sheet
                    standings=scene.tracks.standings
                    offers=scene.tracks.offers
                    layout=scene.layout
                    sight=scene.sight
                    on_command
                />
            </If>
        </div>
    }
}

/// The canvases as large as the part of the rows in sight. The upper one handles the pointer.
#[component]
fn SightCanvases(
    parts: TimelineElements,
    scene: Scene,
    stage: StageHandle,
    on_command: Callback<Command>,
    asks: Asks,
) -> impl IntoView {
    let is_space_held = space_key::follow();
    let gestures = Gestures::new(stage, parts.scrollers, on_command, asks, is_space_held);
    let (wheel, messages) = (expect_context::<ChosenWheel>(), expect_context::<Messages>());
    let turn = move |event: &web_sys::WheelEvent| {
        if !gestures.wheel(event, wheel.get()) {
            wheel.explained().into_iter().for_each(|words| messages.confirm(words));
        }
    };
    let size = move || {
        let Size { width_px, height_px } = scene.times.tracks_size.get();
        format!("width: {width_px}px; height: {height_px}px")
    };
    let change_card = move |change: fn(&mut Tools)| {
        stage.with(|stage| stage.change_card(change));
        stage.invalidate();
    };
    view! {
        <div class="timeline-sight">
            <canvas
                node_ref=parts.quads
                style=size
                aria-hidden="true"
                on:webglcontextlost=move |event: web_sys::Event| {
                    // Without this the browser never restores the context.
                    event.prevent_default();
                    change_card(Tools::lose_card);
                }
                on:webglcontextrestored=move |_: web_sys::Event| change_card(Tools::restore_card)
            ></canvas>
            <canvas node_ref=parts.plain style=size aria-hidden="true"></canvas>
            <canvas
                class="timeline-above"
                class:is-movable=is_space_held
                node_ref=parts.above
                style=size
                aria-hidden="true"
                on:pointerdown=move |event| gestures.press(&event)
                on:mousedown=move |event| gestures.count(&event)
                on:pointermove=move |event| gestures.pull(&event)
                on:pointerup=move |event| gestures.release(&event)
                on:pointercancel=move |event| gestures.lose(&event)
                on:pointerleave=move |_| gestures.leave()
                on:dblclick=move |event| gestures.focus(&event)
                on:wheel=move |event| turn(&event)
                on:contextmenu=move |event| gestures.menu(&event)
            ></canvas>
        </div>
    }
}
