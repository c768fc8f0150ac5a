//! The tracks on the timeline: those of the shown ranks, and pinned ones of further ranks.

use std::sync::Arc;

use leptos::prelude::*;
use nprof_engine::wire::catalog::ProfileInfo;
use nprof_engine::wire::rank_ref::RankRef;

use super::profile_source::{ProfileSource, ProfilesAnswer};
use super::rank_details::RankDetails;
use super::rank_times::RankTimes;
use super::{Answer, Opened, ShownRank};
use crate::ui::timeline::Tracks;
use crate::view::rows::pins::PinOffers;
use crate::view::rows::profile_sources::{names_of, ranks_of, shown_sources, sources_of};
use crate::view::rows::sheet::SheetSource;
use crate::view::rows::sheet_content::SheetContent;
use crate::view::source_id::SourceId;
use crate::view::{Sheet, View};

impl Opened {
    /// All sources whose tracks the timeline has.
    #[must_use]
    pub fn sources(self) -> Vec<SourceId> {
        self.content.with(|content| content.sources().collect())
    }
}

/// Content of the sheet: the ranks with all their tracks, and the pinned tracks.
pub fn content_of(
    profiles: Memo<ProfilesAnswer>,
    view: Memo<View>,
    current: Memo<Option<SourceId>>,
    times: RankTimes,
) -> Memo<SheetContent> {
    let tracks = Memo::new(move |_| view.with(|view| view.tracks.clone()));
    Memo::new(move |_| {
        let (Some(current), Some(Ok(profiles))) = (current.get(), profiles.get()) else {
            return SheetContent::default();
        };
        tracks.with(|tracks| {
            let ranks = tracks.shown_with(current.rank);
            let pinned_ranks = match tracks.pins.paths.is_empty() {
                true => Vec::new(),
                false => times.known.with(|times| {
                    let all: Vec<RankRef> = profiles.first().map(ranks_of).into_iter().flatten().collect();
                    tracks.pins.ranks(&all, &ranks, tracks.order, times)
                }),
            };
            let pinned = pinned_ranks.into_iter().flat_map(|rank| sources_of(&profiles, rank.into()));
            SheetContent {
                shown: shown_sources(&profiles, &ranks, current),
                pinned_sources: pinned.collect(),
                pinned: tracks.pins.paths.clone(),
                profiles: names_of(&profiles),
            }
        })
    })
}

/// The tracks of the current rank and of all ranks beside it that are present.
pub fn tracks_of(
    ranks: RankDetails,
    current: Memo<ShownRank>,
    content: Memo<SheetContent>,
    of: ProfileSource,
    times: RankTimes,
    offers: Memo<PinOffers>,
) -> Tracks {
    let both = Memo::new(move |_| {
        let Some((current, Ok(rank))) = current.get() else { return (Arc::default(), SourceId::default()) };
        let mut content = content.get();
        // While another rank is in flight, the wanted ranks are not those of the previous one.
        if !content.shown.contains(&current) {
            content.shown = [current].into();
        }
        let present = |id| {
            let rank = if id == current { Arc::clone(&rank) } else { ranks.get(id)?.ok()? };
            Some(SheetSource { id, rank })
        };
        let sources = content.sources().filter_map(present).collect();
        (Arc::new(Sheet::arranged(sources, content).on(of.axes.get())), current)
    });
    let (sheet, current) = (Memo::new(move |_| both.get().0), Memo::new(move |_| both.get().1));
    Tracks { sheet, current, standings: times.known, offers }
}

/// The ranks of a profile that a pinned track can be shown of.
pub fn offers_of(profile: Signal<Answer<ProfileInfo>>) -> Memo<PinOffers> {
    Memo::new(move |_| {
        profile.with(|answer| match answer {
            Some(Ok(profile)) => PinOffers::of(profile.ranks.iter().map(|rank| rank.rank)),
            _ => PinOffers::default(),
        })
    })
}
