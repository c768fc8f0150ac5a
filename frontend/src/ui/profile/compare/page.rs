//! The Compare place: whether the second of two runs is faster, and what differs.

use std::sync::Arc;

use leptos::prelude::*;
use nprof_engine::base::time::short_duration;
use nprof_engine::insight::difference::WorkKey;
use nprof_engine::insight::difference::sentence::signed_time;
use nprof_engine::wire::comparison::{ComparedEntry, ComparedKind, ComparedRun, ComparedRuns, VerdictWord};
use nprof_engine::wire::questions::ComparisonQuestion;

use super::compared_findings::ComparedFindings;
use super::open_profile::Opened;
use super::panels::table_of;
use crate::ui::controls::{Failure, Loading};
use crate::ui::shell::QuestionAnswers;
use crate::ui::table::{DrawCell, TableToolsState, VirtualTable};
use crate::ui::text::format;
use crate::view::comparison_table::{DIFFERENCE, comparison_table};
use crate::view::state::compare::CompareChange;
use crate::view::state::orders::PanelTable;
use crate::view::{Act, Command, ProfilePlace};

/// The difference of the first two profiles of the page.
#[component]
pub fn ComparePage(
    /// The opened profiles.
    opened: Opened,
) -> impl IntoView {
    let asked = QuestionAnswers::new(Memo::new(move |_| question(opened)), move |question, cancel| {
        opened.comparison(question, cancel)
    });
    let retry = asked.retry;
    let body = move || {
        if opened.names().at(1).is_none() {
            return view! { <OneProfile /> }.into_any();
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
            <CompareTools opened />
            {body}
        </main>
    }
}

/// The question about the first two profiles. `None` if there is one.
fn question(opened: Opened) -> Option<ComparisonQuestion> {
    let names = opened.names();
    let (a, b) = (names.at(0)?, names.at(1)?);
    let (by, region) = opened.session.view.with(|view| (view.compare.by, view.region.clone()));
    Some(ComparisonQuestion {
        region: region.clone(),
        with_region: region,
        ..ComparisonQuestion::about(a, b, by)
    })
}

#[component]
fn OneProfile() -> impl IntoView {
    view! {
        <p class="panel-empty">
            "One profile is open. In the list of profiles, “Compare with another profile” opens two; "
            <code>"nprof diff"</code> " also compares ranks and regions of one."
        </p>
    }
}

/// The choices: the subject of rows, the region, and the way to the swapped pair.
#[component]
fn CompareTools(opened: Opened) -> impl IntoView {
    let by = Memo::new(move |_| opened.session.view.with(|view| view.compare.by));
    let region = Memo::new(move |_| opened.session.view.with(|view| view.region.clone()));
    let option = move |key: WorkKey| {
        view! {
            <option value=key.name() prop:selected=move || by.get() == key>
                {words(key)}
            </option>
        }
    };
    let choose = move |event| {
        let key = WorkKey::from_name(&event_target_value(&event));
        key.into_iter().for_each(|key| opened.act(&Command::Compare(CompareChange::By(key))));
    };
    let limit = move |event| {
        let name = Some(event_target_value(&event).trim().to_owned()).filter(|name| !name.is_empty());
        opened.act(&Command::LimitTo(name));
    };
    let swap = move |_| {
        opened.swap_runs();
    };
    let has_pair = opened.names().at(1).is_some();
    view! {
        <div class="compare-tools">
            <label>
                "By "
                <select class="select" aria-label="What a row is about" on:change=choose>
                    {WorkKey::WORDS.map(|(_, key)| option(key)).collect_view()}
                </select>
            </label>
            <label>
                "Region "
                <input
                    class="compare-region"
                    type="text"
                    spellcheck="false"
                    autocomplete="off"
                    placeholder="all of the runs"
                    title="Name of a step, layer or phase, as `nprof regions` shows it"
                    prop:value=move || region.get().unwrap_or_default()
                    on:change=limit
                />
            </label>
            {has_pair.then(|| view! {
                <button class="button" type="button" title=Act::SwapRuns.titled("The second run becomes the first one") on:click=swap>
                    "Swap A and B"
                </button>
            })}
        </div>
    }
}

fn words(key: WorkKey) -> &'static str {
    match key {
        WorkKey::Name => "name",
        WorkKey::Track => "track",
        WorkKey::Layer => "layer",
        WorkKey::Hlo => "HLO operation",
        WorkKey::Operator => "operator",
        WorkKey::Line => "line of source",
        WorkKey::Rank => "rank",
    }
}

#[component]
fn Differences(opened: Opened, found: Arc<ComparedRuns>) -> impl IntoView {
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
            opened.act(&Command::SearchFor(name.clone()));
        }
    });
    view! {
        <header class="compare-head" data-verdict=verdict(found.verdict)>
            <h2>{found.answer.clone()}</h2>
            {doubts}
            <p class="muted">{found.times_are.clone()}</p>
            <ol class="compare-runs" aria-label="Time of both runs">{runs}</ol>
            <ComparedFindings opened />
        </header>
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

/// Draws differences with their signs and bars: worse to the right, better to the left.
fn drawn(of: &Arc<ComparedRuns>) -> DrawCell {
    let of = Arc::clone(of);
    let works = of.rows.iter().map(|row| row.difference_ps().unsigned_abs());
    let most = works.max().unwrap_or(1).max(1) as f64;
    Arc::new(move |column, row| {
        let row = of.rows.get(row as usize).filter(|_| column.key == DIFFERENCE)?;
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
