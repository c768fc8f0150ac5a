//! The Summary place: the metrics of the rank, in cards.

use leptos::prelude::*;
use nprof_engine::base::Interval;
use nprof_engine::wire::catalog::RankEntry;
use nprof_engine::wire::questions::SummaryQuestion;
use nprof_engine::wire::rank_ref::RankRef;
use nprof_engine::wire::summary::{MetricEntry, MetricGroupEntry, Summary};

use super::open_profile::Opened;
use super::summary_table::{absent, tables};
use crate::ui::controls::{Explained, Failure, Loading, Name};
use crate::ui::shell::QuestionAnswers;
use crate::ui::text::format::{self, FormattedValue};
use crate::ui::text::label::{explanation, label_of_metric};
use crate::view::metric_share::shares;
use crate::view::source_id::rank_label;
use crate::view::state::data::WARNINGS_TABLE;
use crate::view::text::short_names::told_apart;
use crate::view::{Command, DataChange};

/// A word that is longer begins in the line before it, in letters.
const LONG_WORD: usize = 24;

/// The place with all metrics.
#[component]
pub fn SummaryPage(
    /// The opened profile.
    opened: Opened,
) -> impl IntoView {
    let asked = QuestionAnswers::new(opened.current.source, move |rank, _| {
        opened.ask(rank, SummaryQuestion { window: None }, None)
    });
    let retry = asked.retry;
    let body = move || match asked.answer() {
        None => view! { <Loading what="Loading metrics …" /> }.into_any(),
        Some(Err(error)) => {
            view! { <Failure title="The metrics did not arrive" reason=error.to_string() on_retry=retry /> }
                .into_any()
        }
        Some(Ok(summary)) if summary.groups.is_empty() => {
            view! { <p class="panel-empty">"No metrics are defined for this kind of trace."</p> }.into_any()
        }
        Some(Ok(summary)) => groups(opened, &summary).into_any(),
    };
    view! {
        <main class="summary-place" aria-label="Summary">
            <SummaryHead opened />
            {body}
        </main>
    }
}

/// Subject of the summary: the profile and rank, its length, events and warnings.
#[component]
fn SummaryHead(opened: Opened) -> impl IntoView {
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

fn groups(opened: Opened, summary: &Summary) -> impl IntoView + use<> {
    let filled = summary.groups.iter().filter(|group| !group.metrics.is_empty());
    let groups = filled.cloned().map(|group| view! { <Group opened group /> }).collect_view();
    view! {
        <div class="cards">{groups}</div>
        {tables(summary)}
        {absent(summary)}
    }
}

#[component]
fn Group(opened: Opened, group: MetricGroupEntry) -> impl IntoView {
    let key = StoredValue::new(group.key.clone());
    let labels: Vec<String> =
        group.metrics.iter().map(|metric| label_of_metric(&group, &metric.name)).collect();
    let row = |((metric, share), label): ((&MetricEntry, Option<f64>), String)| {
        let to_place = metric
            .place
            .clone()
            .map(|place| Callback::new(move |()| key.with_value(|key| opened.reveal_place(key, &place))));
        view! { <Row label metric=metric.clone() share to_place /> }
    };
    let shares = shares(&group);
    let rows = group.metrics.iter().zip(shares).zip(told_apart(&labels)).map(row).collect_view();
    view! {
        <section class="metric-card">
            <h3>{group.title}</h3>
            <dl class="rows metrics">{rows}</dl>
        </section>
    }
}

/// A metric, with a bar if it is a share. Its label leads `to_place`, if a place shows what the
/// metric is about.
#[component]
fn Row(
    label: String,
    metric: MetricEntry,
    share: Option<f64>,
    to_place: Option<Callback<()>>,
) -> impl IntoView {
    let has_long_word = label.split(' ').any(|word| word.chars().nth(LONG_WORD).is_some());
    let FormattedValue { text, exact } = format::value(&metric.value, &metric.unit);
    let value = match exact {
        Some(exact) => view! { <Explained text doc=exact /> }.into_any(),
        None => text.into_any(),
    };
    let label = match to_place {
        Some(to_place) => view! {
            <button class="button-link" type="button" title=metric.doc on:click=move |_| to_place.run(())>
                {label}
            </button>
        }
        .into_any(),
        None if label.trim().is_empty() => view! { <Name name=label /> }.into_any(),
        None => view! { <Explained text=label doc=explanation(&metric.name, &metric.doc) /> }.into_any(),
    };
    view! {
        <div class:has-share=share.is_some() style:--share=share.map(|share| share.to_string())>
            <dt class:has-long-word=has_long_word>{label}</dt>
            <dd>{value}</dd>
        </div>
    }
}
