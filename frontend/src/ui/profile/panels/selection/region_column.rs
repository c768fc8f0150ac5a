//! The regions beside the marked span: a choice, and those that are chosen.

use leptos::prelude::*;

use crate::ui::controls::{CloseButton, If};
use crate::ui::profile::open_profile::{NamedSpan, Opened};
use crate::ui::profile::region_choice::{BesideChoice, regions_beside};
use crate::view::Command;

/// The chosen regions that the current rank has. Empty for all ranks together.
#[must_use]
pub fn shown_regions(opened: Opened) -> Memo<Vec<NamedSpan>> {
    let names = regions_beside(opened);
    Memo::new(move |_| {
        if names.with(Vec::is_empty) {
            return Vec::new();
        }
        let all = opened.regions.all();
        let of = |name: &String| all.iter().find(|region| region.name == *name).cloned();
        names.with(|names| names.iter().filter_map(of).collect())
    })
}

/// Chooses regions and leaves them out again. Nothing without a marked span, or without regions.
#[component]
pub fn BesideLine(
    /// The opened profile.
    opened: Opened,
) -> impl IntoView {
    let is_marked = move || {
        let is_rank = opened.current.source.get().is_some_and(|source| !source.rank.is_all());
        is_rank && opened.session.view.with(|view| view.selection.marked.is_some())
    };
    view! { <If is=is_marked><MarkedBeside opened /></If> }
}

#[component]
fn MarkedBeside(opened: Opened) -> impl IntoView {
    opened.regions.want();
    let regions = Memo::new(move |_| opened.regions.all());
    let own = Memo::new(move |_| {
        let marked = opened.session.view.with(|view| view.selection.marked)?;
        let of_rank = || regions.with(|regions| regions.iter().find(|of| of.span == marked).cloned());
        Some(opened.regions.named_with(marked).or_else(of_rank)?.name)
    });
    let shown = shown_regions(opened);
    let chips = move || {
        let chip = |of: NamedSpan| view! { <RegionChip opened name=of.name /> };
        shown.get().into_iter().map(chip).collect_view()
    };
    view! {
        <If is=move || regions.with(|regions| !regions.is_empty())>
            <p class="region-beside"><BesideChoice opened regions own />{chips}</p>
        </If>
    }
}

/// A chosen region with a way to leave it out.
#[component]
fn RegionChip(opened: Opened, name: String) -> impl IntoView {
    let shown = name.clone();
    let close = move |()| {
        let mut names = opened.session.view.with_untracked(|view| view.beside.clone());
        names.retain(|other| *other != name);
        opened.act(&Command::Beside(names));
    };
    view! {
        <span class="chip">
            {shown}
            <CloseButton label="Leave the region out" on_close=close />
        </span>
    }
}
