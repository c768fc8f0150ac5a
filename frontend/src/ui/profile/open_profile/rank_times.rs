//! Lateness and waiting of all ranks, requested once something shows them.

use std::sync::Arc;

use leptos::prelude::*;
use nprof_engine::makers::job::schema::RANKS;
use nprof_engine::wire::catalog::ProfileInfo;
use nprof_engine::wire::questions::RowsQuestion;
use nprof_engine::wire::rank_ref::RankRef;

use super::Answer;
use super::profile_source::ProfileSource;
use crate::ui::shell::{Messages, QuestionAnswers};
use crate::view::View;
use crate::view::ranks::standing::{RankOrder, Standings};
use crate::view::rows::pins::PinnedRanks;
use crate::view::source_id::SourceId;
use crate::view::state::tracks::TracksState;

/// Limit of ranks whose times are asked for.
const MOST_RANKS: u32 = 1 << 20;

/// The times of all ranks of the first profile.
#[derive(Clone, Copy)]
pub struct RankTimes {
    /// The times and hosts. Without times until they are known.
    pub known: Memo<Arc<Standings>>,
    /// True once something shows the times.
    is_shown: RwSignal<bool>,
}

impl RankTimes {
    /// Asks for the times once a list of ranks is open, or rows of ranks are sorted by them.
    #[must_use]
    pub fn new(
        of: ProfileSource,
        profile: Signal<Answer<ProfileInfo>>,
        view: Memo<View>,
        attempt: RwSignal<u32>,
    ) -> Self {
        let messages = expect_context::<Messages>();
        let is_shown = RwSignal::new(false);
        let question = Memo::new(move |before: Option<&Option<()>>| {
            let is_wanted = || is_shown.get() || view.with(|view| is_needed(&view.tracks));
            let has_times =
                || profile.with(|answer| matches!(answer, Some(Ok(profile)) if has_times(profile)));
            (before.is_some_and(Option::is_some) || is_wanted() && has_times()).then_some(())
        });
        let asked = QuestionAnswers::new_with(attempt, question, move |(), signal| async move {
            let question = RowsQuestion::of_table(RANKS.name, MOST_RANKS);
            let rows = of.rank(SourceId::of_first(RankRef::All)).ask(question, Some(&signal)).await?;
            Ok(Standings::read(&rows))
        });
        Effect::new(move |_| {
            if let Some(Err(error)) = asked.answer() {
                messages.fail(format!("The ranks were not compared: {error}"), Some(asked.retry));
            }
        });
        let known = Memo::new(move |_| {
            let times = asked.answer().and_then(Result::ok).unwrap_or_default();
            let standings = Standings::clone(&times);
            Arc::new(profile.with(|answer| match answer {
                Some(Ok(profile)) => standings.with_hosts(hosts(profile)),
                _ => standings,
            }))
        });
        Self { known, is_shown }
    }

    /// Asks for the times, if nothing has asked yet.
    pub fn show(self) {
        self.is_shown.set(true);
    }
}

fn hosts(profile: &ProfileInfo) -> impl Iterator<Item = (u32, &str)> + Clone {
    profile.ranks.iter().filter_map(|rank| Some((rank.rank.number()?, rank.host.as_deref()?)))
}

/// Whether rows are chosen or sorted by the times.
fn is_needed(tracks: &TracksState) -> bool {
    let are_latest = !tracks.pins.paths.is_empty() && tracks.pins.of == PinnedRanks::Latest;
    tracks.order != RankOrder::Number || are_latest
}

fn has_times(profile: &ProfileInfo) -> bool {
    profile.ranks.iter().any(|rank| rank.rank.is_all())
}
