//! The difference of two runs: the answer, the times of both, and a table of what differs.

use std::sync::Arc;

use leptos::prelude::*;
use nprof_engine::base::time::short_duration;
use nprof_engine::insight::difference::sentence::signed_time;
use nprof_engine::wire::comparison::{ComparedEntry, ComparedKind, ComparedRun, ComparedRuns, VerdictWord};
use nprof_engine::wire::questions::{ComparisonQuestion, PairedTracksQuestion};

use super::choices::CompareChoices;
use super::duration_cell::DurationCell;
use super::findings::ComparedFindings;
use crate::ui::controls::{Failure, Loading};
use crate::ui::profile::open_profile::Opened;
use crate::ui::profile::panels::table_of;
use crate::ui::profile::run_pair::{PairedPlace, paired_timelines};
use crate::ui::shell::QuestionAnswers;
use crate::ui::table::{DrawCell, TableToolsState, VirtualTable};
use crate::ui::text::format;
use crate::view::comparison_table::{DIFFERENCE, DURATIONS, comparison_table};
use crate::view::state::orders::PanelTable;
use crate::view::{Command, ProfilePlace};

/// The difference of the first two profiles of the page.
#[component]
pub fn ComparePage(
    /// The opened profiles.
    opened: Opened,
) -> impl IntoView {
    let asked = QuestionAnswers::new(Memo::new(move |_| question(opened)), move |question, cancel| {
        opened.ask_store(question, cancel)
    });
    let retry = asked.retry;
    let has_pair = Memo::new(move |_| question(opened).is_some());
    let body = move || {
        if !has_pair.get() {
            return view! { <OnePart /> }.into_any();
        }
        match asked.answer() {
            None => view! { <Loading what="Comparing the runs …" /> }.into_any(),
            Some(Err(error)) if !error.is_temporary() => {
                view! { <p class="panel-empty">{error.to_string()}</p> }.into_any()
            }
            Some(Err(error)) => {
                view! { <Failure title="The comparison did not arrive" reason=error.to_string() on_retry=retry /> }
                    .into_any()
            }
            Some(Ok(found)) => view! { <Differences opened found /> }.into_any(),
        }
    };
    view! {
        <main class="compare-place" aria-label="Compare">
            <CompareChoices opened />
            {body}
        </main>
    }
}

/// The question about the first two profiles, or about two parts of the only one. `None` if these
/// do not differ.
fn question(opened: Opened) -> Option<ComparisonQuestion> {
    let names = opened.names();
    let (compare, region) = opened.session.view.with(|view| (view.compare.clone(), view.region.clone()));
    let a = names.at(0)?;
    let b = names.at(1).or(Some(a).filter(|_| compare.has_two_parts(region.as_deref())))?;
    Some(ComparisonQuestion {
        ranks: compare.ranks,
        with_ranks: compare.with_ranks,
        with_region: compare.with_region.or_else(|| region.clone()),
        region,
        ..ComparisonQuestion::about(a, b, compare.by)
    })
}

/// The question about the tracks of a compared pair.
fn paired_question(of: ComparisonQuestion) -> PairedTracksQuestion {
    let ComparisonQuestion { profile, with, ranks, with_ranks, region, with_region, .. } = of;
    PairedTracksQuestion { profile, with, ranks, with_ranks, region, with_region }
}

#[component]
fn OnePart() -> impl IntoView {
    view! {
        <p class="panel-empty">
            "One profile is open. Choose another rank or region for B, or open two profiles with "
            "“Compare with another profile” in the list of profiles."
        </p>
    }
}

#[component]
fn Differences(opened: Opened, found: Arc<ComparedRuns>) -> impl IntoView {
    let has_profiles = opened.names().at(1).is_some();
    let doubts = found.doubts.iter().map(|doubt| view! { <p class="compare-doubt">{doubt.clone()}</p> });
    let doubts = doubts.collect_view();
    let most_ps = found.total.a_ps.max(found.total.b_ps).max(1);
    let bar = |letter: &'static str, of: &ComparedRun, ps: i64| {
        view! {
            <li style:--share=(ps as f64 / most_ps as f64).clamp(0.0, 1.0).to_string()>
                <b>{letter}</b>
                <span class="compare-title" title=of.title.clone()>{of.title.clone()}</span>
                <span class="compare-bar" aria-hidden="true"><span></span></span>
                <span class="number">{short_duration(ps as f64)}</span>
                <small class="muted">{size_of(of)}</small>
            </li>
        }
    };
    let runs = [bar("A", &found.a, found.total.a_ps), bar("B", &found.b, found.total.b_ps)].collect_view();
    let table = Arc::new(comparison_table(&found));
    let source = table_of(opened, PanelTable::Differences, Signal::stored(table), drawn(&found));
    let tools = TableToolsState::new(source);
    let rows = Arc::clone(&found);
    let open = Callback::new(move |row: u32| {
        let work = rows.rows.get(row as usize).filter(|row| row.kind == ComparedKind::Work);
        if let Some(ComparedEntry { name, .. }) = work {
            opened.act(&Command::GoTo(ProfilePlace::Timeline));
            opened.act(&Command::SearchForText(name.clone()));
        }
    });
    let pair = Memo::new(move |_| question(opened).map(paired_question));
    let paired = QuestionAnswers::new(pair, move |question, cancel| opened.ask_store(question, cancel));
    view! {
        <header class="compare-head" data-verdict=verdict(found.verdict)>
            <h2>{found.answer.clone()}</h2>
            {doubts}
            <p class="muted">{found.times_are.clone()}</p>
            {found.note.clone().map(|note| view! { <p class="muted">{note}</p> })}
            <ol class="compare-runs" aria-label="Time of both runs">{runs}</ol>
            {has_profiles.then(|| view! { <ComparedFindings opened /> })}
        </header>
        {move || paired_timelines(opened, PairedPlace::Compare, paired)}
        <section class="compare-rows">
            <VirtualTable source tools label="Differences by name" on_open=Signal::stored(Some(open)) />
        </section>
    }
}

fn verdict(of: VerdictWord) -> &'static str {
    match of {
        VerdictWord::Faster => "faster",
        VerdictWord::Slower => "slower",
        VerdictWord::Same => "same",
        VerdictWord::Inconclusive => "inconclusive",
    }
}

fn size_of(of: &ComparedRun) -> String {
    let repetitions = format::counted(of.repetitions, "repetition", "repetitions");
    format!("{repetitions}, {}", format::counted(of.ranks, "rank", "ranks"))
}

/// Draws differences with their signs and bars, and durations as pictures.
fn drawn(of: &Arc<ComparedRuns>) -> DrawCell {
    let of = Arc::clone(of);
    let works = of.rows.iter().map(|row| row.difference_ps().unsigned_abs());
    let most = works.max().unwrap_or(1).max(1) as f64;
    Arc::new(move |column, row| {
        let row = of.rows.get(row as usize)?;
        if column.key == DURATIONS {
            return row.durations.clone().map(|of| view! { <DurationCell of /> }.into_any());
        }
        if column.key != DIFFERENCE {
            return None;
        }
        let difference = row.difference_ps();
        let share = (difference as f64 / most).clamp(-1.0, 1.0);
        let direction = if difference > 0 { "worse" } else { "better" };
        Some(
            view! {
                <span
                    class="compare-difference"
                    class:is-certain=row.is_certain
                    data-direction=direction
                    style:--share=share.abs().to_string()
                >
                    {signed_time(difference)}
                </span>
            }
            .into_any(),
        )
    })
}
