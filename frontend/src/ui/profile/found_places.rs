//! The places of a profile that the palette finds: ranks, tracks, regions, findings, tables, and
//! times that are typed.

use std::sync::Arc;

use leptos::prelude::*;
use nprof_engine::base::Interval;
use nprof_engine::base::time::short_duration;
use nprof_engine::wire::rank_ref::RankRef;

use super::data::entry::entries;
use super::open_profile::{NamedSpan, Opened};
use crate::ui::shell::FoundPlace;
use crate::view::act::fuzzy::best;
use crate::view::sought::{Sought, SoughtKind, typed_time};
use crate::view::summary::number_target::ShownRows;
use crate::view::{Command, DataChange, ProfilePlace};

/// Places that the palette lists at once.
const MOST_PLACES: usize = 100;

/// The places that fit, the best first.
#[must_use]
pub fn found_places(opened: Opened, sought: &Sought) -> Vec<FoundPlace> {
    let words = sought.words.as_str();
    match sought.kind {
        SoughtKind::Command => Vec::new(),
        SoughtKind::Time => time(opened, words).into_iter().collect(),
        SoughtKind::Place => {
            let all = ranks(opened).into_iter().chain(regions(opened)).chain(findings(opened));
            let all = all.chain(tables(opened)).chain(tracks(opened));
            let mut found = best(words, all, |place| place.name.as_str());
            found.truncate(MOST_PLACES);
            found
        }
    }
}

fn place(kind: &'static str, name: String, go: impl Fn() + Send + Sync + 'static) -> FoundPlace {
    FoundPlace { kind, name, go: Arc::new(go) }
}

/// A moment comes into the middle of the window, a span fills it.
fn time(opened: Opened, words: &str) -> Option<FoundPlace> {
    let span = typed_time(words, opened.times.zero.get().0)?;
    let length_ps = span.duration_ps();
    let window = if length_ps > 0 {
        span
    } else {
        let reach = opened.times.reach.get();
        let width_ps = opened.session.view.with(|view| view.window_in(reach)).duration_ps();
        let start_ps = span.start.0.saturating_sub(width_ps / 2);
        Interval::new(start_ps, start_ps.saturating_add(width_ps))
    };
    let name = match length_ps {
        0 => format!("Go to {words}"),
        _ => format!("Show {words}, {}", short_duration(length_ps as f64)),
    };
    Some(place("time", name, move || {
        opened.act(&Command::GoTo(ProfilePlace::Timeline));
        opened.act(&Command::Show(window));
    }))
}

fn ranks(opened: Opened) -> Vec<FoundPlace> {
    let source = opened.current.source.get().unwrap_or_default();
    let known = opened.session.profiles.get().and_then(Result::ok);
    let profile = known.and_then(|profiles| profiles.get(usize::from(source.profile)).cloned());
    let ranks = profile.iter().flat_map(|profile| &profile.ranks);
    let rank = |rank: RankRef| {
        let to = source.sibling(rank);
        place("rank", rank.in_words(), move || opened.act(&Command::OpenRank(to)))
    };
    ranks.map(|of| rank(of.rank)).collect()
}

fn regions(opened: Opened) -> Vec<FoundPlace> {
    let region = |NamedSpan { name, span }: NamedSpan| {
        place("region", name, move || {
            opened.act(&Command::GoTo(ProfilePlace::Timeline));
            opened.show_region(span);
        })
    };
    opened.regions.all().into_iter().map(region).collect()
}

fn findings(opened: Opened) -> Vec<FoundPlace> {
    let shown = opened.findings.shown.get().into_iter();
    let with_place = shown.filter(|finding| finding.place.is_some());
    let finding = with_place.map(|finding| {
        let name = finding.title();
        place("finding", name, move || opened.reveal_finding(&finding))
    });
    finding.collect()
}

fn tables(opened: Opened) -> Vec<FoundPlace> {
    let Some(Ok(rank)) = opened.current.rank.get() else { return Vec::new() };
    let table = |name: String, title: String| {
        place("table", title, move || opened.act(&Command::Data(DataChange::Open(name.clone()))))
    };
    entries(&rank).into_iter().map(|entry| table(entry.name, entry.title)).collect()
}

fn tracks(opened: Opened) -> Vec<FoundPlace> {
    let (sheet, source) = (opened.tracks.sheet.get(), opened.tracks.current.get());
    let track = |title: String| {
        let sheet = sheet.clone();
        place("track", title.clone(), move || {
            let commands = opened.session.view.with_untracked(|view| {
                ShownRows { sheet: &sheet, source, tracks: &view.tracks }.reveal(|of| of == title)
            });
            opened.act(&Command::GoTo(ProfilePlace::Timeline));
            commands.iter().for_each(|command| opened.act(command));
        })
    };
    sheet.titles_of(source).into_iter().map(track).collect()
}
