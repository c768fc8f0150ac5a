//! The ruler and the rows: elements that show the canvases and handle the pointer.

use leptos::prelude::*;

use super::canvases::Tools;
use super::pointer::Gestures;
use super::stage::StageHandle;
use super::track_list::TrackList;
use super::{Parts, Scene};
use crate::view::Command;

/// The ruler. A drag on it marks a span.
#[component]
pub fn RulerArea(
    /// The page elements.
    parts: Parts,
    /// The stage that draws on them.
    stage: StageHandle,
    /// The zero of timestamps, in words.
    zero: Signal<String>,
    /// Receives the user's commands.
    on_command: Callback<Command>,
) -> impl IntoView {
    let gestures = Gestures::new(stage, parts.rows, on_command);
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
        ></canvas>
    }
}

/// The rows: the canvases in front of the list of tracks, which scrolls.
#[component]
pub fn Rows(
    /// The page elements.
    parts: Parts,
    /// The content to show.
    scene: Scene,
    /// The stage that draws on the elements.
    stage: StageHandle,
    /// Receives the user's commands.
    on_command: Callback<Command>,
) -> impl IntoView {
    let scroll = move |_| {
        if let Some(rows) = parts.rows.get_untracked() {
            scene.scroll_px.set(f64::from(rows.scroll_top()));
        }
    };
    view! {
        <div class="timeline-frame">
        <div
            class="timeline-rows"
            node_ref=parts.rows
            role="group"
            tabindex="0"
            aria-label="Tracks over time"
            on:scroll=scroll
        >
            <SightCanvases parts scene stage on_command />
            <TrackList
                view=scene.view
                sheet=scene.tracks.sheet
                standings=scene.tracks.standings
                offers=scene.tracks.offers
                layout=scene.layout
                scroll_px=scene.scroll_px.into()
                height_px=Signal::derive(move || scene.size_px.get().1)
                on_command
            />
        </div>
        // The focus ring. It is above the canvases and headings, which would cover an outline of
        // the rows.
        <div class="timeline-ring" aria-hidden="true"></div>
        </div>
    }
}

/// The canvases as large as the part of the rows in sight. The upper one handles the pointer.
#[component]
fn SightCanvases(
    parts: Parts,
    scene: Scene,
    stage: StageHandle,
    on_command: Callback<Command>,
) -> impl IntoView {
    let gestures = Gestures::new(stage, parts.rows, on_command);
    let wheel = move |event: web_sys::WheelEvent| {
        if let Some(rows) = parts.rows.get_untracked() {
            gestures.wheel(&event, &rows);
        }
    };
    let size = move || {
        let (width_px, height_px) = scene.size_px.get();
        format!("width: {width_px}px; height: {height_px}px")
    };
    let change_card = move |change: fn(&mut Tools)| {
        stage.with(|stage| stage.change_card(change));
        stage.invalidate();
    };
    view! {
        <div class="timeline-sight" node_ref=parts.sight>
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
                on:wheel=wheel
            ></canvas>
        </div>
    }
}
