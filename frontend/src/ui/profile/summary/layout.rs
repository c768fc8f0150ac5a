//! The arrangement of a summary.

use leptos::prelude::*;
use nprof_engine::makers::{SummaryLayout, summary_layout, summary_layout_of_job};
use nprof_engine::wire::summary::Summary;

use crate::ui::profile::open_profile::Opened;

/// The arrangement for the current rank.
pub(super) fn layout(opened: Opened, summary: &Summary) -> &'static SummaryLayout {
    if summary.rank.is_all() {
        return summary_layout_of_job();
    }
    let source = opened.profile.info.with_untracked(|answer| {
        answer.as_ref().and_then(|answer| answer.as_ref().ok()).map(|info| info.entry.source.clone())
    });
    summary_layout(source.as_deref().unwrap_or_default())
}
