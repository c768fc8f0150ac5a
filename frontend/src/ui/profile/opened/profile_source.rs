//! The open profile and the axes of its ranks: what all other questions of the page need first.

use std::sync::Arc;

use leptos::prelude::*;
use nprof_engine::base::{Interval, Time};
use nprof_engine::wire::catalog::{ProfileInfo, RankDetail, RankEntry};
use nprof_engine::wire::questions::{DetailQuestion, ProfileQuestion};
use nprof_engine::wire::rank_ref::RankRef;

use super::Answer;
use crate::fetch::{RankSource, Source};
use crate::ui::shell::{Answered, Asked};
use crate::view::time::axes;
use crate::view::time::window::Reach;
use crate::view::{Axes, Timebase};

/// The source of answers about the open profile.
#[derive(Debug, Clone, Copy)]
pub struct ProfileSource {
    /// The source of the page.
    pub source: Source,
    /// The profile's name for URLs.
    pub slug: StoredValue<String>,
    /// The axes of the ranks; known before any rank is asked for.
    pub axes: Memo<Arc<Axes>>,
}

impl ProfileSource {
    /// The source of answers about a rank.
    #[must_use]
    pub fn rank(self, rank: RankRef) -> RankSource {
        let axis = self.axes.with_untracked(|axes| axes.axis(rank));
        self.source.rank(self.slug.get_value(), rank).on_axis(axis)
    }
}

/// What a function finds in the profile, once it is present.
pub fn known<T>(profile: RwSignal<Answered<u32, ProfileInfo>>, of: impl Fn(&ProfileInfo) -> T) -> Option<T> {
    profile.with(|answer| match answer {
        Some((_, Ok(profile))) => Some(of(profile)),
        _ => None,
    })
}

/// From the first to the last time of all ranks, and the limits of windows.
pub fn spans(
    profile: RwSignal<Answered<u32, ProfileInfo>>,
    rank: Signal<Answer<RankDetail>>,
    timebase: Memo<Timebase>,
) -> (Memo<Interval>, Memo<Reach>) {
    let whole = Memo::new(move |_| {
        let base = timebase.get();
        known(profile, |profile| axes::whole(profile, base)).unwrap_or_else(|| span_of(rank))
    });
    let reach = Memo::new(move |_| {
        let base = timebase.get();
        let active = known(profile, |profile| axes::active(profile, base)).flatten();
        Reach { whole: whole.get(), active }
    });
    (whole, reach)
}

/// The moment that counts as zero.
pub fn zero(
    profile: RwSignal<Answered<u32, ProfileInfo>>,
    rank: Signal<Answer<RankDetail>>,
    timebase: Memo<Timebase>,
) -> Memo<Time> {
    Memo::new(move |_| {
        let base = timebase.get();
        known(profile, |profile| axes::zero(profile, base)).unwrap_or_else(|| span_of(rank).start)
    })
}

/// The span of the shown rank.
pub fn span_of(rank: Signal<Answer<RankDetail>>) -> Interval {
    rank.with(|answer| match answer {
        Some(Ok(rank)) => Interval::new(rank.entry.start_ps, rank.entry.end_ps),
        _ => Interval::default(),
    })
}

/// The profile, asked for again after each change of `again`.
pub fn profile_of(
    source: Source,
    slug: StoredValue<String>,
    attempt: RwSignal<u32>,
    again: RwSignal<u32>,
) -> RwSignal<Answered<u32, ProfileInfo>> {
    let ask = move |_, _| source.ask(ProfileQuestion { profile: slug.get_value() });
    Asked::new_with(attempt, Memo::new(move |_| Some(again.get())), ask).last
}

/// Asks for the profile again once its ranks are compared, if they were not: it has their clocks
/// then. The ranks are compared for whoever asks for what they show together.
pub fn ask_for_clocks(
    of: ProfileSource,
    profile: RwSignal<Answered<u32, ProfileInfo>>,
    again: RwSignal<u32>,
) {
    let is_missing = move || {
        let is_open = |rank: &RankEntry| rank.rank.is_all() && rank.content.is_empty();
        known(profile, |profile| profile.ranks.iter().any(is_open)) == Some(true)
    };
    let question = Memo::new(move |_| is_missing().then_some(()));
    let compared = Asked::new(question, move |(), _| of.rank(RankRef::All).ask(DetailQuestion, None));
    Effect::new(move |_| {
        if compared.last.with(|answer| matches!(answer, Some((_, Ok(_))))) && untrack(is_missing) {
            again.update(|again| *again += 1);
        }
    });
}
