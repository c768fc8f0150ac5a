//! The head of the Summary place: the subject of the numbers.

use leptos::prelude::*;
use nprof_engine::base::Interval;
use nprof_engine::wire::catalog::RankEntry;
use nprof_engine::wire::rank_ref::RankRef;

use super::region_table::BesideChoice;
use super::scope::SummaryScope;
use crate::ui::profile::open_profile::Opened;
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
    view! {
        <header class="summary-head">
            <h2>{move || opened.name()}</h2>
            <p class="muted">{facts}</p>
            {warnings}
            <RegionChoice opened scope />
            <BesideChoice opened scope />
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

/// The choice of the region that the numbers are about.
#[component]
fn RegionChoice(opened: Opened, scope: SummaryScope) -> impl IntoView {
    /// Options of a list that can be looked through.
    const MOST_OPTIONS: usize = 1_000;
    let chosen = Memo::new(move |_| opened.session.view.with(|view| view.region.clone()).unwrap_or_default());
    let choose = move |event| {
        let name = Some(event_target_value(&event)).filter(|name| !name.is_empty());
        opened.act(&Command::LimitTo(name));
    };
    let options = move || {
        let mut names = scope.regions.with(|regions| {
            regions.iter().take(MOST_OPTIONS).map(|region| region.name.clone()).collect::<Vec<_>>()
        });
        let now = chosen.get();
        if !now.is_empty() && !names.contains(&now) {
            names.insert(0, now);
        }
        let option = |name: String| {
            let value = name.clone();
            view! { <option value=value.clone() prop:selected=move || chosen.with(|now| *now == value)>{name}</option> }
        };
        names.into_iter().map(option).collect_view()
    };
    let is_there = move || {
        let is_chosen = chosen.with(|name| !name.is_empty());
        (is_chosen || scope.regions.with(|regions| !regions.is_empty())).then(|| {
            view! {
                <label class="summary-region">
                    "Region "
                    <select class="select" aria-label="Region" on:change=choose>
                        <option value="" prop:selected=move || chosen.with(String::is_empty)>"whole"</option>
                        {options}
                    </select>
                </label>
            }
        })
    };
    view! { {is_there} }
}
