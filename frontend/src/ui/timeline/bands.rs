//! Bands under the ruler, above the tracks.

use std::sync::Arc;

use leptos::prelude::*;

use super::Scene;
use crate::ui::controls::keyed;
use crate::view::band::{BandSpan, BandTarget, PlacedSpan, RegionBand, in_sight};
use crate::view::finding_box::FindingBox;

/// A narrower span has no label.
const LEAST_LABEL_PX: f64 = 24.0;

/// The bands, and the receiver of clicks on their spans.
#[derive(Clone, Copy)]
pub struct Bands {
    /// The bands, the uppermost first.
    pub shown: Memo<Vec<RegionBand>>,
    /// The boxes of findings over the rows.
    pub boxes: Memo<Vec<FindingBox>>,
    /// Receives a span that was clicked.
    pub on_open: Callback<BandSpan>,
}

/// The bands. Nothing if there are none.
#[component]
pub(super) fn BandRows(bands: Bands, scene: Scene) -> impl IntoView {
    let rows = move || {
        let count = bands.shown.with(Vec::len);
        (0..count).map(|at| view! { <BandRow bands at scene /> }).collect_view()
    };
    view! { {rows} }
}

#[component]
fn BandRow(bands: Bands, at: usize, scene: Scene) -> impl IntoView {
    let band = Memo::new(move |_| bands.shown.with(|shown| shown.get(at).cloned()).map(Arc::new));
    let title = move || band.with(|band| band.as_ref().map_or("", |band| band.title));
    view! {
        <div class="timeline-corner">{title}</div>
        <div class="timeline-band" role="group" aria-label=title>
            {move || band.get().map(|band| view! { <BandSpans bands band scene /> })}
        </div>
    }
}

/// The spans of a band that are in sight. They move with every frame, and new buttons would take
/// most of its time, so a button stays as long as its span is in sight.
#[component]
fn BandSpans(bands: Bands, band: Arc<RegionBand>, scene: Scene) -> impl IntoView {
    let of = Arc::clone(&band);
    let placed = Memo::new(move |_| in_sight(&of, &scene.scale()));
    let shown = Memo::new(move |_| placed.with(|placed| placed.iter().map(|of| of.at).collect::<Vec<_>>()));
    keyed(
        move || shown.get(),
        usize::to_string,
        move |at| view! { <BandButton bands span=band.spans[at].clone() placed at /> }.into_any(),
    )
}

/// The button of a span. Nothing but its place changes.
#[component]
fn BandButton(bands: Bands, span: BandSpan, placed: Memo<Vec<PlacedSpan>>, at: usize) -> impl IntoView {
    let (label, title, kind) = (span.label.clone(), span.title.clone(), kind(span.target));
    let style = move || {
        placed.with(|placed| {
            let found = placed.binary_search_by_key(&at, |of| of.at);
            found.map_or_else(
                |_| String::new(),
                |found| {
                    let PlacedSpan { left_px, width_px, .. } = placed[found];
                    // A letter or two say nothing.
                    let font = if width_px < LEAST_LABEL_PX { "; font-size: 0" } else { "" };
                    format!("left: {left_px:.1}px; width: {width_px:.1}px{font}")
                },
            )
        })
    };
    view! {
        <button
            type="button"
            class="band-span"
            data-kind=kind
            tabindex="-1"
            title=title.clone()
            aria-label=title
            style=style
            on:click=move |_| bands.on_open.run(span.clone())
        >
            {label}
        </button>
    }
}

/// Name of a kind of span in the style sheet.
fn kind(target: BandTarget) -> &'static str {
    match target {
        BandTarget::Span { is_outlier: false } | BandTarget::Named => "span",
        BandTarget::Span { is_outlier: true } => "outlier",
        BandTarget::Finding(_) => "finding",
    }
}
