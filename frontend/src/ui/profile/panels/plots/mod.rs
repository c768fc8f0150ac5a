//! Plots of all ranks, in the drawer: how long operations take, by kind and size, and how long
//! ranks wait, over time and by rank. A click leads to the late rank at that time, or to the
//! operation.

mod late_call;
mod over_time;
mod rank_bars;
mod spreads;

use std::sync::Arc;

use leptos::prelude::*;
use nprof_engine::makers::job::schema::OPERATIONS;
use nprof_engine::wire::questions::RowsQuestion;
use nprof_engine::wire::rank_ref::RankRef;

use self::over_time::OverTime;
use self::rank_bars::RankBars;
use self::spreads::Spreads;
use crate::ui::controls::{Failure, Loading};
use crate::ui::profile::open_profile::Opened;
use crate::ui::shell::QuestionAnswers;
use crate::view::Command;
use crate::view::ranks::spread::Operations;
use crate::view::source_id::SourceId;

/// Most rows of operations that the page asks for.
const MOST_ROWS: u32 = 100_000;

/// Returns true if the current rank is what all ranks show together.
#[must_use]
pub fn has_plots(opened: Opened) -> bool {
    opened.current.source.get() == Some(SourceId::of_first(RankRef::All))
}

/// The plots.
#[component]
pub fn Plots(
    /// The opened profile.
    opened: Opened,
) -> impl IntoView {
    let question = Memo::new(move |_| has_plots(opened).then_some(()));
    let asked = QuestionAnswers::new(question, move |(), signal| async move {
        let question = RowsQuestion::of_table(OPERATIONS.name, MOST_ROWS);
        let rows = opened.ask(SourceId::of_first(RankRef::All), question, Some(&signal)).await?;
        Ok(Operations::read(&rows))
    });
    let retry = asked.retry;
    let operations = Memo::new(move |before: Option<&Arc<Operations>>| match asked.answer() {
        Some(Ok(operations)) => operations,
        _ => before.cloned().unwrap_or_default(),
    });
    let state = Memo::new(move |_| asked.answer().map(|answer| answer.err().map(|error| error.to_string())));
    opened.profile.rank_times.show();
    move || match state.get() {
        _ if !has_plots(opened) => view! { <NotHere opened /> }.into_any(),
        None => view! { <Loading what="Loading operations …" /> }.into_any(),
        Some(Some(reason)) => {
            view! { <Failure title="The operations did not arrive" reason on_retry=retry /> }.into_any()
        }
        Some(None) => view! {
            <div class="plots">
                <List />
                <div class="plots-grid">
                    <Spreads opened operations />
                    <OverTime opened />
                    <RankBars opened />
                </div>
            </div>
        }
        .into_any(),
    }
}

/// The way from a rank to the plots of all ranks.
#[component]
fn NotHere(opened: Opened) -> impl IntoView {
    view! {
        <div class="panel-empty">
            <p>
                "Plots are about all ranks. "
                <button
                    class="button-link"
                    type="button"
                    on:click=move |_| opened.act(&Command::OpenRank(SourceId::of_first(RankRef::All)))
                >
                    "Open the tab Collectives"
                </button>
            </p>
        </div>
    }
}

/// The plots by name. A click scrolls to one: a low panel shows only the first.
#[component]
fn List() -> impl IntoView {
    let entry = |(title, id): (&'static str, &'static str)| {
        let show = move |_| {
            document().get_element_by_id(id).into_iter().for_each(|plot| plot.scroll_into_view());
        };
        view! {
            <button class="button-link" type="button" on:click=show>
                {title}
            </button>
        }
    };
    let plots =
        [(spreads::TITLE, spreads::ID), (over_time::TITLE, over_time::ID), (rank_bars::TITLE, rank_bars::ID)];
    view! {
        <nav class="plots-list" aria-label="Plots">
            {plots.map(entry).collect_view()}
        </nav>
    }
}
