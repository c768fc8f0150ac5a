//! The critical path of the run: what it consists of, and its parts in the window. It is drawn
//! through the timeline meanwhile.

use std::sync::Arc;

use leptos::prelude::*;
use nprof_engine::base::time::short_duration;
use nprof_engine::insight::finding::sentence::of_run;
use nprof_engine::wire::run_path::{PathEntry, PathShare, RunPath};

use super::panel_table::table_of;
use super::run_answer::{RunAnswerWords, run_answer, slice_links};
use crate::ui::controls::rested;
use crate::ui::profile::open_profile::Opened;
use crate::ui::table::{TableToolsState, VirtualTable};
use crate::ui::text::format;
use crate::view::run_path::{NAME, PathGrouping, path_table};
use crate::view::state::orders::PanelTable;
use crate::view::text::short_names::told_apart;

/// Names that are listed.
const SHOWN_NAMES: usize = 12;

/// The critical path of the profile of the current rank.
#[component]
pub fn PathPanel(
    /// The opened profile.
    opened: Opened,
) -> impl IntoView {
    let answer = Memo::new(move |_| opened.path.last().map(|(_, answer)| answer));
    // The window asks again and again while it moves. The panel stays.
    let state = Memo::new(move |_| answer.get().map(|answer| answer.map(|_| Arc::new(()))));
    let path = Memo::new(move |_| answer.get().and_then(Result::ok));
    let words =
        RunAnswerWords { pending: "The critical path is", failed: "The critical path did not arrive" };
    move || {
        run_answer(opened, words, state.get(), opened.path.retry(), |_| {
            view! {
                <article class="run-path" aria-label="Critical path">
                    <PathTotals path />
                    <Parts opened path />
                </article>
            }
            .into_any()
        })
    }
}

/// The answer, and the names and ranks of which the path consists.
#[component]
fn PathTotals(path: Memo<Option<Arc<RunPath>>>) -> impl IntoView {
    // The parts are those of the window, all else is about the run.
    let run = Memo::new(move |_| path.get().map(|path| without_parts(&path)));
    move || run.get().map(|path| view! { <TotalsOf path /> })
}

fn without_parts(path: &RunPath) -> RunPath {
    RunPath {
        answer: path.answer.clone(),
        by_kind: path.by_kind.clone(),
        by_rank: path.by_rank.clone(),
        by_name: path.by_name.clone(),
        by_engine: path.by_engine.clone(),
        by_layer: path.by_layer.clone(),
        parts: Vec::new(),
        ..*path
    }
}

#[component]
fn TotalsOf(path: RunPath) -> impl IntoView {
    let keys: Vec<PathGrouping> =
        PathGrouping::ALL.into_iter().filter(|key| !key.shares(&path).is_empty()).collect();
    let chosen = RwSignal::new(PathGrouping::Name);
    let options = keys.into_iter().map(|key| view! { <option value=key.name()>{key.title()}</option> });
    let choose = move |event| {
        chosen.set(PathGrouping::from_name(&event_target_value(&event)).unwrap_or(PathGrouping::Name));
    };
    // The timeline also uses these keys.
    let keep = |event: web_sys::KeyboardEvent| event.stop_propagation();
    let ranks = (path.by_rank.len() > 1).then(|| {
        let rank = |of: &PathShare| PathShare { name: format!("rank {}", of.name), ps: of.ps };
        shares(&path.by_rank.iter().map(rank).collect::<Vec<_>>(), path.length_ps)
    });
    let answer = path.answer.clone();
    let path = StoredValue::new(path);
    let rows = move || {
        let key = chosen.get();
        path.with_value(|path| {
            let all = key.shares(path);
            let left_out = key.count(path).saturating_sub(SHOWN_NAMES as u64);
            let more = (left_out > 0).then(|| {
                let (one, many) = key.others();
                view! { <li class="muted">{format::counted(left_out, one, many)}</li> }
            });
            let label = format!("Path by {}", key.name());
            let rows = shares(all, path.length_ps);
            view! { <ol class="path-shares" aria-label=label>{rows} {more}</ol> }
        })
    };
    view! {
        <h2 class="run-answer">{answer}</h2>
        <section class="path-totals" aria-label="Totals of the path" tabindex="0">
            <select class="select" aria-label="Path by" on:change=choose on:keydown=keep>
                {options.collect_view()}
            </select>
            {rows}
            {ranks.map(|rows| view! { <ol class="path-shares" aria-label="Ranks on the path">{rows}</ol> })}
        </section>
    }
}

/// The first parts of a run, each with the part of its name that tells it from the others.
fn shares(all: &[PathShare], length_ps: i64) -> impl IntoView + use<> {
    let first = &all[..all.len().min(SHOWN_NAMES)];
    let short = told_apart(&first.iter().map(|of| of.name.clone()).collect::<Vec<_>>());
    let row = |(of, short): (&PathShare, String)| view! { <Share of=of.clone() short length_ps /> };
    first.iter().zip(short).map(row).collect_view()
}

/// A part of the run, with its bar and the part of its name that tells it from the others.
#[component]
fn Share(of: PathShare, short: String, length_ps: i64) -> impl IntoView {
    let share = (of.ps as f64 / (length_ps as f64).max(1.0)).clamp(0.0, 1.0);
    view! {
        <li style:--share=share.to_string()>
            <span class="number">{of_run(of.ps, length_ps)}</span>
            <span class="path-name" title=of.name.clone()>{short}</span>
            <span class="number muted">{short_duration(of.ps as f64)}</span>
        </li>
    }
}

/// The parts in the window, as a table. It follows when the window rests: all rows are new then.
#[component]
fn Parts(opened: Opened, path: Memo<Option<Arc<RunPath>>>) -> impl IntoView {
    let shown = Memo::new(move |_| {
        let window = opened.session.view.with(|view| view.window_in(opened.times.reach.get()));
        (window, path.get())
    });
    let shown = rested(shown);
    let parts = Memo::new(move |_| {
        let (window, path) = shown.get();
        let is_in_sight = |part: &&PathEntry| {
            opened.path.times.with(|times| {
                let time = |ps| times.shown(Some(part.rank), ps);
                window.overlaps(time(part.start_ps), time(part.end_ps))
            })
        };
        let parts = path.iter().flat_map(|path| &path.parts);
        parts.filter(is_in_sight).cloned().collect::<Vec<PathEntry>>()
    });
    let table = Memo::new(move |_| {
        let zero = opened.times.zero.get();
        Arc::new(opened.path.times.with(|times| parts.with(|parts| path_table(parts, times, zero.0))))
    });
    let open = Callback::new(move |row: u32| {
        let part = parts.with_untracked(|parts| parts.get(row as usize).cloned());
        if let Some(PathEntry { rank, row: Some(row), .. }) = part {
            opened.reveal_in(opened.beside(rank), row);
        }
    });
    let has_slice = move |row: u32| {
        parts.with_untracked(|parts| parts.get(row as usize).is_some_and(|part| part.row.is_some()))
    };
    let cells = slice_links(NAME, has_slice, open);
    let source = table_of(opened, PanelTable::Path, table.into(), cells);
    let tools = TableToolsState::new(source);
    view! {
        <section class="path-parts">
            <VirtualTable source tools label="Parts of the path in the window" on_open=Signal::stored(Some(open)) />
        </section>
    }
}
