//! Choices of regions: the one that the numbers are about, and others beside it.

use leptos::prelude::*;

use super::open_profile::{NamedSpan, Opened};
use crate::view::{Command, MOST_BESIDE};

/// Options of a list that can be looked through.
pub const MOST_OPTIONS: usize = 1_000;

/// The choice of the region that the numbers are about.
#[component]
pub fn RegionChoice(
    /// The opened profile.
    opened: Opened,
    /// The regions of the current rank.
    regions: Memo<Vec<NamedSpan>>,
) -> impl IntoView {
    let chosen = Memo::new(move |_| opened.session.view.with(|view| view.region.clone()).unwrap_or_default());
    let choose = move |event| {
        let name = Some(event_target_value(&event)).filter(|name| !name.is_empty());
        opened.act(&Command::LimitTo(name));
    };
    let options = move || {
        let mut names = regions.with(|regions| {
            regions.iter().take(MOST_OPTIONS).map(|region| region.name.clone()).collect::<Vec<_>>()
        });
        let now = chosen.get();
        if !now.is_empty() && !names.contains(&now) {
            names.insert(0, now);
        }
        let option = |name: String| {
            let value = name.clone();
            view! { <option value=value.clone() prop:selected=move || chosen.with(|now| *now == value)>{name}</option> }
        };
        names.into_iter().map(option).collect_view()
    };
    let is_there = move || {
        let is_chosen = chosen.with(|name| !name.is_empty());
        (is_chosen || regions.with(|regions| !regions.is_empty())).then(|| {
            view! {
                <label class="summary-region">
                    "Region "
                    <select class="select" aria-label="Region" on:change=choose>
                        <option value="" prop:selected=move || chosen.with(String::is_empty)>"whole"</option>
                        {options}
                    </select>
                </label>
            }
        })
    };
    view! { {is_there} }
}

/// The regions beside the own one, as the address names them.
#[must_use]
pub fn regions_beside(opened: Opened) -> Memo<Vec<String>> {
    Memo::new(move |_| opened.session.view.with(|view| view.beside.clone()))
}

/// Chooses one more region.
#[component]
pub fn BesideChoice(
    /// The opened profile.
    opened: Opened,
    /// The regions of the current rank.
    regions: Memo<Vec<NamedSpan>>,
    /// The region that others stand beside. `None` if it is the whole, or has no name.
    own: Memo<Option<String>>,
) -> impl IntoView {
    let names = regions_beside(opened);
    let add = move |event| {
        let name = event_target_value(&event);
        let mut all = names.get_untracked();
        if !name.is_empty() && !all.contains(&name) {
            all.push(name);
            opened.act(&Command::Beside(all));
        }
    };
    let others = Memo::new(move |_| {
        let is_shown = |name: &String| {
            names.with(|names| names.contains(name)) || own.with(|own| own.as_ref() == Some(name))
        };
        let all = regions.with(|regions| regions.iter().map(|of| of.name.clone()).collect::<Vec<_>>());
        all.into_iter().filter(|name| !is_shown(name)).take(MOST_OPTIONS).collect::<Vec<String>>()
    });
    let options = move || {
        let option = |name: String| view! { <option value=name.clone()>{name.clone()}</option> };
        others.get().into_iter().map(option).collect_view()
    };
    let has_room = move || names.with(Vec::len) < MOST_BESIDE && others.with(|others| !others.is_empty());
    move || {
        has_room().then(|| {
            view! {
                <label class="summary-beside">
                    "beside "
                    <select class="select" aria-label="Beside it" on:change=add prop:value="">
                        <option value="">"none"</option>
                        {options}
                    </select>
                </label>
            }
        })
    }
}
