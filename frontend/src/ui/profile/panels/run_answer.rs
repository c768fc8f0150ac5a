//! Parts that the panels of answers about a run share.

use std::sync::Arc;

use leptos::prelude::*;

use super::pending_answer::PendingAnswer;
use crate::fetch::FetchError;
use crate::ui::controls::Failure;
use crate::ui::profile::open_profile::Opened;
use crate::ui::table::DrawCell;

/// The words of a panel.
#[derive(Clone, Copy)]
pub struct RunAnswerWords {
    /// The answer, as the subject of a sentence with its verb.
    pub pending: &'static str,
    /// Title if the answer did not arrive.
    pub failed: &'static str,
}

/// An answer about a run: its progress, the reason why there is none, or what `show` makes of it.
pub fn run_answer<T>(
    opened: Opened,
    words: RunAnswerWords,
    answer: Option<Result<Arc<T>, FetchError>>,
    retry: Callback<()>,
    show: impl FnOnce(Arc<T>) -> AnyView,
) -> AnyView {
    match answer {
        None => view! { <PendingAnswer opened what=words.pending /> }.into_any(),
        Some(Err(error)) if !error.is_temporary() => {
            view! { <p class="panel-empty">{error.to_string()}</p> }.into_any()
        }
        Some(Err(error)) => {
            let reason = error.to_string();
            view! { <Failure title=words.failed reason on_retry=retry /> }.into_any()
        }
        Some(Ok(answer)) => show(answer),
    }
}

/// Draws the cells of a column as links to slices, in the rows that have one.
pub fn slice_links(
    key: &'static str,
    has_slice: impl Fn(u32) -> bool + Send + Sync + 'static,
    open: Callback<u32>,
) -> DrawCell {
    Arc::new(move |column, row| {
        (column.key == key && has_slice(row)).then(|| {
            let go = move |event: web_sys::MouseEvent| {
                event.stop_propagation();
                open.run(row);
            };
            let name = column.text(row);
            view! { <button class="button-link" type="button" title="Show it in the timeline" on:click=go>{name}</button> }.into_any()
        })
    })
}
