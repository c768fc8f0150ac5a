//! The run of the current rank's profile, as the page shows it.

use std::sync::Arc;

use leptos::prelude::*;
use nprof_engine::base::Interval;
use nprof_engine::wire::catalog::ProfileInfo;

use super::profile_source::{ProfilesAnswer, known};
use crate::ui::controls::paced;
use crate::ui::timeline::Times;
use crate::view::run_times::RunTimes;
use crate::view::source_id::SourceId;
use crate::view::{Tab, View};

/// The run of the current rank's profile, as the page shows it.
#[derive(Clone, Copy)]
pub struct RunOfPage {
    /// Position of the profile.
    pub(super) profile: Memo<u8>,
    /// The times of the run on the page.
    pub times: Memo<RunTimes>,
    /// The window. While it moves, it is followed some times in a second: each place is a question.
    pub window: Signal<Interval>,
    view: Memo<View>,
    profiles: Memo<ProfilesAnswer>,
}

impl RunOfPage {
    /// The run of the current rank's profile.
    #[must_use]
    pub fn new(
        view: Memo<View>,
        profiles: Memo<ProfilesAnswer>,
        current: Memo<Option<SourceId>>,
        shown: Times,
    ) -> Self {
        let profile = Memo::new(move |_| current.get().map_or(0, |source| source.profile));
        let times = Memo::new(move |_| {
            let frame = view.with(View::frame);
            known(profiles, |profiles| RunTimes::of(profiles, profile.get(), frame)).unwrap_or_default()
        });
        let window = Memo::new(move |_| view.with(|view| view.window_in(shown.reach.get())));
        Self { profile, times, window: paced(window), view, profiles }
    }

    /// Whether the profiles are known.
    pub(super) fn is_known(self) -> Memo<bool> {
        Memo::new(move |_| self.profiles.with(|answer| matches!(answer, Some(Ok(_)))))
    }

    /// Whether the profile has at most so many events, over all ranks.
    pub(super) fn has_at_most(self, events: u64) -> Memo<bool> {
        Memo::new(move |_| {
            let sum = |profile: &Arc<ProfileInfo>| {
                profile
                    .ranks
                    .iter()
                    .filter(|rank| !rank.rank.is_all())
                    .map(|rank| rank.events)
                    .fold(0, u64::saturating_add)
            };
            let of = |profiles: &[Arc<ProfileInfo>]| profiles.get(usize::from(self.profile.get())).map(sum);
            known(self.profiles, of).flatten().is_some_and(|sum| sum <= events)
        })
    }

    /// Whether a tab is open and the profiles are known.
    pub(super) fn is_shown(self, tab: Tab) -> Memo<bool> {
        let is_known = self.is_known();
        Memo::new(move |_| is_known.get() && self.view.with(|view| view.shows(tab)))
    }
}
