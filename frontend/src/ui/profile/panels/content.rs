//! The contents of the panels: a row each.

use leptos::prelude::*;

use super::details::Details;
use super::findings::FindingsPanel;
use super::hits::HitsPanel;
use super::path::PathPanel;
use super::plots::{Plots, has_plots};
use super::regions::RegionsPanel;
use super::selection::Selection;
use super::waits::WaitsPanel;
use super::warnings::{Warnings, has_warnings};
use super::what_if::WhatIfPanel;
use crate::ui::profile::open_profile::Opened;
use crate::ui::profile::search::Search;
use crate::view::Tab;
use crate::view::shell::panel::Arrangement;

/// The subject of a panel.
#[derive(Clone, Copy)]
pub(super) struct PanelSubject {
    pub(super) opened: Opened,
    pub(super) search: Search,
    /// Positions of the panels.
    pub(super) arrangement: Signal<Arrangement>,
}

/// The content of a panel.
pub(super) struct PanelContent {
    /// Whether the current rank has any. A tab without content is absent.
    pub(super) is_present: fn(Opened) -> bool,
    /// The content.
    pub(super) view: fn(PanelSubject) -> AnyView,
}

/// The content of the panel with this tab.
pub(super) fn content(tab: Tab) -> PanelContent {
    let row =
        |is_present: fn(Opened) -> bool, view: fn(PanelSubject) -> AnyView| PanelContent { is_present, view };
    let always: fn(Opened) -> bool = |_| true;
    match tab {
        Tab::Details => row(always, |of| view! { <Details opened=of.opened /> }.into_any()),
        Tab::Findings => row(always, |of| view! { <FindingsPanel opened=of.opened /> }.into_any()),
        Tab::Path => row(always, |of| view! { <PathPanel opened=of.opened /> }.into_any()),
        Tab::Waits => row(always, |of| view! { <WaitsPanel opened=of.opened /> }.into_any()),
        Tab::WhatIf => row(always, |of| view! { <WhatIfPanel opened=of.opened /> }.into_any()),
        Tab::Regions => row(always, |of| view! { <RegionsPanel opened=of.opened /> }.into_any()),
        Tab::Selection => row(always, |of| view! { <Selection opened=of.opened /> }.into_any()),
        Tab::Hits => row(always, |of| {
            // Beside a dock, the details have a place of their own.
            let has_details = Memo::new(move |_| of.arrangement.get() == Arrangement::Narrow);
            view! { <HitsPanel search=of.search has_details /> }.into_any()
        }),
        Tab::Warnings => row(has_warnings, |of| view! { <Warnings opened=of.opened /> }.into_any()),
        Tab::Plots => row(has_plots, |of| view! { <Plots opened=of.opened /> }.into_any()),
    }
}
