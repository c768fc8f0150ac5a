//! Advice: the findings with the largest savings.

use std::sync::Arc;

use leptos::prelude::*;
use nprof_engine::insight::finding::sentence::{self, FoundCost};
use nprof_engine::wire::findings::{Findings, RuleState};

use crate::ui::controls::Failure;
use crate::ui::profile::finding_list::{FindingList, MutedCount};
use crate::ui::profile::open_profile::Opened;
use crate::ui::profile::panels::PendingAnswer;
use crate::ui::text::format;
use crate::view::{Command, ProfilePlace, Tab};

/// Findings on the first screen.
const MOST_FINDINGS: usize = 3;

/// The answer of the rules, with the first findings.
#[component]
pub(super) fn Advice(opened: Opened) -> impl IntoView {
    opened.findings.want();
    let body = move || match opened.findings.last() {
        None => view! { <PendingAnswer opened what="The findings are" /> }.into_any(),
        Some((_, Err(error))) if !error.is_temporary() => {
            view! { <p class="muted">{error.to_string()}</p> }.into_any()
        }
        Some((_, Err(error))) => {
            let retry = opened.findings.retry();
            view! { <Failure title="The findings did not arrive" reason=error.to_string() on_retry=retry /> }
                .into_any()
        }
        Some((_, Ok(found))) => view! { <AdviceOf opened found /> }.into_any(),
    };
    view! {
        <section class="advice metric-card" aria-label="What to do">
            {body}
        </section>
    }
}

#[component]
fn AdviceOf(opened: Opened, found: Arc<Findings>) -> impl IntoView {
    let length_ps = found.recorded_ps.unwrap_or(0);
    let count = found.in_state(RuleState::Found).count();
    let shown = move || opened.findings.shown.with(Vec::len);
    let more = move || {
        let left = shown().saturating_sub(MOST_FINDINGS) as u64;
        (left > 0).then(|| format!("{} · ", format::counted(left, "more finding", "more findings")))
    };
    let all = move |_| {
        opened.act(&Command::GoTo(ProfilePlace::Timeline));
        opened.act(&Command::ShowTab(Tab::Findings));
    };
    let of_all = found.answer.clone();
    // The answer is about the findings that the list shows.
    let answer = move || {
        let answer = opened.findings.shown.with(|shown| match shown.len() {
            all if all >= count => of_all.clone(),
            0 => "all findings are muted".to_owned(),
            _ => {
                let costs: Vec<FoundCost<'_>> = shown.iter().map(|one| FoundCost::from(&one.entry)).collect();
                format!("{}, beside the muted ones", sentence::answer(&costs, length_ps))
            }
        });
        opened.findings.in_scope(&answer)
    };
    let untold: Vec<&str> = found.in_state(RuleState::CannotTell).map(|one| one.rule.as_str()).collect();
    let untold = (!untold.is_empty()).then(|| {
        let reasons = found.rest().into_iter().filter(|line| line.starts_with("cannot tell"));
        let title = reasons.collect::<Vec<_>>().join("\n");
        view! { <p title=title>{format!("Cannot tell: {}", untold.join(", "))}</p> }
    });
    view! {
        <h3 class="findings-answer">{answer}</h3>
        <FindingList opened length_ps most=MOST_FINDINGS />
        <footer class="findings-rest">
            <MutedCount opened found=count />
            <p>
                {more}
                <button type="button" class="button-link" on:click=all>"Evidence and all rules"</button>
            </p>
            {untold}
        </footer>
    }
}
