//! Bands under the ruler, above the tracks.

use leptos::prelude::*;

use super::Scene;
use crate::view::band::{BandSpan, BandTarget, PlacedSpan, RegionBand, in_sight};
use crate::view::finding_box::FindingBox;

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
    let band = Memo::new(move |_| bands.shown.with(|shown| shown.get(at).cloned()));
    let placed = Memo::new(move |_| {
        let scale = scene.scale();
        band.with(|band| band.as_ref().map_or_else(Vec::new, |band| in_sight(band, &scale)))
    });
    let title = move || band.with(|band| band.as_ref().map_or("", |band| band.title));
    let spans = move || {
        band.with(|band| {
            let span = |of: &PlacedSpan| {
                let span = band.as_ref()?.spans.get(of.at)?.clone();
                Some(view! { <BandButton bands placed=of.clone() span /> })
            };
            placed.with(|placed| placed.iter().filter_map(span).collect_view())
        })
    };
    view! {
        <div class="timeline-corner">{title}</div>
        <div class="timeline-band" role="group" aria-label=title>{spans}</div>
    }
}

#[component]
fn BandButton(bands: Bands, placed: PlacedSpan, span: BandSpan) -> impl IntoView {
    let PlacedSpan { left_px, width_px, .. } = placed;
    let kind = match span.target {
        BandTarget::Span { is_outlier: false } | BandTarget::Named => "span",
        BandTarget::Span { is_outlier: true } => "outlier",
        BandTarget::Finding(_) => "finding",
    };
    let (label, title) = (span.label.clone(), span.title.clone());
    view! {
        <button
            type="button"
            class="band-span"
            data-kind=kind
            tabindex="-1"
            title=title.clone()
            aria-label=title
            style=format!("left: {left_px:.1}px; width: {width_px:.1}px")
            on:click=move |_| bands.on_open.run(span.clone())
        >
            {label}
        </button>
    }
}
