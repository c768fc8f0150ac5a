//! The difference of two runs.

use leptos::prelude::*;
use nprof_engine::wire::findings::FindingEntry;

use super::Opened;
use crate::view::state::compare::CompareChange;
use crate::view::state::profile_names::ProfileNames;
use crate::view::url::page::PagePlace;
use crate::view::{Command, ProfilePlace, View};

impl Opened {
    /// Whether two runs can be compared here: two profiles, or parts of one where a server
    /// computes the comparison, or which the address names in a file about them.
    #[must_use]
    pub fn can_compare(self) -> bool {
        let are_named = || self.session.view.with(|view| view.compare.has_two_parts(view.region.as_deref()));
        self.names().at(1).is_some() || self.can_compare_parts() || are_named()
    }

    /// Whether a server compares any ranks and regions. A page without one holds the comparisons
    /// that it was made for.
    #[must_use]
    pub fn can_compare_parts(self) -> bool {
        self.of.source.embedded().is_none()
    }

    /// The view of the two runs in the other order. `None` if there is one.
    #[must_use]
    pub fn swapped(self) -> Option<View> {
        let view = self.session.view.get();
        if !view.compare.has_two_parts(view.region.as_deref()) && self.names().at(1).is_none() {
            return None;
        }
        let (compare, region) = view.compare.clone().swapped(view.region.clone());
        let mut names: Vec<String> = view.profiles.iter().map(str::to_owned).collect();
        if names.len() < 2 {
            return Some(View { compare, region, ..view });
        }
        names.swap(0, 1);
        // Ranks, rows and times of one profile mean others in the other one.
        let swapped = View::of_profiles(ProfileNames::of(names)?);
        Some(View { place: view.place, compare, region, ..swapped })
    }

    /// Shows the two runs in the other order. Returns false if there is one.
    pub fn swap_runs(self) -> bool {
        let swapped = untrack(|| self.swapped());
        let is_there = swapped.is_some();
        swapped.into_iter().for_each(|view| self.session.address.open(PagePlace::Profile(view)));
        is_there
    }

    /// A rank that does the same as usual, and the one that is late by a finding, if they can be
    /// compared here.
    #[must_use]
    pub fn why_late(self, entry: &FindingEntry) -> Option<[u32; 2]> {
        let ranks = [entry.usual_rank?, entry.rank?];
        let is_alone = untrack(|| self.names().at(1).is_none());
        (is_alone && self.can_compare_parts()).then_some(ranks)
    }

    /// Compares a rank with another one.
    pub fn compare_ranks(self, a: u32, b: u32) {
        self.compare([CompareChange::Ranks(Some(vec![a])), CompareChange::WithRanks(Some(vec![b]))]);
    }

    /// Compares a region of the current rank with another one. `None` is all of the rank.
    pub fn compare_regions(self, a: Option<String>, b: String) {
        let rank = self.current.source.get_untracked().and_then(|source| source.rank.number());
        let ranks = rank.map(|rank| vec![rank]);
        self.act(&Command::LimitTo(a));
        self.compare([
            CompareChange::Ranks(ranks.clone()),
            CompareChange::WithRanks(ranks),
            CompareChange::WithRegion(Some(b)),
        ]);
    }

    /// Opens the comparison with these choices.
    fn compare(self, changes: impl IntoIterator<Item = CompareChange>) {
        changes.into_iter().for_each(|change| self.act(&Command::Compare(change)));
        self.act(&Command::GoTo(ProfilePlace::Compare));
    }
}
