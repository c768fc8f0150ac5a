//! The open profiles and the axes of their ranks: what all other questions of the page need first.

use std::sync::Arc;

use leptos::prelude::*;
use nprof_engine::base::{Interval, Time};
use nprof_engine::wire::catalog::{ProfileInfo, RankDetail, RankEntry};
use nprof_engine::wire::questions::{DetailQuestion, ProfileQuestion};

use super::Answer;
use crate::fetch::{RankSource, Source};
use crate::ui::shell::{Answered, QuestionAnswers};
use crate::view::source_id::SourceId;
use crate::view::state::profile_names::ProfileNames;
use crate::view::time::axes;
use crate::view::time::window::Reach;
use crate::view::{Axes, TimeFrame};

/// The open profiles, once all are present.
pub type ProfilesAnswer = Answer<Vec<Arc<ProfileInfo>>>;

/// The last answer about a profile. It is asked for again after each change of the number.
pub type ProfileAnswer = RwSignal<Answered<u32, ProfileInfo>>;

/// The source of answers about the open profiles.
#[derive(Debug, Clone, Copy)]
pub struct ProfileSource {
    /// The source of the page.
    pub source: Source,
    /// The names of the profiles.
    pub names: StoredValue<ProfileNames>,
    /// The axes of the ranks; known before any rank is asked for.
    pub axes: Memo<Arc<Axes>>,
}

impl ProfileSource {
    /// The source of answers about a rank.
    #[must_use]
    pub fn rank(self, id: SourceId) -> RankSource {
        let axis = self.axes.with_untracked(|axes| axes.axis(id));
        let name = self.names.with_value(|names| names.at(id.profile).unwrap_or_default().to_owned());
        self.source.rank(name, id.rank).on_axis(axis)
    }
}

/// All of these profiles, or the first error.
pub fn all(answers: &[ProfileAnswer]) -> ProfilesAnswer {
    let present: Option<Result<Vec<_>, _>> =
        answers.iter().map(|answer| answer.get().map(|(_, answer)| answer)).collect();
    present.map(|present| present.map(Arc::new))
}

/// The result of a function on the profiles, once they are present.
pub fn known<T>(profiles: Memo<ProfilesAnswer>, of: impl Fn(&[Arc<ProfileInfo>]) -> T) -> Option<T> {
    profiles.with(|answer| match answer {
        Some(Ok(profiles)) => Some(of(profiles)),
        _ => None,
    })
}

/// From the first to the last time of all ranks, and the limits of windows.
pub fn spans(
    profiles: Memo<ProfilesAnswer>,
    rank: Signal<Answer<RankDetail>>,
    frame: Memo<TimeFrame>,
) -> (Memo<Interval>, Memo<Reach>) {
    let whole = Memo::new(move |_| {
        let frame = frame.get();
        known(profiles, |profiles| axes::whole(profiles, frame)).unwrap_or_else(|| span_of(rank))
    });
    let reach = Memo::new(move |_| {
        let base = frame.get().base;
        let active = known(profiles, |profiles| axes::active(profiles, base)).flatten();
        Reach { whole: whole.get(), active }
    });
    (whole, reach)
}

/// The moment that counts as zero: that of the first profile, with which the others begin.
pub fn zero(
    profiles: Memo<ProfilesAnswer>,
    rank: Signal<Answer<RankDetail>>,
    frame: Memo<TimeFrame>,
) -> Memo<Time> {
    Memo::new(move |_| {
        let base = frame.get().base;
        let of_first = known(profiles, |profiles| Some(axes::zero(profiles.first()?, base))).flatten();
        of_first.unwrap_or_else(|| span_of(rank).start)
    })
}

/// The span of the shown rank.
pub fn span_of(rank: Signal<Answer<RankDetail>>) -> Interval {
    rank.with(|answer| match answer {
        Some(Ok(rank)) => Interval::new(rank.entry.start_ps, rank.entry.end_ps),
        _ => Interval::default(),
    })
}

/// A profile, asked for again after each change of `again`.
pub fn profile_of(
    source: Source,
    name: String,
    attempt: RwSignal<u32>,
    again: RwSignal<u32>,
) -> ProfileAnswer {
    let ask = move |_, _| source.ask(ProfileQuestion { profile: name.clone() });
    QuestionAnswers::new_with(attempt, Memo::new(move |_| Some(again.get())), ask).last
}

/// Asks for a profile again once its ranks are compared, if they were not: it has their clocks
/// then. The ranks are compared for whoever asks for what they show together.
pub fn ask_for_clocks(of: ProfileSource, all: SourceId, profile: ProfileAnswer, again: RwSignal<u32>) {
    let is_open = |rank: &RankEntry| rank.rank.is_all() && rank.content.is_empty();
    let is_missing = move || {
        profile.with(|answer| match answer {
            Some((_, Ok(profile))) => profile.ranks.iter().any(is_open),
            _ => false,
        })
    };
    let question = Memo::new(move |_| is_missing().then_some(()));
    let compared = QuestionAnswers::new(question, move |(), _| of.rank(all).ask(DetailQuestion, None));
    Effect::new(move |_| {
        if compared.last.with(|answer| matches!(answer, Some((_, Ok(_))))) && untrack(is_missing) {
            again.update(|again| *again += 1);
        }
    });
}
