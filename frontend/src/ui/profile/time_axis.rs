//! The axis of time below a picture.

use leptos::prelude::*;
use nprof_engine::base::Interval;

use crate::view::TimeScale;
use crate::view::time::ticks::{Ruler, Tick};

/// Width of a letter with its share of the padding, in CSS pixels.
const LETTER_PX: f64 = 7.5;

/// The times below a picture, as on the ruler. A label that would be cut off is left out.
#[component]
pub fn TimeAxis(
    /// The time of the picture.
    #[prop(into)]
    window: Signal<Interval>,
    /// The first time of the profile.
    first_ps: Signal<i64>,
    /// Width of the picture in CSS pixels.
    width_px: Signal<f64>,
) -> impl IntoView {
    let labels = move || {
        let scale = TimeScale { window: window.get(), width_px: width_px.get().max(1.0) };
        let ruler = Ruler::new(&scale, first_ps.get());
        let base = ruler.base.map(|base| view! { <span class="plot-time-base">{base}</span> });
        let label = |tick: &Tick| {
            let left_px = scale.px_from_time(tick.time_ps);
            let room_px = tick.label.chars().count() as f64 * LETTER_PX;
            let share = left_px / scale.width_px;
            (left_px + room_px <= scale.width_px).then(
                || view! { <span style:left=format!("{:.3}%", share * 100.0)>{tick.label.clone()}</span> },
            )
        };
        view! { {base} {ruler.ticks.iter().map(label).collect_view()} }
    };
    view! {
        <div class="plot-time-axis" aria-hidden="true">
            {labels}
        </div>
    }
}
