//! The head of the Summary place: the subject of the numbers.

use leptos::prelude::*;
use nprof_engine::base::Interval;
use nprof_engine::base::time::{PS_PER_S, short_duration};
use nprof_engine::wire::catalog::{RankDetail, RankEntry};
use nprof_engine::wire::questions::DetailQuestion;
use nprof_engine::wire::rank_ref::RankRef;

use super::scope::SummaryScope;
use crate::ui::profile::open_profile::{NamedSpan, Opened};
use crate::ui::profile::region_choice::{BesideChoice, RegionChoice};
use crate::ui::shell::QuestionAnswers;
use crate::ui::text::format;
use crate::view::source_id::{SourceId, rank_label};
use crate::view::state::data::WARNINGS_TABLE;
use crate::view::summary::coverage_words::coverage_words;
use crate::view::summary::time_bar::TimeBar;
use crate::view::{Command, DataChange};

/// Subject of the summary: the profile and rank, its device, its length, events and warnings.
#[component]
pub(super) fn SummaryHead(
    opened: Opened,
    scope: SummaryScope,
    /// The division of the time, once it is known.
    bar: Memo<Option<TimeBar>>,
) -> impl IntoView {
    let first = first_rank(opened, bar);
    let facts = move || {
        let rank = opened.rank_detail()?;
        let facts = match rank.entry.rank {
            RankRef::All => {
                let ranks =
                    opened.profile.info.with(|answer| Some(answer.as_ref()?.as_ref().ok()?.ranks.clone()))?;
                let device = first.answer().and_then(Result::ok).and_then(|first| device_of_first(&first));
                let mut facts = facts_of_all(&rank.entry, &ranks, opened.times.whole.get());
                facts.extend(device);
                facts
            }
            RankRef::Number(_) => {
                let region = opened.regions.scope.get();
                let words =
                    |of: NamedSpan| format!("only {}: {}", of.name, format::duration(of.span.duration_ps()));
                let facts = facts_of_rank(opened, &rank, bar.get().as_ref().filter(|_| region.is_none()));
                region.map(words).into_iter().chain(facts).collect()
            }
        };
        Some(facts.join(" · "))
    };
    let coverage = move || {
        let found = opened.findings.known()?;
        let words = coverage_words(&found.coverage)?;
        let text = found.coverage.text.clone();
        Some(view! { " · " <span title=text>{words}</span> })
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
            <p class="muted summary-facts">{facts} {coverage}</p>
            {warnings}
            <RegionChoice opened regions=scope.regions />
            <BesideChoice opened regions=scope.regions own />
        </header>
    }
}

/// The first rank of a job, whose device stands for those of all. It is asked for after the
/// numbers.
fn first_rank(opened: Opened, bar: Memo<Option<TimeBar>>) -> QuestionAnswers<SourceId, RankDetail> {
    let wanted = Memo::new(move |_| {
        let all = opened.current.source.get().filter(|source| source.rank.is_all())?;
        bar.with(Option::is_some).then_some(())?;
        let first = opened.profile.info.with(|answer| {
            let info = answer.as_ref()?.as_ref().ok()?;
            info.ranks.iter().map(|rank| rank.rank).find(|rank| !rank.is_all())
        });
        Some(all.sibling(first?))
    });
    QuestionAnswers::new(wanted, move |source: SourceId, _| opened.ask(source, DetailQuestion, None))
}

/// The device of the first rank. Other ranks can have others.
fn device_of_first(first: &RankDetail) -> Option<String> {
    Some(format!("{} ({})", first.device_name.as_ref()?, first.entry.rank.in_words()))
}

/// The rank if there are several, its device, its length and its events.
fn facts_of_rank(opened: Opened, rank: &RankDetail, bar: Option<&TimeBar>) -> Vec<String> {
    let entry = &rank.entry;
    let several = opened.profile.info.with(|answer| matches!(answer, Some(Ok(of)) if of.ranks.len() > 1));
    let mut facts = Vec::new();
    facts.extend(several.then(|| rank_label(entry.rank)));
    facts.extend(rank.device_name.clone());
    facts.extend(entry.host.clone());
    facts.extend(entry.device.map(|device| format!("device {device}")));
    facts.extend(entry.core.map(|core| format!("core {core}")));
    facts.push(length_words(entry.end_ps.saturating_sub(entry.start_ps), bar));
    facts.push(format::counted(entry.events, "event", "events"));
    facts
}

/// The length of a recording, and of the active stretch if it is shorter.
fn length_words(length_ps: i64, bar: Option<&TimeBar>) -> String {
    let length = format::duration(length_ps);
    match bar.filter(|bar| 0.0 < bar.active_s && bar.active_s < bar.whole_s) {
        Some(bar) => format!("active {} of {length}", short_duration(bar.active_s * PS_PER_S as f64)),
        None => length,
    }
}

/// The whole profile, and how much of it was compared: its job segment has events of its own.
fn facts_of_all(job: &RankEntry, ranks: &[RankEntry], whole: Interval) -> Vec<String> {
    let own = || ranks.iter().filter(|rank| rank.rank != RankRef::All);
    vec![
        rank_label(RankRef::All),
        format::duration(whole.duration_ps()),
        format::counted(own().map(|rank| rank.events).sum(), "event", "events"),
        format::counted(own().count() as u64, "rank", "ranks"),
        format!("{} of collectives compared", format::counted(job.events, "event", "events")),
    ]
}
