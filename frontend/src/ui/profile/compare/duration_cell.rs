//! The durations of a row in both runs, one picture over the other.

use leptos::prelude::*;
use nprof_engine::wire::comparison::ComparedDurations;

use crate::view::duration_shapes::{HEIGHT, WIDTH, duration_shapes, in_words};

#[component]
pub(super) fn DurationCell(
    /// The durations.
    of: ComparedDurations,
) -> impl IntoView {
    let [a, b] = duration_shapes(&of);
    view! {
        <svg
            class="compare-durations"
            role="img"
            aria-label=in_words(&of)
            viewBox=format!("0 0 {WIDTH} {HEIGHT}")
            preserveAspectRatio="none"
        >
            <title>{in_words(&of)}</title>
            <path class="compare-durations-a" d=a />
            <path class="compare-durations-b" d=b />
        </svg>
    }
}
