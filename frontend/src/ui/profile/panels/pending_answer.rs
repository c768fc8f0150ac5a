//! An answer about a run that is being computed, with the progress of the graph that it needs.

use std::time::Duration;

use leptos::leptos_dom::helpers::set_interval_with_handle;
use leptos::prelude::*;

use crate::ui::controls::Loading;
use crate::ui::profile::open_profile::Opened;
use crate::ui::shell::spawn_while_shown;

/// Interval at which the progress is asked for.
const ASK_EVERY: Duration = Duration::from_millis(400);

/// An answer that is being computed.
#[component]
pub fn PendingAnswer(
    /// The opened profile.
    opened: Opened,
    /// The answer, as the subject of a sentence with its verb.
    what: &'static str,
) -> impl IntoView {
    let progress = RwSignal::new(None::<String>);
    let ask = move || {
        spawn_while_shown(progress, async move {
            // Without an answer, the text stays as it is.
            if let Ok(of) = opened.graph_progress().await {
                progress.try_set(of.words());
            }
        });
    };
    // Fails only if the page is gone.
    if let Ok(handle) = set_interval_with_handle(ask, ASK_EVERY) {
        on_cleanup(move || handle.clear());
    }
    let text = Signal::derive(move || match progress.get() {
        Some(progress) => format!("{what} being computed: {progress} …"),
        None => format!("{what} being computed …"),
    });
    view! { <Loading what=text /> }
}
