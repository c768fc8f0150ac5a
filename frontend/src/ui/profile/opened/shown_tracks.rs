//! The tracks on the timeline: those of the shown ranks, and pinned ones of further ranks.

use std::sync::Arc;

use leptos::prelude::*;
use nprof_engine::wire::catalog::{ProfileInfo, RankDetail};
use nprof_engine::wire::rank_ref::RankRef;

use super::Answer;
use super::profile_source::{ProfileSource, known};
use super::rank_details::RankDetails;
use super::rank_times::RankTimes;
use crate::ui::shell::Answered;
use crate::ui::timeline::Tracks;
use crate::view::rows::pins::PinOffers;
use crate::view::rows::sheet_content::SheetContent;
use crate::view::rows::sheet_track::SourceId;
use crate::view::{Sheet, View};

/// What the sheet shows: the ranks with all their tracks, and the pinned tracks.
pub fn content_of(
    profile: RwSignal<Answered<u32, ProfileInfo>>,
    view: Memo<View>,
    current: Memo<Option<RankRef>>,
    times: RankTimes,
) -> Memo<SheetContent> {
    let tracks = Memo::new(move |_| view.with(|view| view.tracks.clone()));
    Memo::new(move |_| {
        let Some(current) = current.get() else { return SheetContent::default() };
        tracks.with(|tracks| {
            let shown = tracks.shown_with(current);
            let numbers = || {
                let of = |profile: &ProfileInfo| profile.ranks.iter().map(|rank| rank.rank).collect();
                known(profile, of).unwrap_or_else(Vec::new)
            };
            let pinned_ranks = match tracks.pins.paths.is_empty() {
                true => Vec::new(),
                false => times.known.with(|times| {
                    let ranks = tracks.pins.ranks(&numbers(), &shown, (tracks.order, &**times));
                    ranks.into_iter().map(RankRef::Number).collect()
                }),
            };
            SheetContent { shown, pinned: tracks.pins.paths.clone(), pinned_ranks }
        })
    })
}

/// The tracks of the current rank and of all ranks beside it that are present.
pub fn tracks_of(
    ranks: RankDetails,
    current: Signal<Answer<RankDetail>>,
    content: Memo<SheetContent>,
    (of, times): (ProfileSource, RankTimes),
    offers: Memo<PinOffers>,
) -> Tracks {
    let both = Memo::new(move |_| {
        let Some(Ok(current)) = current.get() else { return (Arc::default(), SourceId::default()) };
        let number = current.entry.rank;
        let mut content = content.get();
        // While another rank is in flight, the wanted ranks are not those of the previous one.
        if !content.shown.contains(&number) {
            content.shown = [number].into();
        }
        let present = |rank| if rank == number { Some(Arc::clone(&current)) } else { ranks.get(rank)?.ok() };
        let sources = content.ranks().filter_map(present).collect();
        (Arc::new(Sheet::arranged(sources, content).on(of.axes.get())), SourceId::of_rank(number))
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
