//! The head of the Summary place: the subject of the numbers.

use leptos::prelude::*;
use nprof_engine::base::Interval;
use nprof_engine::wire::catalog::RankEntry;
use nprof_engine::wire::rank_ref::RankRef;

use super::scope::SummaryScope;
use crate::ui::profile::open_profile::Opened;
use crate::ui::profile::region_choice::{BesideChoice, RegionChoice};
use crate::ui::text::format;
use crate::view::source_id::rank_label;
use crate::view::state::data::WARNINGS_TABLE;
use crate::view::{Command, DataChange};

/// Subject of the summary: the profile and rank, its length, events and warnings.
#[component]
pub(super) fn SummaryHead(opened: Opened, scope: SummaryScope) -> impl IntoView {
    let facts = move || {
        let rank = opened.rank_detail()?;
        let entry = &rank.entry;
        if entry.rank == RankRef::All {
            let ranks =
                opened.profile.info.with(|answer| Some(answer.as_ref()?.as_ref().ok()?.ranks.clone()))?;
            return Some(facts_of_all(entry, &ranks, opened.times.whole.get()));
        }
        let several = opened.profile.info.with(|answer| matches!(answer, Some(Ok(of)) if of.ranks.len() > 1));
        let mut facts = Vec::new();
        facts.extend(several.then(|| rank_label(entry.rank)));
        facts.extend(entry.host.clone());
        facts.extend(entry.device.map(|device| format!("device {device}")));
        facts.extend(entry.core.map(|core| format!("core {core}")));
        facts.push(format::duration(entry.end_ps.saturating_sub(entry.start_ps)));
        facts.push(format::counted(entry.events, "event", "events"));
        Some(facts.join(" · "))
    };
    let warnings = move || {
        let count = opened.rank_detail().map_or(0, |rank| rank.warnings.len() as u64);
        let show = move |_| opened.act(&Command::Data(DataChange::Open(WARNINGS_TABLE.to_owned())));
        (count > 0).then(|| {
            view! {
                <button class="chip chip-warning" type="button" on:click=show>
                    {format::counted(count, "kind of warning", "kinds of warnings")}
                </button>
            }
        })
    };
    let own = Memo::new(move |_| opened.session.view.with(|view| view.region.clone()));
    view! {
        <header class="summary-head">
            <h2>{move || opened.name()}</h2>
            <p class="muted">{facts}</p>
            {warnings}
            <RegionChoice opened regions=scope.regions />
            <BesideChoice opened regions=scope.regions own />
        </header>
    }
}

/// The whole profile, and how much of it was compared: its job segment has events of its own.
fn facts_of_all(job: &RankEntry, ranks: &[RankEntry], whole: Interval) -> String {
    let own = || ranks.iter().filter(|rank| rank.rank != RankRef::All);
    let facts = [
        rank_label(RankRef::All),
        format::duration(whole.duration_ps()),
        format::counted(own().map(|rank| rank.events).sum(), "event", "events"),
        format::counted(own().count() as u64, "rank", "ranks"),
        format!("{} of collectives compared", format::counted(job.events, "event", "events")),
    ];
    facts.join(" · ")
}
