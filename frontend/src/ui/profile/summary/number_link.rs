//! A number that leads to the place that shows what it is about.

use leptos::prelude::*;
use nprof_engine::base::Interval;

use super::table::reveal_table;
use crate::ui::profile::lit::Lit;
use crate::ui::profile::open_profile::Opened;
use crate::view::summary::lit_place::LitPlace;
use crate::view::summary::number_target::{NumberTarget, ShownRows};

/// The label of a number, as a button. Its area is that of the row, which has `position: relative`.
#[component]
pub(super) fn NumberLink(
    /// The opened profile.
    opened: Opened,
    /// The place to which the number leads.
    target: NumberTarget,
    /// The time of the place, if it is a part of the recording.
    stretch: Option<Interval>,
    /// The label.
    label: String,
    /// Definition, exact value and shares.
    title: String,
) -> impl IntoView {
    let title = format!("{title}\n→ {}", target.words());
    let looked = Lit::follow(lit_place(opened, &target, stretch));
    let go = move |_| go_to(opened, &target, stretch);
    view! {
        <button
            type="button"
            class="number-link"
            title=title.trim_start().to_owned()
            on:click=go
            on:pointerenter=move |_| looked.enter()
            on:pointerleave=move |_| looked.leave()
            on:focus=move |_| looked.enter()
            on:blur=move |_| looked.leave()
        >
            {label}
        </button>
    }
}

/// The place that lights up: a span, or slices that a query finds.
fn lit_place(opened: Opened, target: &NumberTarget, stretch: Option<Interval>) -> Option<LitPlace> {
    let stated = || match target {
        NumberTarget::Stated { place, .. } => {
            let time = |ps| opened.findings.times.with_untracked(|times| times.shown(None, ps));
            place.at_ps.map(time).map(|at_ps| Interval::new(at_ps, at_ps))
        }
        NumberTarget::Stretch(_) => stretch,
        _ => None,
    };
    match target.query() {
        Some(query) => Some(LitPlace::Slices(query)),
        None => stated().map(|span| LitPlace::Spans(vec![span])),
    }
}

fn go_to(opened: Opened, target: &NumberTarget, stretch: Option<Interval>) {
    match target {
        NumberTarget::Stated { group, place } => opened.reveal_place(group, place),
        NumberTarget::Metrics(key) => reveal_table(key),
        _ => {
            let (sheet, source) =
                (opened.tracks.sheet.get_untracked(), opened.tracks.current.get_untracked());
            let commands = opened.session.view.with_untracked(|view| {
                target.commands(ShownRows { sheet: &sheet, source, tracks: &view.tracks }, stretch)
            });
            commands.iter().for_each(|command| opened.act(command));
        }
    }
}
