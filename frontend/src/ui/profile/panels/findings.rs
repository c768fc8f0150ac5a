//! The findings about the run: the answer, the savings, and the way to the places.

use std::sync::Arc;

use leptos::prelude::*;
use nprof_engine::wire::findings::{Findings, RuleState};

use super::pending_answer::PendingAnswer;
use crate::ui::controls::{Failure, Prose};
use crate::ui::profile::finding_list::{FindingList, MutedCount};
use crate::ui::profile::open_profile::Opened;
use crate::ui::text::format;

/// The findings of the profile of the current rank.
#[component]
pub fn FindingsPanel(
    /// The opened profile.
    opened: Opened,
) -> impl IntoView {
    let profile = Memo::new(move |_| opened.current.source.get().map(|source| source.profile));
    let answer = Memo::new(move |_| opened.findings.last().filter(|(of, _)| Some(*of) == profile.get()));
    move || match answer.get() {
        None => view! { <PendingAnswer opened what="The findings are" /> }.into_any(),
        Some((_, Err(error))) => {
            let (reason, retry) = (error.to_string(), opened.findings.retry());
            view! { <Failure title="The findings did not arrive" reason on_retry=retry /> }.into_any()
        }
        Some((_, Ok(found))) if found.recorded_ps.is_none() => {
            view! { <p class="panel-empty findings-answer"><Prose text=found.answer.clone() /></p> }
                .into_any()
        }
        Some((_, Ok(found))) => view! { <AnswerOfRules opened found /> }.into_any(),
    }
}

#[component]
fn AnswerOfRules(opened: Opened, found: Arc<Findings>) -> impl IntoView {
    let length_ps = found.recorded_ps.unwrap_or(0);
    let left_out = found.total - found.findings.len() as u64;
    let more = (left_out > 0).then(|| {
        let text = format::counted(left_out, "more finding", "more findings");
        view! { <p>{text}"; "<code>"nprof findings --limit all"</code>" shows them"</p> }
    });
    let rest = found.rest().into_iter().map(|line| view! { <p><Prose text=line /></p> }).collect_view();
    let count = found.in_state(RuleState::Found).count();
    view! {
        <article class="findings" aria-label="Findings">
            <h2 class="findings-answer"><Prose text=opened.findings.in_scope(&found.answer) /></h2>
            <FindingList opened length_ps />
            <footer class="findings-rest"><MutedCount opened found=count /> {more} {rest}</footer>
        </article>
    }
}
