//! Leads from a wait of a rank to the rank that ended it, and what that did instead of coming.

use leptos::prelude::WithUntracked;
use nprof_engine::base::Interval;
use nprof_engine::model::is_wait;
use nprof_engine::wire::detail::SliceEntry;
use nprof_engine::wire::questions::EventsQuestion;
use nprof_engine::wire::rank_ref::RankRef;

use crate::fetch::FetchError;
use crate::ui::profile::open_profile::Opened;
use crate::ui::shell::Messages;
use crate::view::source_id::SourceId;
use crate::view::source_id::rank_label;

/// Most calls of a step that are looked through.
const MOST_CALLS: u32 = 10_000;

/// Shows the rank for which a rank waited longest in a span. A rank that did not wait leads to its
/// own longest call: the others waited for it.
pub async fn reveal_late_call(opened: Opened, rank: u32, span: Interval, messages: Messages) {
    match late_call(opened, rank, span).await {
        Ok(Some(row)) => opened.reveal_late(row),
        Ok(None) => messages.confirm(format!("{} calls nothing here", rank_label(rank.into()))),
        Err(error) => messages.fail(format!("The call was not found: {error}"), None),
    }
}

/// The row of a call of the operation in which others waited.
async fn late_call(opened: Opened, rank: u32, span: Interval) -> Result<Option<u32>, FetchError> {
    let track = opened.tracks.sheet.with_untracked(|sheet| {
        let mut of_all =
            sheet.tracks().iter().filter(|track| track.source == SourceId::of_first(RankRef::All));
        of_all.find(|track| track.rank == Some(rank) && !track.is_load()).and_then(|track| track.number)
    });
    let Some(track) = track else { return Ok(None) };
    let question = EventsQuestion { span, tracks: Some(vec![track]), limit: MOST_CALLS };
    let calls = opened.ask(SourceId::of_first(RankRef::All), question, None).await?.slices;
    let inside_ps = |call: &&SliceEntry| {
        let end_ps = call.start_ps.saturating_add(call.duration_ps);
        let inside_ps = end_ps.min(span.end.0).saturating_sub(call.start_ps.max(span.start.0));
        (is_wait(&call.name), inside_ps)
    };
    Ok(calls.iter().max_by_key(inside_ps).map(|longest| longest.row))
}
