//! The metrics of the rank.

use std::sync::Arc;

use leptos::prelude::*;
use nprof_engine::wire::summary::{Metric, MetricGroup, Summary};

use super::opened::Opened;
use crate::ui::explain::Explained;
use crate::ui::failure::{Failure, Loading};
use crate::ui::format::{self, Shown};
use crate::ui::label::{explanation, label_of_metric};
use crate::ui::name::Name;

/// All metrics by heading.
#[component]
pub fn SummaryPanel(
    /// The opened profile.
    opened: Opened,
) -> impl IntoView {
    let attempt = RwSignal::new(0_u32);
    let resource = LocalResource::new(move || {
        attempt.track();
        let rank = opened.rank_number.get();
        async move {
            let rank = rank?;
            Some(opened.ask(rank).summary().await.map(Arc::new))
        }
    });
    let retry = Callback::new(move |()| attempt.update(|attempt| *attempt += 1));
    move || match resource.get().flatten() {
        None => view! { <Loading what="Loading metrics …" /> }.into_any(),
        Some(Err(error)) => {
            view! { <Failure title="The metrics did not arrive" reason=error.to_string() on_retry=retry /> }
                .into_any()
        }
        Some(Ok(summary)) if summary.groups.is_empty() => {
            view! { <p class="panel-empty">"No metrics are defined for this kind of trace."</p> }.into_any()
        }
        Some(Ok(summary)) => groups(&summary).into_any(),
    }
}

fn groups(summary: &Summary) -> impl IntoView + use<> {
    let groups = summary.groups.iter().cloned().map(|group| view! { <Group group /> }).collect_view();
    view! {
        <h2 class="unseen">"Summary"</h2>
        <div class="groups">{groups}</div>
    }
}

#[component]
fn Group(group: MetricGroup) -> impl IntoView {
    let row = |metric: &Metric| {
        let label = label_of_metric(&group, &metric.name);
        view! { <Row label metric=metric.clone() /> }
    };
    let rows = group.metrics.iter().map(row).collect_view();
    view! {
        <section class="group">
            <h3>{group.title}</h3>
            <dl class="rows metrics">{rows}</dl>
        </section>
    }
}

#[component]
fn Row(label: String, metric: Metric) -> impl IntoView {
    let Shown { text, exact } = format::value(&metric.value, &metric.unit);
    let value = match exact {
        Some(exact) => view! { <Explained text doc=exact /> }.into_any(),
        None => text.into_any(),
    };
    let label = match label.trim().is_empty() {
        true => view! { <Name name=label /> }.into_any(),
        false => view! { <Explained text=label doc=explanation(&metric.name, &metric.doc) /> }.into_any(),
    };
    view! {
        <div>
            <dt>{label}</dt>
            <dd>{value}</dd>
        </div>
    }
}
