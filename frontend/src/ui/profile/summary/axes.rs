//! The lines and labels of pictures with two axes.

use leptos::prelude::*;

use crate::view::summary::log_axis::AxisTick;

/// Labelled lines of an axis at most, so that labels do not touch.
const MOST_LABELS: usize = 5;
/// A line further right has no room for a label.
const LAST_LABEL: f64 = 0.82;

/// An axis: its lines, and what stands beside them.
pub(super) struct AxisScale {
    pub(super) ticks: Vec<AxisTick>,
    pub(super) label: fn(f64) -> String,
}

/// The lines of both axes across a picture, some of them with labels.
#[component]
pub(super) fn AxisGrid(across: AxisScale, up: AxisScale) -> impl IntoView {
    let upright = labelled(&across.ticks[..across.ticks.len().saturating_sub(1)]).map(|tick| {
        let x = percent(tick.at);
        let label = (tick.at <= LAST_LABEL).then(|| (across.label)(tick.value));
        view! {
            <line x1=x.clone() x2=x.clone() y1="0" y2="100%" />
            <text x=x y="100%" dx="3" dy="-3">{label}</text>
        }
    });
    let level = labelled(up.ticks.get(1..).unwrap_or_default()).map(|tick| {
        let y = percent(1.0 - tick.at);
        view! {
            <line x1="0" x2="100%" y1=y.clone() y2=y.clone() />
            <text x="2" y=y dy="12">{(up.label)(tick.value)}</text>
        }
    });
    view! { <g class="axis-grid">{upright.collect_view()} {level.collect_view()}</g> }
}

/// A label stands right of its line or below it: the line at one edge has none.
fn labelled(inner: &[AxisTick]) -> impl Iterator<Item = &AxisTick> {
    inner.iter().step_by((inner.len() + 1).div_ceil(MOST_LABELS).max(1))
}

/// A position for SVG.
pub(super) fn percent(share: f64) -> String {
    format!("{:.2}%", share * 100.0)
}
