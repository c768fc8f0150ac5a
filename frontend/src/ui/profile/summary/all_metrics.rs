//! All metrics of a summary: searchable, each with its definition.

use std::sync::Arc;

use leptos::prelude::*;
use nprof_engine::wire::detail::FieldContent;
use nprof_engine::wire::summary::{MetricEntry, MetricGroupEntry, Summary};

use super::number_link::NumberLink;
use super::table::{absent, tables};
use crate::ui::controls::{Explained, Name};
use crate::ui::profile::open_profile::Opened;
use crate::ui::text::format::{self, FormattedValue};
use crate::ui::text::label::{explanation, label_of_metric};
use crate::view::metric_share::shares;
use crate::view::summary::number_target::{NumberSubject, NumberTarget};
use crate::view::text::short_names::told_apart;

/// A word that is longer begins in the line before it, in letters.
const LONG_WORD: usize = 24;
/// As many metrics of a group that are 0 share a line.
const MOST_ZEROS: usize = 3;

/// All metrics, with a field that finds some.
#[component]
pub(super) fn AllMetrics(opened: Opened, summary: Arc<Summary>) -> impl IntoView {
    let words = RwSignal::new(String::new());
    let tables_of = Arc::clone(&summary);
    let shown = {
        let summary = Arc::clone(&summary);
        move || {
            let words = words.get().to_lowercase();
            let found = summary.groups.iter().filter_map(|group| matching(group, &words));
            let groups: Vec<MetricGroupEntry> = found.filter(|group| !group.metrics.is_empty()).collect();
            if groups.is_empty() {
                let text = if has_absent(&summary, &words) {
                    "No metric that is there has these words. Below stands what others need."
                } else {
                    "No metric has these words."
                };
                return view! { <p class="panel-empty">{text}</p> }.into_any();
            }
            let groups = groups.into_iter().map(|group| view! { <Group opened group /> }).collect_view();
            view! { <div class="cards">{groups}</div> }.into_any()
        }
    };
    view! {
        <section class="all-metrics" aria-label="All metrics">
            <header>
                <h3>"All metrics"</h3>
                <input
                    type="search"
                    class="all-metrics-words"
                    placeholder="Find a metric"
                    aria-label="Find a metric"
                    on:input=move |event| words.set(event_target_value(&event))
                />
            </header>
            {shown}
            {move || words.with(String::is_empty).then(|| tables(&tables_of))}
            {absent(&summary)}
        </section>
    }
}

/// The metrics of a group whose names, labels or definitions have all words.
fn matching(group: &MetricGroupEntry, words: &str) -> Option<MetricGroupEntry> {
    let has_all = |text: &str| {
        let text = text.to_lowercase();
        words.split_whitespace().all(|word| text.contains(word))
    };
    if words.trim().is_empty() || has_all(&group.title) {
        return Some(group.clone());
    }
    let is_found = |metric: &&MetricEntry| {
        has_all(&format!("{} {} {}", metric.name, label_of_metric(group, &metric.name), metric.doc))
    };
    let metrics: Vec<MetricEntry> = group.metrics.iter().filter(is_found).cloned().collect();
    (!metrics.is_empty()).then(|| MetricGroupEntry { metrics, ..group.clone() })
}

/// Whether metrics that are absent have all words.
fn has_absent(summary: &Summary, words: &str) -> bool {
    summary.absent.iter().any(|of| {
        let text = format!("{} {} {}", of.key, of.title, of.reason).to_lowercase();
        words.split_whitespace().all(|word| text.contains(word))
    })
}

/// Whether a metric is 0: many of those in a group say one thing together.
fn is_zero(metric: &MetricEntry) -> bool {
    match metric.value {
        FieldContent::Int(value) => value == 0,
        FieldContent::Uint(value) => value == 0,
        FieldContent::Float(value) => value == 0.0,
        _ => false,
    }
}

#[component]
fn Group(opened: Opened, group: MetricGroupEntry) -> impl IntoView {
    let zeros: Vec<String> = group
        .metrics
        .iter()
        .filter(|metric| is_zero(metric))
        .map(|metric| label_of_metric(&group, &metric.name))
        .collect();
    // One or two can be told in full.
    let zeros = if zeros.len() < MOST_ZEROS { Vec::new() } else { zeros };
    let labels: Vec<String> =
        group.metrics.iter().map(|metric| label_of_metric(&group, &metric.name)).collect();
    let row = |((metric, share), label): ((&MetricEntry, Option<f64>), String)| {
        let target = NumberTarget::of(NumberSubject {
            group: &group.key,
            metric: &metric.name,
            row: group.has_names_of_trace.then_some(metric.name.as_str()),
            value: &metric.value,
            place: metric.place.as_ref(),
        });
        view! { <Row opened label metric=metric.clone() share target /> }
    };
    let shares = shares(&group);
    let is_told =
        |((metric, _), _): &((&MetricEntry, Option<f64>), String)| zeros.is_empty() || !is_zero(metric);
    let rows =
        group.metrics.iter().zip(shares).zip(told_apart(&labels)).filter(is_told).map(row).collect_view();
    let zeros = (!zeros.is_empty())
        .then(|| view! { <p class="muted metric-zeros">{format!("0: {}", zeros.join(", "))}</p> });
    view! {
        <section class="metric-card">
            <h3>{group.title}</h3>
            <dl class="rows metrics">{rows}</dl>
            {zeros}
        </section>
    }
}

/// A metric, with a bar if it is a share. It leads to the place that shows it, if there is one.
#[component]
fn Row(
    opened: Opened,
    label: String,
    metric: MetricEntry,
    share: Option<f64>,
    target: Option<NumberTarget>,
) -> impl IntoView {
    let has_long_word = label.split(' ').any(|word| word.chars().nth(LONG_WORD).is_some());
    let FormattedValue { text, exact } = format::value(&metric.value, &metric.unit);
    let is_link = target.is_some();
    let value = match &exact {
        // The link has the exact value in its title.
        Some(exact) if !is_link => view! { <Explained text doc=exact.clone() /> }.into_any(),
        _ => text.into_any(),
    };
    let label = match target {
        Some(target) => {
            let said = [explanation(&metric.name, &metric.doc)].into_iter().chain(exact);
            let title = said.collect::<Vec<_>>().join("\n");
            view! { <NumberLink opened target stretch=None label title /> }.into_any()
        }
        None if label.trim().is_empty() => view! { <Name name=label /> }.into_any(),
        None => view! { <Explained text=label doc=explanation(&metric.name, &metric.doc) /> }.into_any(),
    };
    view! {
        <div class:has-share=share.is_some() class:is-link=is_link style:--share=share.map(|share| share.to_string())>
            <dt class:has-long-word=has_long_word>{label}</dt>
            <dd>{value}</dd>
        </div>
    }
}
