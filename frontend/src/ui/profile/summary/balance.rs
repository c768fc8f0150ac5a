//! The ranks of a run beside each other: work by name, and the imbalance of regions.

use leptos::prelude::*;
use nprof_engine::wire::questions::RankBalanceQuestion;
use nprof_engine::wire::rank_balance::RankBalance;

use super::table::MetricTable;
use crate::ui::profile::open_profile::Opened;
use crate::ui::shell::QuestionAnswers;

/// The tables of all ranks. They need the dependency graph, and come when it is there. Without
/// one, the findings say why.
#[component]
pub(super) fn Balance(opened: Opened) -> impl IntoView {
    let profile = opened.run_name();
    let question = Memo::new(move |_| profile.get().map(|profile| RankBalanceQuestion::about(&profile)));
    let asked = QuestionAnswers::new(question, move |question, cancel| opened.ask_store(question, cancel));
    move || {
        let found = asked.answer().and_then(Result::ok)?;
        let tables = RankBalance::tables(&found).into_iter().map(|table| view! { <MetricTable table /> });
        Some(view! { <section aria-label="Ranks beside each other">{tables.collect_view()}</section> })
    }
}
