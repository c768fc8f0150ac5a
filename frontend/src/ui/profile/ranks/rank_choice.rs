//! The shown ranks of a profile, and steps from them to others.

use std::collections::BTreeSet;

use leptos::prelude::*;
use nprof_engine::wire::catalog::RankEntry;
use nprof_engine::wire::rank_ref::RankRef;

use crate::ui::profile::open_profile::Opened;
use crate::view::Command;
use crate::view::ring::{Walk, step};
use crate::view::source_id::SourceId;

/// All ranks of the profile.
pub(super) fn ranks(opened: Opened) -> Vec<RankEntry> {
    opened.profile.info.with(|answer| match answer {
        Some(Ok(profile)) => profile.ranks.clone(),
        _ => Vec::new(),
    })
}

/// Opens the rank before or after this one.
pub fn open_neighbour(opened: Opened, walk: Walk) {
    let ranks = untrack(|| ranks(opened));
    let now = opened.current.source.get_untracked().map(|source| source.rank);
    let at = ranks.iter().position(|rank| Some(rank.rank) == now);
    if let Some(next) = step(at, ranks.len(), walk).map(|at| ranks[at].rank).filter(|next| Some(*next) != now)
    {
        opened.act(&Command::OpenRank(SourceId::of_first(next)));
    }
}

/// The ranks without what all of them show together.
pub(super) fn single(ranks: &[RankRef]) -> impl DoubleEndedIterator<Item = RankRef> {
    ranks.iter().copied().filter(|rank| !rank.is_all())
}

/// The shown ranks.
pub(super) fn shown(opened: Opened) -> BTreeSet<RankRef> {
    let current = opened.current.source.get().map(|source| source.rank);
    opened
        .session
        .view
        .with(|view| current.map(|current| view.tracks.shown_with(current)).unwrap_or_default())
}

/// Shows a rank below the others, or hides it.
pub fn toggle_beside(opened: Opened, rank: RankRef) {
    let Some(current) = opened.current.source.get_untracked() else { return };
    let mut ranks = untrack(|| shown(opened));
    if !ranks.remove(&rank) {
        ranks.insert(rank);
    }
    let first = || ranks.first().copied().map(SourceId::of_first);
    let next = if ranks.contains(&current.rank) { Some(current) } else { first() };
    if let Some(next) = next {
        opened.act(&Command::ShowRanks { ranks, current: next }.in_rank(next, current));
    }
}

/// Shows the next rank after the last shown one.
pub fn show_more(opened: Opened) {
    let (ranks, shown) = untrack(|| (ranks(opened), shown(opened)));
    let ranks: Vec<RankRef> = ranks.iter().map(|rank| rank.rank).collect();
    let last = shown.iter().rfind(|rank| !rank.is_all());
    let next = single(&ranks).find(|rank| last.is_none_or(|last| rank > last));
    // After the last rank come those before the shown ones.
    let next = next.or_else(|| single(&ranks).rfind(|rank| !shown.contains(rank)));
    next.into_iter().for_each(|rank| toggle_beside(opened, rank));
}

/// Hides the last shown rank, if several are shown.
pub fn show_fewer(opened: Opened) {
    let shown = untrack(|| shown(opened));
    if let Some(last) = shown.last().filter(|_| shown.len() > 1) {
        toggle_beside(opened, *last);
    }
}
