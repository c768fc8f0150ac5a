//! Other regions beside the one of the summary: the same numbers, a column each.

use std::sync::Arc;

use leptos::prelude::*;
use nprof_engine::base::Interval;
use nprof_engine::insight::difference::sentence::signed_percent;
use nprof_engine::wire::questions::SummaryQuestion;
use nprof_engine::wire::summary::Summary;

use super::cards::label_of;
use super::layout::layout;
use super::scope::{ScopeOfRank, SummaryScope};
use crate::ui::controls::{CloseButton, Explained};
use crate::ui::profile::open_profile::Opened;
use crate::ui::profile::region_choice::regions_beside;
use crate::ui::shell::QuestionAnswers;
use crate::ui::text::format;
use crate::ui::text::label::explanation;
use crate::view::summary::region_table::{BesideRow, beside_rows};
use crate::view::{Command, MOST_BESIDE};

/// A change below this part is not shown.
const LEAST_CHANGE: f64 = 0.005;

/// The numbers of all chosen regions. Nothing without a second one.
#[component]
pub(super) fn BesideTable(opened: Opened, scope: SummaryScope, first: Arc<Summary>) -> impl IntoView {
    let names = regions_beside(opened);
    let asked: Vec<_> = (0..MOST_BESIDE)
        .map(|at| {
            let of = Memo::new(move |_| {
                Some(ScopeOfRank {
                    source: opened.current.source.get()?,
                    window: Some(span_of(scope, names.with(|names| names.get(at).cloned())?)?),
                })
            });
            QuestionAnswers::new(of, move |of: ScopeOfRank, _| {
                opened.ask(of.source, SummaryQuestion { window: of.window }, None)
            })
        })
        .collect();
    let layout = layout(opened, &first);
    let shown = Memo::new(move |_| opened.session.view.with(|view| view.region.clone()));
    move || {
        let names = names.get();
        if names.is_empty() {
            return ().into_any();
        }
        let others = asked.iter().take(names.len()).map(|of| of.answer().and_then(Result::ok));
        let all: Vec<Option<Arc<Summary>>> =
            std::iter::once(Some(Arc::clone(&first))).chain(others).collect();
        let rows = beside_rows(layout, &all);
        let rows = rows.into_iter().map(|row| view! { <Row row /> }).collect_view();
        let heads =
            (0..names.len()).map(|at| view! { <Head opened names=names.clone() at /> }).collect_view();
        let compared = names.first().filter(|_| names.len() == 1 && opened.can_compare_parts()).cloned();
        let compared = compared.map(|name| {
            let region = shown.get();
            let compare = move |_| opened.compare_regions(region.clone(), name.clone());
            view! { <button class="button" type="button" on:click=compare>"Compare"</button> }
        });
        view! {
            <section class="metric-card beside-card" aria-label="Regions side by side">
                <table class="beside-table">
                    <thead>
                        <tr>
                            <th>{compared}</th>
                            <th scope="col">{shown.get().unwrap_or_else(|| "whole".to_owned())}</th>
                            {heads}
                        </tr>
                    </thead>
                    <tbody>{rows}</tbody>
                </table>
            </section>
        }
        .into_any()
    }
}

fn span_of(scope: SummaryScope, name: String) -> Option<Interval> {
    scope.regions.with(|regions| regions.iter().find(|region| region.name == name).map(|region| region.span))
}

/// The name of a region with a way to leave it out.
#[component]
fn Head(opened: Opened, names: Vec<String>, at: usize) -> impl IntoView {
    let name = names[at].clone();
    let close = move |()| {
        let mut names = names.clone();
        names.remove(at);
        opened.act(&Command::Beside(names));
    };
    view! {
        <th scope="col">
            <span title=name.clone()>{name.clone()}</span>
            <CloseButton label="Leave the region out" on_close=close />
        </th>
    }
}

#[component]
fn Row(row: BesideRow) -> impl IntoView {
    let label = label_of(&row.line);
    let doc = explanation(&row.line.name, &row.line.doc);
    let cell = |at: usize| {
        let text = match &row.values[at] {
            Some(value) => format::value(value, &row.line.unit).text,
            None => "–".to_owned(),
        };
        let change = row.change(at).filter(|change| change.abs() >= LEAST_CHANGE);
        let change = change.map(|change| view! { <small class="muted">{signed_percent(change)}</small> });
        view! { <td class="number">{text} " " {change}</td> }
    };
    let cells = (0..row.values.len()).map(cell).collect_view();
    view! {
        <tr>
            <th scope="row"><Explained text=label doc /></th>
            {cells}
        </tr>
    }
}
