//! The part of a run that the numbers of a summary are about: a rank, or a region of it.

use leptos::prelude::*;
use nprof_engine::base::Interval;

use crate::ui::profile::open_profile::{NamedSpan, Opened};
use crate::view::source_id::SourceId;

/// The scope of a summary.
#[derive(Clone, Copy)]
pub(super) struct SummaryScope {
    /// The regions of the current rank, those of users first.
    pub(super) regions: Memo<Vec<NamedSpan>>,
    /// The rank, and the span of the region. `None` until the region is known.
    pub(super) asked: Memo<Option<ScopeOfRank>>,
    /// Whether the address names a region that the rank does not have.
    pub(super) is_unknown: Memo<bool>,
}

/// A rank, or a span of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ScopeOfRank {
    pub(super) source: SourceId,
    pub(super) window: Option<Interval>,
}

/// The recording of the current rank, in times of the page. `None` until the rank is known.
pub(super) fn rank_span(opened: Opened) -> Option<Interval> {
    let rank = opened.rank_detail()?;
    let own = Interval::new(rank.entry.start_ps, rank.entry.end_ps);
    let axis = opened.tracks.sheet.with(|sheet| sheet.axis(opened.tracks.current.get()));
    Some(axis.shared_span(own))
}

/// The part of the recording that is worth looking at: that with which the timeline opens, if it
/// is a small part of the whole.
pub(super) fn strip_span(opened: Opened) -> Option<Interval> {
    let reach = opened.times.reach.get();
    let own = rank_span(opened)?;
    let first = reach.active.map(|_| reach.first());
    Some(first.filter(|first| first.overlaps(own.start.0, own.end.0)).unwrap_or(own))
}

impl SummaryScope {
    /// The span that the numbers are about: the region, or the recording of the rank.
    pub(super) fn span(self, opened: Opened) -> Option<Interval> {
        self.asked.get().and_then(|of| of.window).or_else(|| rank_span(opened))
    }

    pub(super) fn new(opened: Opened) -> Self {
        opened.regions.want();
        let regions = Memo::new(move |_| opened.regions.all());
        let wanted = Memo::new(move |_| opened.session.view.with(|view| view.region.clone()));
        let span = Memo::new(move |_| opened.regions.scope.with(|scope| scope.as_ref().map(|of| of.span)));
        // All ranks together have no regions.
        let is_all = move || opened.current.source.get().is_none_or(|source| source.rank.is_all());
        let asked = Memo::new(move |_| {
            let source = opened.current.source.get()?;
            match wanted.with(Option::is_some) && !is_all() {
                true => Some(ScopeOfRank { source, window: Some(span.get()?) }),
                false => Some(ScopeOfRank { source, window: None }),
            }
        });
        let is_unknown = Memo::new(move |_| {
            let is_known = opened.regions.found.with(Option::is_some) && !is_all();
            is_known && wanted.with(Option::is_some) && span.get().is_none()
        });
        Self { regions, asked, is_unknown }
    }
}
