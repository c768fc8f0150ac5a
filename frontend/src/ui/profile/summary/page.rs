//! The Summary place: what to do, where the time went, and the numbers that matter first.

use std::sync::Arc;

use leptos::prelude::*;
use nprof_engine::wire::questions::SummaryQuestion;
use nprof_engine::wire::summary::Summary;

use super::advice::Advice;
use super::all_metrics::AllMetrics;
use super::balance::Balance;
use super::cards::Cards;
use super::head::SummaryHead;
use super::layout::layout;
use super::region_table::BesideTable;
use super::scope::{ScopeOfRank, SummaryScope};
use super::step_strip::StepStrip;
use super::strip::Strip;
use super::time::TimeCard;
use crate::ui::controls::{Failure, Loading};
use crate::ui::profile::lit::Lit;
use crate::ui::profile::open_profile::Opened;
use crate::ui::shell::QuestionAnswers;
use crate::view::summary::cards::shown_cards;
use crate::view::summary::time_bar::TimeBar;

/// The place that opens first for whoever wants an answer.
#[component]
pub fn SummaryPage(
    /// The opened profile.
    opened: Opened,
) -> impl IntoView {
    let scope = SummaryScope::new(opened);
    let asked = QuestionAnswers::new(scope.asked, move |of: ScopeOfRank, _| {
        opened.ask(of.source, SummaryQuestion { window: of.window }, None)
    });
    let retry = asked.retry;
    let lit = Lit::provided();
    // The picture does not compete with the numbers for the first second.
    let is_open =
        Memo::new(move |before: Option<&bool>| before == Some(&true) || asked.last.with(Option::is_some));
    let bar = Memo::new(move |_| {
        let (_, answer) = asked.last.get().filter(|(of, _)| scope.asked.get() == Some(*of))?;
        let summary = answer.ok()?;
        TimeBar::of(layout(opened, &summary), &summary)
    });
    let body = move || {
        if scope.is_unknown.get() {
            let what = "This rank has no region of this name. The list at the top has those that there are.";
            return view! { <p class="panel-empty">{what}</p> }.into_any();
        }
        match asked.last.get().filter(|(of, _)| scope.asked.get() == Some(*of)) {
            None => view! { <Loading what="Loading metrics …" /> }.into_any(),
            Some((_, Err(error))) => {
                view! { <Failure title="The metrics did not arrive" reason=error.to_string() on_retry=retry /> }
                    .into_any()
            }
            Some((_, Ok(summary))) => view! { <Numbers opened scope bar=bar.get() summary /> }.into_any(),
        }
    };
    view! {
        <main class="summary-place" aria-label="Summary">
            <SummaryHead opened scope bar />
            <Strip opened lit is_open />
            <div class="summary-first">
                <Advice opened />
                <div class="summary-numbers">{body}</div>
            </div>
        </main>
    }
}

#[component]
fn Numbers(
    opened: Opened,
    scope: SummaryScope,
    bar: Option<TimeBar>,
    summary: Arc<Summary>,
) -> impl IntoView {
    let layout = layout(opened, &summary);
    let active_s = bar.as_ref().map_or(0.0, |bar| bar.active_s);
    let whole_s = bar.as_ref().map_or(0.0, |bar| bar.whole_s);
    let whole = Memo::new(move |_| scope.span(opened));
    let cards = shown_cards(layout, &summary, active_s);
    let is_empty = summary.groups.iter().all(|group| group.metrics.is_empty());
    if is_empty {
        return view! { <p class="panel-empty">"The trace has no slices that take time."</p> }.into_any();
    }
    let is_of_all = summary.rank.is_all();
    view! {
        {bar.map(|bar| view! { <TimeCard opened bar whole /> })}
        <BesideTable opened scope first=Arc::clone(&summary) />
        <StepStrip opened />
        <Cards opened cards whole_s />
        {is_of_all.then(|| view! { <Balance opened /> })}
        <AllMetrics opened summary />
    }
    .into_any()
}
